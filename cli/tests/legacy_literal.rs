//! Which literals count as a look-up by the old name.

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::process::Command;

use common::{found, report, shared};

/// Builds a library from its text and tells whether the rule finds it.
fn is_found(test: &str, text: &str, arguments: &[&str]) -> bool {
    let folder = shared::scratch(test);
    let source = folder.join("source.c");
    fs::write(&source, text).unwrap();
    let library = folder.join("libx.so");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command.args(["-shared", "-fPIC", "-O2", "-o"]);
    command.args([&library, &source]).args(arguments);
    shared::run(&mut command);
    let found = found(&report(&library));
    found.iter().any(|(rule, _)| rule == "legacy-literal")
}

const DLSYM: &str = "extern void *dlsym(void *, const char *);\n";

/// The linker stores one literal as the end of another one.
#[test]
fn the_end_of_a_message_is_a_literal_too() {
    let text = format!(
        "{DLSYM}const char *say(void) {{ return \"no hipGetDeviceProperties\"; }}\n\
         void *get(void *from) {{ return dlsym(from, \"hipGetDeviceProperties\"); }}\n"
    );
    assert!(is_found("literal-end", &text, &["-Wl,-O2"]));
    let text = format!(
        "{DLSYM}void *get(void *from) {{ return dlsym(from, \"my_hipGetDeviceProperties\"); }}\n"
    );
    assert!(!is_found("literal-longer", &text, &[]));
}

#[test]
fn tables_of_names_are_read_whether_or_not_they_may_be_written() {
    for constant in ["", "const "] {
        let text = format!(
            "{DLSYM}{constant}char names[][32] = {{ \"hipMalloc\", \"hipGetDeviceProperties\" }};\n\
             void *get(void *from, int at) {{ return dlsym(from, names[at]); }}\n"
        );
        assert!(is_found("literal-table", &text, &[]), "{constant:?}");
    }
}

/// The message of a caller that is linked with the function.
#[test]
fn who_refers_to_the_function_has_the_name_for_messages() {
    let text = format!(
        "{DLSYM}extern int hipGetDevicePropertiesR0600(void *, int);\n\
         int call(void *to) {{ return hipGetDevicePropertiesR0600(to, 0); }}\n\
         void *other(void *from) {{ return dlsym(from, \"other\"); }}\n\
         const char *name(void) {{ return \"hipGetDeviceProperties\"; }}\n"
    );
    assert!(!is_found("literal-reference", &text, &[]));
}

#[test]
fn for_hip_5_the_old_name_is_the_right_one() {
    let text = format!(
        "{DLSYM}void *get(void *from) {{ return dlsym(from, \"hipGetDeviceProperties\"); }}\n"
    );
    for (major, expected) in [(5, false), (6, true)] {
        let folder = shared::scratch("literal-runtime");
        let name = format!("libamdhip64.so.{major}");
        let source = folder.join("runtime.c");
        fs::write(&source, "int unused;\n").unwrap();
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let mut command = Command::new(compiler);
        command.args(["-shared", "-fPIC", "-o"]);
        command.args([&folder.join(&name), &source]);
        shared::run(command.arg(format!("-Wl,-soname,{name}")));
        let search = format!("-L{}", folder.display());
        let library = format!("-l:{name}");
        let arguments = ["-Wl,--no-as-needed", &search, &library];
        assert_eq!(
            is_found("literal-five", &text, &arguments),
            expected,
            "{major}"
        );
    }
}
