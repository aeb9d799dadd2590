//! `-` as the file of a page or picture.

mod common;

use std::path::Path;
use std::process::Output;

use common::hiplazy;
use common::shared::{scratch, text_of};

/// `hiplazy lint` on something clean, with `folder` as the current one.
fn lint(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = hiplazy();
    command.current_dir(folder);
    command.args(["lint", env!("CARGO_BIN_EXE_hiplazy")]);
    command.args(arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_page_or_a_picture_takes_the_place_of_the_report() {
    let folder = scratch("in-place-of-the-report");
    for (option, begins, ends) in [
        ("--html", "<!doctype html>", "</html>"),
        ("--dot", "digraph", "}"),
    ] {
        let output = lint(&folder, &[option, "-"]);
        assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
        let text = out(&output);
        assert!(text.to_lowercase().starts_with(begins), "{text}");
        assert!(text.trim_end().ends_with(ends), "{text}");
        assert!(!folder.join("-").exists(), "a file of that name");
    }
}

#[test]
fn two_things_on_standard_output_are_refused_before_anything_is_done() {
    let folder = scratch("two-on-standard-output");
    for arguments in [
        &["--html", "-", "--dot", "-"][..],
        &["--json", "--html", "-"],
        &["--dot", "-", "--json"],
    ] {
        let output = lint(&folder, arguments);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        assert_eq!(out(&output), "");
        let said = text_of(&output);
        assert!(said.contains("cannot all go to standard output"), "{said}");
        assert!(said.contains(" FILE"), "{said}");
    }
    let mut command = hiplazy();
    let output = command
        .args(["run", "--html", "-", "--", "echo", "ran"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(out(&output), "");
    // One of them may go to a file.
    let output = lint(&folder, &["--html", "-", "--dot", "picture.dot"]);
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    assert!(out(&output).contains("</html>") && folder.join("picture.dot").exists());
}
