//! The declarations in `abi/supplement/`, read on top of the pinned headers.

use std::path::{Path, PathBuf};

use crate::abi::Error;
use hiplazy_headers::Language;
use hiplazy_headers::{Declarations, TranslationUnit};

/// The files, in an order in which each finds the types that it uses.
const FILES: [&str; 7] = [
    "hiprtc.h",
    "hip_ext.h",
    "since_7_1_release.h",
    "since_7_2.h",
    "since_7_14.h",
    "before_6.h",
    "undeclared.h",
];

/// The source that reads the pinned HIP 7.1 headers and then the supplement.
pub(crate) struct Supplement {
    folder: PathBuf,
}

impl Supplement {
    /// The supplement of the workspace at `root`.
    pub(crate) fn of(root: &Path) -> Supplement {
        Supplement {
            folder: root.join("abi/supplement"),
        }
    }

    /// Where the files are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// C source that includes the pinned headers and every supplement file.
    pub(crate) fn source(&self) -> String {
        let mut source = String::from(
            "#include <stdbool.h>\n\
             #include <stddef.h>\n\
             #include <stdint.h>\n\
             #include <hip/hip_runtime_api.h>\n\
             #include <hip/hip_deprecated.h>\n\
             #include <hip/amd_detail/amd_hip_gl_interop.h>\n\
             #include <hsa/hsa.h>\n",
        );
        for file in FILES {
            source += &format!("#include \"{}\"\n", self.folder.join(file).display());
        }
        source
    }

    /// The functions of headers and supplement together; where both declare a
    /// function, the supplement's prototype.
    pub(crate) fn declarations(&self, include: &Path) -> Result<Declarations, Error> {
        let read = |only| {
            let unit = TranslationUnit {
                include,
                source: self.source(),
                language: Language::C,
                define: &[],
                only,
            };
            unit.declarations()
        };
        // Two passes, since bindgen writes one declaration per link name: the first.
        let mut declarations = read(None)?;
        declarations.extend(read(Some(self.folder.as_path()))?);
        Ok(declarations)
    }
}
