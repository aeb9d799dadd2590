//! Builds the fakes once and runs C clients against them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use fakehip::{Library, Version, libraries_of};
use tempfile::TempDir;

use crate::compiler::compiler;

/// The folder of the derivative among the versions.
const DTK: &str = "dtk";

/// Every version in a folder of its own, named by the version, a derivative in
/// another, plus `fakehip.h`.
pub(crate) fn fakes() -> &'static Path {
    static FAKES: OnceLock<TempDir> = OnceLock::new();
    FAKES
        .get_or_init(|| {
            let folder = TempDir::new().unwrap();
            for version in Version::ALL {
                let mut libraries = libraries_of(version);
                libraries.push(Library::hsa());
                fakehip::build(&folder.path().join(version.to_string()), &libraries)
                    .unwrap_or_else(|error| panic!("{error}"));
            }
            let derivative = Library::hip(Version::V5_7_1).dtk();
            fakehip::build(&folder.path().join(DTK), &[derivative])
                .unwrap_or_else(|error| panic!("{error}"));
            fakehip::write_header(folder.path()).unwrap();
            folder
        })
        .path()
}

/// A run of `tests/clients/NAME.c`, linked to the libraries of one version.
pub(crate) struct Client {
    version: Version,
    /// Where its libraries are, below [`fakes`].
    libraries: String,
    program: PathBuf,
    environment: Vec<(String, String)>,
    _folder: TempDir,
}

impl Client {
    /// Compiles a client; `libraries` are file names without folder.
    pub(crate) fn compile(name: &str, version: Version, libraries: &[&str]) -> Client {
        Client::compile_with(name, version, &version.to_string(), libraries)
    }

    fn compile_with(name: &str, version: Version, from: &str, libraries: &[&str]) -> Client {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
        let folder = TempDir::new().unwrap();
        let program = folder.path().join(name);
        let fakes = fakes();
        let output = compiler()
            .args([
                "-std=gnu11",
                "-O1",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pthread",
            ])
            .arg(format!("-DHIP_MAJOR={}", version.major()))
            .arg(format!("-DHIP_MINOR={}", version.minor()))
            .arg("-I")
            .arg(fakes)
            .arg("-I")
            .arg(sources.join("../../c"))
            .arg(sources.join(format!("{name}.c")))
            .arg("-o")
            .arg(&program)
            .arg("-L")
            .arg(fakes.join(from))
            .args(libraries.iter().map(|library| format!("-l:{library}")))
            .arg("-ldl")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Client {
            version,
            libraries: from.to_owned(),
            program,
            environment: Vec::new(),
            _folder: folder,
        }
    }

    /// A client of `libamdhip64` alone.
    pub(crate) fn of_hip(name: &str, version: Version) -> Client {
        Client::compile(
            name,
            version,
            &[&format!("libamdhip64.so.{}", version.major())],
        )
    }

    /// A client of the derivative's `libamdhip64`.
    pub(crate) fn of_dtk(name: &str) -> Client {
        Client::compile_with(name, Version::V5_7_1, DTK, &["libamdhip64.so.5"])
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Client {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// The program with the libraries and the environment set.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("LD_LIBRARY_PATH", fakes().join(&self.libraries));
        for variable in [
            "FAKEHIP_DEVICES",
            "FAKEHIP_LOG",
            "FAKEHIP_RECORD",
            "FAKEHIP_ERRORS",
        ] {
            command.env_remove(variable);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn output(&self) -> Output {
        self.command().output().unwrap()
    }

    /// Runs the client, which must find everything in order, and gives its stdout.
    pub(crate) fn run(&self) -> String {
        let output = self.output();
        assert!(
            output.status.success(),
            "{} on {}: {}\n{}{}",
            self.program.file_name().unwrap().display(),
            self.version,
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// A path beside the program.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.program.with_file_name(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}
