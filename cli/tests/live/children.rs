//! `hiplazy run`: which processes are in the report, and which are said not to be.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use crate::common::shared::{self, skip, text_of};
use crate::run_command::{Watched, is_alive, unreadable, until_it_has_looked};
use crate::running::file;

const CLEARED: &str = "started without this LD_AUDIT";

/// What a report says of a driver that waited in the script's place, with the status of
/// `hiplazy run`.
#[track_caller]
fn of_script(test: &str, arguments: &[&str], script: &str) -> (serde_json::Value, Option<i32>) {
    let mut watched = Watched::script(test, arguments, script);
    let waiting = watched.start();
    until_it_has_looked(waiting.pid());
    let status = waiting.end_with_status();
    (watched.report(), status.code())
}

#[test]
fn a_child_with_the_environment_is_looked_at() {
    let script = r#""$1" open client "$2" now,local wait; exit 0"#;
    let (report, status) = of_script("child_kept", &["--fail"], script);
    assert_eq!(unreadable(&report), [], "all were seen");
    assert_eq!(file(&report["runtimes"][0]["path"]), "libamdhip64.so.7");
    assert_eq!((status, report["exit"].as_u64()), (Some(0), Some(0)));
}

#[test]
fn a_child_whose_environment_was_cleared_is_named() {
    let keep = "LD_LIBRARY_PATH=\"$LD_LIBRARY_PATH\"";
    for (test, before) in [("child_cleared", ""), ("child_cleared_exec", "exec ")] {
        let script =
            format!(r#"({before}env -i {keep} "$1" open client "$2" now,local wait); exit 0"#);
        let (report, status) = of_script(test, &["--fail"], &script);
        let not_seen = unreadable(&report);
        assert_eq!(not_seen.len(), 1, "{not_seen:#?}");
        let (process, why) = &not_seen[0];
        assert!(process.contains("/driver open client "), "{process}");
        assert!(why.contains(CLEARED), "{why}");
        assert_eq!(report["exit"], 1, "no clean bill for what was not seen");
        assert_eq!(status, Some(1), "and none with --fail");
    }
}

#[test]
fn the_commands_status_stays_its_own_without_fail() {
    let script = r#"env -i "$1" wait; exit 5"#;
    let (report, status) = of_script("child_cleared_status", &[], script);
    assert_eq!((report["exit"].as_u64(), status), (Some(1), Some(5)));
}

#[test]
fn many_processes_of_one_program_are_one_line() {
    let script = r#"exec 3<&0; for i in 1 2 3 4 5; do env -i "$1" wait <&3 & done; wait"#;
    let mut watched = Watched::script("child_many", &[], script);
    let mut waiting = watched.start();
    for _ in 0..4 {
        waiting.wait_again();
    }
    until_it_has_looked(waiting.pid());
    waiting.end();
    let not_seen = unreadable(&watched.report());
    assert_eq!(not_seen.len(), 1, "{not_seen:#?}");
    let (process, _) = &not_seen[0];
    assert!(process.ends_with("and 4 more of this program"), "{process}");
}

/// It goes on from what it was forked from, also if that one is gone.
#[test]
fn a_child_that_starts_no_program_is_no_stranger() {
    let daemon = r#"exec 3<&0
        sh -c '(echo waiting; read line) <&3 & exit 0'
        read line
        exit 0"#;
    for script in ["(echo waiting; read line); exit 0", daemon] {
        let (report, _) = of_script("child_forked", &[], script);
        assert_eq!(unreadable(&report), []);
    }
}

const STATIC: &str = r#"#include <stdio.h>
int main(void) { puts("waiting"); fflush(stdout); getchar(); return 0; }
"#;

#[test]
fn nothing_is_bound_in_a_static_program() {
    let folder = shared::scratch("child_static_program");
    let source = folder.join("lonely.c");
    fs::write(&source, STATIC).unwrap();
    let program = folder.join("lonely");
    shared::cc(&[source.to_str().unwrap()], &program, &["-static"]);
    let program = program.to_str().unwrap();
    // Beside others, nothing is missed.
    let script = format!("'{program}'; exit 0");
    let (report, _) = of_script("child_static", &[], &script);
    assert_eq!(unreadable(&report), []);
    let said = report["preface"][0].as_str().unwrap();
    assert!(
        said.contains("linked statically") && said.ends_with(": lonely"),
        "{said}"
    );
    // Alone, there is nothing to report on.
    let mut watched = Watched::new("child_static_alone", &[], &[program]);
    let waiting = watched.start();
    until_it_has_looked(waiting.pid());
    assert_eq!(waiting.end_with_status().code(), Some(0));
    let report = watched.report();
    let not_seen = unreadable(&report);
    assert!(not_seen[0].1.contains("linked statically"), "{not_seen:?}");
    assert_eq!(report["exit"], 3);
}

/// The shell ends at once; hiplazy adopts what it has left, and finds it alive.
#[test]
fn what_outlives_the_command_is_named_and_keeps_its_folder() {
    let script = r#"
        exec 3<&0
        sh -c 'echo "pid $$"; exec env -i "$1" wait' sh "$1" <&3 &
        exit 0"#;
    let mut watched = Watched::script("child_orphan", &[], script);
    let waiting = watched.start();
    let said = waiting.said.concat();
    let pid = said.strip_prefix("pid ").unwrap().parse().unwrap();
    let waiting = waiting.until_it_ends();
    assert!(is_alive(pid));
    let not_seen = unreadable(&watched.report());
    let of_pid = |why: &str| {
        let process = format!("process {pid} (");
        let mut all = not_seen.iter();
        all.any(|(path, text)| path.starts_with(&process) && text.contains(why))
    };
    assert!(of_pid("outlives the command"), "{not_seen:#?}");
    let cleared = |(_, why): &(String, String)| why.contains(CLEARED);
    assert!(not_seen.iter().any(cleared), "{not_seen:#?}");
    let left = watched.left();
    assert_eq!(left.len(), 1, "{left:?}");
    let said = watched.report()["preface"].to_string();
    assert!(said.contains(left[0].to_str().unwrap()), "{said}");
    drop(waiting);
}

/// Other users may read the module, and nobody but this user list its folder.
#[test]
fn the_folder_is_open_to_who_knows_its_name() {
    let script = r#"umask; stat -c %a "$LD_AUDIT" "$(dirname "$LD_AUDIT")""#;
    let mut watched = Watched::script("folder_modes", &[], script);
    let output = watched.output();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines, ["555", "711"], "{}", text_of(&output));
    assert!(watched.left().is_empty(), "and it is gone afterwards");
}

