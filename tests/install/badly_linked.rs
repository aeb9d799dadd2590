//! Libraries and archives with one fault each, of which the checks must complain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::Endianness;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader};

use crate::artefact::{archive_is_closed, expected_hidden, linked_well};
use crate::common::{run, scratch};
use crate::installed::hiplazy;

const SONAME: &str = "libhiplazy.so.1";

/// How the library is linked, but for its exports.
const WELL: [&str; 11] = [
    "-shared",
    "-nostdlib",
    "-Wl,-soname,libhiplazy.so.1",
    "-Wl,-z,nodelete",
    "-Wl,-z,now",
    "-Wl,-z,relro",
    "-Wl,-z,text",
    "-Wl,-z,noexecstack",
    "-Wl,-Bsymbolic",
    "-Wl,-s",
    "-fPIC",
];

/// Links the installed archive as `arguments` say, with `more` of assembly.
#[track_caller]
fn link(folder: &Path, arguments: &[&str], more: &str) -> PathBuf {
    let source = folder.join("more.s");
    let note = ".section .note.GNU-stack,\"\",@progbits\n";
    fs::write(&source, format!("{more}\n{note}")).unwrap();
    let library = folder.join("library.so");
    let mut command = Command::new("cc");
    command.args(arguments).arg("-o").arg(&library).arg(&source);
    command
        .arg("-Wl,--whole-archive")
        .arg(hiplazy().join("lib/libhiplazy.a"))
        .arg("-Wl,--no-whole-archive");
    run(command.args(["-Wl,--as-needed", "-lc", "-ldl", "-lpthread"]));
    library
}

/// `WELL` without some arguments and with others.
fn but<'a>(without: &[&str], with: &[&'a str]) -> Vec<&'a str> {
    for argument in without {
        assert!(WELL.contains(argument), "{argument}");
    }
    let kept = WELL
        .into_iter()
        .filter(|argument| !without.contains(argument));
    kept.chain(with.iter().copied()).collect()
}

#[track_caller]
fn complains(library: &Path, expected: &str) {
    let complaint = linked_well(library, SONAME).expect_err(expected);
    assert!(complaint.contains(expected), "{expected}: {complaint}");
}

#[test]
fn each_fault_of_a_link_is_found() {
    let folder = scratch("install-badly-linked");
    assert_eq!(linked_well(&link(&folder, &WELL, ""), SONAME), Ok(()));
    let relocated = ".text\nhere: .quad here";
    let array = |name: &str| format!(".section .{name},\"aw\"\n.quad hiplazy_load");
    let constructor = array("init_array");
    let destructor = array("fini_array");
    for (without, with, more, expected) in [
        (&["-Wl,-soname,libhiplazy.so.1"][..], &[][..], "", "SONAME"),
        (&[], &["-Wl,--no-as-needed", "-lm"], "", "needs"),
        (&["-Wl,-z,nodelete"], &[], "", "not NODELETE"),
        (&["-Wl,-z,now"], &["-Wl,-z,lazy"], "", "not NOW"),
        (&["-Wl,-Bsymbolic"], &[], "", "not SYMBOLIC"),
        (&["-Wl,-s"], &[], "", ".symtab is not stripped"),
        (
            &[],
            &[],
            ".section .comment\n.asciz \"a compiler\"",
            ".comment is not stripped",
        ),
        (
            &["-Wl,-z,text"],
            &["-Wl,-z,notext"],
            relocated,
            "text relocations",
        ),
        (
            &[],
            &["-Wl,--enable-new-dtags,-rpath,/nowhere"],
            "",
            "a RUNPATH",
        ),
        (&[], &["-Wl,-init,hiplazy_load"], "", "an init function"),
        (&[], &["-Wl,-fini,hiplazy_load"], "", "a fini function"),
        (&[], &[], &constructor, "constructors"),
        (&[], &[], &destructor, "destructors"),
        (
            &["-Wl,-z,noexecstack"],
            &["-Wl,-z,execstack"],
            "",
            "the stack may be executed",
        ),
        (
            &[],
            &[],
            ".section .mixed,\"awx\"\nnop",
            "a segment is writable and executable",
        ),
        (&["-Wl,-z,relro"], &["-Wl,-z,norelro"], "", "no RELRO"),
        (
            &[],
            &[],
            ".data\n.quad hiplazy_load",
            "RELRO does not cover the relocated word",
        ),
    ] {
        complains(&link(&folder, &but(without, with), more), expected);
    }
}

