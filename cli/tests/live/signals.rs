//! `hiplazy run`: signals, the terminal, and what the command sees of them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{hiplazy, shared};
use crate::run_command::{Watched, heed_signals, is_alive, until_it_has_looked};

fn kill(pid: u32, signal: libc::c_int) {
    // SAFETY: sends a signal to a child of this process.
    unsafe { libc::kill(pid as libc::pid_t, signal) };
}

#[test]
fn a_signal_to_hiplazy_ends_the_command_and_the_report_is_made() {
    for (name, signal) in [
        ("term", libc::SIGTERM),
        ("hup", libc::SIGHUP),
        ("int", libc::SIGINT),
        ("quit", libc::SIGQUIT),
    ] {
        let script = r#"echo $$; exec "$1" open client "$2" now,local wait"#;
        let mut watched = Watched::script(&format!("signal_{name}"), &[], script);
        let waiting = watched.start();
        let command = waiting.said[0].parse().unwrap();
        kill(waiting.pid(), signal);
        let status = waiting.until_it_ends().ended().unwrap();
        assert_eq!(status.code(), Some(128 + signal), "{name}");
        assert!(!is_alive(command), "{name}");
        let report = watched.report();
        assert_eq!(report["exit"], 0, "{name}: what it had bound is known");
        assert_eq!(report["runtimes"].as_array().unwrap().len(), 1, "{name}");
        assert!(watched.left().is_empty(), "{name}: {:?}", watched.left());
    }
}

#[test]
fn a_command_may_end_in_its_own_way() {
    let script = "trap 'exit 5' TERM; echo waiting; while read line; do :; done";
    let mut watched = Watched::script("signal_trapped", &[], script);
    let waiting = watched.start();
    kill(waiting.pid(), libc::SIGTERM);
    let status = waiting.until_it_ends().ended().unwrap();
    assert_eq!(status.code(), Some(5));
    assert_eq!(watched.report()["command"], "run");
}

/// As batch systems do before a job's time is over.
#[test]
fn signals_that_a_program_may_know_are_passed_on() {
    for (name, signal) in [("USR1", libc::SIGUSR1), ("USR2", libc::SIGUSR2)] {
        let script = format!(
            "trap 'echo told; echo waiting' {name}; echo waiting; while :; do read line && exit 6; done"
        );
        let mut watched = Watched::script(&format!("signal_{name}"), &[], &script);
        let mut waiting = watched.start();
        for _ in 0..2 {
            kill(waiting.pid(), signal);
            waiting.wait_again();
        }
        assert_eq!(waiting.said, ["told", "told"], "{name}: twice is no end");
        waiting.go_on();
        assert_eq!(waiting.end_with_status().code(), Some(6), "{name}");
        assert_eq!(watched.report()["exit"], 0);
    }
}

#[test]
fn who_asks_again_does_not_want_to_wait() {
    let script = "trap '' TERM; echo $$; echo waiting; read line";
    let mut watched = Watched::script("signal_twice", &[], script);
    let mut waiting = watched.start();
    let command = waiting.said[0].parse().unwrap();
    kill(waiting.pid(), libc::SIGTERM);
    until_it_has_looked(waiting.pid());
    assert!(waiting.ended().is_none(), "once is not enough");
    let status = loop {
        kill(waiting.pid(), libc::SIGTERM);
        if let Some(status) = waiting.ended() {
            break status;
        }
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(128 + libc::SIGTERM));
    assert!(is_alive(command), "it had a reason to go on");
    // What it starts loads the module: without it, ld.so would complain there.
    assert_eq!(watched.left().len(), 1, "{:?}", watched.left());
    waiting.end();
}

/// What a process ignores and blocks, its group and session, and its environment.
const CIRCUMSTANCES: &str = "grep -E '^(Sig(Ign|Blk)|NSpgid|NSsid)' /proc/self/status; env | sort";

#[test]
fn the_command_begins_as_it_would_without_hiplazy() {
    for ignored in ["", "trap '' HUP INT; ", "trap '' PIPE; "] {
        let of = |before: &str| {
            let script = format!("{ignored}exec {before} sh -c \"{CIRCUMSTANCES}\"");
            let mut command = shared::clean(Path::new("sh"));
            // hiplazy is in the group that the shell was.
            command.args(["-c", &script]).stderr(Stdio::null());
            let output = command.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let lines = text.lines().filter(|line| !line.starts_with("LD_AUDIT"));
            lines.map(without_internal_signals).collect::<Vec<_>>()
        };
        let with = of(&format!("{} run --", env!("CARGO_BIN_EXE_hiplazy")));
        assert!(with.len() > 4, "{with:?}");
        assert_eq!(with, of(""), "{ignored}");
    }
}

