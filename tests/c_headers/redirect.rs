//! `redirect.h`: unmodified sources call hiplazy's wrappers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use hiplazy_abi::Version;
use xtask::c_headers::{HeaderOptions, write};

use crate::common::{run, scratch, text_of};
use crate::setup::{
    command, compilers, include, manifest, needed, ours, output, real, source, table,
};

/// With `-include redirect.h` an unmodified source needs prefixed names and no other,
/// whatever the HIP header does with macros, inline functions and overloads.
#[test]
fn unmodified_sources_need_prefixed_names_only() {
    let folder = scratch("c-headers-redirect");
    let mut all = real();
    all.push(ours());
    for headers in &all {
        for compiler in compilers() {
            for name in ["calls.c", "calls.cpp", "calls_7.cpp"] {
                if name == "calls_7.cpp" && headers.version < Version::new(7, 0) {
                    continue;
                }
                let object = folder.join("calls.o");
                let compile = |flags: &[&str]| {
                    let mut command = command(compiler, headers, &source(name));
                    command
                        .arg("-include")
                        .arg(include().join("hiplazy/redirect.h"));
                    command.args(["-c", "-Wall", "-Werror", "-o"]).arg(&object);
                    run(command.args(flags));
                    needed(&object)
                };
                let names = compile(&[]);
                for name in &names {
                    assert!(name.starts_with("hiplazy_"), "{name} with {}", headers.name);
                }
                assert!(names.len() > 2);
                if name == "calls_7.cpp" {
                    assert!(names.contains("hiplazy_hipLaunchKernelExC"));
                    let is_newer = headers.version >= Version::new(7, 2);
                    let left = "hiplazy_hipOccupancyAvailableDynamicSMemPerBlock";
                    assert_eq!(names.contains(left), is_newer, "{names:?}");
                    continue;
                }
                let properties = if headers.version < Version::new(6, 0) {
                    "hiplazy_hipGetDeviceProperties"
                } else {
                    "hiplazy_hipGetDevicePropertiesR0600"
                };
                assert!(names.contains(properties), "{} {names:?}", headers.name);
                if name == "calls.cpp" && headers.version < Version::new(7, 0) {
                    // Those headers' names for one stream per thread have no defaults.
                    continue;
                }
                let names = compile(&["-DHIP_API_PER_THREAD_DEFAULT_STREAM"]);
                for name in [
                    "hipMemcpy_spt",
                    "hipMemcpyAsync_spt",
                    "hipStreamWaitEvent_spt",
                ] {
                    assert!(
                        names.contains(&format!("hiplazy_{name}")),
                        "{name} {names:?}"
                    );
                }
                assert!(
                    names.iter().all(|name| name.starts_with("hiplazy_")),
                    "{names:?}"
                );
            }
        }
    }
}

/// HIP 7.16's inline functions go to what they call, by either header.
#[test]
fn inline_functions_reach_the_new_names() {
    let folder = scratch("c-headers-inline");
    let text = fs::read_to_string(source("inline_names.c")).unwrap();
    for name in ["inline.c", "inline.cpp"] {
        let file = folder.join(name);
        fs::write(&file, &text).unwrap();
        for compiler in compilers() {
            let object = folder.join("inline.o");
            let compile = |flags: &[&str]| {
                let mut command = Command::new(compiler.of(&file));
                command
                    .arg("-include")
                    .arg(include().join("hiplazy/redirect.h"));
                command
                    .arg("-I")
                    .arg(include())
                    .args(["-O2", "-Wall", "-Werror", "-c", "-o"]);
                command.arg(&object).arg(&file).args(flags);
                output(&mut command)
            };
            let compiled = compile(&[]);
            assert!(compiled.status.success(), "{}", text_of(&compiled));
            let expected = [
                "hiplazy_hipGetDevicePropertiesR0600".to_string(),
                "hiplazy_hipMemAdvise_v2".to_string(),
                table(),
            ];
            assert_eq!(needed(&object), expected.into());
            let refused = compile(&["-DADVISE"]);
            assert!(
                !refused.status.success(),
                "a call with arguments of another function"
            );
        }
    }
}

