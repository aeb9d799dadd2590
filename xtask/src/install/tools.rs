//! The C compiler and the binary tools.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The programs that make libraries of what cargo built.
pub(super) struct Tools {
    cc: Tool,
    objcopy: Tool,
    ar: Tool,
}

struct Tool {
    variable: &'static str,
    program: OsString,
    /// What the variable says after the program, as in `ccache gcc`.
    before: Vec<OsString>,
    purpose: &'static str,
    package: &'static str,
}

impl Tools {
    /// `cc`, `objcopy` and `ar`, or what `CC`, `OBJCOPY` and `AR` name.
    pub(super) fn from_environment() -> Tools {
        let tool = |variable, default, purpose, package| {
            let value = env::var_os(variable).unwrap_or_default();
            Tool::new(variable, &value, default, purpose, package)
        };
        Tools {
            cc: tool("CC", "cc", "links the libraries", "gcc or clang"),
            objcopy: tool(
                "OBJCOPY",
                "objcopy",
                "makes symbols local",
                "binutils or llvm",
            ),
            ar: tool("AR", "ar", "writes the archives", "binutils or llvm"),
        }
    }

    /// Fails before the build rather than after it.
    pub(super) fn check(&self) -> Result<(), String> {
        for tool in [&self.cc, &self.objcopy, &self.ar] {
            tool.run(["--version"])?;
        }
        Ok(())
    }

    pub(super) fn cc<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<(), String> {
        self.cc.run(arguments).map_err(|error| {
            // The compiler's own words for it are "cannot find 'ld'".
            if error.contains("'ld'") {
                format!("{error}\nThe C compiler has no linker: install binutils or lld")
            } else {
                error
            }
        })
    }

    pub(super) fn objcopy<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<(), String> {
        self.objcopy.run(arguments)
    }

    pub(super) fn ar<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<(), String> {
        self.ar.run(arguments)
    }
}

impl Tool {
    fn new(
        variable: &'static str,
        value: &OsStr,
        default: &str,
        purpose: &'static str,
        package: &'static str,
    ) -> Tool {
        let mut words = words(value).into_iter();
        Tool {
            variable,
            program: words.next().unwrap_or_else(|| default.into()),
            before: words.collect(),
            purpose,
            package,
        }
    }

    fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        // Dates and owners in archives, and messages in another language, would differ
        // from one machine to the next.
        command
            .args(&self.before)
            .args(arguments)
            .env("LC_ALL", "C")
            .env("SOURCE_DATE_EPOCH", "0")
            .stdin(Stdio::null());
        let output = command.output().map_err(|error| {
            format!(
                "cannot start {}, which {}: {error}. Install {}, or name it with {}",
                self.program.display(),
                self.purpose,
                self.package,
                self.variable
            )
        })?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!(
            "{command:?}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ))
    }
}

/// The program and the arguments of a variable such as `CC`, split at blanks as a make
/// rule does it; but a file whose name has blanks is that file.
fn words(value: &OsStr) -> Vec<OsString> {
    if Path::new(value).is_file() {
        return vec![value.to_os_string()];
    }
    value
        .as_bytes()
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .map(|word| OsStr::from_bytes(word).to_os_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_a_program_and_its_arguments() {
        let split = |value: &str| words(OsStr::new(value));
        assert_eq!(split("ccache gcc"), ["ccache", "gcc"]);
        assert_eq!(split("  gcc\t-m64 "), ["gcc", "-m64"]);
        assert_eq!(split(" "), Vec::<OsString>::new());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("my cc");
        std::fs::write(&file, "").unwrap();
        assert_eq!(words(file.as_os_str()), [file.as_os_str()]);
    }

    #[test]
    fn arguments_of_the_variable_come_first_and_a_missing_program_is_named_alone() {
        let tool = |value: &str| {
            let value = OsStr::new(value);
            Tool::new("CC", value, "cc", "links the libraries", "gcc or clang")
        };
        assert_eq!(tool("env A=1").run(["sh", "-c", "test $A = 1"]), Ok(()));
        assert_eq!(tool("").program, "cc");
        let error = tool("no-such-ccache gcc").run(["--version"]).unwrap_err();
        let named = "cannot start no-such-ccache, which links";
        assert!(error.starts_with(named), "{error}");
    }
}
