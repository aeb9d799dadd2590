//! `hiplazy log`.

use std::ffi::CString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common::hiplazy;
use crate::common::shared::{self, text_of};
use crate::run_command::unreadable;
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
