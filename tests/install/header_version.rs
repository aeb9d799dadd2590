//! Whose HIP headers: the record that a consumer is compiled with.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fakehip::{Library, Version};

use crate::artefact::{self, exports_only};
use crate::common::{self, cc, run, scratch};
use crate::installed::hiplazy;
use crate::linkers::linkers;
use crate::{args, source};

/// A folder of HIP headers of a version, as far as `header_version.c` reads them.
pub(crate) fn hip_headers(folder: &Path, version: i32) -> PathBuf {
    let include = folder.join(format!("include-{version}"));
    fs::create_dir_all(include.join("hip")).unwrap();
    let text = format!(
        "#define HIP_VERSION_MAJOR {}\n#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + {})\n",
        version / 10_000_000,
        version % 10_000_000
    );
    fs::write(include.join("hip/hip_version.h"), text).unwrap();
    include
}

/// Two libraries of one process, compiled with HIP 6 and HIP 7 headers, or without the
/// record, however they link hiplazy.
#[test]
fn each_consumer_has_its_own_header_version() {
    let folder = scratch("install-header-version");
    let share = hiplazy().join("share/hiplazy");
    let lib = hiplazy().join("lib");
    let versions = [60_443_484, 71_460_850];
    for (link, library) in [
        ("static", lib.join("libhiplazy.a")),
        ("dropin", lib.join("libhiplazy_dropin.a")),
        ("shared", lib.join("libhiplazy.so.1")),
    ] {
        for (record, answer) in [
            (Some("header_version.c"), versions),
            (Some("header_version.cpp"), versions),
            (None, [0, 0]),
        ] {
            let program = folder.join(format!("{link}-{}", record.unwrap_or("none")));
            let mut consumers = Vec::new();
            for (name, version) in ["asked_first", "asked_second"].into_iter().zip(versions) {
                let headers = hip_headers(&folder, version);
                // As other people's build systems do it: objects first, then the link.
                let mut arguments = args([&"-shared", &"-fPIC", &"-Wl,-z,defs"]);
                if let Some(record) = record {
                    let object = folder.join(format!("{record}-{version}.o"));
                    let file = share.join(record);
                    cc(
                        &[file.to_str().unwrap()],
                        &object,
                        &args([&"-c", &"-fPIC", &"-pedantic", &"-I", &headers]),
                    );
                    // Twice, as when several parts of a library link hiplazy.
                    arguments.push(object.clone().into());
                    let second = object.with_extension("again.o");
                    fs::copy(&object, &second).unwrap();
                    arguments.push(second.into());
                }
                arguments.push(format!("-DASKED={name}").into());
                let rpath = format!("-Wl,-rpath,{}", lib.display());
                arguments.extend(args([&library, &rpath]));
                let consumer =
                    folder.join(format!("{link}-{}-{name}.so", record.unwrap_or("none")));
                cc(&[&source("asked.c")], &consumer, &arguments);
                assert_eq!(exports_only(&consumer, &[name]), Ok(()));
                consumers.push(consumer);
            }
            let rpath = format!("-Wl,-rpath,{}", folder.display());
            let arguments = args([&consumers[0], &consumers[1], &rpath]);
            cc(&[&source("asking.c")], &program, &arguments);
            let said = run(&mut common::fenced(&program, &[]));
            assert_eq!(
                said,
                format!("{} {}\n", answer[0], answer[1]),
                "{link} {record:?}"
            );
        }
    }
}

/// The version in the consumer's record decides which of several installed majors is
/// taken.
#[test]
fn the_recorded_major_is_preferred() {
    let folder = scratch("install-preferred");
    let runtimes = folder.join("runtimes");
    fakehip::build(
        &runtimes,
        &[Library::hip(Version::V6_4_3), Library::hip(Version::V7_14)],
    )
    .unwrap();
    let record = hiplazy().join("share/hiplazy/header_version.c");
    let archive = hiplazy().join("lib/libhiplazy.a");
    let names = artefact::entries();
    let index = names
        .iter()
        .position(|name| name == "hipRuntimeGetVersion")
        .unwrap();
    for (version, expected) in [
        (60_443_484, Version::V6_4_3.runtime_version()),
        (71_460_850, Version::V7_14.runtime_version()),
    ] {
        let headers = hip_headers(&folder, version);
        let program = folder.join(format!("prefers-{version}"));
        let index = format!("-DINDEX={index}");
        let arguments = args([
            &record,
            &"-I",
            &headers,
            &index,
            &"-DSLOTS=hiplazy_slots",
            &archive,
        ]);
        cc(&[&source("slots.c")], &program, &arguments);
        let said = run(common::fenced(&program, &[&runtimes]).env("LD_LIBRARY_PATH", &runtimes));
        assert_eq!(said, format!("0 {expected} 0 {expected}\n"));
    }
}

