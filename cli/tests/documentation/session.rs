//! A reader who types every command of the page, in its folder.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use xtask::fetch;

use crate::blocks::{commands, difference};
use crate::common::shared::{self, Fetched, skip, there};

struct Session {
    site: PathBuf,
    path: OsString,
    /// The program that waits to be looked at, and the number it says.
    waiting: Option<Child>,
    pid: String,
}

impl Session {
    fn new(site: PathBuf) -> Session {
        let own = Path::new(env!("CARGO_BIN_EXE_hiplazy")).parent().unwrap();
        let path = env::var_os("PATH").unwrap_or_default();
        let path = [own.to_path_buf()]
            .into_iter()
            .chain(env::split_paths(&path));
        Session {
            site,
            path: env::join_paths(path).unwrap(),
            waiting: None,
            pid: String::new(),
        }
    }

    /// What a command of the page prints, as the page would write it.
    fn types(&mut self, text: &str) -> String {
        let site = self.site.display().to_string();
        let script = text.replace("/site", &site).replace("4711", &self.pid);
        let mut command = shared::clean(Path::new("/bin/sh"));
        command.env("PATH", &self.path).current_dir("/");
        let printed = if script.trim_end().ends_with("--wait") {
            self.wait(command.args(["-c", &format!("exec {script} 2>&1")]))
        } else {
            let output = command.args(["-c", &format!("{{ {script}\n}} 2>&1")]);
            let output = self.on_a_machine(text, output).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        self.as_on_the_page(text, &printed)
    }

    /// Starts a program that says when it waits, in place of the one before.
    fn wait(&mut self, command: &mut Command) -> String {
        self.end();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        self.waiting = Some(child);
        let mut text = String::new();
        for line in out.lines() {
            let line = line.unwrap();
            text += &format!("{line}\n");
            let pid = line.strip_prefix("process ");
            if let Some(pid) = pid.and_then(|rest| rest.strip_suffix(" waits for Enter")) {
                self.pid = pid.to_string();
                return text;
            }
        }
        panic!("it ended: {text}");
    }

    /// `hiplazy doctor` alone is about a machine with Debian's HIP 5.2 and nothing else.
    fn on_a_machine<'a>(&self, text: &str, command: &'a mut Command) -> &'a mut Command {
        if is_machine(text)
            && let Some(runtime) = runtime_5_2()
        {
            let folder = fs::canonicalize(runtime.parent().unwrap()).unwrap();
            let fence = shared::scratch("documentation-fence").join("fence.so");
            let source = shared::root().join("../tests/c/fence.c");
            let arguments = ["-shared", "-fPIC", "-ldl"];
            shared::cc(&[source.to_str().unwrap()], &fence, &arguments);
            command.env("LD_PRELOAD", fence).env("FENCE_ALLOW", &folder);
            command.env("LD_LIBRARY_PATH", folder);
        }
        command
    }

    fn as_on_the_page(&self, text: &str, printed: &str) -> String {
        let site = self.site.display().to_string();
        let mut printed = printed.replace(&site, "/site");
        if is_machine(text) {
            // Where the package is not installed, it is unpacked elsewhere.
            if let Some(unpacked) = runtime_5_2().and_then(|it| it.to_str()?.split_once("/usr/")) {
                printed = printed.replace(unpacked.0, "");
            }
            // The variables that make the machine are the last section.
            if let Some((above, _)) = printed.split_once("\n└── Circumstances") {
                printed = above.replace("├── Runtimes", "└── Runtimes");
                printed = printed.replace("\n│   ", "\n    ");
            }
        }
        printed
    }

    fn end(&mut self) {
        if let Some(mut child) = self.waiting.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(child) = &mut self.waiting {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn is_machine(text: &str) -> bool {
    text.trim() == "hiplazy doctor"
}

fn runtime_5_2() -> Option<&'static Path> {
    static FETCHED: Fetched = OnceLock::new();
    there("the page's machine", &FETCHED, fetch::runtime_5_2)
}

/// Whether what a command is about is here; what is not was said to be skipped.
fn can_be_typed(text: &str, missing: &[fetch::Missing]) -> bool {
    let tool = |program: &str| {
        let found = fetch::tool(program);
        found
            .map_err(|missing| skip("a command of the page", &missing.to_string()))
            .is_ok()
    };
    let lacks = |names: &[&str]| {
        let lacking = missing.iter().find(|it| names.contains(&it.thing()));
        lacking
            .inspect(|it| skip("a command of the page", &it.to_string()))
            .is_some()
    };
    if text.contains("| jq") && !tool("jq") {
        return false;
    }
    if text.contains("two.py") {
        return !lacks(&["runtime-7.14", "runtime-7.14-copy"]);
    }
    !is_machine(text) || runtime_5_2().is_some()
}

/// `docs/doctor.md`, from top to bottom.
#[test]
fn every_command_of_the_page_prints_what_the_page_shows() {
    if let Err(missing) = fetch::tool("python3").and(fetch::tilelang_0_1_10()) {
        skip("the page on symptoms", &missing.to_string());
        return;
    }
    let site = fs::canonicalize(shared::scratch("site")).unwrap();
    let missing = xtask::site::make(&site).unwrap();
    let page = crate::page();
    let mut session = Session::new(site);
    let mut faults = Vec::new();
    let mut compared = 0;
    for command in commands(&page) {
        if command.text.starts_with("cargo ") {
            assert_eq!(command.text.trim(), "cargo xtask site /site");
            continue;
        }
        if !can_be_typed(command.text, &missing) {
            continue;
        }
        let printed = session.types(command.text);
        if let Some(shown) = command.output {
            compared += 1;
            // What the kernel offers and what is in /opt is the machine's own.
            let own = |line: &&str| {
                line.starts_with("/dev/kfd ")
                    || line.contains("usual folders: /opt/") && Path::new("/opt/rocm").exists()
            };
            let without = |text: &str| -> String {
                let lines = text.lines().filter(|line| !own(line));
                lines.map(|line| format!("{line}\n")).collect()
            };
            if let Some(difference) = difference(&without(shown), &without(&printed)) {
                faults.push(format!("$ {}\n{difference}", command.text));
            }
        }
    }
    session.end();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(compared > 15, "{compared}");
}
