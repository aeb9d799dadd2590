//! `hiplazy doctor` without a process: this machine.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::common::hiplazy;
use crate::common::shared::{self, text_of};
use crate::running::{built, file, json, library, rules, source};

/// The doctor on a machine that has only the runtimes below `allowed`.
fn doctor(allowed: Option<&Path>) -> Command {
    static FENCE: OnceLock<std::path::PathBuf> = OnceLock::new();
    let fence = FENCE.get_or_init(|| {
        let library = shared::scratch("machine_fence").join("fence.so");
        shared::cc(
            &[&source("fence.c")],
            &library,
            &["-shared", "-fPIC", "-ldl"],
        );
        library
    });
    let mut command = hiplazy();
    command.env("LD_PRELOAD", fence);
    command.env("FENCE_ALLOW", allowed.unwrap_or(Path::new("")));
    if let Some(allowed) = allowed {
        command.env("LD_LIBRARY_PATH", allowed);
    }
    command.arg("doctor");
    command
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_machine_without_a_runtime_is_no_error_and_the_search_is_shown() {
    let output = doctor(None).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    let text = out(&output);
    assert!(
        text.starts_with("There is no HIP runtime that hiplazy can use"),
        "{text}"
    );
    for major in [7, 6, 5] {
        assert!(
            text.contains(&format!(". ld.so: libamdhip64.so.{major}: ")),
            "{text}"
        );
    }
}

#[test]
fn the_runtime_that_would_be_bound_is_named_with_its_version() {
    let output = doctor(Some(&built().runtime))
        .arg("--json")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    let report = json(&output);
    let first = report["preface"][0].as_str().unwrap();
    assert!(
        first.contains("hiplazy would bind ") && first.contains("HIP 7.14"),
        "{first}"
    );
    assert_eq!(report["runtimes"][0]["soname"], "libamdhip64.so.7");
    assert_eq!(report["runtimes"][0]["scope"], "local");
}

/// Neither the file's name nor what it exports says more than the runtime itself does.
#[test]
fn the_version_is_the_one_that_the_runtime_tells() {
    let folder = shared::scratch("machine_version");
    // A runtime by all signs, with the functions of HIP 5.0 alone.
    let functions = hiplazy_abi::parse_functions(hiplazy_abi::FUNCTIONS_TXT).unwrap();
    let oldest = Some(hiplazy_abi::Version::new(5, 0));
    let old = functions.iter().filter(|function| {
        function.first == oldest
            && function.library == hiplazy_abi::Library::Hip
            && function.name != "hipRuntimeGetVersion"
    });
    let old: String = old
        .map(|function| format!("int {}(void) {{ return 0; }}\n", function.name))
        .collect();
    let version = "int hipRuntimeGetVersion(int *v) { *v = 70260850; return 0; }\n";
    let map = folder.join("map");
    fs::write(&map, "hip_4.2 { global: *hip*; local: *; };").unwrap();
    let arguments = [
        "-Wl,-soname,libamdhip64.so.7".to_string(),
        format!("-Wl,--version-script={}", map.display()),
    ];
    let text = format!("{old}{version}");
    let runtime = library(&folder, "libamdhip64.so.7", &text, &arguments);
    let mut command = doctor(Some(&folder));
    command.env("HIPLAZY_RUNTIME", runtime);
    let report = json(&command.arg("--json").output().unwrap());
    let first = report["preface"][0].as_str().unwrap();
    assert!(first.ends_with("HIP 7.2.60850"), "{first}");
    assert_eq!(report["runtimes"][0]["version"], "7.2.60850");
    assert_eq!(report["runtimes"][0]["at_least"], serde_json::Value::Null);
}

#[test]
fn a_chosen_runtime_that_cannot_be_used_is_a_warning() {
    let mut command = doctor(Some(&built().runtime));
    let output = command
        .env("HIPLAZY_RUNTIME", "/no/such.so")
        .arg("--json")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text_of(&output));
    assert_eq!(rules(&json(&output)), ["unusable-choice"]);
}

#[test]
fn a_runtime_that_ends_the_process_does_not_end_the_doctor() {
    let folder = shared::scratch("crashing");
    let text = "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }\nint hipRuntimeGetVersion(int *v) { return *v = 0; }\n";
    library(
        &folder,
        "libamdhip64.so.7",
        text,
        &["-Wl,-soname,libamdhip64.so.7".to_string()],
    );
    let output = doctor(Some(&folder)).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text_of(&output));
    let report = json(&output);
    assert_eq!(rules(&report), ["crashing-runtime"]);
    let detail = report["findings"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("signal 6"), "{detail}");
    assert_eq!(file(&report["findings"][0]["object"]), "libamdhip64.so.7");
}

