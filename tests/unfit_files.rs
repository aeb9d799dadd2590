//! Files that are no runtime, or half of one: refused, named, and survived.

mod common;
mod loader;

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{cc, preload, run, scratch, skip};
use loader::{
    Link, Tiny, candidates, companion, disguise, fenced_client, linked, plain_library, steps,
    steps_and_log,
};

/// A scratch folder by its real path, which is what the fence compares with.
fn folder(test: &str) -> PathBuf {
    scratch(&format!("unfit-{test}")).canonicalize().unwrap()
}

// Files that are no runtime

/// Puts a bad file in the way in the three ways there are, with a good runtime behind
/// it, and checks that it is refused for `reason` and that nothing worse happens.
/// `by_ld_so` is the reason where ld.so itself meets the file; `None` where it goes on
/// without a word.
fn refused(
    test: &str,
    make: impl Fn(&Path),
    reason: &str,
    by_ld_so: Option<&str>,
    before: &[&str],
) {
    let here = folder(test);
    let bad = here.join("bad/lib/libamdhip64.so.7");
    fs::create_dir_all(bad.parent().unwrap()).unwrap();
    make(&bad);
    Tiny::new(7, 4).build(&here.join("good/lib"));
    let ask = |variable: &str, value: &Path| {
        let mut command = fenced_client(&[&here]);
        command
            .env(variable, value)
            .env("HIP_PATH", here.join("good"))
            .env("HIPLAZY_LOG", "debug");
        steps_and_log(&mut command, &[before, &["count", "error"]].concat())
    };

    let (out, _) = ask("HIPLAZY_RUNTIME", &bad);
    assert!(out.starts_with("count 100 0\n"), "HIPLAZY_RUNTIME: {out}");
    let [only] = &candidates(&out)[..] else {
        panic!("HIPLAZY_RUNTIME: {out}");
    };
    let start = format!("HIPLAZY_RUNTIME: {}: ", bad.display());
    assert!(only.starts_with(&start) && only.contains(reason), "{only}");

    let (out, log) = ask("ROCM_PATH", &here.join("bad"));
    assert!(out.starts_with("count 0 4\n"), "ROCM_PATH: {out}{log}");
    let line = format!("hiplazy: warn: ROCM_PATH: {}: ", bad.display());
    let line = log
        .lines()
        .find(|text| text.starts_with(&line))
        .unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains(reason), "{line}");

    let (out, log) = ask("LD_LIBRARY_PATH", bad.parent().unwrap());
    assert!(
        out.starts_with("count 0 4\n"),
        "LD_LIBRARY_PATH: {out}{log}"
    );
    if let Some(reason) = by_ld_so {
        let line = log
            .lines()
            .find(|text| text.contains("ld.so: libamdhip64.so.7: "));
        let line = line.unwrap_or_else(|| panic!("{log}"));
        assert!(line.contains(reason), "{line}");
    }
}

