//! `--prefix`: libraries of which nothing is known but who needs whom and who has what.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use hiplazy_cli::process::proc_folder::ProcFolder;
use serde_json::Value;

use crate::common::shared;
use crate::running::{Waiting, binding, file, json, library, rules};

/// A program that waits as the tests want it to, with `text` before its `main` and the
/// call in `body`.
fn program(folder: &Path, name: &str, text: &str, body: &str, arguments: &[String]) -> PathBuf {
    let whole = format!(
        "#include <dlfcn.h>\n#include <stdio.h>\n#include <sys/prctl.h>\n{text}\n\
         int main(int count, char **words)\n{{\n\
         prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);\n\
         for (int i = 1; i < count; i++)\n\
         if (!dlopen(words[i], RTLD_NOW | (i + 1 < count ? RTLD_GLOBAL : RTLD_LOCAL)))\n\
         return 1;\n\
         {body}\n\
         puts(\"waiting\");\nfflush(stdout);\ngetchar();\nreturn 0;\n}}\n"
    );
    let source = folder.join(format!("{name}.c"));
    std::fs::write(&source, whole).unwrap();
    let output = folder.join(name);
    shared::cc(&[source.to_str().unwrap()], &output, arguments);
    output
}

/// What links with a library of the folder, and finds it at run time.
fn needs(folder: &Path, libraries: &[&str]) -> Vec<String> {
    let mut arguments = vec![
        format!("-L{}", folder.display()),
        "-Wl,-rpath,$ORIGIN".to_string(),
        "-Wl,--no-as-needed".to_string(),
    ];
    arguments.extend(libraries.iter().map(|name| format!("-l:{name}")));
    arguments
}

fn report(waiting: &Waiting, prefix: &str) -> Value {
    json(&waiting.doctor(&["--json", "--prefix", prefix]))
}

/// The details of the findings by a rule.
fn details(report: &Value, rule: &str) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let those = findings.filter(|finding| finding["rule"] == rule);
    those
        .map(|finding| finding["detail"].as_str().unwrap().to_string())
        .collect()
}

/// `stdout` is in the program once it names it, and the C library uses that one as well.
#[test]
fn a_variable_that_the_program_has_a_copy_of_is_right_there() {
    let folder = shared::scratch("prefix_copy");
    let text = "int state_number = 7;\n";
    library(&folder, "libstate.so", text, &[]);
    let text = "extern int state_number;\nint *state(void) { return &state_number; }\n";
    library(
        &folder,
        "libuser.so",
        text,
        &needs(&folder, &["libstate.so"]),
    );
    let mut arguments = needs(&folder, &["libuser.so", "libstate.so"]);
    // What gcc does by default, also where it is configured otherwise.
    arguments.extend(["-fno-pie", "-no-pie"].map(String::from));
    let text = "extern int state_number;\nint *state(void);\n";
    let program = program(
        &folder,
        "program",
        text,
        "if (state() != &state_number) return 2;",
        &arguments,
    );
    let waiting = Waiting::start(&mut shared::clean(&program));
    let report = report(&waiting, "state_");
    let bound = binding(&report, "libuser.so", "state_number");
    assert_eq!(bound, ("bound".into(), "program".into()), "it is a copy");
    assert_eq!(report["findings"], Value::Array(Vec::new()));
    assert_eq!(report["exit"], 0);
}

/// `modf@GLIBC_2.2.5` is in `libc.so.6` and in `libm.so.6`, and who needs both gets the
/// first.
#[test]
fn of_two_needs_with_the_same_name_the_first_is_right() {
    let folder = shared::scratch("prefix_two");
    let map = folder.join("map");
    std::fs::write(&map, "NODE_1 { global: pick_*; local: *; };\n").unwrap();
    let versioned = [format!("-Wl,--version-script={}", map.display())];
    let text = "int pick_one(void) { return 1; }\n";
    library(&folder, "libfirst.so", text, &versioned);
    library(&folder, "libsecond.so", text, &versioned);
    let text = "int pick_one(void);\nint user(void) { return pick_one(); }\n";
    // The linker finds the name in the one, and the dynamic linker in the other.
    let linked = needs(&folder, &["libsecond.so", "libfirst.so"]);
    let user = library(&folder, "user.so", text, &linked);
    let program = program(&folder, "program", "", "", &[]);
    for preopened in [false, true] {
        let mut command = shared::clean(&program);
        if preopened {
            command.arg(folder.join("libfirst.so"));
        }
        let waiting = Waiting::start(command.arg(&user));
        let report = report(&waiting, "pick_");
        let expected = if preopened {
            "libfirst.so"
        } else {
            "libsecond.so"
        };
        let bound = binding(&report, "user.so", "pick_one");
        assert_eq!(bound, ("bound".into(), expected.into()));
        assert_eq!(report["bindings"][0]["wrong"], Value::Null);
        assert!(!rules(&report).contains(&"other-provider".to_string()));
        assert_eq!(report["exit"], 0, "{:#}", report["findings"]);
    }
}

