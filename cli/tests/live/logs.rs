//! `hiplazy log`, and the log that `hiplazy run` reads while it is written.

use std::ffi::CString;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common::hiplazy;
use crate::common::shared::{self, text_of};
use crate::run_command::{Watched, unreadable, until_it_has_looked};
use crate::running::{binding, json, rules};

/// A line of ld.so.
fn line(pid: u32, from: &str, to: &str, symbol: &str) -> String {
    format!("{pid:10}:\tbinding file {from} [0] to {to} [0]: normal symbol {symbol}\n")
}

/// How the log of a program begins.
fn beginning(pid: u32, program: &str) -> String {
    let vdso = "linux-vdso.so.1";
    line(pid, vdso, vdso, "`__vdso_time' [LINUX_2.6]")
        + &format!("{pid:10}:\tinitialize program: {program}\n")
}

/// `hiplazy log --json -` of a text.
fn log(text: &str) -> Output {
    log_with(&["--json", "-"], text)
}

fn log_with(arguments: &[&str], text: &str) -> Output {
    let mut command = hiplazy();
    command.arg("log").args(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

const INIT: &str = "`hipInit' [hip_4.2]";

/// Written as ld.so does, in two pieces, with a look between them.
#[test]
fn a_line_is_read_when_it_is_whole() {
    let script = r#"
        log="$LD_DEBUG_OUTPUT.4194999"
        printf '%s' "${PIECES%%|*}" > "$log"
        echo waiting
        read line
        printf '%s' "${PIECES#*|}" >> "$log""#;
    let whole = line(4_194_999, "/gone/client.so", "/gone/libamdhip64.so.7", INIT);
    // In the middle of the second path, before the node, within it, before the end.
    let cuts = ["4.so.7", " [hip_", "_4.2]", "\n"];
    for cut in cuts {
        let at = whole.find(cut).unwrap();
        let mut watched = Watched::script("log_pieces", &[], script);
        let pieces = format!("{}|{}", &whole[..at], &whole[at..]);
        watched.command.env("PIECES", pieces);
        let waiting = watched.start();
        until_it_has_looked(waiting.pid());
        waiting.end();
        let report = watched.report();
        let bindings = report["bindings"].as_array().unwrap();
        assert_eq!(bindings.len(), 1, "{cut}: {bindings:#?}");
        assert_eq!(bindings[0]["provider"], "/gone/libamdhip64.so.7", "{cut}");
        assert_eq!(bindings[0]["node"], "hip_4.2", "{cut}");
    }
}

#[test]
fn the_last_line_of_a_killed_process_counts_if_it_is_clear() {
    let whole = line(
        4_194_999,
        "/gone/client.so",
        "/gone/libstub.so",
        "`hipFree' [hip_4.2]",
    );
    let script = r#"printf '%s' "$PIECE" > "$LD_DEBUG_OUTPUT.4194999""#;
    for (end, known) in [(whole.len() - 1, 1), (whole.find("ee' [").unwrap(), 0)] {
        let mut watched = Watched::script("log_cut", &[], script);
        watched.command.env("PIECE", &whole[..end]);
        watched.output();
        let bindings = watched.report()["bindings"].as_array().unwrap().len();
        assert_eq!(bindings, known, "{}", &whole[..end]);
    }
}

/// The command goes on, and so does its status.
#[test]
fn a_command_that_removes_the_logs_keeps_its_status() {
    for (script, why) in [
        (
            r#"rm -r "$(dirname "$(dirname "$LD_DEBUG_OUTPUT")")"; echo waiting; read line; exit 7"#,
            "cannot be read any more",
        ),
        (
            r#"echo waiting; read line; rm "$LD_DEBUG_OUTPUT.$$"; echo waiting; read line; exit 7"#,
            "its log was removed",
        ),
    ] {
        let mut watched = Watched::script("log_removed", &[], script);
        let mut waiting = watched.start();
        until_it_has_looked(waiting.pid());
        if why.starts_with("its") {
            waiting.go_on();
            waiting.wait_again();
            until_it_has_looked(waiting.pid());
        }
        assert_eq!(waiting.end_with_status().code(), Some(7));
        let not_seen = unreadable(&watched.report());
        assert!(
            not_seen.iter().any(|(_, text)| text.contains(why)),
            "{not_seen:#?}"
        );
    }
}

/// Parts of a log that were read are given back to the file system. What somebody else
/// lets the log's name lead to is not.
#[test]
fn what_a_child_puts_in_the_place_of_a_log_is_left_alone() {
    let script = r#"
        ln -s "$LINKED" "$LD_DEBUG_OUTPUT.4194997"
        ln "$VICTIM" "$LD_DEBUG_OUTPUT.4194998"
        mkfifo "$LD_DEBUG_OUTPUT.4194999"
        mkdir "$LD_DEBUG_OUTPUT.4194996"
        : > "$(dirname "$LD_DEBUG_OUTPUT")/other"
        mv "$MOVED" "$LD_DEBUG_OUTPUT.4194995"
        echo waiting
        read line
        mv "$LD_DEBUG_OUTPUT.4194995" "$MOVED""#;
    let mut watched = Watched::script("log_links", &[], script);
    // The file and the folder for temporary files are on one file system.
    let content = "precious\n".repeat(10_000);
    let files = ["victim", "linked", "moved"].map(|name| watched.folder.join(name));
    for (variable, file) in ["VICTIM", "LINKED", "MOVED"].iter().zip(&files) {
        fs::write(file, &content).unwrap();
        watched.command.env(variable, file);
    }
    // The clock of the file system is a slow one.
    let created = |path: &Path| fs::metadata(path).unwrap().created().unwrap();
    let later = watched.folder.join("later");
    while !later.exists() || created(&later) <= created(&files[2]) {
        let _ = fs::remove_file(&later);
        fs::write(&later, "").unwrap();
    }
    let waiting = watched.start();
    until_it_has_looked(waiting.pid());
    waiting.end();
    for file in files {
        let now = fs::read_to_string(&file).unwrap();
        assert!(now == content, "{} has holes", file.display());
    }
    let not_seen = unreadable(&watched.report());
    for pid in 4_194_996..=4_194_999 {
        let name = format!("process {pid}");
        assert!(
            not_seen.iter().any(|(path, _)| *path == name),
            "{name}: {not_seen:#?}"
        );
    }
    assert!(not_seen.iter().any(|(path, _)| path.ends_with("/other")));
    assert!(watched.left().is_empty());
}

/// The log of a command that ran long needs no space for what was read.
#[test]
fn what_was_read_is_given_back() {
    let script = r#"
        log="$LD_DEBUG_OUTPUT.4194999"
        yes "some other line that ld.so writes" | head -c 4000000 > "$log"
        echo "log $log"
        echo waiting
        read line"#;
    let mut watched = Watched::script("log_freed", &[], script);
    let waiting = watched.start();
    let log = waiting.said[0].strip_prefix("log ").unwrap().to_string();
    until_it_has_looked(waiting.pid());
    let metadata = fs::metadata(&log).unwrap();
    let kept = std::os::unix::fs::MetadataExt::blocks(&metadata) * 512;
    waiting.end();
    assert!(
        metadata.len() == 4_000_000 && kept < 100_000,
        "{kept} bytes are kept"
    );
}

#[test]
fn a_pipe_is_read_to_its_end_and_a_device_is_refused() {
    let folder = shared::scratch("log_kinds");
    let pipe = folder.join("pipe");
    let name = CString::new(pipe.as_os_str().as_bytes()).unwrap();
    // SAFETY: the string ends with a zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let text = line(1, "/gone/client.so", "/gone/libamdhip64.so.7", INIT);
    let mut writer = Command::new("sh")
        .args(["-c", "printf '%s' \"$1\" > \"$2\"", "sh", &text])
        .arg(&pipe)
        .spawn()
        .unwrap();
    let output = hiplazy()
        .args(["log", "--json"])
        .arg(&pipe)
        .output()
        .unwrap();
    writer.wait().unwrap();
    let bound = binding(&json(&output), "client.so", "hipInit");
    assert_eq!(bound, ("bound".into(), "libamdhip64.so.7".into()));
    let folder = folder.to_str().unwrap();
    for (file, why) in [
        ("/dev/zero", "a device"),
        (folder, "a folder"),
        ("/no/such", "No such"),
    ] {
        let output = hiplazy().args(["log", file]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains(file) && text.contains(why), "{text}");
    }
}

/// The objects are on another machine: who answers is judged by name, and nothing is
/// called right without a look.
#[test]
fn bindings_of_objects_that_are_not_here_are_judged_by_name() {
    let client = "/gone/client.so";
    let whole = beginning(1, client) + &line(1, client, "/gone/libamdhip64.so.7", INIT);
    let right = json(&log(&whole));
    assert_eq!((rules(&right), right["exit"].as_u64()), (vec![], Some(1)));
    let not_here: Vec<String> = unreadable(&right)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(not_here, ["/gone/client.so", "/gone/libamdhip64.so.7"]);

    let right = line(1, client, "/gone/libamdhip64.so.7", INIT);
    let text = text_of(&log_with(&["-"], &right));
    assert!(
        text.contains(": clean as far as it could be read"),
        "{text}"
    );

    let wrong = json(&log(&line(1, client, "/gone/libstub.so", INIT)));
    assert_eq!(rules(&wrong), ["wrong-provider"]);
    assert_eq!(wrong["exit"], 2);
    // An own name that only begins like HIP's may be anybody's.
    let own = json(&log(&line(
        1,
        client,
        "/gone/libstub.so",
        "`hipster_dance'",
    )));
    assert_eq!(rules(&own), [] as [&str; 0]);

    let text = line(1, client, "/gone/libamdhip64.so.7", INIT)
        + &line(1, client, "/other/libamdhip64.so.6", "`hipFree' [hip_4.2]");
    let two = json(&log(&text));
    assert!(rules(&two).contains(&"two-runtimes".to_string()));

    let text =
        "1:\t/gone/client.so: error: symbol lookup error: undefined symbol: hipFree (fatal)\n";
    let in_vain: Value = json(&log(text));
    assert_eq!(rules(&in_vain), [] as [&str; 0], "dlsym may have asked");
    let not_here = unreadable(&in_vain);
    assert!(
        not_here
            .iter()
            .any(|(_, why)| why.contains("looked in vain for hipFree"))
    );
}

#[test]
fn a_line_without_its_node_has_that_of_the_objects_reference() {
    let client = crate::running::built().folder.join("client.so");
    let name = "hipGetDevicePropertiesR0600";
    let to = crate::running::built().runtime.join("libamdhip64.so.7");
    let without = line(
        1,
        client.to_str().unwrap(),
        to.to_str().unwrap(),
        &format!("`{name}'"),
    );
    let report = json(&log(&without));
    let bindings = report["bindings"].as_array().unwrap();
    assert_eq!(bindings[0]["node"], "hip_6.0", "{bindings:#?}");
    let with = without.replace("'\n", "' [hip_6.0]\n");
    let both = json(&log(&(without + &with)));
    assert_eq!(both["bindings"].as_array().unwrap().len(), 1);
}

#[test]
fn processes_that_are_alike_are_reported_once() {
    let one = |pid| line(pid, "/gone/client.so", "/gone/libstub.so", INIT);
    let text: String = (1..=200).map(one).collect();
    let output = log(&(text + &line(900, "/gone/client.so", "/gone/libamdhip64.so.7", INIT)));
    assert_eq!(output.status.code(), Some(2), "{}", text_of(&output));
    let report = json(&output);
    let said: Vec<&str> = report["preface"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line.as_str().unwrap())
        .collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("process 1, and 199 like it"),
        "{said:?}"
    );
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    assert_eq!(
        report["bindings"].as_array().unwrap().len(),
        2,
        "the other is there"
    );
}
