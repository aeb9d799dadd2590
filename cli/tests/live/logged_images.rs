//! `hiplazy log`: what was together in one process, and when.

use std::fs;

use crate::common::shared;
use crate::logged_programs::{
    files, linked, loader, made, output, preface, program, report, text, written,
};
use crate::run_command::unreadable;
use crate::running::{binding, library, rules};

const NONE: [&str; 0] = [];

#[test]
fn two_copies_that_are_open_at_once_are_two_runtimes() {
    let made = made();
    let log = loader(
        "both",
        &["open", text(&made.first), "open", text(&made.second)],
    );
    assert_eq!(rules(&report("both", &log)), ["two-runtimes"]);
}

#[test]
fn a_program_that_executes_another_leaves_its_libraries_behind() {
    let made = made();
    let again = text(&made.loader);
    let words = [
        "open",
        text(&made.client),
        "exec",
        again,
        "open",
        text(&made.other_client),
    ];
    let report = report("exec", &loader("exec", &words));
    assert_eq!(rules(&report), NONE, "{:#?}", report["findings"]);
    assert_eq!(files(&report, "runtimes").len(), 2, "both were looked at");
    let said = preface(&report);
    assert!(
        said.contains(&format!("ran {again}, then {again}")),
        "{said}"
    );
    assert_eq!(report["exit"], 0, "{:?}", unreadable(&report));
}

/// Containers have process numbers of their own.
#[test]
fn processes_of_one_number_are_two() {
    let made = made();
    let mut both = String::new();
    for (test, client) in [
        ("equal_first", &made.client),
        ("equal_second", &made.other_client),
    ] {
        let log = String::from_utf8(loader(test, &["open", text(client)])).unwrap();
        let renumbered = log.lines().map(|line| {
            let (_, rest) = line.split_once(':').unwrap();
            format!("        77:{rest}\n")
        });
        both.extend(renumbered);
    }
    let report = report("equal", both.as_bytes());
    assert_eq!(rules(&report), NONE, "{:#?}", report["findings"]);
    assert_eq!(files(&report, "runtimes").len(), 2);
}

#[test]
fn what_was_closed_before_is_not_together_with_what_is_opened_after() {
    let made = made();
    for (test, [first, second]) in [
        ("closed", [&made.first, &made.second]),
        ("closed_clients", [&made.client, &made.other_client]),
    ] {
        let log = loader(test, &["open", text(first), "close", "open", text(second)]);
        let report = report(test, &log);
        assert_eq!(rules(&report), NONE, "{:#?}", report["findings"]);
        assert_eq!(files(&report, "runtimes").len(), 2);
    }
    // The first one again: then both are there.
    let [first, second] = [text(&made.first), text(&made.second)];
    let log = loader(
        "reopened",
        &["open", first, "close", "open", first, "open", second],
    );
    assert_eq!(rules(&report("reopened", &log)), ["two-runtimes"]);
}

/// What was bound wrongly counts, also when both are gone long since.
#[test]
fn what_was_wrong_before_it_was_closed_is_said() {
    let made = made();
    let words = [
        "open",
        text(&made.stub),
        "open",
        text(&made.client),
        "close",
    ];
    let log = loader(
        "closed_wrong",
        &[&words[..], &["open", text(&made.second)]].concat(),
    );
    let report = report("closed_wrong", &log);
    assert_eq!(
        rules(&report),
        ["wrong-provider"],
        "{:#?}",
        report["findings"]
    );
}

/// One runtime in the parent, and another one in the child.
fn forked() -> [&'static str; 5] {
    let made = made();
    let [first, second] = [&made.first, &made.second].map(|path| text(path));
    ["open", first, "fork", "open", second]
}

#[test]
fn a_fork_has_what_its_parent_had() {
    let report = report("fork", &loader("fork", &forked()));
    assert_eq!(rules(&report), ["two-runtimes"]);
    let said = preface(&report);
    assert!(
        said.contains("without a beginning: taken for a fork of process "),
        "{said}"
    );
    assert_eq!(unreadable(&report), []);
}

#[test]
fn a_process_whose_beginning_is_not_there_is_named() {
    let log = String::from_utf8(loader("middle", &forked())).unwrap();
    let parent = log.split_once(':').unwrap().0;
    let child: String = log
        .lines()
        .filter(|line| !line.starts_with(parent))
        .map(|line| line.to_string() + "\n")
        .collect();
    let pid = child.split_once(':').unwrap().0.trim();
    let alone = report("middle_alone", child.as_bytes());
    assert_eq!((rules(&alone), alone["exit"].as_u64()), (vec![], Some(1)));
    let [(process, why)] = &unreadable(&alone)[..] else {
        panic!("{:?}", unreadable(&alone));
    };
    assert_eq!(*process, format!("process {pid}"));
    assert!(why.contains("as in a part of a log"), "{why}");
    // Two that may be its parent.
    let other = loader("middle_other", &["open", text(&made().first)]);
    let of_parent = log.lines().filter(|line| line.starts_with(parent));
    let mut mixed: String = of_parent.map(|line| line.to_string() + "\n").collect();
    mixed += &String::from_utf8(other).unwrap();
    mixed += &child;
    let mixed = report("middle_mixed", mixed.as_bytes());
    let [(process, why)] = &unreadable(&mixed)[..] else {
        panic!("{:?}", unreadable(&mixed));
    };
    assert_eq!(*process, format!("process {pid}"));
    assert!(why.contains("cannot be told from the log"), "{why}");
}

#[test]
fn a_program_that_could_not_start_is_not_clean() {
    let folder = shared::scratch("not_started");
    let made = made();
    fs::copy(&made.first, folder.join("libamdhip64.so.7")).unwrap();
    let source = "int hipInit(unsigned);\nint main(void) { return hipInit(0); }\n";
    let program = program(&folder, "program", source, &linked(&folder, "lazy"));
    fs::remove_file(folder.join("libamdhip64.so.7")).unwrap();
    let (log, status) = written("not_started", &mut shared::clean(&program));
    assert_eq!(status, Some(127));
    let output = output("not_started", &log, &[]);
    let said = shared::text_of(&output);
    assert!(output.status.code() >= Some(1), "{said}");
    assert!(
        said.contains("did not come as far as its program"),
        "{said}"
    );
    assert!(!said.contains(": clean\n"), "{said}");
    // One that has started says nothing of the kind.
    let other = library(&folder, "other.so", "int other;\n", &[]);
    let log = loader("started", &["open", text(&other)]);
    let report = report("started", &log);
    assert_eq!((unreadable(&report), &report["exit"]), (vec![], &0.into()));
}

/// Some programs write what they are doing where their name was.
#[test]
fn a_program_that_changes_its_name_is_one_object() {
    let made = made();
    let folder = shared::scratch("log_title");
    let source = "#include <string.h>\n\
        int hipInit(unsigned);\n\
        int main(int count, char **words) {\n\
            (void)count;\n\
            strcpy(words[0], \"busy\");\n\
            return hipInit(0);\n\
        }\n";
    let runtime = made.first.parent().unwrap();
    let program = program(&folder, "program", source, &linked(runtime, "lazy"));
    let (log, _) = written("title", &mut shared::clean(&program));
    let of_title = "binding file busy [0]";
    assert!(
        String::from_utf8_lossy(&log).contains(of_title),
        "that is the case"
    );
    let report = report("title", &log);
    assert_eq!(unreadable(&report), []);
    assert_eq!(files(&report, "clients"), ["program"]);
    assert_eq!(binding(&report, "program", "hipInit").1, "libamdhip64.so.7");
}
