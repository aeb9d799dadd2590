//! HIP's own headers, for machines without ROCm.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{run, scratch, text_of};
use crate::setup::{
    Compiler, Headers, command, compilers, include, needed, ours, output, real, real_named, source,
};

/// C99 and C++11 clean, pedantically, alone and in any order.
#[test]
fn the_headers_are_clean_in_every_standard() {
    let folder = scratch("c-headers-standards");
    let mut texts = vec![
        "#include <hip/hip_runtime.h>\n#include <hip/hiprtc.h>\n#include <hsa/hsa.h>\n".to_string(),
        "#include <hsa/hsa.h>\n#include <hip/hiprtc.h>\n#include <hiplazy/dispatch.h>\n"
            .to_string(),
    ];
    texts.extend(
        ["hip/hip_version.h", "hip/hip_runtime_api.h", "hsa/hsa.h"]
            .map(|name| format!("#include <{name}>\n#include <{name}>\n")),
    );
    let c = ["c99", "c11", "c17", "gnu17"];
    let cxx = ["c++11", "c++14", "c++17", "c++20"];
    for (number, text) in texts.iter().enumerate() {
        for (ending, standards, own) in [
            ("c", c, &["-Wstrict-prototypes"][..]),
            (
                "cpp",
                cxx,
                &["-Wold-style-cast", "-Wzero-as-null-pointer-constant"],
            ),
        ] {
            let file = folder.join(format!("all-{number}.{ending}"));
            fs::write(&file, format!("{text}extern int more;\n")).unwrap();
            for compiler in compilers() {
                for standard in standards {
                    run(command(compiler, &ours(), &file)
                        .args([
                            "-fsyntax-only",
                            &format!("-std={standard}"),
                            "-pedantic",
                            "-Wall",
                            "-Wextra",
                            "-Wshadow",
                            "-Wundef",
                            "-Wcast-qual",
                            "-Wconversion",
                            "-Werror",
                        ])
                        .args(own));
                }
            }
        }
    }
}

/// As in AMD's headers: C++17 is warned of an error code that is dropped, and a macro turns
/// the overloads off that C++ callers of the C functions would trip over.
#[test]
fn error_codes_are_not_dropped_and_overloads_can_be_turned_off() {
    let folder = scratch("c-headers-attributes");
    let dropped = folder.join("dropped.cpp");
    let include = "#include <hip/hip_runtime_api.h>\n";
    fs::write(&dropped, format!("{include}void f() {{ hipInit(0); }}\n")).unwrap();
    let typed = folder.join("typed.cpp");
    let text = "hipError_t f(float **p) { return hipMalloc(p, 8); }\n";
    fs::write(&typed, format!("{include}{text}")).unwrap();
    let mut all = real_named(&["headers-7.1"]);
    all.push(ours());
    for headers in &all {
        for compiler in compilers() {
            for (file, flags, is_good) in [
                (&dropped, "-std=c++14", true),
                (&dropped, "-std=c++17", false),
                (&typed, "-std=c++17", true),
                (&typed, "-D__HIP_DISABLE_CPP_FUNCTIONS__", false),
            ] {
                let mut command = command(compiler, headers, file);
                let output =
                    output(command.args(["-fsyntax-only", "-Werror=unused-result", flags]));
                let said = text_of(&output);
                assert_eq!(output.status.success(), is_good, "{flags}: {said}");
                if !is_good {
                    let words = ["nodiscard", "float**", "float **"];
                    assert!(words.iter().any(|word| said.contains(word)), "{said}");
                }
            }
        }
    }
}

/// Every macro of AMD's headers that is no number is here, with the same replacement.
/// (Numbers are compared as constants, with the types.)
#[test]
fn macros_are_those_of_the_real_headers() {
    let folder = scratch("c-headers-macros");
    let file = folder.join("macros.c");
    let macros = |headers: &Headers, with_hiprtc: bool, flags: &[&str]| {
        let hiprtc = if with_hiprtc {
            "#include <hip/hiprtc.h>\n"
        } else {
            ""
        };
        fs::write(&file, format!("#include <hip/hip_runtime_api.h>\n{hiprtc}")).unwrap();
        let mut command = command(&compilers()[0], headers, &file);
        let text = run(command.args(["-dM", "-E"]).args(flags));
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("#define "));
        let pairs = lines.map(|line| line.split_once(' ').unwrap_or((line, "")));
        let pairs = pairs.filter(|(name, _)| name.starts_with("hip") || name.starts_with("HIP"));
        let pairs = pairs.map(|(name, value)| (name.to_string(), value.replace(' ', "")));
        pairs.collect::<BTreeMap<String, String>>()
    };
    let of_7 = real_named(&["headers-7.1", "headers-7.2"]);
    for (real, flags) in of_7.iter().flat_map(|real| {
        let per_thread = &["-DHIP_API_PER_THREAD_DEFAULT_STREAM"][..];
        [(real, &[][..]), (real, per_thread)]
    }) {
        // Some packages have HIP alone.
        let with_hiprtc = real.folder.join("hip/hiprtc.h").is_file();
        let ours = macros(&ours(), with_hiprtc, flags);
        let mut compared = 0;
        for (name, value) in macros(real, with_hiprtc, flags) {
            // Marks of files, and what serves those headers themselves.
            let is_internal = [
                "HIP_INCLUDE_",
                "HIP_DEPRECATED",
                "HIP_VERSION_",
                "HIPRTC_DEPRECATED",
            ]
            .iter()
            .any(|start| name.starts_with(start))
                || name.ends_with("_API");
            if is_internal {
                continue;
            }
            let here = ours.get(&name);
            let here = here.unwrap_or_else(|| panic!("{name} is missing"));
            // How those headers append _spt.
            let base = value.strip_prefix("__HIP_API_SPT(");
            let base = base.and_then(|base| base.strip_suffix(')'));
            let value = base.map_or(value.clone(), |base| format!("{base}_spt"));
            if !here.starts_with(|c: char| c.is_ascii_digit()) {
                assert_eq!(*here, value, "{name}");
            }
            compared += 1;
        }
        assert!(compared > 110, "{compared} macros");
    }
}