/// A good runtime with some bytes changed.
fn patched(path: &Path, change: impl Fn(&mut Vec<u8>)) {
    let good = Tiny::new(7, 66).build(&path.parent().unwrap().join("whole"));
    let mut bytes = fs::read(&good).unwrap();
    fs::remove_file(good).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// ld.so maps such a file and dies of SIGBUS.
#[test]
fn a_truncated_runtime_is_refused_before_ld_so_maps_it() {
    let cut = |path: &Path| patched(path, |bytes| bytes.truncate(bytes.len() / 2));
    // The program headers are whole; the segments are not.
    refused("truncated", cut, "truncated", Some("truncated"), &[]);
}

#[test]
fn a_folder_is_refused() {
    let make = |path: &Path| fs::create_dir(path).unwrap();
    refused("folder", make, "not a regular file", None, &[]);
}

#[test]
fn a_32_bit_library_is_refused() {
    let make = |path: &Path| {
        patched(path, |bytes| {
            bytes[4] = 1; // EI_CLASS: ELFCLASS32
            bytes[18] = 3; // e_machine: EM_386
        });
    };
    refused("32-bit", make, "32-bit", None, &[]);
}

#[test]
fn a_library_for_another_processor_is_refused() {
    let make = |path: &Path| patched(path, |bytes| bytes[18] = 8); // EM_MIPS
    refused("other-processor", make, "another processor", None, &[]);
}

#[test]
fn an_unreadable_file_is_refused() {
    let make = |path: &Path| {
        Tiny::new(7, 66).build(path.parent().unwrap());
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    };
    // SAFETY: no conditions.
    let is_root = unsafe { libc::geteuid() } == 0;
    // Everything is readable for root.
    let before: &[&str] = if is_root { &["user:65534"] } else { &[] };
    let probe = scratch("search-readable").join("probe");
    fs::write(&probe, "").unwrap();
    let reachable = run(Command::new("sh").arg("-c").arg(format!(
        "setpriv --reuid 65534 --clear-groups test -r '{}' && echo yes || true",
        probe.display()
    )));
    if is_root && reachable.trim() != "yes" {
        return skip(
            "an unreadable file",
            "the target folder is closed to other users",
        );
    }
    refused("unreadable", make, "permission denied", None, before);
}

/// Opening a FIFO for reading waits for a writer, for ever.
#[test]
fn a_fifo_is_refused_without_waiting_for_it() {
    let make = |path: &Path| {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a C string.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o644) }, 0);
    };
    refused(
        "fifo",
        make,
        "not a regular file",
        Some("not a regular file"),
        &[],
    );
}

#[test]
fn an_empty_file_is_refused() {
    let make = |path: &Path| fs::write(path, "").unwrap();
    refused(
        "empty",
        make,
        "not an ELF file",
        Some("file too short"),
        &[],
    );
}

#[test]
fn a_linker_script_is_refused() {
    let script = "/* GNU ld script */\nINPUT(libamdhip64.so.7.1)\n".repeat(20);
    let make = |path: &Path| fs::write(path, &script).unwrap();
    refused(
        "script",
        make,
        "not an ELF file",
        Some("invalid ELF header"),
        &[],
    );
}

#[test]
fn a_library_without_the_functions_is_refused() {
    let make = |path: &Path| {
        Tiny::new(7, 66)
            .with("-DNO_VERSION")
            .build(path.parent().unwrap());
    };
    let reason = "has no hipRuntimeGetVersion: not a HIP runtime";
    refused("no-functions", make, reason, Some(reason), &[]);
}

#[test]
fn a_stub_in_disguise_is_refused_and_named() {
    let make = |path: &Path| {
        disguise(path.parent().unwrap(), "libamdhip64.so.7");
    };
    let reason = "a stub in disguise: its SONAME is 'libhip_stub.so', not libamdhip64.so*";
    refused("disguise", make, reason, Some(reason), &[]);
}

/// A stub's constructor, or its `DT_SONAME` in later searches of ld.so, would do harm
/// even if it is refused once it is open.
#[test]
fn a_stub_in_disguise_is_not_even_mapped() {
    let here = folder("disguise-unmapped");
    let stub = disguise(&here.join("lib"), "libamdhip64.so.7");
    Tiny::new(8, 8)
        .file("libamdhip64.so")
        .build(&here.join("lib64"));
    for (variable, value) in [
        ("ROCM_PATH", here.clone()),
        ("LD_LIBRARY_PATH", here.join("lib")),
    ] {
        let mut command = fenced_client(&[&here]);
        command.env(variable, value);
        let out = steps(&mut command, &["count", "mapped", "error"]);
        // `mapped` prints a line for each mapped file of a runtime's name.
        assert!(out.starts_with("count 100 0\nerror"), "{variable}: {out}");
        assert!(
            out.contains(&format!("{}", stub.display())),
            "{variable}: {out}"
        );
    }
}

