//! What to build: a library, and how it deviates from the plain one.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::version::Version;

/// The three libraries that can be faked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `libamdhip64.so.N`
    Hip(Version),
    /// `libhiprtc.so.N`, for HIP 6 and newer.
    Rtc(Version),
    /// `libhsa-runtime64.so.1`, with `hsa_init` and `hsa_shut_down`.
    Hsa,
}

impl Kind {
    /// The real SONAME.
    #[must_use]
    pub fn soname(self) -> String {
        match self {
            Kind::Hip(version) => format!("libamdhip64.so.{}", version.major()),
            Kind::Rtc(version) => format!("libhiprtc.so.{}", version.major()),
            Kind::Hsa => "libhsa-runtime64.so.1".to_owned(),
        }
    }
}

/// One library to build. Plain, it is named as its SONAME and exports all that
/// the real one exports; the other methods make it deviate.
#[derive(Debug, Clone)]
pub struct Library {
    pub(crate) kind: Kind,
    pub(crate) file_name: String,
    pub(crate) soname: String,
    pub(crate) is_dtk: bool,
    pub(crate) only: Option<Vec<String>>,
    pub(crate) without: Vec<String>,
    pub(crate) extra_sources: Vec<PathBuf>,
    pub(crate) link_arguments: Vec<OsString>,
    pub(crate) runtime_version: Option<i32>,
}

impl Library {
    /// A plain library.
    #[must_use]
    pub fn new(kind: Kind) -> Library {
        Library {
            kind,
            file_name: kind.soname(),
            soname: kind.soname(),
            is_dtk: false,
            only: None,
            without: Vec::new(),
            extra_sources: Vec::new(),
            link_arguments: Vec::new(),
            runtime_version: None,
        }
    }

    /// A plain `libamdhip64`.
    #[must_use]
    pub fn hip(version: Version) -> Library {
        Library::new(Kind::Hip(version))
    }

    /// A plain `libhiprtc`. Building it fails for HIP 5, which has none.
    #[must_use]
    pub fn rtc(version: Version) -> Library {
        Library::new(Kind::Rtc(version))
    }

    /// A plain `libhsa-runtime64`.
    #[must_use]
    pub fn hsa() -> Library {
        Library::new(Kind::Hsa)
    }

    /// Whether this is a `libamdhip64`.
    #[must_use]
    pub fn is_hip(&self) -> bool {
        matches!(self.kind, Kind::Hip(_))
    }

    /// Another file name, with the SONAME as it is: a disguise, or a link of another name.
    #[must_use]
    pub fn file_name(mut self, name: impl Into<String>) -> Library {
        self.file_name = name.into();
        self
    }

    /// Another SONAME, with the file name as it is.
    #[must_use]
    pub fn soname(mut self, soname: impl Into<String>) -> Library {
        self.soname = soname.into();
        self
    }

    /// File name and SONAME as auditwheel writes them into Python wheels:
    /// `libamdhip64-<hash>.so.7.14.60850`.
    #[must_use]
    pub fn auditwheel(self, hash: &str) -> Library {
        let (stem, version) = match self.kind {
            Kind::Hip(version) => ("libamdhip64", version),
            Kind::Rtc(version) => ("libhiprtc", version),
            Kind::Hsa => {
                let name = format!("libhsa-runtime64-{hash}.so.1");
                return self.file_name(name.clone()).soname(name);
            }
        };
        let number = version.runtime_version();
        let name = format!(
            "{stem}-{hash}.so.{}.{}.{}",
            number / 10_000_000,
            number / 100_000 % 100,
            number % 100_000
        );
        self.file_name(name.clone()).soname(name)
    }

    /// A `libamdhip64` as in Hygon's DTK, a derivative of HIP 5: without the names
    /// that end in `R0600`, but with `hipGetDeviceProperties_v2` and
    /// `hipChooseDevice_v2`, whose struct of 1480 bytes begins as the one of `R0600`.
    /// Its version node, `hip_4.2`, is assumed. Nothing changes for other libraries.
    #[must_use]
    pub fn dtk(mut self) -> Library {
        self.is_dtk = self.is_hip();
        self
    }

    /// Exports these functions and no others (a runtime with half of its functions).
    #[must_use]
    pub fn only<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Library {
        self.only = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Does not export these functions.
    #[must_use]
    pub fn without<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Library {
        self.without.extend(names.into_iter().map(Into::into));
        self
    }

    /// Links a C file of the caller's into the library, for example one with a
    /// constructor. Its symbols are not exported.
    #[must_use]
    pub fn source(mut self, file: impl Into<PathBuf>) -> Library {
        self.extra_sources.push(file.into());
        self
    }

    /// An argument for the link, after all others: a library that [`source`](Library::source)
    /// needs, or `-Wl,-z,undefs` if its symbols come from whoever loads the fake.
    #[must_use]
    pub fn link_argument(mut self, argument: impl Into<OsString>) -> Library {
        self.link_arguments.push(argument.into());
        self
    }

    /// Another answer of `hipRuntimeGetVersion`. Exports and behaviour stay.
    #[must_use]
    pub fn runtime_version(mut self, number: i32) -> Library {
        self.runtime_version = Some(number);
        self
    }
}
