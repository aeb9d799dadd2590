//! Several copies of hiplazy in one binary: archives of every kind, of several builds.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use fakehip::Version;

use crate::artefact::exports_only;
use crate::common::{cc, fenced, run, scratch};
use crate::installed::{ADDED, hiplazy, newer, vendor};
use crate::linkers::linkers;
use crate::{args, artefact, fake_runtime, run_with, source};

/// The prefixed and the drop-in archive, a vendor's, a later version's, and a Rust library
/// with std.
#[test]
fn any_number_of_copies_go_into_one_binary() {
    let folder = scratch("install-three");
    let other = folder.join("libother.a");
    run(
        Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args(["--edition=2024", "--crate-type=staticlib", "-O", "-o"])
            .arg(&other)
            .arg(source("other.rs")),
    );
    let own = hiplazy().join("lib");
    let archives: [PathBuf; 5] = [
        own.join("libhiplazy.a"),
        own.join("libhiplazy_dropin.a"),
        vendor().join("lib/libtl_hip.a"),
        newer().join("lib/libhiplazy.a"),
        other,
    ];
    let runtime = fake_runtime(&folder);
    let real = std::fs::canonicalize(&runtime).unwrap();
    let real = real.display();
    let version = Version::V7_14.runtime_version();
    // The later version's archive has all of the prefixed one's, which is then not opened.
    let mut reversed = archives.clone();
    reversed.reverse();
    let mut dropin_first = archives.clone();
    dropin_first.swap(0, 1);
    for (name, order) in [
        ("in-order", archives),
        ("reversed", reversed),
        ("dropin-first", dropin_first),
    ] {
        let program = folder.join(name);
        let include = vendor().join("include");
        let mut arguments = args([&"-Wl,--fatal-warnings", &"-I", &include]);
        arguments.extend(order.map(OsString::from));
        // What the other library's std wants.
        arguments.extend(args([&"-lgcc_s", &"-lm", &"-ldl"]));
        cc(&[&source("three.c")], &program, &arguments);
        let said = run_with(&program, &runtime);
        assert_eq!(
            said,
            format!(
                "prefixed 0 {version} {real}\nbare 0 {version} {real}\n\
                 vendor 0 {version} {real}\nlater 302\nother 4\n"
            ),
            "{name}"
        );
        assert_eq!(exports_only(&program, &[]), Ok(()), "{name}");
    }
}

/// One build is opened for most functions, and the other for the one that only it has: all
/// that both have is then there twice.
#[cfg(target_arch = "x86_64")]
#[test]
fn every_wrapper_goes_through_the_table_of_its_own_build() {
    let folder = scratch("install-mixed");
    let runtime = fake_runtime(&folder);
    let version = Version::V7_14.runtime_version();
    let functions = artefact::entries();
    let place = functions
        .iter()
        .position(|name| name == "hipRuntimeGetVersion");
    let places = [
        format!("-DPLACE={}", place.unwrap()),
        format!("-DADDED_PLACE={}", functions.len()),
    ];
    for linker in linkers("every_wrapper_goes_through_the_table_of_its_own_build") {
        for (archive, prefix) in [
            ("libhiplazy.a", "-DPREFIX=hiplazy_"),
            ("libhiplazy_dropin.a", "-DPREFIX="),
        ] {
            let [old, new] = [hiplazy(), newer()].map(|tree| tree.join("lib").join(archive));
            for (order, whole, added) in [
                ([&old, &new], false, "other"),
                ([&new, &old], false, "named"),
                ([&old, &new], true, "other"),
                ([&new, &old], true, "named"),
            ] {
                let program = folder.join("mixed");
                let mut arguments = args([&"-Wl,--fatal-warnings", &linker, &prefix]);
                arguments.extend(places.iter().map(OsString::from));
                if whole {
                    arguments.push("-Wl,--whole-archive".into());
                }
                arguments.extend(order.map(OsString::from));
                arguments.push("-Wl,--no-whole-archive".into());
                arguments.push("-ldl".into());
                cc(&[&source("mixed.c")], &program, &arguments);
                let case = format!("{linker} {order:?}, whole: {whole}");
                assert_eq!(
                    run_with(&program, &runtime),
                    format!("0 {version} named\n302 -1 {added} cold\n0 {version}\n"),
                    "{case}: {ADDED}"
                );
                assert_eq!(exports_only(&program, &[]), Ok(()), "{case}");
            }
        }
    }
}

/// As `docs/linking.md` has it: the drop-in archive has everything, and beside another
/// archive of the same prefix the first one answers for itself alone.
#[test]
fn control_functions_are_those_of_the_archive_that_is_linked_first() {
    let folder = scratch("install-control");
    let prefixed = hiplazy().join("lib/libhiplazy.a");
    let dropin = hiplazy().join("lib/libhiplazy_dropin.a");
    let vendors = vendor().join("lib/libtl_hip_dropin.a");
    for (name, order, define, expected) in [
        (
            "dropin-alone",
            [&dropin, &dropin],
            "-DOWN",
            "303 hipFree\n303 hipFreeHost\n",
        ),
        (
            "prefixed-first",
            [&prefixed, &dropin],
            "-DOWN",
            "303 hipFree\n303 hipFree\n",
        ),
        (
            "dropin-first",
            [&dropin, &prefixed],
            "-DOWN",
            "303 hipFree\n303 hipFreeHost\n",
        ),
        (
            "vendors-dropin",
            [&prefixed, &vendors],
            "-DVENDOR",
            "303 hipFree\n303 hipFree hipFreeHost\n",
        ),
        (
            "vendors-dropin-first",
            [&vendors, &prefixed],
            "-DVENDOR",
            "303 hipFree\n303 hipFree hipFreeHost\n",
        ),
    ] {
        let program = folder.join(name);
        let mut arguments = args([&define]);
        arguments.extend(order.map(OsString::from));
        arguments.push("-ldl".into());
        cc(&[&source("control.c")], &program, &arguments);
        assert_eq!(run(&mut fenced(&program, &[])), expected, "{name}");
    }
}
