//! The HIP headers of this installation.

use std::path::Path;

use xtask::c_headers::{self, HeaderOptions};

use super::names::Names;

/// Writes them into the folder `include`.
pub(super) fn write(include: &Path, names: &Names) -> Result<(), String> {
    let options = HeaderOptions {
        prefix: names.prefix().to_string(),
        folder: names.name().to_string(),
    };
    c_headers::write(include, &options)
        .map(drop)
        .map_err(|error| format!("the headers could not be written: {error}"))
}
