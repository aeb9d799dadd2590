//! Paths of the build machine, of which no installed file may know.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use crate::common::{run, scratch, text_of};
use crate::installed::{self, hiplazy};

/// A C compiler that leaves a path behind, as one with debug information would: nothing
/// is installed, and the error has the file and the path.
#[test]
fn a_library_that_knows_where_it_was_built_is_not_installed() {
    // The task itself is built with an ordinary compiler.
    hiplazy();
    let cargo = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.unwrap_or_else(|| env::home_dir().unwrap().join(".cargo"));
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = run(Command::new(rustc).args(["--print", "sysroot"]));
    for (name, path) in [
        ("cargo", cargo.join("registry")),
        (
            "rust",
            PathBuf::from(sysroot.trim_end()).join("lib/rustlib"),
        ),
        ("target", installed::target_folder().join("release")),
    ] {
        let folder = scratch(&format!("install-leaks-{name}"));
        let compiler = folder.join("cc");
        let script = "#!/bin/sh\ncc \"$@\" || exit\nfor argument; do\n  case $argument in\n    \
                      */libhiplazy.so.1) printf %s \"$LEAKED/src/file.rs\" >> \"$argument\" ;;\n  \
                      esac\ndone\n";
        fs::write(&compiler, script).unwrap();
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
        let prefix = folder.join("prefix");
        let mut task = installed::task(&prefix);
        let output = task
            .env("CC", &compiler)
            .env("LEAKED", &path)
            .output()
            .unwrap();
        let said = text_of(&output);
        assert!(!output.status.success(), "{said}");
        let expected = format!("lib/libhiplazy.so.1 contains the path {}", path.display());
        assert!(said.contains(&expected), "{expected}: {said}");
        assert!(!prefix.exists(), "nothing is half installed");
    }
}
