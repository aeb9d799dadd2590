//! What the command's tests share.

#![allow(dead_code, unreachable_pub, missing_docs)]

// The workspace's own: scratch folders, visible skips, real things.
#[path = "../../../tests/common/mod.rs"]
pub mod shared;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The command, in an environment without colours or widths of the terminal.
pub fn hiplazy() -> Command {
    shared::clean(Path::new(env!("CARGO_BIN_EXE_hiplazy")))
}

/// `hiplazy lint PATH`.
pub fn lint(path: &Path) -> Command {
    let mut command = hiplazy();
    command.arg("lint").arg(path);
    command
}

/// The JSON report on a path.
#[track_caller]
pub fn report(path: &Path) -> serde_json::Value {
    let output = lint(path).arg("--json").output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shared::text_of(&output)))
}

/// The ids of the rules that a report has findings of, with the objects' file names.
pub fn found(report: &serde_json::Value) -> Vec<(String, String)> {
    let findings = report["findings"].as_array().unwrap();
    let mut found: Vec<(String, String)> = findings
        .iter()
        .map(|finding| {
            let object = finding["object"].as_str().unwrap();
            let name = object.rsplit(['/', '!']).next().unwrap();
            (finding["rule"].as_str().unwrap().into(), name.into())
        })
        .collect();
    found.sort();
    found
}

/// Writes a wheel, deflated as wheels are.
pub fn wheel(path: &Path, members: &[(&str, &Path)]) {
    let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    for (name, file) in members {
        archive.start_file(*name, options).unwrap();
        archive.write_all(&fs::read(file).unwrap()).unwrap();
    }
    archive.finish().unwrap();
}
