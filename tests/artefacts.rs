//! The built libraries, read as ELF files.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use common::{cc, exports, libraries, run, scratch, typed_libraries};
use hiplazy_abi::{CONTROL_FUNCTIONS, SLOTS_TXT, parse_slots};
use object::elf::{self, DynamicTag};
use object::read::elf::{ElfFile64, FileHeader};
use object::read::{Object, ObjectSection, ObjectSymbol, archive::ArchiveFile};

/// All entries by their places in the slot table: functions, and their generations.
fn entries() -> Vec<String> {
    parse_slots(SLOTS_TXT).unwrap().entries().to_vec()
}

fn exported_names() -> BTreeSet<String> {
    entries()
        .into_iter()
        .chain(CONTROL_FUNCTIONS.map(str::to_string))
        .map(|name| format!("hiplazy_{name}"))
        .collect()
}

fn elf(data: &[u8]) -> ElfFile64<'_> {
    ElfFile64::parse(data).unwrap()
}

/// Tag, value and, where the value is one, string of each dynamic entry.
fn dynamic_entries(file: &ElfFile64) -> Vec<(DynamicTag, u64, String)> {
    let (endian, data) = (file.endian(), file.data());
    let sections = file.elf_header().sections(endian, data).unwrap();
    let table = sections.dynamic_table(endian, data).unwrap();
    let entries = table.iter().map(|entry| {
        let string = if entry.is_string() {
            table.string(entry).unwrap()
        } else {
            b""
        };
        (
            entry.tag,
            entry.val,
            String::from_utf8(string.to_vec()).unwrap(),
        )
    });
    entries.collect()
}

/// An extension that uses every wrapper of the archive and exports one function of
/// its own.
fn extension(name: &str) -> PathBuf {
    let folder = scratch(name);
    let mut source = String::from("typedef void (*function)(void);\n");
    for entry in entries() {
        source += &format!("void hiplazy_{entry}(void);\n");
    }
    source += "function const extension_table[] = {\n";
    for entry in entries() {
        source += &format!("  hiplazy_{entry},\n");
    }
    source += "};\n";
    let file = folder.join("extension.c");
    fs::write(&file, source).unwrap();
    let library = folder.join("extension.so");
    cc(
        &[],
        &library,
        &[
            Path::new("-shared"),
            Path::new("-fPIC"),
            &file,
            &libraries().join("libhiplazy.a"),
        ],
    );
    library
}

/// The address of each wrapper that `file` defines.
fn wrappers(file: &ElfFile64) -> BTreeMap<String, u64> {
    let symbols = file.symbols().filter(|symbol| symbol.is_definition());
    symbols
        .filter_map(|symbol| {
            let name = symbol.name().ok()?.strip_prefix("hiplazy_")?;
            Some((name.to_string(), symbol.address()))
        })
        .collect()
}