/// The library that is needed, the one that is not and comes first, and who calls.
fn taken(test: &str, function: &str) -> (PathBuf, PathBuf, PathBuf) {
    let folder = shared::scratch(test);
    let text = format!("int {function}(unsigned long it) {{ return (int)it; }}\n");
    library(&folder, "libneeded.so", &text, &[]);
    let other = library(&folder, "other.so", &text, &[]);
    let text =
        format!("int {function}(unsigned long);\nint user(void) {{ return {function}(0); }}\n");
    let mut arguments = needs(&folder, &["libneeded.so"]);
    arguments.push("-fno-builtin".to_string());
    let user = library(&folder, "user.so", &text, &arguments);
    (folder, other, user)
}

#[test]
fn what_is_not_among_the_needs_and_came_first_is_a_conflict_in_words_of_its_own() {
    let (folder, other, user) = taken("prefix_other", "pick_one");
    let program = program(&folder, "program", "", "", &[]);
    let waiting = Waiting::start(shared::clean(&program).arg(&other).arg(&user));
    let report = report(&waiting, "pick_");
    assert_eq!(report["bindings"][0]["wrong"], "other-library");
    let expected = format!(
        "pick_one is bound to {}, which is not the library that it needs",
        other.display()
    );
    assert_eq!(details(&report, "other-provider"), [expected]);
    assert_eq!(report["exit"], 2);
    // Nothing of it is about HIP.
    let text = shared::text_of(&waiting.doctor(&["-v", "--prefix", "pick_"]));
    assert!(text.contains("calls a library that is not among those it needs"));
    let scratch = folder.display().to_string();
    let text = text.replace(&scratch, "");
    for word in ["HIP", "hip", "ROCm", "runtime"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

#[test]
fn what_is_preloaded_or_in_the_program_or_replaces_malloc_is_a_note() {
    let pick = "pick_one";
    for (test, function, how, means) in [
        ("prefix_preloaded", pick, "preloaded", "which is preloaded"),
        ("prefix_program", pick, "program", "the program itself"),
        ("prefix_malloc", "valloc", "linked", "may be replaced"),
    ] {
        let (folder, other, user) = taken(test, function);
        let own = format!("int {function}(unsigned long it) {{ return (int)it; }}");
        let text = if how == "program" { own.as_str() } else { "" };
        let mut arguments = vec!["-rdynamic".to_string(), "-fno-builtin".to_string()];
        if how == "linked" {
            // Before the C library, as programs have their allocators.
            arguments.extend(needs(&folder, &["other.so"]));
        }
        let program = program(&folder, "program", text, "", &arguments);
        let mut command = shared::clean(&program);
        if how == "preloaded" {
            shared::preload(&mut command, &other);
        }
        let waiting = Waiting::start(command.arg(&user));
        let report = report(&waiting, function);
        let found = details(&report, "interposed");
        assert_eq!(found.len(), 1, "{how}: {:#}", report["findings"]);
        assert!(found[0].ends_with(means), "{how}: {found:?}");
        let bindings = report["bindings"].as_array().unwrap().iter();
        let mut of_user = bindings.filter(|binding| file(&binding["object"]) == "user.so");
        assert!(of_user.all(|binding| binding["wrong"].is_null()), "{how}");
        assert_eq!(report["exit"], 0, "{how}: {:#}", report["findings"]);
    }
}

/// The objects of a process are read by a thread that is still there: without their
/// headers in memory, what has no bytes in the file would not belong to them.
#[test]
fn a_variable_is_of_its_library_though_the_first_thread_has_ended() {
    let folder = shared::scratch("prefix_thread");
    // Beyond the page that ends with the file.
    let text = "char state_large[1 << 20] __attribute__((aligned(65536)));\n";
    library(&folder, "libstate.so", text, &[]);
    let text = "extern char state_large[];\nchar *state(void) { return state_large + 1; }\n";
    let user = library(&folder, "user.so", text, &needs(&folder, &["libstate.so"]));
    let text = "#include <pthread.h>\n#include <stdlib.h>\n\
                static void *rest(void *it) {\n\
                puts(\"waiting\");\nfflush(stdout);\ngetchar();\nexit(it != 0);\n}\n";
    let body = "pthread_t thread;\n\
                if (!pthread_create(&thread, 0, rest, 0)) pthread_exit(0);";
    let arguments = ["-pthread".to_string()];
    let program = program(&folder, "program", text, body, &arguments);
    let waiting = Waiting::start(shared::clean(&program).arg(&user));
    while !ProcFolder::of(waiting.pid()).status().unwrap().has_ended() {
        thread::sleep(Duration::from_millis(1));
    }
    let report = report(&waiting, "state_");
    let bound = binding(&report, "user.so", "state_large");
    assert_eq!(bound, ("bound".into(), "libstate.so".into()));
}