/// The record is in a static library, from which the linker takes what somebody asks for:
/// the flags ask.
#[test]
fn a_record_in_a_static_library_is_found_with_pkg_config() {
    let test = "a_record_in_a_static_library_is_found_with_pkg_config";
    let asked = Command::new("pkg-config").arg("--version").output();
    if asked.is_err() {
        common::skip(test, "there is no pkg-config");
        return;
    }
    let folder = scratch("install-static-library");
    let (runtimes, expected) = two_majors(&folder);
    let headers = hip_headers(&folder, 60_443_484);
    // pkg-config cannot pass a folder's blank on.
    let tree = folder.join("tree");
    run(Command::new("cp").arg("-a").arg(hiplazy()).arg(&tree));
    for (package, name) in [
        ("hiplazy-static", "hiplazy_hipRuntimeGetVersion"),
        ("hiplazy-dropin", "hipRuntimeGetVersion"),
    ] {
        let objects = [("core.c", "core.o"), ("", "record.o")].map(|(file, object)| {
            let object = folder.join(object);
            let file = if file.is_empty() {
                tree.join("share/hiplazy/header_version.c")
            } else {
                source(file).into()
            };
            let rename = format!("-DhipRuntimeGetVersion={name}");
            let arguments = args([&"-c", &"-fPIC", &"-I", &headers, &rename]);
            cc(&[file.to_str().unwrap()], &object, &arguments);
            object
        });
        let core = folder.join(format!("lib{package}-core.a"));
        run(Command::new("ar").arg("rcs").arg(&core).args(objects));
        let libs = run(Command::new("pkg-config")
            .args(["--libs", package])
            .env("PKG_CONFIG_PATH", tree.join("lib/pkgconfig")));
        for choice in linkers(test) {
            let program = folder.join(format!("{package}{choice}"));
            let mut arguments = args([&choice, &core]);
            arguments.extend(libs.split_whitespace().map(OsString::from));
            cc(&[&source("core_main.c")], &program, &arguments);
            let mut command = common::fenced(&program, &[&runtimes]);
            let said = run(command.env("LD_LIBRARY_PATH", &runtimes));
            assert_eq!(said, expected, "{package} {choice}");
            // And nobody minds where there is no record, in a program or a library.
            for kind in ["-pie", "-shared"] {
                let mut arguments = args([&choice, &kind, &"-fPIC", &"-Wl,--fatal-warnings"]);
                arguments.push(folder.join("core.o").into());
                arguments.extend(args([&"-Wl,-z,defs"]));
                arguments.extend(libs.split_whitespace().map(OsString::from));
                let output = folder.join("without");
                cc(&[&source("core_main.c")], &output, &arguments);
                if kind == "-pie" {
                    let mut command = common::fenced(&output, &[&runtimes]);
                    let said = run(command.env("LD_LIBRARY_PATH", &runtimes));
                    let newest = Version::V7_14.runtime_version();
                    assert_eq!(said, format!("{newest}\n"), "{package} {choice}");
                } else {
                    let exports = common::exports(&output);
                    assert!(
                        !exports.iter().any(|name| name.contains("hip")),
                        "{exports:?}"
                    );
                }
            }
        }
    }
}

/// A folder with HIP 6 and 7, and what a consumer says that prefers HIP 6.
pub(crate) fn two_majors(folder: &Path) -> (PathBuf, String) {
    let runtimes = folder.join("runtimes");
    let majors = [Library::hip(Version::V6_4_3), Library::hip(Version::V7_14)];
    fakehip::build(&runtimes, &majors).unwrap();
    let expected = format!("{}\n", Version::V6_4_3.runtime_version());
    (runtimes, expected)
}

/// Linkers differ in what they make of a hidden weak symbol that nobody defines.
#[test]
fn without_a_record_the_answer_is_0_with_every_linker() {
    let folder = scratch("install-linkers");
    let asking = folder.join("asking.c");
    let text =
        "#include <hiplazy/hiplazy.h>\nint main(void) { return hiplazy_header_version(); }\n";
    fs::write(&asking, text).unwrap();
    for choice in linkers("without_a_record_the_answer_is_0_with_every_linker") {
        for kind in ["-pie", "-no-pie"] {
            let program = folder.join(format!("program{choice}{kind}"));
            let archive = hiplazy().join("lib/libhiplazy.a");
            cc(&[], &program, &args([&choice, &kind, &asking, &archive]));
            run(&mut common::fenced(&program, &[]));
        }
    }
}
