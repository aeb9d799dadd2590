//! Where reports are written, and when that is found out.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{hiplazy, shared};
use crate::run_command::Watched;

fn fails(output: &Output, why: &str) {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains(why), "{text}");
}

#[test]
fn a_command_is_not_started_for_a_report_that_cannot_be_written() {
    let folder = shared::scratch("output_typo");
    let started = folder.join("started");
    for option in ["--output", "--html", "--dot"] {
        for (file, why) in [
            ("/no/such/folder/report", "No such file or directory"),
            ("/proc/report", "cannot write /proc/report"),
            (folder.to_str().unwrap(), "is a directory"),
        ] {
            let mut command = hiplazy();
            command
                .args(["run", option, file, "--", "touch"])
                .arg(&started);
            let output = command.output().unwrap();
            fails(&output, why);
            assert!(!started.exists(), "{option} {file}");
        }
    }
}

#[test]
fn other_commands_find_it_out_before_they_look() {
    let log = shared::scratch("output_others").join("log");
    fs::write(&log, "1:\tbinding file a [0] to b [0]: normal symbol `x'\n").unwrap();
    let log = log.to_str().unwrap();
    let pid = std::process::id().to_string();
    for words in [
        &["lint", "/no/such/package"][..],
        &["log", log],
        &["doctor", "--pid", &pid],
        &["doctor"],
    ] {
        let mut command = hiplazy();
        command.args(words).args(["--html", "/no/such/folder/page"]);
        let output = command.output().unwrap();
        fails(&output, "cannot write /no/such/folder/page");
        assert!(output.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn one_file_cannot_be_two_reports() {
    let folder = shared::scratch("output_twice");
    let file = folder.join("report");
    symlink(&file, folder.join("link")).unwrap();
    let mut command = hiplazy();
    command.arg("run").arg("--html").arg(&file);
    command.arg("--output").arg(folder.join("link"));
    command.args(["--", "true"]);
    fails(&command.output().unwrap(), "is to be written twice");
}

/// The old report is there as long as the command runs, and then the whole new one.
#[test]
fn a_report_takes_the_place_of_the_one_before() {
    let mut watched = Watched::script("output_replaced", &[], "cat \"$REPORT\"");
    let report = watched.folder.join("report.json");
    fs::write(&report, "before").unwrap();
    fs::set_permissions(&report, fs::Permissions::from_mode(0o640)).unwrap();
    let inode = fs::metadata(&report).unwrap().ino();
    watched.command.env("REPORT", &report);
    let output = watched.output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "before");
    assert_eq!(watched.report()["command"], "run");
    let metadata = fs::metadata(&report).unwrap();
    assert_eq!(metadata.mode() & 0o777, 0o640, "with the rights it had");
    assert_ne!(metadata.ino(), inode, "not written over");
    let listed = fs::read_dir(&watched.folder).unwrap();
    assert_eq!(
        listed.count(),
        2,
        "the report and the folder for temporary files"
    );
}

#[test]
fn a_new_report_has_the_rights_of_a_new_file() {
    let folder = shared::scratch("output_new");
    let script = "umask 027; exec \"$@\" --output report -- true";
    let mut command: Command = shared::clean(Path::new("sh"));
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_hiplazy"), "run"]);
    assert!(command.current_dir(&folder).status().unwrap().success());
    let mode = fs::metadata(folder.join("report")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn links_pipes_and_files_with_two_names_are_written_through() {
    let folder = shared::scratch("output_through");
    let (link, target) = (folder.join("link"), folder.join("target"));
    let (one, two) = (folder.join("one"), folder.join("two"));
    symlink("target", &link).unwrap();
    fs::write(&one, "before").unwrap();
    fs::hard_link(&one, &two).unwrap();
    let mut command = hiplazy();
    command
        .args(["run", "--output", "/dev/stdout", "--html"])
        .arg(&link);
    command.arg("--dot").arg(&one).args(["--", "true"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", shared::text_of(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("true (process "), "{text}");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(
        fs::read_to_string(&target)
            .unwrap()
            .contains("<!DOCTYPE html>")
    );
    assert!(fs::read_to_string(&two).unwrap().starts_with("digraph"));
}

/// It could be written when it was tried; the command's end is not lost for that.
#[test]
fn a_report_that_cannot_be_written_at_the_end_is_printed() {
    for (script, status) in [("exit 7", 7), ("exit 0", 3)] {
        let script = format!("rm -r \"$PLACE\"; {script}");
        let mut watched = Watched::script("output_gone", &[], &script);
        let place = watched.folder.join("place");
        fs::create_dir(&place).unwrap();
        watched.command.env("PLACE", &place);
        let page = place.join("page");
        let mut command = hiplazy();
        command
            .env("PLACE", &place)
            .args(["run", "--output"])
            .arg(&page);
        command.args(["--", "sh", "-c", &script]);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{text}");
        assert!(
            text.contains("cannot write") && text.contains("Looked at"),
            "{text}"
        );
    }
}
