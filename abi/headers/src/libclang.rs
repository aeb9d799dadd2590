//! libclang and the compiler flags that HIP's headers want.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;

/// The language that headers are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C99 and newer: what most callers of the C interface compile.
    C,
    /// C++17: `hip_ext.h` is C++ only.
    Cxx,
}

/// Clang's arguments to read HIP headers below `include` on the host.
///
/// The pip build of libclang has no `stddef.h` of its own, hence gcc's folder.
pub(crate) fn arguments(include: &Path, language: Language) -> Result<Vec<String>, Error> {
    let mut arguments = vec![
        // Warnings about HIP's own code are for its authors; errors still stop bindgen.
        "-w".to_string(),
        "-D__HIP_PLATFORM_AMD__".to_string(),
        format!("-I{}", include.display()),
        "-isystem".to_string(),
        compiler_include()?.display().to_string(),
    ];
    arguments.extend(match language {
        Language::C => ["-x".to_string(), "c".to_string()],
        Language::Cxx => ["-x".to_string(), "c++".to_string()],
    });
    if language == Language::Cxx {
        arguments.push("-std=c++17".to_string());
    }
    Ok(arguments)
}

/// The folder with the compiler's own headers, `stddef.h` and its like.
fn compiler_include() -> Result<PathBuf, Error> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let question = "-print-file-name=include";
    let output = Command::new(&compiler)
        .arg(question)
        .output()
        .map_err(|error| {
            Error::new(format!(
                "cannot run the C compiler \"{compiler} {question}\": {error}; install gcc or set CC"
            ))
        })?;
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if folder.join("stddef.h").is_file() {
        return Ok(folder);
    }
    Err(Error::new(format!(
        "\"{compiler} {question}\" names {}, which has no stddef.h; set CC to a gcc",
        folder.display()
    )))
}
