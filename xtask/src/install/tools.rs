//! The C compiler and the binary tools.

use std::env;
use std::ffi::{OsStr, OsString};
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
    purpose: &'static str,
    package: &'static str,
}

impl Tools {
    /// `cc`, `objcopy` and `ar`, or what `CC`, `OBJCOPY` and `AR` name.
    pub(super) fn from_environment() -> Tools {
        let tool = |variable, default: &str, purpose, package| Tool {
            variable,
            program: env::var_os(variable)
                .filter(|program| !program.is_empty())
                .unwrap_or_else(|| default.into()),
            purpose,
            package,
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
    fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        // Dates and owners in archives, and messages in another language, would differ
        // from one machine to the next.
        command
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