#[test]
fn a_child_that_becomes_another_user_is_looked_at() {
    // SAFETY: takes nothing and cannot fail.
    if unsafe { libc::getuid() } != 0 {
        skip(
            "a child of another user under run",
            "only root can start one",
        );
        return;
    }
    // A temporary folder that everybody may enter, as /tmp.
    let temporary = tempfile::tempdir_in("/tmp").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
    fs::set_permissions(temporary.path(), open).unwrap();
    let command = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "true",
    ];
    let arguments = ["--prefix", "__libc_start_main"];
    let mut watched = Watched::new("child_other_user", &arguments, &command);
    watched.command.env("TMPDIR", temporary.path());
    let output = watched.output();
    assert!(output.status.success(), "{}", text_of(&output));
    assert_eq!(text_of(&output), "--- stdout\n--- stderr\n", "no flood");
    let report = watched.report();
    assert_eq!(unreadable(&report), []);
    let bindings = report["bindings"].as_array().unwrap();
    let mut objects: Vec<String> = bindings
        .iter()
        .map(|binding| file(&binding["object"]))
        .collect();
    objects.sort();
    assert_eq!(objects, ["setpriv", "true"], "both bind the same name");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

/// A program of another user that this user may not look into.
#[test]
fn a_program_that_gets_rights_is_named() {
    // SAFETY: takes nothing and cannot fail.
    if unsafe { libc::getuid() } != 0 {
        skip("a set-user-ID child under run", "only root can make one");
        return;
    }
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    if gives_no_rights(folder.path()) {
        skip(
            "a set-user-ID child under run",
            "/tmp is mounted with nosuid",
        );
        return;
    }
    let program = folder.path().join("waits");
    let source = folder.path().join("waits.c");
    fs::write(&source, STATIC).unwrap();
    shared::cc(&[source.to_str().unwrap()], &program, &[] as &[&str]);
    let mode = |path: &Path, mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(path, mode).unwrap();
    };
    mode(folder.path(), 0o1777);
    mode(&program, 0o4755);
    // hiplazy itself is the ordinary user; its own folder may be closed to that one.
    let hiplazy = folder.path().join("hiplazy");
    fs::copy(env!("CARGO_BIN_EXE_hiplazy"), &hiplazy).unwrap();
    let mut command: Command = shared::clean(Path::new("setpriv"));
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&hiplazy)
        .args(["run", "--json", "--output"])
        .arg(folder.path().join("report.json"))
        .args(["--", "sh", "-c", "\"$1\"; exit 0", "sh"])
        .arg(&program)
        .env("TMPDIR", folder.path())
        .current_dir("/");
    let waiting = crate::running::Waiting::start(&mut command);
    until_it_has_looked(waiting.pid());
    waiting.end();
    let text = fs::read_to_string(folder.path().join("report.json")).unwrap();
    let not_seen = unreadable(&serde_json::from_str(&text).unwrap());
    assert_eq!(not_seen.len(), 1, "{not_seen:#?}");
    assert!(
        not_seen[0].1.contains("gets rights when it starts"),
        "{not_seen:?}"
    );
}

