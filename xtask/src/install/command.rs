//! `bin/hiplazy`, where the workspace has the command's crate, `cli`.
//!
//! The command writes its own man page with `hiplazy man` and completions with
//! `hiplazy completions SHELL`; what it cannot write is not installed.

use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::build;
use super::build_paths::cargo_home;
use super::tools::Tools;
use super::tree::Tree;

/// What the command prints, and where that goes.
const PRINTED: [(&[&str], &str); 4] = [
    (&["man"], "share/man/man1/hiplazy.1"),
    (
        &["completions", "bash"],
        "share/bash-completion/completions/hiplazy",
    ),
    (&["completions", "zsh"], "share/zsh/site-functions/_hiplazy"),
    (
        &["completions", "fish"],
        "share/fish/vendor_completions.d/hiplazy.fish",
    ),
];

/// Whether this workspace has the command.
pub(super) fn exists(workspace: &Path) -> bool {
    manifest(workspace).is_file()
}

/// The command's own.
pub(super) fn manifest(workspace: &Path) -> PathBuf {
    workspace.join("cli/Cargo.toml")
}

/// Builds the command in a folder below `target`, and adds it and what it prints to
/// the tree.
pub(super) fn add(
    tools: &Tools,
    workspace: &Path,
    target: &Path,
    tree: &mut Tree,
) -> Result<(), Box<dyn Error>> {
    let files = build::run(
        build::cargo(workspace)
            .args(["build", "--release", "--locked", "--bin=hiplazy"])
            .args(["--manifest-path", "cli/Cargo.toml"])
            // Of its own: the flags below would have cargo build everything anew each time.
            .arg("--target-dir")
            .arg(target.join("install-command"))
            .env("CARGO_ENCODED_RUSTFLAGS", flags(workspace, target)),
    )?;
    let built = build::named(&files, "hiplazy")?;
    tree.folder("bin")?;
    let installed = tree.path("bin/hiplazy");
    tools.objcopy([
        OsStr::new("--strip-all"),
        built.as_os_str(),
        installed.as_os_str(),
    ])?;
    for (arguments, file) in PRINTED {
        if let Some(text) = printed(&installed, arguments) {
            tree.write(file, &text)?;
        }
    }
    Ok(())
}

/// The flags of the environment, and those that leave no path of this machine in the
/// messages of panics: of crates from a registry, and of generated sources. Flags of
/// cargo's configuration files do not apply.
fn flags(workspace: &Path, target: &Path) -> OsString {
    let mut flags = env::var_os("CARGO_ENCODED_RUSTFLAGS").unwrap_or_else(|| {
        let flags = env::var("RUSTFLAGS").unwrap_or_default();
        let flags: Vec<&str> = flags.split_whitespace().collect();
        flags.join(SEPARATOR).into()
    });
    let home = cargo_home();
    // One may lie in another, and of those that fit the last one counts.
    let mut folders: Vec<(PathBuf, &str)> = Vec::new();
    folders.extend(home.iter().map(|home| (home.clone(), "cargo")));
    // Each is named after a registry's host, which says where this machine gets its crates.
    folders.extend(registries().map(|folder| (folder, "crates")));
    folders.push((workspace.into(), "hiplazy"));
    folders.push((target.into(), "target"));
    for (folder, name) in folders {
        if !flags.is_empty() {
            flags.push(SEPARATOR);
        }
        flags.push("--remap-path-prefix=");
        flags.push(folder);
        flags.push("=");
        flags.push(name);
    }
    flags
}

/// Where cargo keeps the sources of crates, a folder per registry. The libraries are built
/// before the command, so that it is there.
fn registries() -> impl Iterator<Item = PathBuf> {
    let sources = cargo_home().map(|home| home.join("registry/src"));
    let folders = sources.and_then(|sources| fs::read_dir(sources).ok());
    let mut folders: Vec<PathBuf> = folders
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    folders.sort();
    folders.into_iter()
}

/// Between the flags of `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// What `program` prints, if it knows these arguments. A command for another processor
/// does not even start.
fn printed(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace whose command says where it was compiled, and has a man page.
    fn workspace(folder: &Path) {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "Cargo.toml",
            "[workspace]\nmembers = [\"cli\"]\nresolver = \"3\"\n",
        );
        write(
            "Cargo.lock",
            "version = 4\n\n[[package]]\nname = \"any-name\"\nversion = \"0.1.0\"\n",
        );
        write(
            "cli/Cargo.toml",
            "[package]\nname = \"any-name\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [[bin]]\nname = \"hiplazy\"\npath = \"src/main.rs\"\n",
        );
        // What is generated is compiled by its whole path.
        write(
            "cli/build.rs",
            "fn main() {
                let out = std::env::var(\"OUT_DIR\").unwrap();
                let text = \"fn place() -> &'static str { file!() }\";
                std::fs::write(out + \"/place.rs\", text).unwrap();
            }",
        );
        write(
            "cli/src/main.rs",
            "include!(concat!(env!(\"OUT_DIR\"), \"/place.rs\"));
            fn main() {
                let arguments: Vec<String> = std::env::args().skip(1).collect();
                match arguments.join(\" \").as_str() {
                    \"man\" => println!(\".TH hiplazy 1\"),
                    \"completions fish\" => println!(\"complete\"),
                    \"place\" => println!(\"{}\", place()),
                    _ => panic!(\"no such command\"),
                }
            }",
        );
    }

    #[test]
    fn the_command_and_what_it_prints_are_installed_without_paths_of_the_build() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source of it");
        assert!(!exists(&source));
        workspace(&source);
        assert!(exists(&source));
        let mut tree = Tree::create(&folder.path().join("tree")).unwrap();
        let target = folder.path().join("target");
        add(&Tools::from_environment(), &source, &target, &mut tree).unwrap();
        let home = cargo_home().unwrap();
        tree.forbid_paths(&[&source, &target, &home]).unwrap();

        let said = printed(&tree.path("bin/hiplazy"), &["place"]).unwrap();
        assert!(said.starts_with("target/install-command/"), "{said}");
        let prefix = folder.path().join("prefix");
        let installed = tree.copy_to(&prefix).unwrap();
        assert_eq!(
            installed,
            [
                "bin/hiplazy",
                "share/fish/vendor_completions.d/hiplazy.fish",
                "share/man/man1/hiplazy.1"
            ]
        );
        let said = printed(&prefix.join("bin/hiplazy"), &["man"]);
        assert_eq!(said.as_deref(), Some(".TH hiplazy 1\n"));
    }
}
