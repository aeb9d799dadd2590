//! Rust declarations from the crates registry.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::fetch::command::run;
use crate::fetch::{Missing, RustDeclarations, store};

const NAME: &str = "declarations-7.14";
const CRATE: &str = "cubecl-hip-sys";
const VERSION: &str = "7.14.6085001";

/// The crate's files are named by HIP's patch number; the last build of each
/// minor version stands for it.
const FILES: [((u32, u32), &str); 7] = [
    ((6, 2), "bindings_41134.rs"),
    ((6, 3), "bindings_42134.rs"),
    ((6, 4), "bindings_43484.rs"),
    ((7, 0), "bindings_51831.rs"),
    ((7, 1), "bindings_52802.rs"),
    ((7, 2), "bindings_53211.rs"),
    ((7, 14), "bindings_60850.rs"),
];

/// The folder with the files.
pub(crate) fn bindings() -> Result<PathBuf, Missing> {
    store::folder(NAME, |content| {
        let missing = |why: String| Missing::new(NAME, why);
        let io = |error: std::io::Error| missing(format!("{CRATE}: {error}"));
        let project = tempfile::tempdir_in(content.parent().unwrap_or(content)).map_err(io)?;
        let manifest = project.path().join("Cargo.toml");
        fs::write(
            &manifest,
            format!(
                "[package]\nname = \"declarations\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                 [workspace]\n\n[dependencies]\n{CRATE} = \"={VERSION}\"\n"
            ),
        )
        .map_err(io)?;
        let source = project.path().join("src");
        fs::create_dir(&source).map_err(io)?;
        fs::write(source.join("lib.rs"), "").map_err(io)?;
        let vendored = project.path().join("vendored");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        run(Command::new(cargo)
            .args(["vendor", "--quiet", "--manifest-path"])
            .arg(&manifest)
            .arg(&vendored)
            .current_dir(project.path()))
        .map_err(missing)?;
        let bindings = vendored.join(CRATE).join("src/bindings");
        for (_, file) in FILES {
            fs::copy(bindings.join(file), content.join(file))
                .map_err(|error| missing(format!("{CRATE} {VERSION}: {file}: {error}")))?;
        }
        Ok(())
    })
}

/// The files with the HIP version of each.
pub(crate) fn bindings_by_version() -> Result<Vec<RustDeclarations>, Missing> {
    let folder = bindings()?;
    Ok(FILES
        .iter()
        .map(|(version, file)| RustDeclarations {
            version: *version,
            file: folder.join(file),
        })
        .collect())
}
