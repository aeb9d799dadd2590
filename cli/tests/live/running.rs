//! Processes that wait to be looked at.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;

use crate::common::{hiplazy, shared};
use serde_json::Value;

/// A process that has done what it was told, and waits until this is dropped.
pub(crate) struct Waiting {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    /// What it printed before.
    pub(crate) said: Vec<String>,
}

impl Waiting {
    /// Starts a command that says "waiting" when it does, and ends with its input.
    #[track_caller]
    pub(crate) fn start(command: &mut Command) -> Waiting {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = Vec::new();
        let mut waiting = Waiting { child, out, said };
        waiting.wait_again();
        waiting
    }

    /// Until it waits for another line.
    #[track_caller]
    pub(crate) fn wait_again(&mut self) {
        for line in self.out.by_ref() {
            let line = line.unwrap();
            if line == "waiting" {
                return;
            }
            self.said.push(line);
        }
        let mut text = String::new();
        let _ = self.child.stderr.take().unwrap().read_to_string(&mut text);
        panic!("it ended: {:?} {text}", self.said);
    }

    /// Gives it the line that it waits for.
    pub(crate) fn go_on(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// `hiplazy doctor --pid` with more arguments.
    pub(crate) fn doctor(&self, arguments: &[&str]) -> Output {
        let pid = self.pid().to_string();
        let mut command = hiplazy();
        command.args(["doctor", "--pid", &pid]).args(arguments);
        command.output().unwrap()
    }

    /// Its report.
    #[track_caller]
    pub(crate) fn report(&self) -> Value {
        json(&self.doctor(&["--json"]))
    }

    /// Lets it end; what it printed after it had waited goes nowhere.
    pub(crate) fn end(self) {
        self.end_with_status();
    }

    /// Lets it end, and says how.
    pub(crate) fn end_with_status(mut self) -> ExitStatus {
        drop(self.child.stdin.take());
        self.child.wait().unwrap()
    }

    /// Until it ends by itself; its input stays open for what it has started.
    pub(crate) fn until_it_ends(mut self) -> Waiting {
        // `wait` would close it.
        let input = self.child.stdin.take();
        let _ = self.child.wait();
        self.child.stdin = input;
        self
    }

    /// Whether it has ended, and how.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shared::text_of(output)))
}

/// The last part of a path in a report.
pub(crate) fn file(path: &Value) -> String {
    let path = path.as_str().unwrap_or("nobody");
    path.rsplit('/').next().unwrap().to_string()
}

/// The rules that a report has findings of, each once.
pub(crate) fn rules(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let mut rules: Vec<String> = findings
        .map(|finding| finding["rule"].as_str().unwrap().to_string())
        .collect();
    rules.sort();
    rules.dedup();
    rules
}

/// State and provider of an object's reference to a name.
#[track_caller]
pub(crate) fn binding(report: &Value, object: &str, name: &str) -> (String, String) {
    let bindings = report["bindings"].as_array().unwrap();
    let found = bindings
        .iter()
        .find(|binding| file(&binding["object"]) == object && binding["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no {name} of {object}: {bindings:#?}"));
    let state = found["state"].as_str().unwrap().to_string();
    (state, file(&found["provider"]))
}

/// The repository.
pub(crate) fn repository() -> PathBuf {
    fs::canonicalize(shared::root().join("..")).unwrap()
}

/// A source of the repository's tests.
pub(crate) fn source(name: &str) -> String {
    let path = repository().join("tests/c").join(name);
    path.display().to_string()
}

/// `-I` for the fake runtime's header.
pub(crate) fn include_fakehip() -> String {
    let folder = repository().join("fakehip/include");
    format!("-I{}", folder.display())
}

/// What the control states are made of.
pub(crate) struct Built {
    pub(crate) folder: PathBuf,
    /// Has the fake HIP 7 as `libamdhip64.so.7`, also as `libamdhip64.so`.
    pub(crate) runtime: PathBuf,
    pub(crate) driver: PathBuf,
}

pub(crate) fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = shared::scratch("live");
        let runtime = folder.join("runtime");
        fs::create_dir(&runtime).unwrap();
        let library = fakehip::Library::hip(fakehip::Version::V7_14);
        fakehip::build(&runtime, &[library]).unwrap_or_else(|error| panic!("{error}"));
        symlink("libamdhip64.so.7", runtime.join("libamdhip64.so")).unwrap();
        let driver = folder.join("driver");
        shared::cc(
            &[&source("bug_class/driver.c")],
            &driver,
            &[include_fakehip()],
        );
        for (name, flags) in [
            ("client.so", &[][..]),
            ("client_symbolic.so", &["-Wl,-Bsymbolic"]),
            ("client_no_plt.so", &["-fno-plt"]),
        ] {
            let mut arguments = vec![
                include_fakehip(),
                "-shared".to_string(),
                "-fPIC".to_string(),
                format!("-L{}", runtime.display()),
                "-l:libamdhip64.so.7".to_string(),
                // Some distributions' compilers bind at load by default.
                "-Wl,-z,lazy".to_string(),
            ];
            arguments.extend(flags.iter().map(ToString::to_string));
            let source = source("bug_class/caller.c");
            shared::cc(&[&source], &folder.join(name), &arguments);
        }
        Built {
            folder,
            runtime,
            driver,
        }
    })
}

/// The driver with its commands, then waiting; only runtimes in `folder` exist for it.
pub(crate) fn driver(folder: &Path, commands: &[&str]) -> Command {
    let mut driver = shared::clean(&built().driver);
    driver.env("LD_LIBRARY_PATH", folder);
    driver.args(commands).arg("wait");
    driver
}

/// A shared library from C text.
#[track_caller]
pub(crate) fn library(folder: &Path, name: &str, text: &str, arguments: &[String]) -> PathBuf {
    let source = folder.join(format!("{name}.c"));
    fs::write(&source, text).unwrap();
    let output = folder.join(name);
    let mut all = vec!["-shared".to_string(), "-fPIC".to_string()];
    all.extend(arguments.iter().cloned());
    shared::cc(&[source.to_str().unwrap()], &output, &all);
    output
}
