//! Corrupt, truncated and hostile files: an error, never a panic, and never without end.

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::shared::{self, Fetched, there};
use common::{hiplazy, lint, report};
use hiplazy_cli::elf::{Error, Keep, Object, read};
use hiplazy_cli::names::Names;
use xtask::fetch;

static STUBS: Fetched = Fetched::new();

/// A real library with versions, relocations and a thousand symbols: this program's C
/// library.
fn c_library() -> Vec<u8> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let path = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5))
        .find(|path| path.contains("/libc.so") || path.contains("/libc-"))
        .expect("the C library is mapped");
    fs::read(path).unwrap()
}

fn read_all(data: &[u8]) -> Result<Object, Error> {
    let _ = read("x", data, Keep::Of(&Names::new(&[])));
    read("x", data, Keep::All)
}

/// A small generator, the same in every run: a failure can be seen again.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[test]
fn truncations_are_errors() {
    let whole = c_library();
    let object = read_all(&whole).unwrap();
    assert!(object.exports.len() > 1000 && object.nodes.len() > 10);
    // Every length where the headers are, then ever larger steps.
    let lengths = (0..2048).chain((2048..whole.len()).step_by(4093));
    let mut errors = 0;
    for length in lengths {
        match read_all(&whole[..length]) {
            Err(Error::NotElf) => assert!(length < 4),
            Err(_) => errors += 1,
            // Only the section headers, at the end, are not needed.
            Ok(cut) => assert_eq!(cut.exports.len(), object.exports.len()),
        }
    }
    assert!(errors > 2048);
}

#[test]
fn random_bytes_anywhere_do_not_panic() {
    let whole = c_library();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..400 {
        let mut data = whole.clone();
        // Alternately all over the file, and where the headers and tables are.
        let limit = [data.len(), 1024, data.len() / 8, 4096][round % 4];
        for _ in 0..=round % 32 {
            let at = random.below(limit);
            data[at] = random.below(256) as u8;
        }
        let _ = read_all(&data);
    }
}

#[test]
fn every_value_of_the_dynamic_segment_may_be_wrong() {
    let Some(folder) = there("corrupted stub", &STUBS, fetch::tilelang_0_1_10) else {
        return;
    };
    let whole = fs::read(folder.join("libhip_stub.so")).unwrap();
    let field = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
    let (headers, count) = (field(32), usize::from(whole[56]));
    let dynamic = (0..count)
        .map(|index| headers + index * 56)
        .find(|at| whole[*at] == 2 && whole[*at + 1] == 0)
        .unwrap();
    let (start, size) = (field(dynamic + 8), field(dynamic + 32));
    for entry in (start..start + size).step_by(16) {
        for value in [0, 1, 7, 0xffff, 1 << 31, u64::MAX, u64::MAX - 7, 1 << 63] {
            for at in [entry, entry + 8] {
                let mut data = whole.clone();
                data[at..at + 8].copy_from_slice(&value.to_le_bytes());
                let _ = read_all(&data);
            }
        }
    }
}

#[test]
fn headers_that_promise_more_than_there_is_are_errors() {
    let whole = c_library();
    // e_phoff, e_phnum, the first program headers' offsets and sizes.
    for at in (32..40).chain(54..58).chain(64..64 + 56 * 8) {
        let mut data = whole.clone();
        data[at] = 0xff;
        let start = Instant::now();
        let _ = read_all(&data);
        assert!(start.elapsed() < Duration::from_secs(20), "byte {at}");
    }
}

/// A folder with one good exporter and one corrupt file.
fn mixed(test: &str) -> Option<(PathBuf, PathBuf)> {
    let stubs = there(test, &STUBS, fetch::tilelang_0_1_10)?;
    let folder = shared::scratch(test);
    let stub = fs::read(stubs.join("libhip_stub.so")).unwrap();
    fs::write(folder.join("libgood.so"), &stub).unwrap();
    let corrupt = folder.join("libcut.so");
    fs::write(&corrupt, &stub[..stub.len() / 3]).unwrap();
    Some((folder, corrupt))
}

#[test]
fn a_corrupt_file_is_reported_and_the_scan_goes_on() {
    let Some((folder, corrupt)) = mixed("corrupt-beside-good") else {
        return;
    };
    let both = report(&folder);
    assert_eq!(both["unreadable"].as_array().unwrap().len(), 1);
    let line = both["unreadable"][0].to_string();
    assert!(line.contains("libcut.so") && line.contains("corrupt or cut short"));
    let found = common::found(&both);
    assert!(found.contains(&("bare-export".into(), "libgood.so".into())));
    assert_eq!(lint(&folder).output().unwrap().status.code(), Some(2));

    let alone = lint(&corrupt).output().unwrap();
    assert_eq!(alone.status.code(), Some(3), "{}", shared::text_of(&alone));
    let text = shared::text_of(&alone);
    assert!(text.contains("nothing could be looked at"), "{text}");
}

#[test]
fn something_unreadable_beside_what_is_clean_is_a_warning() {
    let folder = shared::scratch("unreadable-beside-clean");
    let clean = folder.join("libclean.so");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let source = folder.join("clean.c");
    fs::write(&source, "int nothing(void) { return 0; }\n").unwrap();
    shared::run(
        std::process::Command::new(compiler)
            .args(["-shared", "-fPIC", "-o"])
            .args([&clean, &source]),
    );
    assert_eq!(lint(&clean).output().unwrap().status.code(), Some(0));
    let output = lint(&clean).arg(folder.join("absent.so")).output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        shared::text_of(&output)
    );
    assert!(shared::text_of(&output).contains("absent.so cannot be opened: No such file"));
}

#[test]
fn corrupt_wheels_are_errors() {
    let Some((folder, _)) = mixed("corrupt-wheels") else {
        return;
    };
    let wheel = folder.join("stub.whl");
    common::wheel(&wheel, &[("pkg/libgood.so", &folder.join("libgood.so"))]);
    let whole = fs::read(&wheel).unwrap();
    let mut random = Random(1);
    let broken = folder.join("broken.whl");
    for round in 0..60 {
        let data = if round < 30 {
            whole[..whole.len() * round / 30].to_vec()
        } else {
            let mut data = whole.clone();
            for _ in 0..8 {
                let at = random.below(data.len());
                data[at] = random.below(256) as u8;
            }
            data
        };
        fs::write(&broken, &data).unwrap();
        let output = lint(&broken).output().unwrap();
        let status = output.status.code();
        assert!(
            matches!(status, Some(0..=3)),
            "{}",
            shared::text_of(&output)
        );
        let text = shared::text_of(&output);
        assert!(!text.contains("panicked"), "{text}");
        if round < 30 {
            // The directory of a zip file is at its end.
            assert_eq!(status, Some(3), "{round}: {text}");
        }
    }
}

#[test]
fn names_that_steer_a_terminal_are_shown() {
    let folder = shared::scratch("steering-names");
    fs::write(
        folder.join("lib\u{1b}[2Jx.so"),
        b"\x7fELF\x02\x01\x01broken",
    )
    .unwrap();
    let output = lint(&folder).output().unwrap();
    let text = shared::text_of(&output);
    assert!(text.contains("lib\\u{1b}[2Jx.so"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn wrong_command_lines_are_no_conflict() {
    for arguments in [
        &["lint"][..],
        &["no-such-command"],
        &["lint", "--no-such-flag", "."],
    ] {
        let output = hiplazy().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
    }
    assert!(Path::new(env!("CARGO_BIN_EXE_hiplazy")).is_file());
}
