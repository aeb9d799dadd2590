//! `hiplazy run` and `hiplazy log`: ld.so's own account.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use xtask::fetch;

use crate::common::hiplazy;
use crate::common::shared::{self, Fetched, text_of, there};
use crate::running::{Waiting, binding, built, driver, json, rules};

const PROPERTIES: &str = "hipGetDevicePropertiesR0600";

fn stub() -> Option<PathBuf> {
    static FETCHED: Fetched = Fetched::new();
    let folder = there(
        "TileLang's stub under run",
        &FETCHED,
        fetch::tilelang_0_1_10,
    )?;
    Some(folder.join("libhip_stub.so"))
}

/// The driver's words for a client that calls, with the stub global or not there.
fn words(stub: Option<&Path>) -> Vec<String> {
    let client = built().folder.join("client.so").display().to_string();
    let mut words = Vec::new();
    if let Some(stub) = stub {
        words.extend(["open", "stub", stub.to_str().unwrap(), "now,global"].map(String::from));
    }
    words.extend(["open", "client", &client, "lazy,local", "read", "client"].map(String::from));
    words
}

/// `hiplazy run ARGUMENTS -- DRIVER WORDS`.
fn run(arguments: &[&str], words: &[String]) -> Output {
    let mut command = hiplazy();
    command.env("LD_LIBRARY_PATH", &built().runtime);
    command
        .arg("run")
        .args(arguments)
        .arg("--")
        .arg(&built().driver)
        .args(words);
    command.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_clean_command_reports_to_standard_error_and_keeps_its_output() {
    let output = run(&[], &words(None));
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(
        out.starts_with("read client status=0") && out.lines().count() == 1,
        "{out}"
    );
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(
        report.contains(": clean") && report.contains("libamdhip64.so.7"),
        "{report}"
    );
}

#[test]
fn a_captured_command_keeps_its_status_unless_it_is_to_fail() {
    let Some(stub) = stub() else { return };
    let words = words(Some(&stub));
    let folder = shared::scratch("run");
    let file = folder.join("report.json");
    let arguments = ["--json", "--output", file.to_str().unwrap()];
    let output = run(&arguments, &words);
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    let report: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert!(rules(&report).contains(&"wrong-provider".to_string()));
    let bound = binding(&report, "client.so", PROPERTIES);
    assert_eq!(bound, ("bound".into(), "libhip_stub.so".into()));
    assert_eq!(run(&["--fail"], &words).status.code(), Some(2));
}

#[test]
fn the_commands_own_status_is_passed_on() {
    for (script, status) in [("exit 7", 7), ("kill -TERM $$", 143)] {
        let mut command = hiplazy();
        command.args(["run", "--", "sh", "-c", script]);
        assert_eq!(
            command.output().unwrap().status.code(),
            Some(status),
            "{script}"
        );
    }
    let output = hiplazy()
        .args(["run", "--", "/no/such/program"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text_of(&output));
}

#[test]
fn child_processes_are_in_the_report() {
    let Some(stub) = stub() else { return };
    let mut command = hiplazy();
    command.env("LD_LIBRARY_PATH", &built().runtime);
    command.args(["run", "--fail", "--", "sh", "-c", "\"$@\"; exit 0", "sh"]);
    command.arg(&built().driver).args(words(Some(&stub)));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text_of(&output));
}

/// The report is made while the command waits: it is read live, and has what is lazy.
#[test]
fn a_report_at_a_symbol_comes_while_the_command_goes_on() {
    let mut command = hiplazy();
    command.env("LD_LIBRARY_PATH", &built().runtime);
    let file = shared::scratch("at_symbol").join("report.json");
    command
        .args(["run", "--json", "--at-symbol", PROPERTIES, "--output"])
        .arg(&file);
    command
        .arg("--")
        .arg(&built().driver)
        .args(words(None))
        .arg("wait");
    let waiting = Waiting::start(&mut command);
    let text = loop {
        if let Ok(text) = fs::read_to_string(&file)
            && text.ends_with("}\n")
        {
            break text;
        }
        std::thread::yield_now();
    };
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(
        report["subject"].as_str().unwrap().ends_with("(driver)"),
        "{}",
        report["subject"]
    );
    assert_eq!(
        report["runtimes"][0]["scope"], "local",
        "known from the process only"
    );
    waiting.end();
}

#[test]
fn a_symbol_that_the_report_is_not_about_is_refused() {
    let output = run(&["--at-symbol", "malloc"], &words(None));
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--prefix"));
}

#[test]
fn a_log_of_interleaved_processes_gives_the_same_verdict() {
    let Some(stub) = stub() else { return };
    let folder = shared::scratch("log");
    let mut lines: Vec<Vec<String>> = Vec::new();
    for stub in [None, Some(stub.as_path())] {
        let words = words(stub);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command: Command = driver(&built().runtime, &words);
        command
            .env("LD_DEBUG", "bindings")
            .env("LD_DEBUG_OUTPUT", folder.join("part"));
        let waiting = Waiting::start(&mut command);
        let part = folder.join(format!("part.{}", waiting.pid()));
        waiting.end();
        lines.push(
            fs::read_to_string(part)
                .unwrap()
                .lines()
                .map(String::from)
                .collect(),
        );
    }
    let longest = lines.iter().map(Vec::len).max().unwrap();
    let mut mixed = String::new();
    for at in 0..longest {
        for part in &lines {
            if let Some(line) = part.get(at) {
                mixed += line;
                mixed.push('\n');
            }
        }
    }
    let log = folder.join("mixed.log");
    fs::write(&log, mixed).unwrap();
    let output = hiplazy()
        .args(["log", "--json"])
        .arg(&log)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text_of(&output));
    let report = json(&output);
    assert!(report["subject"].as_str().unwrap().contains("2 processes"));
    // The stub asks dlsym for names that it may not find: nobody refers to these.
    assert!(!rules(&report).contains(&"unresolved".to_string()));
    let findings = report["findings"].as_array().unwrap();
    let wrong = findings
        .iter()
        .filter(|finding| finding["rule"] == "wrong-provider");
    assert_eq!(
        wrong.count(),
        1,
        "one of the two is captured: {findings:#?}"
    );
    let providers: Vec<_> = report["bindings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|binding| {
            binding["name"] == PROPERTIES && crate::running::file(&binding["object"]) == "client.so"
        })
        .map(|binding| crate::running::file(&binding["provider"]))
        .collect();
    assert_eq!(providers.len(), 2, "{providers:?}");
}

#[test]
fn what_is_no_log_is_said_to_be_none() {
    let mut command = hiplazy();
    command.args(["log", "/proc/self/maps"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("LD_DEBUG=bindings LD_DEBUG_OUTPUT="),
        "{text}"
    );
}
