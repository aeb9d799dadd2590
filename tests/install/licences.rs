//! Other people's notices, which whoever passes the libraries on passes on too.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::common::{root, run, skip};
use crate::installed::{Entry, entries, hiplazy, vendor};

/// The crates of others that cargo links into `packages`, `name-version`.
fn linked(packages: &[&str]) -> Vec<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args([
        "tree",
        "--locked",
        "--edges=normal,no-proc-macro",
        "--prefix=none",
    ]);
    cargo.args(packages.iter().flat_map(|package| ["--package", package]));
    run(&mut cargo)
        .lines()
        // A crate of the repository has its folder behind its version.
        .filter(|line| !line.is_empty() && !line.contains("(/"))
        .filter_map(|line| {
            let (name, rest) = line.split_once(" v")?;
            Some(format!("{name}-{}", rest.split(' ').next()?))
        })
        .collect()
}

/// Every crate that cargo links into the archives and the command has its licence texts in
/// the tree, with its version, and so has Rust's own library where the toolchain has them.
#[test]
fn every_linked_crate_has_its_licence_in_the_tree() {
    let crates = linked(&["hiplazy-static", "hiplazy-dropin"]);
    let of_command = linked(&["hiplazy-cli"]);
    assert!(of_command.iter().any(|linked| linked.starts_with("clap-")));
    for name in ["libloading", "once_cell", "libc", "cfg-if"] {
        let found = crates.iter().any(|linked| linked.starts_with(name));
        assert!(found, "{name} of {crates:?}");
    }
    let mut wanted: Vec<&str> = crates.iter().map(String::as_str).collect();
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = run(Command::new(rustc).args(["--print", "sysroot"]));
    let notices = Path::new(sysroot.trim_end()).join("share/doc/rust/COPYRIGHT-library.html");
    if notices.is_file() {
        wanted.push("rust");
    } else {
        skip("the notices of Rust's library", "this toolchain has none");
    }
    for (prefix, package) in [(hiplazy(), "hiplazy"), (vendor(), "tl_hip")] {
        let entries = entries(prefix);
        let command = of_command.iter().map(String::as_str);
        let command = command.filter(|_| package == "hiplazy");
        for linked in wanted.iter().copied().chain(command) {
            let folder = format!("share/licenses/{package}/{linked}/");
            let mut texts = entries.iter().filter(|(name, _)| name.starts_with(&folder));
            let permits = texts.any(|(_, entry)| match entry {
                Entry::File { bytes, .. } => {
                    let text = String::from_utf8_lossy(bytes).to_lowercase();
                    let owner = text.contains("copyright") || text.contains("(c)");
                    text.contains("permission") && owner
                }
                Entry::Link(_) => false,
            });
            assert!(permits, "nothing in {folder}");
        }
        // Macros are not part of what is passed on.
        assert!(!entries.keys().any(|name| name.contains("pastey")));
    }
}
