//! Why a build failed.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::version::Version;

/// Why a build failed. The message says what was tried and what helps.
#[derive(Debug)]
pub enum Error {
    /// A file or folder could not be read or written.
    File {
        /// What was tried, such as "create the folder".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The C compiler could not be started.
    NoCompiler {
        /// The command, `$CC` or `cc`.
        compiler: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The C compiler or linker failed.
    Compiler {
        /// The command line.
        command: String,
        /// All that it wrote.
        output: String,
    },
    /// A name in `only` or `without` that the runtime does not export anyway.
    UnknownFunction {
        /// The name.
        name: String,
        /// The SONAME of the plain library.
        library: String,
    },
    /// A `libhiprtc` for a version that has none.
    NoRtc(Version),
    /// A table of the ABI manifest could not be read.
    Manifest(hiplazy_abi::ParseError),
}

impl Error {
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File {
            action,
            path,
            source,
        }
    }
}

impl From<hiplazy_abi::ParseError> for Error {
    fn from(error: hiplazy_abi::ParseError) -> Error {
        Error::Manifest(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File {
                action,
                path,
                source,
            } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            Error::NoCompiler { compiler, source } => write!(
                f,
                "cannot run the C compiler '{compiler}': {source}; install gcc or clang, or set CC"
            ),
            Error::Compiler { command, output } => {
                write!(f, "the C compiler failed:\n{command}\n{output}")
            }
            Error::UnknownFunction { name, library } => write!(
                f,
                "the real {library} of this version does not export '{name}'; \
                 names are link names, such as hipGetDevicePropertiesR0600"
            ),
            Error::NoRtc(version) => write!(
                f,
                "HIP {version} has no libhiprtc: its hiprtc functions are in libamdhip64"
            ),
            Error::Manifest(error) => write!(f, "the ABI manifest is not readable: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File { source, .. } | Error::NoCompiler { source, .. } => Some(source),
            _ => None,
        }
    }
}
