//! Runtimes that write, end the process or start others while they are loaded: `hiplazy
//! doctor` answers all the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::common::hiplazy;
use crate::common::shared::{self, text_of};
use crate::running::{file, json, library, rules};
use serde_json::Value;

/// The folder of a runtime of HIP 7.0 that does this when it is loaded.
fn runtime(name: &str, constructor: &str) -> PathBuf {
    let folder = shared::scratch(name);
    let names: String = (0..120)
        .map(|number| format!("int hipFill{number}(void) {{ return 0; }}\n"))
        .collect();
    let text = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         __attribute__((constructor)) static void start(void) {{ {constructor} }}\n\
         int hipInit(unsigned flags) {{ return (int)flags; }}\n{names}\
         int hipRuntimeGetVersion(int *version) {{ *version = 70000007; return 0; }}\n\
         int hipGetDeviceCount(int *count) {{ *count = 0; return 100; }}\n"
    );
    let soname = "-Wl,-soname,libamdhip64.so.7".to_string();
    library(&folder, "libamdhip64.so.7", &text, &[soname]);
    folder
}

fn doctor(folder: &Path) -> std::process::Command {
    let mut command = hiplazy();
    let runtime = folder.join("libamdhip64.so.7");
    command.args(["doctor", "--json"]);
    command.env("HIPLAZY_RUNTIME", runtime);
    command
}

#[track_caller]
fn first_line(report: &Value) -> &str {
    report["preface"][0].as_str().unwrap()
}

/// The answer is not on the runtime's own output, and not mixed with it.
#[test]
fn what_a_runtime_prints_does_not_hide_the_answer() {
    let flood = "for (int i = 0; i < 2000000; i++) puts(\"of no interest to anybody at all\");";
    for (name, constructor) in [
        (
            "noisy_half",
            "printf(\"half a line\"); fflush(stdout); fprintf(stderr, \"and half\");",
        ),
        ("noisy_flood", flood),
        ("noisy_error", &flood.replace("puts(", "fprintf(stderr, ")),
        (
            "noisy_closed",
            "for (int i = 0; i < 100; i++) if (i != 2) close(i);",
        ),
    ] {
        let output = doctor(&runtime(name, constructor)).output().unwrap();
        let report = json(&output);
        let line = first_line(&report);
        assert!(line.contains("hiplazy would bind"), "{name}: {line}");
        assert!(
            !rules(&report)
                .iter()
                .any(|rule| rule.ends_with("ing-runtime")),
            "{name}: {report:#}"
        );
        let search = report["preface"].to_string();
        assert!(search.contains("bound HIP runtime"), "{name}: {search}");
    }
}

/// What it writes without an end is read, so that it hangs by itself, and is not kept.
#[test]
fn an_endless_output_takes_no_memory() {
    let folder = runtime(
        "noisy_endless",
        "static char text[65536]; for (;;) { write(1, text, 65536); write(2, text, 65536); }",
    );
    let out = fs::File::create(folder.join("out")).unwrap();
    let mut command = doctor(&folder);
    command.args(["--timeout", "4"]).stdout(out);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let most = format!("/proc/{}/status", child.id());
    // In KiB; a process that has ended has no such line.
    let peak = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
    };
    let mut memory: u64 = 0;
    let status = loop {
        let now = fs::read_to_string(&most).ok().and_then(peak);
        memory = memory.max(now.unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(2));
    let text = fs::read_to_string(folder.join("out")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(rules(&report), ["hanging-runtime"]);
    let object = file(&report["findings"][0]["object"]);
    assert_eq!(object, "libamdhip64.so.7");
    assert!((1..200 * 1024).contains(&memory), "{memory} KiB");
}

/// `exit` runs destructors, which ld.so reports after the constructor.
#[test]
fn a_runtime_that_exits_is_named() {
    for (name, constructor) in [("noisy_exit", "exit(0);"), ("noisy_quick", "_exit(0);")] {
        let output = doctor(&runtime(name, constructor)).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", text_of(&output));
        let report = json(&output);
        assert_eq!(rules(&report), ["crashing-runtime"]);
        let finding = &report["findings"][0];
        assert_eq!(file(&finding["object"]), "libamdhip64.so.7", "{name}");
        let detail = finding["detail"].as_str().unwrap();
        assert!(detail.contains("in its constructor"), "{name}: {detail}");
    }
}

/// What it started lives on and has every descriptor; the process itself has ended.
#[test]
fn a_process_that_the_runtime_left_behind_is_not_waited_for() {
    let constructor = "if (fork() == 0) { sleep(30); fclose(fopen(getenv(\"MARK\"), \"w\")); _exit(0); } abort();";
    let folder = runtime("noisy_fork", constructor);
    let mark = folder.join("it has ended");
    let mut doctor = doctor(&folder);
    doctor.args(["--timeout", "120"]).env("MARK", &mark);
    let output = doctor.output().unwrap();
    assert!(!mark.exists(), "{}", text_of(&output));
    let report = json(&output);
    assert_eq!(rules(&report), ["crashing-runtime"]);
    let detail = report["findings"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("signal 6"), "{detail}");
}