/// The library that hangs is one that the runtime needs; before it, another one's
/// constructor returned.
#[test]
fn a_runtime_that_does_not_return_is_killed_and_the_library_is_named() {
    let folder = shared::scratch("hanging");
    let quick =
        "__attribute__((constructor)) static void start(void) {}\nint quick(void) { return 0; }\n";
    let hanging = "#include <unistd.h>\n__attribute__((constructor)) static void start(void) { for (;;) pause(); }\nint hanging(void) { return 0; }\n";
    library(&folder, "libquick.so", quick, &[]);
    library(&folder, "libhanging.so", hanging, &[]);
    let arguments = [
        "-Wl,-soname,libamdhip64.so.7".to_string(),
        "-Wl,-rpath,$ORIGIN".to_string(),
        "-Wl,--no-as-needed".to_string(),
        format!("-L{}", folder.display()),
        "-l:libquick.so".to_string(),
        "-l:libhanging.so".to_string(),
    ];
    let text = "int hipRuntimeGetVersion(int *v) { return *v = 0; }\n";
    library(&folder, "libamdhip64.so.7", text, &arguments);
    let doctor = |seconds: u32, more: &[&str]| {
        let mut command = doctor(Some(&folder));
        command.args(["--json", "--timeout", &seconds.to_string()]);
        let output = command.args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", text_of(&output));
        output
    };
    // On a machine with much to do, the constructor may not have been reached by then.
    let mut seconds = 2;
    let output = loop {
        let output = doctor(seconds, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("libhanging.so") || seconds > 60 {
            break output;
        }
        seconds *= 2;
    };
    let report = json(&output);
    assert_eq!(rules(&report), ["hanging-runtime"]);
    let finding = &report["findings"][0];
    assert_eq!(file(&finding["object"]), "libhanging.so");
    let detail = finding["detail"].as_str().unwrap();
    let within = format!("within {seconds} seconds");
    assert!(detail.contains(&within), "{detail}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("waiting for the constructor of ") && said.contains("libhanging.so"),
        "{said}"
    );
    assert!(doctor(2, &["--quiet"]).stderr.is_empty());
}

#[test]
fn headers_of_another_major_are_mentioned_with_what_differs() {
    let rocm = shared::scratch("rocm_headers");
    fs::create_dir_all(rocm.join("include/hip")).unwrap();
    let text = "#define HIP_VERSION_MAJOR 5\n#define HIP_VERSION_MINOR 7\n";
    fs::write(rocm.join("include/hip/hip_version.h"), text).unwrap();
    let mut command = doctor(Some(&built().runtime));
    let text = out(&command.env("ROCM_PATH", &rocm).output().unwrap());
    assert!(
        text.contains("HIP 5.7, and the runtime is HIP 7.14"),
        "{text}"
    );
}

/// A stub under the runtime's name, or named by `HIPLAZY_RUNTIME`, is loaded like one, and
/// is an exporter all the same.
#[test]
fn a_stub_in_the_runtimes_place_is_an_exporter() {
    let folder = shared::scratch("machine_stub");
    let text = "int hipInit(unsigned flags) { return (int)flags; }\n\
                int hipRuntimeGetVersion(int *version) { return *version = 0; }\n";
    let soname = "-Wl,-soname,libamdhip64.so.7".to_string();
    let disguised = library(&folder, "libamdhip64.so.7", text, &[soname]);
    let open = library(&folder, "libmine.so", text, &[]);
    let mut found = doctor(Some(&folder));
    let mut named = doctor(Some(&folder));
    named.env("HIPLAZY_RUNTIME", &disguised);
    let mut refused = doctor(Some(&folder));
    refused.env("HIPLAZY_RUNTIME", &open);
    for (command, stub, rule) in [
        (&mut found, &disguised, "disguised-runtime"),
        (&mut named, &disguised, "disguised-runtime"),
        (&mut refused, &open, "unusable-choice"),
    ] {
        let report = json(&command.arg("--json").output().unwrap());
        let exporters = report["exporters"].as_array().unwrap();
        assert_eq!(exporters.len(), 1, "{report:#}");
        let path = fs::canonicalize(exporters[0]["path"].as_str().unwrap()).unwrap();
        assert_eq!(path, fs::canonicalize(stub).unwrap());
        let names = serde_json::json!(["hipInit", "hipRuntimeGetVersion"]);
        assert_eq!(exporters[0]["exported"], names);
        assert_eq!(report["runtimes"], serde_json::json!([]));
        assert!(rules(&report).contains(&rule.to_string()), "{rule}");
    }
}
