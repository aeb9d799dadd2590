//! The linkers of this machine.

#![allow(unreachable_pub)]

use std::process::Command;
use std::{env, fs};

use crate::common::{scratch, skip};

/// The compiler's option for each of bfd, gold and lld that there is, and a visible skip
/// of `test` for each that there is not.
pub fn linkers(test: &str) -> Vec<String> {
    let folder = scratch(&format!("install-linkers-{test}"));
    let empty = folder.join("empty.c");
    fs::write(&empty, "int main(void) { return 0; }\n").unwrap();
    let mut found = Vec::new();
    for linker in ["bfd", "gold", "lld"] {
        let choice = format!("-fuse-ld={linker}");
        let there = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()))
            .args([&choice, "-o"])
            .args([&folder.join("empty"), &empty])
            .output();
        if there.is_ok_and(|output| output.status.success()) {
            found.push(choice);
        } else {
            skip(
                &format!("{test}: {linker}"),
                "the C compiler has no such linker",
            );
        }
    }
    found
}
