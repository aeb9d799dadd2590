//! `hiplazy run`, watched while it runs.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::common::{hiplazy, shared};
use crate::running::{Waiting, built};

/// `hiplazy run` with a report and folders of a test's own.
pub(crate) struct Watched {
    pub(crate) folder: PathBuf,
    pub(crate) command: Command,
}

impl Watched {
    /// `hiplazy run --json --output REPORT ARGUMENTS -- COMMAND`.
    pub(crate) fn new(test: &str, arguments: &[&str], command: &[&str]) -> Watched {
        let folder = shared::scratch(test);
        fs::create_dir(folder.join("tmp")).unwrap();
        let mut all = hiplazy();
        all.env("TMPDIR", folder.join("tmp"));
        all.env("LD_LIBRARY_PATH", &built().runtime);
        all.args(["run", "--json", "--output"])
            .arg(folder.join("report.json"));
        all.args(arguments).arg("--").args(command);
        all.stdin(Stdio::null());
        heed_signals(&mut all);
        Watched {
            folder,
            command: all,
        }
    }

    /// A shell script in which `$1` is the driver, and `$2` a client of the runtime.
    pub(crate) fn script(test: &str, arguments: &[&str], script: &str) -> Watched {
        let driver = built().driver.display().to_string();
        let client = built().folder.join("client.so").display().to_string();
        Watched::new(
            test,
            arguments,
            &["sh", "-c", script, "sh", &driver, &client],
        )
    }

    pub(crate) fn output(&mut self) -> Output {
        self.command.output().unwrap()
    }

    /// Until something in it says "waiting".
    #[track_caller]
    pub(crate) fn start(&mut self) -> Waiting {
        Waiting::start(&mut self.command)
    }

    #[track_caller]
    pub(crate) fn report(&self) -> Value {
        let text = fs::read_to_string(self.folder.join("report.json")).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// What is left in the folder for temporary files.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        let listed = fs::read_dir(self.folder.join("tmp")).unwrap();
        listed.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Has a command heed the signals that the tests' own parent may ignore (nohup).
pub(crate) fn heed_signals(command: &mut Command) {
    // SAFETY: sets dispositions, which is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

/// Paths and reasons of what a report says was not looked at.
pub(crate) fn unreadable(report: &Value) -> Vec<(String, String)> {
    let all = report["unreadable"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    all.map(|one| (text(&one["path"]), text(&one["why"])))
        .collect()
}

/// Until a process that looks at others has done so anew: it sleeps after each look.
pub(crate) fn until_it_has_looked(pid: u32) {
    let before = sleeps(pid);
    while sleeps(pid) < before + 3 {
        thread::sleep(Duration::from_millis(1));
    }
}

#[track_caller]
fn sleeps(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.unwrap().trim().parse().unwrap()
}

/// Whether there is such a process, and it has not ended.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|stat| {
        let (_, rest) = stat.rsplit_once(')').unwrap();
        !rest.trim_start().starts_with(['Z', 'X'])
    })
}
