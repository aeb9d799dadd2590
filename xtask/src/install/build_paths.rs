//! Folders of this machine that the compiler may leave in what it compiles.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders of the sources of dependencies and of Rust's own libraries.
///
/// Whole, `$CARGO_HOME` and the sysroot could be `/usr`, which a file may well mention.
///
/// # Errors
///
/// rustc does not say where its sysroot is.
pub(super) fn sources(workspace: &Path) -> Result<Vec<PathBuf>, String> {
    let mut folders = Vec::new();
    if let Some(home) = cargo_home() {
        folders.extend(["registry", "git"].map(|part| home.join(part)));
    }
    folders.push(sysroot(workspace)?.join("lib/rustlib"));
    // Behind a link, either path may have been used.
    let real: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| fs::canonicalize(folder).ok())
        .collect();
    folders.extend(real);
    folders.sort();
    folders.dedup();
    Ok(folders)
}

/// Where cargo keeps the sources of crates.
pub(super) fn cargo_home() -> Option<PathBuf> {
    home(env::var_os("CARGO_HOME"), env::home_dir())
}

/// Cargo's own rule.
fn home(variable: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    variable
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
        .or_else(|| home.map(|home| home.join(".cargo")))
}

fn sysroot(workspace: &Path) -> Result<PathBuf, String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    // In the workspace, which may have a toolchain of its own.
    let mut command = Command::new(&rustc);
    command.current_dir(workspace).args(["--print", "sysroot"]);
    let output = command
        .output()
        .map_err(|error| format!("cannot start {}: {error}", rustc.display()))?;
    let path = String::from_utf8_lossy(&output.stdout);
    match path.trim_end() {
        path if output.status.success() && !path.is_empty() => Ok(PathBuf::from(path)),
        _ => Err(format!(
            "{command:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    fn workspace() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn a_file_with_a_path_of_a_source_is_refused() {
        let home = cargo_home().unwrap();
        let rust = sysroot(workspace()).unwrap();
        for path in [
            home.join("registry/src/index/once_cell-1.21.4/src/race.rs"),
            home.join("git/checkouts/crate/src/lib.rs"),
            rust.join("lib/rustlib/src/rust/library/core/src/option.rs"),
        ] {
            let scratch = tempfile::tempdir().unwrap();
            let mut tree = Tree::create(scratch.path()).unwrap();
            tree.write("share/good", "/usr/local/lib\n").unwrap();
            let sources = sources(workspace()).unwrap();
            let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
            tree.forbid_paths(&sources).unwrap();
            let text = format!("before\0{}\0behind", path.display());
            tree.write("lib/bad", &text).unwrap();
            let error = tree.forbid_paths(&sources).unwrap_err();
            assert!(error.starts_with("lib/bad contains the path "), "{error}");
        }
    }

    #[test]
    fn of_a_folder_in_another_the_inner_one_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let mut tree = Tree::create(scratch.path()).unwrap();
        tree.write("lib/bad", "/a/workspace/target/release/build/out.rs")
            .unwrap();
        let [outer, inner] = ["/a/workspace", "/a/workspace/target/release"].map(Path::new);
        for folders in [[outer, inner], [inner, outer]] {
            let error = tree.forbid_paths(&folders).unwrap_err();
            let expected = "lib/bad contains the path /a/workspace/target/release of the build";
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn cargos_home_is_that_of_the_variable_or_in_the_users() {
        let of_user = || Some(PathBuf::from("/home/somebody"));
        let of = |variable: &str| home(Some(variable.into()), of_user());
        assert_eq!(of("/cargo"), Some("/cargo".into()));
        assert_eq!(of(""), Some("/home/somebody/.cargo".into()));
        assert_eq!(home(None, of_user()), of(""));
        assert_eq!(home(None, None), None);
    }
}