/// Each wrapper is `jmp *slot(%rip)`, six bytes, and the slot is its own.
#[track_caller]
fn assert_one_jump_each(path: &Path) {
    let data = fs::read(path).unwrap();
    let file = elf(&data);
    let text = file.section_by_name(".text").unwrap();
    let slots = file.section_by_name(".hiplazy.slots").unwrap();
    assert_eq!(slots.address() % 4096, 0, "the table has pages of its own");
    let wrappers = wrappers(&file);
    for (index, entry) in entries().iter().enumerate() {
        let address = wrappers[entry];
        let code = text.data_range(address, 6).unwrap().unwrap();
        let [0xff, 0x25, offset @ ..] = code else {
            panic!("{entry} begins with {code:x?}, not jmp *n(%rip)");
        };
        let offset = i32::from_le_bytes(offset.try_into().unwrap());
        let slot = (address + 6).wrapping_add_signed(offset.into());
        assert_eq!(slot, slots.address() + 8 * index as u64, "{entry}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn every_wrapper_of_the_shared_library_is_one_jump_through_its_slot() {
    assert_one_jump_each(&libraries().join("libhiplazy.so"));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn every_wrapper_that_an_extension_links_is_one_jump_through_its_slot() {
    assert_one_jump_each(&extension("one-jump-each"));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn every_typed_wrapper_is_a_load_and_a_tail_jump() {
    let data = fs::read(typed_libraries().join("libhiplazy.so")).unwrap();
    let file = elf(&data);
    let text = file.section_by_name(".text").unwrap();
    let slots = file.section_by_name(".hiplazy.slots").unwrap();
    let wrappers = wrappers(&file);
    for (index, entry) in entries().iter().enumerate() {
        let address = wrappers[entry];
        // A call instead of the jump would mean a frame of its own and a copy of
        // every stack argument.
        let code = text.data_range(address, 9).unwrap().unwrap();
        let [0x48, 0x8b, 0x05, offset @ .., 0xff, 0xe0] = code else {
            panic!("{entry} begins with {code:x?}, not mov n(%rip),%rax; jmp *%rax");
        };
        let offset = i32::from_le_bytes(offset.try_into().unwrap());
        let slot = (address + 7).wrapping_add_signed(offset.into());
        assert_eq!(slot, slots.address() + 8 * index as u64, "{entry}");
    }
}

#[test]
fn the_shared_library_exports_its_prefix_and_nothing_else() {
    for folder in [libraries(), typed_libraries()] {
        assert_eq!(exports(&folder.join("libhiplazy.so")), exported_names());
    }
}

#[test]
fn the_shared_library_needs_libc_and_binds_at_load_for_good() {
    let data = fs::read(libraries().join("libhiplazy.so")).unwrap();
    let file = elf(&data);
    let entries = dynamic_entries(&file);
    let needed = entries.iter().filter(|(tag, ..)| *tag == elf::DT_NEEDED);
    let needed: Vec<&str> = needed.map(|(.., name)| name.as_str()).collect();
    assert_eq!(needed, ["libc.so.6"]);
    let value = |wanted: DynamicTag| {
        entries
            .iter()
            .find(|(tag, ..)| *tag == wanted)
            .map_or(0, |(_, value, _)| *value)
    };
    let flags_1 = value(elf::DT_FLAGS_1);
    assert_ne!(flags_1 & elf::DF_1_NODELETE.0, 0, "NODELETE");
    assert_ne!(flags_1 & elf::DF_1_NOW.0, 0, "NOW");
    assert_ne!(value(elf::DT_FLAGS) & elf::DF_SYMBOLIC.0, 0, "SYMBOLIC");
    assert_eq!(value(elf::DT_TEXTREL), 0, "no text relocations");
}

/// The start-up entries that the C compiler itself gives every library are all
/// there are.
#[test]
fn loading_runs_nothing_of_ours() {
    let folder = scratch("no-constructors");
    let empty = folder.join("empty.c");
    fs::write(&empty, "int nothing;\n").unwrap();
    let reference = folder.join("empty.so");
    cc(
        &[],
        &reference,
        &[Path::new("-shared"), Path::new("-fPIC"), &empty],
    );
    let entries = |path: &Path| {
        let data = fs::read(path).unwrap();
        let file = elf(&data);
        let size = |name| {
            file.section_by_name(name)
                .map_or(0, |section| section.size())
        };
        (
            size(".init_array"),
            size(".fini_array"),
            size(".preinit_array"),
        )
    };
    let reference = entries(&reference);
    assert_eq!(entries(&libraries().join("libhiplazy.so")), reference);
    assert_eq!(
        entries(&extension("no-constructors-in-extension")),
        reference
    );
}

#[test]
fn whoever_links_the_archive_exports_nothing_of_it() {
    let names = exports(&extension("exports-nothing"));
    assert_eq!(names, BTreeSet::from(["extension_table".to_string()]));
}

/// The object of the archive that is ours, apart from Rust's compiler support.
fn archive_objects(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let data = fs::read(folder.join("libhiplazy.a")).unwrap();
    let archive = ArchiveFile::parse(&*data).unwrap();
    let members = archive.members().map(|member| {
        let member = member.unwrap();
        let name = String::from_utf8_lossy(member.name()).into_owned();
        (name, member.data(&*data).unwrap().to_vec())
    });
    members
        .filter(|(name, _)| !name.contains("compiler_builtins"))
        .collect()
}

#[test]
fn the_archive_defines_hidden_names_only() {
    let mut defined = BTreeSet::new();
    for (member, data) in archive_objects(libraries()) {
        for symbol in elf(&data).symbols() {
            if !symbol.is_definition() || !symbol.is_global() {
                continue;
            }
            let name = symbol.name().unwrap().to_string();
            let visibility = symbol.elf_symbol().st_visibility();
            assert_eq!(visibility, elf::STV_HIDDEN, "{name} in {member}");
            defined.insert(name);
        }
    }
    for name in exported_names() {
        assert!(defined.contains(&name), "{name} is missing");
    }
}

/// No panic, no unwinding, no Rust standard library and no Rust allocation is left
/// in what other people link.
#[test]
fn a_release_build_cannot_panic() {
    let mut names = BTreeSet::new();
    let shared = fs::read(libraries().join("libhiplazy.so")).unwrap();
    let files = archive_objects(libraries())
        .into_iter()
        .map(|(_, data)| data)
        .chain([shared]);
    for data in files {
        for symbol in elf(&data).symbols() {
            names.insert(symbol.name().unwrap().to_string());
        }
    }
    assert!(
        names.iter().any(|name| name.contains("hiplazy")),
        "symbols are there to be read"
    );
    let forbidden = [
        "panic",
        "rust_begin_unwind",
        "rust_eh_personality",
        "_Unwind",
        "handle_alloc",
        "3std",
    ];
    for name in &names {
        let found = forbidden.iter().find(|word| name.contains(**word));
        assert!(
            found.is_none() && name != "abort",
            "{name} is in a release build"
        );
    }
}

/// Triton, vLLM and FlashInfer choose libraries by a part of their file name.
#[test]
fn no_file_is_named_like_a_runtime_or_a_stub() {
    for entry in fs::read_dir(libraries()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        for part in ["libamdhip64", "libhip_stub", "libcudart"] {
            assert!(!name.contains(part), "{name}");
        }
    }
}

/// A Rust library that depends on the crate exports its own names alone.
#[test]
fn a_rust_dependent_exports_nothing_of_the_crate() {
    let folder = scratch("rust-dependent");
    fs::create_dir(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"dependent\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [lib]\ncrate-type = [\"cdylib\"]\n\
         [dependencies]\nhiplazy = {{ path = {:?} }}\n[workspace]\n",
        common::root()
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(common::root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let source = "#[unsafe(no_mangle)]\npub extern \"C\" fn devices() -> i32 {\n\
                  let mut count = -1;\n\
                  unsafe { hiplazy::sys::hipGetDeviceCount(&mut count) };\n    count\n}\n";
    fs::write(folder.join("src/lib.rs"), source).unwrap();
    for profile in ["dev", "release"] {
        run(std::process::Command::new(env!("CARGO"))
            .current_dir(&folder)
            .args(["build", "--offline", "--profile", profile])
            .env("CARGO_TARGET_DIR", folder.join("target")));
        let output = if profile == "dev" { "debug" } else { profile };
        let names = exports(&folder.join("target").join(output).join("libdependent.so"));
        assert_eq!(names, BTreeSet::from(["devices".to_string()]), "{profile}");
    }
}

/// The header is C99 and C++ clean and declares the control functions that exist.
#[test]
fn the_header_declares_the_control_functions() {
    let folder = scratch("header");
    let mut source = String::from("#include <hiplazy/hiplazy.h>\nint main(void) {\n");
    for name in CONTROL_FUNCTIONS {
        source += &format!("  if ((void (*)(void))hiplazy_{name} == 0) return 1;\n");
    }
    source += "  return 0;\n}\n";
    for (file, standard) in [("c.c", "-std=c99"), ("cpp.cpp", "-std=c++11")] {
        let path = folder.join(file);
        fs::write(&path, &source).unwrap();
        let program = folder.join(file.replace('.', "-"));
        // `cc` takes the compiler by the ending of its sources.
        let sources = [path.to_str().unwrap()];
        cc(
            &sources,
            &program,
            &[
                standard,
                "-pedantic",
                "-Wno-address",
                libraries().join("libhiplazy.a").to_str().unwrap(),
            ],
        );
        run(&mut common::clean(&program));
    }
}

/// The README's C, built as the README says and run without a runtime.
#[test]
fn the_readmes_program_builds_and_runs() {
    let text = fs::read_to_string(common::root().join("README.md")).unwrap();
    let (_, rest) = text.split_once("```c\n").unwrap();
    let (program, _) = rest.split_once("```").unwrap();
    let folder = scratch("readme");
    let source = folder.join("program.c");
    fs::write(&source, program).unwrap();
    let output = folder.join("program");
    cc(&[], &output, &[&source, &libraries().join("libhiplazy.a")]);
    let said = run(&mut common::fenced(&output, &[]));
    assert!(
        said.starts_with("hipGetDeviceCount: no HIP runtime (libamdhip64)\n  1. "),
        "{said}"
    );
}
