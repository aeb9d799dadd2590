//! Archives: the plain names are for the headers that the consumer's record tells, and are
//! passed through where there is none.

use std::path::Path;

use fakehip::{Library, Version};

use crate::common::{self, cc, run, scratch};
use crate::header_version::hip_headers;
use crate::installed::hiplazy;
use crate::{args, source};

/// The fill node without its pointer, as the runtime is to get it: pitch, value, element
/// size, width and height up to 6.4, another order since. Padding is dots.
fn node(runtime: Version) -> String {
    let number = |value: u64, size: usize| -> String {
        let bytes = value.to_le_bytes();
        bytes[..size]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    let (pitch, height, width) = (number(512, 8), number(3, 8), number(100, 8));
    let (value, element) = (number(0x55, 4), number(4, 4));
    if runtime.major() < 7 {
        format!("40 {pitch}{value}{element}{width}{height}")
    } else {
        let padding = ".".repeat(8);
        format!("48 {element}{padding}{height}{pitch}{value}{padding}{width}")
    }
}

fn fits(given: &str, node: &str) -> bool {
    let same = |(given, wanted)| wanted == '.' || given == wanted;
    given.len() == node.len() && given.chars().zip(node.chars()).all(same)
}

/// `hipMemoryTypeDevice`
fn device(major: u32) -> u32 {
    if major < 6 { 1 } else { 2 }
}

fn build(folder: &Path, archive: &str, headers: i32, with_record: bool) -> std::path::PathBuf {
    let program = folder.join(format!("{archive}-{headers}-{with_record}"));
    let record = hiplazy().join("share/hiplazy/header_version.c");
    let include = hip_headers(folder, headers);
    let fakehip = common::root().join("fakehip/include");
    let generation = format!("-DHEADERS={}", headers / 100_000);
    let archive_file = hiplazy().join("lib").join(archive);
    let mut arguments = args([
        &"-I",
        &include,
        &"-I",
        &fakehip,
        &generation,
        &archive_file,
        &"-ldl",
    ]);
    if with_record {
        arguments.insert(0, record.into());
    }
    if archive == "libhiplazy.a" {
        arguments.push("-DPREFIXED".into());
    }
    cc(&[&source("translated.c")], &program, &arguments);
    program
}

#[test]
fn plain_names_of_the_archives_are_translated_for_the_recorded_headers() {
    let folder = scratch("install-translation");
    let runtimes = [Version::V5_7_1, Version::V6_4_3, Version::V7_14].map(|version| {
        let library = Library::hip(version);
        let folder = folder.join(version.major().to_string());
        (
            version,
            fakehip::build(&folder, &[library]).unwrap().remove(0),
        )
    });
    for archive in ["libhiplazy.a", "libhiplazy_dropin.a"] {
        for headers in [50_221_153, 60_443_484, 71_460_850] {
            let major = headers as u32 / 10_000_000;
            for with_record in [true, false] {
                let program = build(&folder, archive, headers, with_record);
                for (version, file) in &runtimes {
                    let mut command = common::fenced(&program, &[file.parent().unwrap()]);
                    command
                        .env("HIPLAZY_RUNTIME", file)
                        .env("FAKEHIP_RECORD", "1");
                    let said = run(command.arg(file));
                    let case = format!("{archive} {headers} {version:?} {with_record}: {said}");
                    let (kind, given) = said.trim_end().split_at(3);
                    // Without a record: what the runtime calls it.
                    let expected = device(if with_record { major } else { version.major() });
                    assert_eq!(kind, format!("0 {expected}"), "{case}");
                    if version.major() < 6 {
                        // It does not have that function.
                        assert_eq!(given.trim(), "0", "{case}");
                        continue;
                    }
                    let is_same = (major >= 7) == (version.major() >= 7);
                    let arrived = fits(given.trim(), &node(*version));
                    assert_eq!(arrived, with_record || is_same, "{case}");
                }
            }
        }
    }
}