#[test]
fn a_refused_file_is_opened_once_however_many_paths_lead_to_it() {
    let here = folder("two-paths");
    let refused = Tiny::new(7, 66)
        .with("-DNO_VERSION")
        .build(&here.join("rocm/lib"));
    symlink(here.join("rocm"), here.join("hip")).unwrap();
    let mut command = fenced_client(&[&here]);
    command
        .env("ROCM_PATH", here.join("rocm"))
        .env("HIP_PATH", here.join("hip"));
    preload(&mut command, &plain_library("opened.c"));
    let (out, log) = steps_and_log(&mut command, &["count", "error"]);
    let opened = format!("opened {}", refused.display());
    assert_eq!(
        log.lines().filter(|line| *line == opened).count(),
        1,
        "{log}"
    );
    let reasons: Vec<String> = candidates(&out)
        .into_iter()
        .filter(|line| line.contains("lib/libamdhip64.so.7"))
        .filter(|line| line.starts_with("ROCM_PATH") || line.starts_with("HIP_PATH"))
        .collect();
    let (rocm, hip) = (here.join("rocm"), here.join("hip"));
    let expected = [
        format!(
            "ROCM_PATH: {}/lib/libamdhip64.so.7: has no hipRuntimeGetVersion: not a HIP runtime \
             (libamdhip64)",
            rocm.display()
        ),
        format!(
            "HIP_PATH: {}/lib/libamdhip64.so.7: the same file as one above",
            hip.display()
        ),
    ];
    assert_eq!(reasons, expected);
}

/// What the user names is opened: it may bring the runtime along as its dependency. It may
/// have functions of its own in front of the runtime's.
#[test]
fn a_named_file_that_needs_the_runtime_leads_to_it() {
    let here = folder("brings-along");
    let runtime = Tiny::new(7, 6).build(&here);
    let source = here.join("shim.c");
    fs::write(
        &source,
        "int hipGetDevice(int *device) { return *device = 55; }\n",
    )
    .unwrap();
    let shim = here.join("libshim.so");
    let flags = [
        "-shared",
        "-fPIC",
        // Without any version node: ld.so takes its functions for those of every node.
        "-nostdlib",
        "-Wl,--no-as-needed",
        "-Wl,-rpath,$ORIGIN",
    ]
    .map(Path::new);
    cc(&[], &shim, &[&flags[..], &[&source, &runtime]].concat());
    let mut command = fenced_client(&[&here]);
    command.env("HIPLAZY_RUNTIME", &shim);
    let out = steps(&mut command, &["device", "count", "path"]);
    let path = runtime.display();
    assert_eq!(out, format!("device 0 6\ncount 0 6\npath {path}\n"));
}

#[test]
fn a_runtime_with_a_missing_dependency_is_refused_and_the_dependency_named() {
    let make = |path: &Path| {
        let folder = path.parent().unwrap();
        let gone = companion(folder, "libgone.so.3", "PLAIN", 0);
        Tiny::new(7, 66)
            .with("-Wl,--no-as-needed")
            .with(gone.to_str().unwrap())
            .build(folder);
        fs::remove_file(gone).unwrap();
    };
    let reason = "libgone.so.3: cannot open shared object file";
    refused("dependency", make, reason, Some(reason), &[]);
}

// A runtime with half of its functions

#[test]
fn half_a_runtime_answers_302_for_the_missing_half_alone() {
    let here = folder("half");
    let half = Tiny::new(5, 5).with("-DHALF").build(&here);
    for link in [Link::Shared, Link::Static, Link::Extension] {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        let out = steps(
            &mut command,
            &[
                "malloc",
                "count",
                "properties",
                "device",
                "version",
                "last",
                "has:hipMalloc",
                "has:hipInit",
                "text:302",
                "thread:error",
                "error",
            ],
        );
        let (answers, error) = out.split_once("error hip").unwrap();
        assert_eq!(
            answers,
            "malloc 302 unwritten\ncount 0 5\nproperties 302 238\ndevice 302 -7\n\
             version 0 50221153\nlast 7\nhas 0\nhas 1\n\
             text hipErrorSharedObjectSymbolNotFound: shared object symbol not found\nerror \n",
            "{link:?}"
        );
        assert_eq!(
            error,
            format!(
                "GetDevice: not in {} (HIP 5.2.21153, SONAME libamdhip64.so.5); the function \
                 first came with version node hip_4.2, in the headers since HIP 5.0. Use \
                 a newer runtime, or ask before the call whether there is such a function.\n",
                half.display()
            )
        );
    }
}