/// Bytes of a good library, changed as no option of this linker would.
#[test]
fn faults_of_other_linkers_are_found() {
    let folder = scratch("install-otherwise-linked");
    let relocated = ".text\nhere: .quad here";
    let arguments = but(&["-Wl,-z,text"], &["-Wl,-z,notext"]);
    // Of two marks of text relocations, the flag alone.
    let library = link(&folder, &arguments, relocated);
    change(&library, |data| {
        let at = entry(data, elf::DT_TEXTREL.0);
        data[at..at + 8].copy_from_slice(&elf::DT_DEBUG.0.to_le_bytes());
    });
    complains(&library, "text relocations");
    // And the entry alone.
    let library = link(&folder, &arguments, relocated);
    change(&library, |data| {
        let at = entry(data, elf::DT_FLAGS.0) + 8;
        data[at] &= !(elf::DF_TEXTREL.0 as u8);
    });
    complains(&library, "text relocations");
    let library = link(&folder, &WELL, "");
    change(&library, |data| {
        let at = entry(data, elf::DT_FLAGS.0) + 8;
        data[at] &= !(elf::DF_BIND_NOW.0 as u8);
    });
    complains(&library, "not BIND_NOW");
    // GNU ld's own RPATH comes without the flags.
    let arguments = but(&[], &["-Wl,--enable-new-dtags,-rpath,/nowhere"]);
    let library = link(&folder, &arguments, "");
    change(&library, |data| {
        let at = entry(data, elf::DT_RUNPATH.0);
        data[at..at + 8].copy_from_slice(&elf::DT_RPATH.0.to_le_bytes());
    });
    complains(&library, "an RPATH");
    // Without a word about the stack, the kernel gives one that may be executed.
    let library = link(&folder, &WELL, "");
    change(&library, |data| {
        let at = program_header(data, elf::PT_GNU_STACK.0);
        data[at..at + 4].copy_from_slice(&elf::PT_NULL.0.to_le_bytes());
    });
    complains(&library, "the stack may be executed: None");
    // A page less, in which the tables are.
    let library = link(&folder, &WELL, "");
    change(&library, |data| {
        let at = program_header(data, elf::PT_GNU_RELRO.0) + 40;
        let size = u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
        data[at..at + 8].copy_from_slice(&(size - 1).to_le_bytes());
    });
    complains(&library, "RELRO does not cover .");
}

fn change(library: &Path, how: impl FnOnce(&mut [u8])) {
    let mut data = fs::read(library).unwrap();
    how(&mut data);
    fs::write(library, data).unwrap();
}

/// Where the program header of a type begins.
fn program_header(data: &[u8], wanted: u32) -> usize {
    let header = FileHeader64::<Endianness>::parse(data).unwrap();
    let endian = header.endian().unwrap();
    let headers = header.program_headers(endian, data).unwrap();
    let index = headers
        .iter()
        .position(|header| header.p_type(endian).0 == wanted);
    let start = usize::try_from(header.e_phoff(endian)).unwrap();
    start + index.unwrap() * usize::from(header.e_phentsize(endian))
}

/// Where the entry of the dynamic table with a tag begins.
fn entry(data: &[u8], wanted: i64) -> usize {
    let header = FileHeader64::<Endianness>::parse(data).unwrap();
    let endian = header.endian().unwrap();
    let headers = header.program_headers(endian, data).unwrap();
    let dynamic = headers
        .iter()
        .find(|header| header.p_type(endian) == elf::PT_DYNAMIC)
        .unwrap();
    let start = usize::try_from(dynamic.p_offset(endian)).unwrap();
    let mut entries = data[start..].chunks_exact(16);
    let index = entries.position(|entry| entry[..8] == wanted.to_le_bytes());
    start + index.unwrap() * 16
}

/// The installed archive's object with one change by objcopy, or another object beside.
#[test]
fn each_fault_of_an_archive_is_found() {
    let folder = scratch("install-bad-archive");
    let names = expected_hidden("hiplazy_");
    let archive = folder.join("libchanged.a");
    let installed = hiplazy().join("lib/libhiplazy.a");
    for (arguments, expected) in [
        (
            &["--localize-symbol=hiplazy_load"][..],
            "missing: [\"hiplazy_load\"]",
        ),
        (
            &["--redefine-sym=hiplazy_load=hipLoad"],
            "not wanted: [\"hipLoad\"]",
        ),
        (
            &["--add-symbol=hipInit=.text:0,global,function"],
            "hipInit is not hidden",
        ),
        (
            &["--add-symbol=rust_begin_unwind=.text:0,local,function"],
            "rust_begin_unwind is in the archive",
        ),
        (
            &["--remove-section=.note.GNU-stack"],
            "asks for an executable stack",
        ),
    ] {
        let mut objcopy = Command::new("objcopy");
        run(objcopy.args(arguments).args([&installed, &archive]));
        let checked = archive_is_closed(&archive, &names);
        let said = checked.expect_err(expected);
        assert!(said.contains(expected), "{expected}: {said}");
    }
    fs::copy(&installed, &archive).unwrap();
    let object = folder.join("more.o");
    fs::write(folder.join("more.c"), "extern int more;\n").unwrap();
    run(Command::new("cc")
        .args(["-c", "-o"])
        .args([&object, &folder.join("more.c")]));
    run(Command::new("ar").arg("r").arg(&archive).arg(&object));
    let said = archive_is_closed(&archive, &names).unwrap_err();
    assert!(said.contains("2 members"), "{said}");
}