/// Methods, locals and statics that have a name of HIP's keep it, and no compiler warns.
#[test]
fn other_things_of_the_same_names_stay_as_they_are() {
    let folder = scratch("c-headers-same-names");
    for name in ["same_names.c", "same_names.cpp"] {
        let file = source(name);
        for compiler in compilers() {
            let object = folder.join("same_names.o");
            let mut command = Command::new(compiler.of(&file));
            command
                .arg("-include")
                .arg(include().join("hiplazy/redirect.h"));
            run(command
                .args(["-Wall", "-Wextra", "-Werror", "-c", "-o"])
                .args([&object, &file]));
            assert_eq!(needed(&object), ["hiplazy_hipFree".to_string()].into());
        }
    }
}

/// The compiler would take the first one's names without a word.
#[test]
fn two_packages_in_one_translation_unit_are_an_error_that_names_both() {
    let folder = scratch("c-headers-two-packages");
    let options = HeaderOptions {
        prefix: "tl_".to_string(),
        folder: "tl_hip".to_string(),
    };
    write(&folder, &options).unwrap();
    let [own, vendor] = [
        include().join("hiplazy/redirect.h"),
        folder.join("tl_hip/redirect.h"),
    ];
    let file = source("same_names.c");
    for compiler in compilers() {
        let compile = |first: &Path, second: &Path| {
            let mut command = Command::new(compiler.c);
            command.arg("-include").arg(first);
            command.arg("-include").arg(second);
            output(command.args(["-Werror", "-fsyntax-only"]).arg(&file))
        };
        for (first, second, names) in [
            (&own, &vendor, ["hiplazy/redirect.h", "tl_hip/redirect.h"]),
            (&vendor, &own, ["tl_hip/redirect.h", "hiplazy/redirect.h"]),
        ] {
            let output = compile(first, second);
            assert!(!output.status.success(), "{}", compiler.c);
            let text = text_of(&output);
            let already = format!("redirected already, by {}", names[0]);
            let refused = format!("{} and the redirect.h that", names[1]);
            assert!(text.contains(&already) && text.contains(&refused), "{text}");
        }
        // The same one twice, as when two targets bring it.
        let twice = compile(&own, &own);
        assert!(twice.status.success(), "{}", text_of(&twice));
    }
}

/// Every function of the manifest is renamed, not only those that the sources call.
#[test]
fn every_function_is_renamed() {
    let folder = scratch("c-headers-redirect-all");
    for (name, language) in [("all.c", ""), ("all.cpp", "extern \"C\" ")] {
        let mut text = String::new();
        for function in manifest() {
            text += &format!("{language}void {}(void);\n", function.name);
        }
        text += "void all(void) {\n";
        for function in manifest() {
            text += &format!("  {}();\n", function.name);
        }
        let file = folder.join(name);
        fs::write(&file, text + "}\n").unwrap();
        let expected = manifest().into_iter();
        let expected: BTreeSet<String> = expected
            .map(|function| format!("hiplazy_{}", function.name))
            .collect();
        for compiler in compilers() {
            let object = folder.join("all.o");
            let mut command = Command::new(compiler.of(&file));
            command
                .arg("-include")
                .arg(include().join("hiplazy/redirect.h"));
            run(command
                .args(["-Wall", "-Werror", "-c", "-o"])
                .args([&object, &file]));
            assert_eq!(needed(&object), expected);
        }
    }
}

/// A compiler without the pragma is sent to the drop-in archive, and a header that
/// comes too late is an error.
#[test]
fn what_cannot_be_redirected_is_a_clear_error() {
    let folder = scratch("c-headers-redirect-errors");
    let late = folder.join("late.c");
    fs::write(
        &late,
        "#include <hip/hip_runtime_api.h>\n#include <hiplazy/redirect.h>\n",
    )
    .unwrap();
    let other = folder.join("other.c");
    fs::write(&other, "#include <hiplazy/redirect.h>\n").unwrap();
    for compiler in compilers() {
        let cases = [
            (&late, &["-Wall"][..], "must come before HIP's headers"),
            (
                &other,
                &["-U__GNUC__", "-U__clang__"][..],
                "libhiplazy_dropin.a",
            ),
            (&other, &["-D_MSC_VER=1940"][..], "hiplazy::dropin"),
        ];
        for (file, flags, expected) in cases {
            let mut command = command(compiler, &ours(), file);
            let output = output(command.args(flags).arg("-fsyntax-only"));
            assert!(!output.status.success());
            assert!(text_of(&output).contains(expected), "{}", text_of(&output));
        }
    }
}