/// `posix_spawn` of glibc ignores 32 and 33, which only glibc uses, in every child.
fn without_internal_signals(line: &str) -> String {
    match line.strip_prefix("SigIgn:\t") {
        Some(mask) => {
            let mask = u64::from_str_radix(mask, 16).unwrap() & !(0b11 << 31);
            format!("SigIgn {mask:x}")
        }
        None => line.to_string(),
    }
}

/// Also for the second look: who may not be ended by HUP is not.
#[test]
fn what_was_ignored_stays_so() {
    let mut command = shared::clean(Path::new("sh"));
    let script = "trap '' HUP; exec \"$@\"";
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_hiplazy")]);
    command.args(["run", "--", "sh", "-c", "echo waiting; read line; exit 4"]);
    let mut waiting = crate::running::Waiting::start(&mut command);
    kill(waiting.pid(), libc::SIGHUP);
    until_it_has_looked(waiting.pid());
    assert!(waiting.ended().is_none());
    assert_eq!(waiting.end_with_status().code(), Some(4));
}

/// Counts SIGINT, and answers each line with what it has counted.
const COUNTER: &str = r#"#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t count;
static void counted(int signal) { (void)signal; count++; }
int main(void)
{
    struct sigaction action = {.sa_handler = counted, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    printf("%s\n", tcgetpgrp(0) == getpgrp() ? "foreground" : "elsewhere");
    fflush(stdout);
    for (char line[64]; fgets(line, sizeof line, stdin);) {
        printf("count %d\n", (int)count);
        fflush(stdout);
    }
    return 6;
}
"#;

/// A terminal: the side of its user, and that of its programs.
fn terminal() -> (File, File) {
    let (mut user, mut program) = (0, 0);
    // SAFETY: both are ints, as they have to be, and nothing else is asked for.
    unsafe {
        let made = libc::openpty(
            &mut user,
            &mut program,
            std::ptr::null_mut(),
            std::ptr::null(),
            std::ptr::null(),
        );
        assert_eq!(made, 0, "{}", io::Error::last_os_error());
        (File::from_raw_fd(user), File::from_raw_fd(program))
    }
}

/// The terminal's Ctrl-C goes to the command once; what `kill` sends to hiplazy as well.
#[test]
fn the_terminals_interrupt_is_the_commands_alone() {
    let folder = shared::scratch("signal_terminal");
    let source = folder.join("counter.c");
    std::fs::write(&source, COUNTER).unwrap();
    let counter = folder.join("counter");
    shared::cc(&[source.to_str().unwrap()], &counter, &[] as &[&str]);
    let (mut user, program) = terminal();
    let mut command: Command = hiplazy();
    command.args(["run", "--"]).arg(&counter);
    command.stdin(program.try_clone().unwrap());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    heed_signals(&mut command);
    let number = program.as_raw_fd();
    // SAFETY: both calls are allowed between fork and exec.
    unsafe {
        command.pre_exec(move || {
            if libc::setsid() < 0 || libc::ioctl(number, libc::TIOCSCTTY, 0) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "foreground");
    let ask = |user: &mut File, lines: &mut dyn Iterator<Item = io::Result<String>>| {
        user.write_all(b"\n").unwrap();
        let answer = lines.next().unwrap().unwrap();
        answer
            .strip_prefix("count ")
            .unwrap()
            .parse::<u32>()
            .unwrap()
    };
    assert_eq!(ask(&mut user, &mut lines), 0);
    for wanted in 1..4 {
        user.write_all(b"\x03").unwrap();
        while ask(&mut user, &mut lines) < wanted {}
        until_it_has_looked(child.id());
        assert_eq!(ask(&mut user, &mut lines), wanted, "not passed on as well");
    }
    kill(child.id(), libc::SIGINT);
    while ask(&mut user, &mut lines) < 4 {}
    until_it_has_looked(child.id());
    assert_eq!(ask(&mut user, &mut lines), 4);
    user.write_all(b"\x04").unwrap();
    let status = child.wait().unwrap();
    let mut report = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut report)
        .unwrap();
    assert_eq!(status.code(), Some(6), "{report}");
    assert!(report.contains("/counter (process "), "{report}");
}