fn gives_no_rights(folder: &Path) -> bool {
    let folder = CString::new(folder.as_os_str().as_bytes()).unwrap();
    // SAFETY: zeroes are a valid value, and the string ends with a zero.
    unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        assert_eq!(libc::statvfs(folder.as_ptr(), &mut about), 0);
        about.f_flag & libc::ST_NOSUID != 0
    }
}

/// Overwrites what `ps` shows, as programs do that show a title there.
const TITLED: &str = r#"#include <stdio.h>
#include <string.h>
extern char **environ;
int main(int count, char **words)
{
    char **last = environ;
    while (last[1])
        last++;
    char *end = *last + strlen(*last);
    (void)count;
    memset(words[0], 0, (size_t)(end - words[0]));
    strcpy(words[0], "titled: idle");
    puts("waiting");
    fflush(stdout);
    getchar();
    return 0;
}
"#;

#[test]
fn a_program_that_overwrites_its_environment_is_known_by_what_it_tells() {
    let folder = shared::scratch("child_titled_program");
    let source = folder.join("titled.c");
    fs::write(&source, TITLED).unwrap();
    let program = folder.join("titled");
    shared::cc(&[source.to_str().unwrap()], &program, &[] as &[&str]);
    let script = format!("'{}'; exit 0", program.display());
    let (report, _) = of_script("child_titled", &[], &script);
    assert_eq!(unreadable(&report), []);
}

/// As in a container that does not have the folder: ld.so says so itself.
#[test]
fn a_child_that_cannot_reach_the_module_is_named() {
    let script = r#"rm -r "$(dirname "$LD_AUDIT")"; "$1" wait; exit 0"#;
    let (report, _) = of_script("child_silent", &[], script);
    let not_seen = unreadable(&report);
    let of_driver = |(path, _): &&(String, String)| path.contains("/driver wait)");
    let (_, why) = not_seen.iter().find(of_driver).unwrap();
    assert!(why.contains("cannot reach the module"), "{not_seen:#?}");
}
