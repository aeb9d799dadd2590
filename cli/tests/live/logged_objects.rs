//! `hiplazy log`: what the objects of a log are, and what their bindings mean.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::common::{hiplazy, shared};
use crate::logged_programs::{
    files, hazards, linked, loader, made, output, preface, program, report, text, written,
};
use crate::run_command::unreadable;
use crate::running::{binding, json, library, rules};

const NONE: [&str; 0] = [];

/// `q` is a pointer in data, which is bound to the program's own address of the function.
const POINTER: &str = "int hipInit(unsigned);\n\
    int (*volatile q)(unsigned) = hipInit;\n\
    int call(void) { return q(0); }\n";

#[test]
fn the_address_of_a_program_is_what_the_program_is_bound_to() {
    let made = made();
    let folder = shared::scratch("log_plt");
    let runtime = made.first.parent().unwrap();
    let pointer = library(&folder, "pointer.so", POINTER, &linked(runtime, "lazy"));
    for (name, call, state) in [("called", "hipInit(0)", "bound"), ("waiting", "0", "lazy")] {
        let source = format!(
            "#include <dlfcn.h>\n\
             int hipInit(unsigned);\n\
             int (*volatile address)(unsigned);\n\
             int main(int count, char **words) {{\n\
                 address = hipInit;\n\
                 return {call} + (count < 2 || !dlopen(words[1], RTLD_NOW));\n\
             }}\n"
        );
        let mut arguments = vec!["-no-pie".to_string(), "-fno-pie".to_string()];
        arguments.extend(linked(runtime, "lazy"));
        let program = program(&folder, name, &source, &arguments);
        let test = format!("log_plt_{name}");
        let (log, status) = written(&test, shared::clean(&program).arg(&pointer));
        assert_eq!(status, Some(0));
        let of_program = format!(
            "pointer.so [0] to {} [0]: normal symbol `hipInit'",
            program.display()
        );
        assert!(
            String::from_utf8_lossy(&log).contains(&of_program),
            "that is the case"
        );
        let report = report(&test, &log);
        assert_eq!(rules(&report), NONE, "{:#?}", report["findings"]);
        let expected = (state.to_string(), "libamdhip64.so.7".to_string());
        assert_eq!(binding(&report, "pointer.so", "hipInit"), expected);
    }
}

#[test]
fn objects_without_a_binding_are_looked_at() {
    let made = made();
    let folder = shared::scratch("log_idle");
    let runtime = made.first.parent().unwrap();
    let source = "int hipInit(unsigned);\nint hipFunction7(void);\n\
        int call(void) { return hipInit(0) + hipFunction7(); }\n";
    let lazy = library(&folder, "lazy.so", source, &linked(runtime, "lazy"));
    let log = loader("log_idle", &["open", text(&lazy), "open", text(&made.stub)]);
    let report = report("log_idle", &log);
    assert_eq!(files(&report, "exporters"), ["stub.so"]);
    assert_eq!(files(&report, "clients"), ["lazy.so"]);
    assert_eq!(files(&report, "runtimes"), ["libamdhip64.so.7"]);
    let said = preface(&report);
    assert!(
        said.contains("lazy.so (2 of 2)") && said.contains("--pid"),
        "{said}"
    );
    let idle = hazards(&report, "exporter");
    assert!(idle.len() == 1 && idle[0].contains("stub.so"), "{idle:?}");
}

#[test]
fn a_question_by_dlsym_is_no_reference() {
    let made = made();
    let log = loader("log_dlsym", &["open", text(&made.stub), "ask", "hipInit"]);
    let report = report("log_dlsym", &log);
    assert_eq!(rules(&report), NONE, "{:#?}", report["findings"]);
    let asked = hazards(&report, "dlsym");
    assert!(
        asked.len() == 1
            && asked[0].contains("loader has asked for hipInit")
            && asked[0].contains("stub.so has answered"),
        "{asked:?}"
    );
}

#[test]
fn one_file_in_two_namespaces_is_two_runtimes_of_dlmopen() {
    let runtime = text(&made().first);
    let log = loader("log_namespaces", &["namespace", runtime, "open", runtime]);
    let report = report("log_namespaces", &log);
    assert_eq!(rules(&report), ["two-namespaces"]);
    let detail = report["findings"][0]["detail"].as_str().unwrap();
    for namespace in ["the program's namespace", "namespace 1"] {
        let named = format!("{runtime} ({namespace})");
        assert!(detail.contains(&named), "{detail}");
    }
    assert_eq!(files(&report, "runtimes").len(), 2);
}

