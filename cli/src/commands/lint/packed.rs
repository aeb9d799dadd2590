//! Packages that are not looked into: what they are, so that nobody takes them for clean.

use super::Looked;
use crate::report::Unreadable;

/// How they are counted where they were not named.
pub(super) const NOT_LOOKED_INTO: &str = "packages not looked into";

/// A kind of package, and how it is unpacked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packed {
    what: &'static str,
    unpack: &'static str,
}

static DEBIAN: Packed = Packed {
    what: "a Debian package",
    unpack: "dpkg-deb -x FILE FOLDER",
};
static RPM: Packed = Packed {
    what: "an RPM package",
    unpack: "rpm2cpio FILE | cpio -id",
};
static CONDA: Packed = Packed {
    what: "a conda package",
    unpack: "cph extract FILE",
};
static TAR: Packed = Packed {
    what: "a tar archive",
    unpack: "tar -xf FILE",
};

/// What a file is, by its contents and its name.
pub(super) fn kind(path: &str, data: &[u8]) -> Option<&'static Packed> {
    const TARS: [&str; 9] = [
        ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar.zst", ".tzst",
    ];
    let path = path.to_lowercase();
    let is_ar = data.starts_with(b"!<arch>\n");
    if data.starts_with(b"!<arch>\ndebian-binary") || (is_ar && path.ends_with(".deb")) {
        Some(&DEBIAN)
    } else if data.starts_with(b"\xed\xab\xee\xdb") {
        Some(&RPM)
    } else if data.starts_with(b"PK\x03\x04") && path.ends_with(".conda") {
        Some(&CONDA)
    } else if TARS.iter().any(|ending| path.ends_with(ending)) {
        Some(&TAR)
    } else {
        None
    }
}

impl Packed {
    /// What is said of it: a line if the user named it, else it is counted.
    pub(super) fn looked(&self, path: &str, named: bool) -> Looked {
        if !named {
            return Looked::Passed(NOT_LOOKED_INTO);
        }
        let why = format!(
            "is {}, which is not looked into: unpack it ({}) and lint the folder",
            self.what, self.unpack
        );
        Looked::Unreadable(Unreadable {
            path: path.into(),
            why,
        })
    }
}
