//! Makes the auditing module that `hiplazy run` carries, from the sources in `audit/`.
//!
//! With rustc itself: a module without a standard library cannot be an ordinary part of a
//! build whose profile unwinds.

use std::env;
use std::path::PathBuf;
use std::process::{Command, exit};

fn main() {
    println!("cargo::rerun-if-changed=audit");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let var = |name: &str| env::var(name).unwrap_or_default();
    let output = PathBuf::from(var("OUT_DIR")).join("audit_module.so");
    if !["x86_64", "aarch64"].contains(&var("CARGO_CFG_TARGET_ARCH").as_str()) {
        // `hiplazy run` says that it cannot, and everything else is there.
        std::fs::write(output, "").unwrap_or_else(|error| fail(&error.to_string()));
        return;
    }
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc
        .args(["--crate-name", "hiplazy_audit", "--crate-type", "cdylib"])
        .args(["--edition", "2024", "--target", &var("TARGET")])
        .args(["--cfg", "feature=\"module\"", "--cap-lints", "allow"])
        .args([
            "-C",
            "panic=abort",
            "-C",
            "opt-level=s",
            "-C",
            "strip=symbols",
        ])
        // Nothing of a C library, and no symbol that would need one.
        .args(["-C", "link-arg=-nostdlib", "-C", "link-arg=-nostartfiles"])
        .args(["-C", "link-arg=-Wl,-z,defs", "-C", "link-arg=-Wl,-z,now"])
        .arg("audit/src/lib.rs")
        .arg("-o")
        .arg(&output);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc.arg("-C").arg({
            let mut argument = std::ffi::OsString::from("linker=");
            argument.push(linker);
            argument
        });
    }
    match rustc.status() {
        Ok(status) if status.success() => {}
        Ok(status) => fail(&format!("{rustc:?}: {status}")),
        Err(error) => fail(&format!("{rustc:?}: {error}")),
    }
}

fn fail(why: &str) -> ! {
    eprintln!("the auditing module of `hiplazy run` cannot be made: {why}");
    exit(1)
}
