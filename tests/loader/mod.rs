//! What the loader's tests share: runtimes of a few functions, and a client that
//! does one step after another.

#![allow(dead_code, unreachable_pub, missing_docs)]

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::common::{cc, clean, fenced, libraries, root, text_of};

/// How a client gets hiplazy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// A program that links `libhiplazy.so`.
    Shared,
    /// A program that links `libhiplazy.a`.
    Static,
    /// A library that links `libhiplazy.a`, opened by a program that does not.
    Extension,
}

/// Arguments that link hiplazy, from the folder `libraries`.
pub fn link_arguments(link: Link, libraries: &Path) -> Vec<OsString> {
    let folder = libraries.display();
    match link {
        Link::Shared => vec![
            format!("{folder}/libhiplazy.so").into(),
            format!("-Wl,-rpath,{folder}").into(),
            "-ldl".into(),
        ],
        Link::Static => vec![format!("{folder}/libhiplazy.a").into(), "-ldl".into()],
        Link::Extension => vec![
            "-shared".into(),
            "-fPIC".into(),
            "-DEXTENSION".into(),
            format!("{folder}/libhiplazy.a").into(),
            "-ldl".into(),
        ],
    }
}

/// A folder for what the tests of one file share; it is not emptied, since these
/// tests run at the same time.
fn shared_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME"));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// `client.c`, built once for each way of linking.
pub fn client(link: Link) -> &'static Path {
    static BUILT: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
    BUILT[link as usize].get_or_init(|| {
        let output = shared_folder().join(format!("client-{link:?}.so"));
        cc(&["client.c"], &output, &link_arguments(link, libraries()));
        output
    })
}

/// `host.c`, which opens an extension.
pub fn host() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let output = shared_folder().join("host");
        cc(&["host.c"], &output, &["-ldl"]);
        output
    })
}

/// A process that has hiplazy in the way of `link`, to be given steps.
pub fn linked(link: Link, allowed: &[&Path]) -> Command {
    match link {
        Link::Extension => {
            let mut command = fenced(host(), allowed);
            command.arg(client(link));
            command
        }
        _ => fenced(client(link), allowed),
    }
}

/// A process that links `libhiplazy.so` and can open only runtimes below `allowed`.
pub fn fenced_client(allowed: &[&Path]) -> Command {
    linked(Link::Shared, allowed)
}

/// A process that links `libhiplazy.so`, and that sees the machine's own ROCm.
pub fn open_client() -> Command {
    clean(client(Link::Shared))
}

/// Runs the steps and gives what was printed; fails unless the process ended well.
#[track_caller]
pub fn steps(command: &mut Command, steps: &[&str]) -> String {
    let (out, _) = steps_and_log(command, steps);
    out
}

/// [`steps`] with standard error, where the log goes.
#[track_caller]
pub fn steps_and_log(command: &mut Command, steps: &[&str]) -> (String, String) {
    let output = command.args(steps).output().unwrap();
    if output.status.signal() == Some(14) {
        panic!(
            "{command:?}: did not end: a deadlock?\n{}",
            text_of(&output)
        );
    }
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        output.status,
        text_of(&output)
    );
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// A library of one C file, built once per test file.
pub fn plain_library(source: &str) -> PathBuf {
    static BUILT: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    let mut built = BUILT.lock().unwrap();
    let output = shared_folder().join(source.replace(".c", ".so"));
    if !built.iter().any(|name| name == source) {
        cc(&[source], &output, &["-shared", "-fPIC", "-ldl"]);
        built.push(source.to_owned());
    }
    output
}

/// A variant of `tiny_runtime.c`.
pub struct Tiny {
    tag: u32,
    version: u32,
    file: String,
    soname: String,
    arguments: Vec<String>,
}

impl Tiny {
    /// `libamdhip64.so.<major>` that answers `tag` devices.
    pub fn new(major: u32, tag: u32) -> Self {
        let version = match major {
            5 => 50_221_153,
            6 => 60_443_484,
            7 => 71_460_850,
            other => other * 10_000_000,
        };
        let name = format!("libamdhip64.so.{major}");
        Tiny {
            tag,
            version,
            file: name.clone(),
            soname: name,
            arguments: Vec::new(),
        }
    }

    /// With another file name, and the SONAME as it was.
    pub fn file(mut self, file: &str) -> Self {
        self.file = file.to_owned();
        self
    }

    /// With another SONAME.
    pub fn soname(mut self, soname: &str) -> Self {
        self.soname = soname.to_owned();
        self
    }

    /// With a file name and SONAME as auditwheel makes them.
    pub fn auditwheel(self) -> Self {
        let name = format!("libamdhip64-00ca86{:02x}.so.7.14.60850-0000000", self.tag);
        self.file(&name).soname(&name)
    }

    /// With a further compiler argument.
    pub fn with(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Builds it in `folder`, which is made, and gives its path.
    #[track_caller]
    pub fn build(&self, folder: &Path) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let output = folder.join(&self.file);
        let map = root().join("tests/c/tiny_runtime.map");
        let mut arguments = vec![
            "-shared".to_owned(),
            "-fPIC".to_owned(),
            format!("-DTAG={}", self.tag),
            format!("-DVERSION={}", self.version),
            format!("-Wl,-soname,{}", self.soname),
            // An older runtime lacks a function that the map names.
            format!("-Wl,--undefined-version,--version-script,{}", map.display()),
            "-ldl".to_owned(),
        ];
        arguments.extend(self.arguments.iter().cloned());
        cc(&["tiny_runtime.c"], &output, &arguments);
        output
    }
}

/// A library that the tests put beside a runtime: `define` is `HIPRTC`, `HSA` or
/// `PLAIN`.
pub fn companion(folder: &Path, name: &str, define: &str, tag: u32) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let output = folder.join(name);
    let arguments = [
        "-shared".to_owned(),
        "-fPIC".to_owned(),
        format!("-D{define}"),
        format!("-DTAG={tag}"),
        format!("-Wl,-soname,{name}"),
        "-ldl".to_owned(),
    ];
    cc(&["tiny_companion.c"], &output, &arguments);
    output
}

/// A library with the file name of a runtime that is not one: `disguise.c`.
pub fn disguise(folder: &Path, file: &str) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let output = folder.join(file);
    cc(
        &["disguise.c"],
        &output,
        &["-shared", "-fPIC", "-Wl,-soname,libhip_stub.so"],
    );
    output
}

/// The numbered lines of a last error: each candidate with its reason, in order.
pub fn candidates(error: &str) -> Vec<String> {
    let numbered = |line: &str| {
        let (number, rest) = line.strip_prefix("  ")?.split_once(". ")?;
        number.parse::<u32>().ok()?;
        Some(rest.to_owned())
    };
    error.lines().filter_map(numbered).collect()
}