#[test]
fn what_was_preloaded_is_told_by_what_the_program_needs() {
    let made = made();
    let folder = shared::scratch("log_preload");
    let runtime = made.first.parent().unwrap();
    let source = "int hipInit(unsigned);\nint main(void) { return hipInit(0); }\n";
    let program = program(&folder, "program", source, &linked(runtime, "lazy"));
    let mut command = shared::clean(&program);
    let (log, _) = written("log_preload", command.env("LD_PRELOAD", &made.stub));
    let known = report("log_preload", &log);
    assert_eq!(rules(&known), ["preloaded-provider"]);
    assert_eq!(hazards(&known, "preloaded"), [text(&made.stub)]);
    // What a program needs that is not here, nobody knows.
    fs::remove_file(&program).unwrap();
    let unknown = report("log_preload_gone", &log);
    assert_eq!(rules(&unknown), ["wrong-provider"]);
    let may_be = hazards(&unknown, "LD_PRELOAD");
    assert!(
        may_be.len() == 1 && may_be[0].contains("stub.so"),
        "{may_be:?}"
    );
    // What was opened later was not preloaded.
    let log = loader(
        "log_opened",
        &["open", text(&made.stub), "open", text(&made.client)],
    );
    let opened = report("log_opened", &log);
    assert_eq!(rules(&opened), ["wrong-provider"]);
    assert_eq!(hazards(&opened, "LD_PRELOAD"), NONE, "this is told");
}

#[test]
fn relative_names_are_said_to_be_guesses() {
    let made = made();
    let folder = shared::scratch("log_relative");
    fs::copy(&made.first, folder.join("libamdhip64.so.7")).unwrap();
    let mut command = shared::clean(&made.loader);
    command
        .current_dir(&folder)
        .args(["open", "./libamdhip64.so.7"]);
    let (log, _) = written("log_relative", &mut command);
    let whole = loader("log_whole", &["open", text(&made.first)]);
    let run = |log: &[u8]| {
        let mut command = hiplazy();
        command.current_dir(&folder).args(["log", "--json", "-"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(log).unwrap();
        json(&child.wait_with_output().unwrap())
    };
    let relative = preface(&run(&log));
    let guessed = "guessed to be in this folder or in PATH: ./libamdhip64.so.7\n";
    assert!(relative.contains(guessed), "{relative}");
    let whole = preface(&run(&whole));
    assert!(!whole.contains("guessed"), "{whole}");
    for said in [&relative, &whole] {
        assert!(said.contains("here and now"), "{said}");
    }
    // From elsewhere it is another file, or none.
    let elsewhere = report("log_relative", &log);
    let why = unreadable(&elsewhere);
    assert!(
        why.iter()
            .any(|(path, why)| path == "./libamdhip64.so.7" && why.contains("relative name")),
        "{why:?}"
    );
}

#[test]
fn a_line_with_a_lines_end_in_its_path_is_read() {
    let made = made();
    let folder = shared::scratch("log_newline").join("two\nlines");
    fs::create_dir(&folder).unwrap();
    let [stub, client] =
        [("stub.so", &made.stub), ("client.so", &made.client)].map(|(name, file)| {
            let copy = folder.join(name);
            fs::copy(file, &copy).unwrap();
            copy
        });
    let log = loader("log_newline", &["open", text(&stub), "open", text(&client)]);
    let report = report("log_newline", &log);
    assert_eq!(rules(&report), ["wrong-provider"]);
    assert_eq!(report["findings"][0]["object"], text(&client));
    assert_eq!(unreadable(&report), []);
}

#[test]
fn lines_that_cannot_be_read_are_counted() {
    let made = made();
    let whole = String::from_utf8(loader("log_broken", &["open", text(&made.client)])).unwrap();
    let bound = |line: &&str| line.contains("client.so") && line.contains("`hipInit'");
    let line = whole.lines().find(bound).unwrap();
    let read = |test: &str, text: &str| {
        let report = report(test, text.as_bytes());
        (unreadable(&report), report["exit"].as_u64())
    };
    assert_eq!(read("log_whole_lines", &whole), (vec![], Some(0)));
    let half = &line[..line.find("to ").unwrap()];
    let spaced = line.replace('\t', "    ");
    for (test, text, why) in [
        (
            "log_cut_line",
            whole.replace(line, half),
            "1 line of it about bindings could not be read",
        ),
        (
            "log_spaced_line",
            whole.replace(line, &spaced),
            "spaces in place of the tab",
        ),
        (
            "log_cut_end",
            format!("{whole}{half}"),
            "its last line is not whole",
        ),
    ] {
        let (said, exit) = read(test, &text);
        assert_eq!(exit, Some(1), "{said:?}");
        assert!(said.len() == 1 && said[0].1.contains(why), "{said:?}");
    }
}

#[test]
fn a_log_in_another_form_is_refused_with_what_to_do() {
    let log = loader("log_forms", &["open", text(&made().client)]);
    let spaced = String::from_utf8(log).unwrap().replace('\t', "    ");
    for (test, bytes, why) in [
        ("log_gzip", &b"\x1f\x8b\x08\0\0\0\0\0"[..], "zcat "),
        ("log_zstd", b"\x28\xb5\x2f\xfd\0\0", "zstdcat "),
        ("log_xz", b"\xfd7zXZ\0\0\0", "xzcat "),
        ("log_bzip2", b"BZh91AY", "bzcat "),
        (
            "log_spaces",
            spaced.as_bytes(),
            "with spaces in place of the tab",
        ),
    ] {
        let output = output(test, bytes, &[]);
        let said = shared::text_of(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(why), "{said}");
    }
}
