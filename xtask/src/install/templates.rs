//! The files of `install/` and the control header, with names filled in.

use std::fs;
use std::path::{Path, PathBuf};

use super::names::{BUILT_PREFIX, Names};

/// Where the templates are and what fills them.
pub(super) struct Templates<'a> {
    workspace: PathBuf,
    names: &'a Names,
}

/// The control functions' header.
const CONTROL_HEADER: &str = "include/hiplazy/hiplazy.h";

impl<'a> Templates<'a> {
    pub(super) fn new(workspace: &Path, names: &'a Names) -> Self {
        Templates {
            workspace: workspace.to_path_buf(),
            names,
        }
    }

    /// Each template with the file that it becomes.
    pub(super) fn files(&self) -> [(&'static str, String); 9] {
        let name = self.names.name();
        let cmake = |file: &str| format!("lib/cmake/{name}/{name}{file}");
        let pkgconfig = |part: &str| format!("lib/pkgconfig/{name}{part}.pc");
        [
            (CONTROL_HEADER, format!("include/{name}/hiplazy.h")),
            ("install/cmake/Config.cmake.in", cmake("Config.cmake")),
            (
                "install/cmake/ConfigVersion.cmake.in",
                cmake("ConfigVersion.cmake"),
            ),
            ("install/cmake/Targets.cmake.in", cmake("Targets.cmake")),
            ("install/pkgconfig/shared.pc.in", pkgconfig("")),
            ("install/pkgconfig/static.pc.in", pkgconfig("-static")),
            ("install/pkgconfig/dropin.pc.in", pkgconfig("-dropin")),
            (
                "install/source/header_version.c.in",
                format!("share/{name}/header_version.c"),
            ),
            (
                "install/source/header_version.cpp.in",
                format!("share/{name}/header_version.cpp"),
            ),
        ]
    }

    /// A template's text with everything filled in.
    pub(super) fn filled(&self, template: &str) -> Result<String, String> {
        let text = read(&self.workspace.join(template))?;
        if template == CONTROL_HEADER {
            return Ok(self.control_header(&text));
        }
        let upper = self.names.prefix().to_ascii_uppercase();
        let (soname, version) = (self.names.soname(), env!("CARGO_PKG_VERSION"));
        let values = [
            ("@NAME@", self.names.name()),
            ("@PREFIX_UPPER@", &upper),
            ("@PREFIX@", self.names.prefix()),
            ("@SONAME@", &soname),
            ("@VERSION@", version),
        ];
        let filled = values.iter().fold(text, |text, (placeholder, value)| {
            text.replace(placeholder, value)
        });
        match filled.split('@').nth(1) {
            Some(word)
                if word.bytes().all(|byte| byte.is_ascii_uppercase()) && !word.is_empty() =>
            {
                Err(format!("{template}: nothing fills @{word}@"))
            }
            _ => Ok(filled),
        }
    }

    /// The control header is no template, since it is used from the repository too.
    fn control_header(&self, text: &str) -> String {
        let guard = format!("{}_HIPLAZY_H", self.names.upper());
        text.replace("HIPLAZY_HIPLAZY_H", &guard)
            .replace(BUILT_PREFIX, self.names.prefix())
    }
}

/// A text file of the repository.
pub(super) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