/// AMD's headers win where they come first, and never mix with ours.
#[test]
fn mixing_with_the_real_headers_is_a_clear_error() {
    let folder = scratch("c-headers-mixing");
    for real in real() {
        let of = |headers: &Headers| {
            format!(
                "#include \"{}/hip/hip_runtime_api.h\"\n",
                headers.folder.display()
            )
        };
        let cases = [
            (
                &real,
                of(&real) + &of(&ours()),
                "must not be mixed with hiplazy's",
            ),
            (
                &ours(),
                of(&ours()) + &of(&real),
                "headers and hiplazy's are mixed",
            ),
            (
                &real,
                of(&ours()) + &of(&real),
                "HIP_INCLUDE_HIP_HIP_COMMON_H",
            ),
        ];
        for (number, (path, text, expected)) in cases.into_iter().enumerate() {
            for ending in ["c", "cpp"] {
                let file = folder.join(format!("{}-{number}.{ending}", real.name));
                fs::write(&file, &text).unwrap();
                for compiler in compilers() {
                    let output = output(command(compiler, path, &file).arg("-fsyntax-only"));
                    let said = text_of(&output);
                    assert!(!output.status.success(), "{}: {text}", compiler.c);
                    let first = said.lines().find(|line| line.contains("error: "));
                    assert!(said.contains(expected), "{}: {first:?}", compiler.c);
                }
            }
        }
    }
}

/// Compiles with AMD's headers in `folder`, ours behind them as the targets put them.
fn behind(compiler: &Compiler, folder: &Path, file: &Path) -> Command {
    let mut command = Command::new(compiler.of(file));
    command.args([
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-D__HIP_PLATFORM_AMD__",
    ]);
    command
        .arg("-include")
        .arg(include().join("hiplazy/redirect.h"));
    command.arg("-isystem").arg(folder);
    command.arg("-idirafter").arg(ours().folder).arg(file);
    command
}

/// Triton's wheel of HIP 7.1 has all of AMD's headers but hiprtc.h.
#[test]
fn our_hiprtc_goes_with_real_headers_that_have_none() {
    let found = real();
    let Some(real) = found.iter().find(|real| real.name == "headers-7.1") else {
        return;
    };
    assert!(!real.folder.join("hip/hiprtc.h").exists());
    let folder = scratch("c-headers-hiprtc");
    let object = folder.join("hiprtc.o");
    let api = "#include <hip/hip_runtime_api.h>\n";
    let rtc = "#include <hip/hiprtc.h>\n";
    for includes in [
        rtc.to_string(),
        [api, rtc].concat(),
        [rtc, api, rtc].concat(),
    ] {
        for ending in ["c", "cpp"] {
            let file = folder.join(format!("hiprtc.{ending}"));
            let body = "int user(hiprtcProgram program, hiprtcLinkState state);\n\
                        int user(hiprtcProgram program, hiprtcLinkState state) {\n\
                        hiprtcJIT_option option = HIPRTC_JIT_IR_TO_ISA_OPT_EXT;\n\
                        return hiprtcCompileProgram(program, 0, 0) + hiprtcLinkDestroy(state) +\n\
                        (int)hipInit(0) + (int)option + (HIP_VERSION_MINOR == 1 ? 0 : 1);\n}\n";
            fs::write(&file, format!("{includes}{body}")).unwrap();
            for compiler in compilers() {
                run(behind(compiler, &real.folder, &file)
                    .args(["-c", "-o"])
                    .arg(&object));
                let expected = [
                    "hiplazy_hipInit",
                    "hiplazy_hiprtcCompileProgram",
                    "hiplazy_hiprtcLinkDestroy",
                ];
                assert_eq!(needed(&object), expected.map(str::to_string).into());
            }
        }
    }
}

/// Before 6.4 AMD's headers lack a type, and what helps is said.
#[test]
fn our_hiprtc_refuses_older_headers_that_have_none() {
    let found = real();
    let Some(real) = found.iter().find(|real| real.name == "headers-6.2") else {
        return;
    };
    let folder = scratch("c-headers-hiprtc-old");
    let without = folder.join("include");
    run(Command::new("cp").arg("-as").args([&real.folder, &without]));
    fs::remove_file(without.join("hip/hiprtc.h")).unwrap();
    let file = folder.join("hiprtc.c");
    fs::write(&file, "#include <hip/hiprtc.h>\nextern int more;\n").unwrap();
    for compiler in compilers() {
        let output = output(behind(compiler, &without, &file).arg("-fsyntax-only"));
        assert!(!output.status.success());
        let text = text_of(&output);
        assert!(text.contains("HIP 6.4 or newer"), "{text}");
    }
}

#[test]
fn device_code_and_nvidia_are_told_what_to_do() {
    for (define, expected) in [
        ("-D__HIP__", "device code needs ROCm's own"),
        ("-D__HIP_PLATFORM_NVIDIA__", "are for AMD's runtime"),
    ] {
        for compiler in compilers() {
            let mut command = command(compiler, &ours(), &source("calls.c"));
            let output = output(command.args(["-fsyntax-only", define]));
            assert!(!output.status.success());
            assert!(text_of(&output).contains(expected), "{}", text_of(&output));
        }
    }
}
