//! Consumers in a process, on one of the runtimes or on none.

#![allow(unreachable_pub)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use xtask::fetch;

use crate::common::{cc, fenced, run, skip};
use crate::toolchain::project_folder;

/// What HIP there is in a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runtime {
    Headless,
    Fake6,
    Fake7,
    Real7,
}

impl Runtime {
    pub const ALL: [Runtime; 4] = [
        Runtime::Headless,
        Runtime::Fake6,
        Runtime::Fake7,
        Runtime::Real7,
    ];

    /// What `hipRuntimeGetVersion` answers.
    pub fn version(self) -> i32 {
        match self {
            Runtime::Headless => 0,
            Runtime::Fake6 => 60_443_484,
            Runtime::Fake7 | Runtime::Real7 => 71_460_850,
        }
    }

    /// The file of `libamdhip64`; `None` if there is to be none, or if it cannot be
    /// had, which is then said.
    pub fn library(self, what: &str) -> Option<PathBuf> {
        let path = match self {
            Runtime::Headless => return None,
            Runtime::Fake6 => fakes(6).join("libamdhip64.so.6"),
            Runtime::Fake7 => fakes(7).join("libamdhip64.so.7"),
            Runtime::Real7 => match fetch::runtime_7_14() {
                Ok(path) => path,
                Err(missing) => {
                    skip(
                        &format!("{what} on the real 7.14 runtime"),
                        &missing.to_string(),
                    );
                    return None;
                }
            },
        };
        Some(fs::canonicalize(path).unwrap())
    }
}

/// A folder with the fake HIP, hiprtc and HSA of a major, and nothing else.
pub fn fakes(major: u32) -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    static FOLDERS: [OnceLock<PathBuf>; 2] = [const { OnceLock::new() }; 2];
    let all = BUILT.get_or_init(|| crate::common::scratch("consumers-fakes"));
    FOLDERS[usize::from(major == 7)].get_or_init(|| {
        let folder = all.join(major.to_string());
        let version = fakehip::Version::of_major(major).unwrap();
        let mut libraries = fakehip::libraries_of(version);
        libraries.push(fakehip::Library::hsa());
        fakehip::build(&folder, &libraries).unwrap_or_else(|error| panic!("{error}"));
        folder
    })
}

/// The program that opens consumers.
fn host() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let output = crate::common::scratch("consumers-host").join("host");
        let source = project_folder("source").join("host.c");
        cc(&[], &output, &[source.as_os_str(), "-ldl".as_ref()]);
        output
    })
}

/// The host with the steps to take, in an environment in which `library` is the only
/// runtime.
pub fn process(runtime: Runtime, library: Option<&Path>) -> Command {
    let Some(path) = library else {
        return fenced(host(), &[]);
    };
    let mut command = process_beside(path);
    if runtime == Runtime::Real7 {
        // Its name is auditwheel's, which no search finds.
        command
            .env("HIPLAZY_RUNTIME", path)
            .env("LD_LIBRARY_PATH", comgr(path));
    }
    command
}

/// The same with a runtime that ld.so finds.
pub fn process_beside(library: &Path) -> Command {
    let folder = library.parent().unwrap();
    let mut command = fenced(host(), &[folder]);
    command.env("LD_LIBRARY_PATH", folder);
    command
}

/// A folder that leads the real libhiprtc to its compiler. It opens libamd_comgr by the
/// SONAME, which auditwheel has changed, and calls through NULL when there is none.
fn comgr(runtime: &Path) -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = crate::common::scratch("consumers-comgr");
        let compiler = fs::read_dir(runtime.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap())
            .find(|entry| {
                let name = entry.file_name();
                name.to_string_lossy().starts_with("libamd_comgr-")
            });
        let link = folder.join("libamd_comgr.so.3");
        symlink(compiler.unwrap().path(), link).unwrap();
        folder
    })
}

/// What the host and its consumers printed.
pub struct Said {
    text: String,
}

impl Said {
    pub fn by(command: &mut Command) -> Said {
        Said { text: run(command) }
    }

    /// The values by name of the `index`-th part that `file` printed ("process" is the
    /// host's own).
    #[track_caller]
    pub fn part(&self, file: &str, index: usize) -> BTreeMap<&str, Vec<&str>> {
        let head = format!("== {file}\n");
        let Some(part) = self.text.split(&head).nth(index + 1) else {
            panic!(
                "{file} said nothing for the {index}. time:\n{text}",
                text = self.text
            );
        };
        let part = part.split("== ").next().unwrap();
        let mut values = BTreeMap::<_, Vec<_>>::new();
        for line in part.lines() {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            values.entry(name).or_default().push(value);
        }
        values
    }
}
