//! What the environment variables do, and when they are not listened to.

mod common;
mod loader;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use hiplazy_abi::{FUNCTIONS_TXT, Library, parse_functions};

use common::{cc, clean, libraries, libraries_without_env, preload, run, scratch, skip};
use loader::{
    Link, Tiny, companion, disguise, fenced_client, link_arguments, linked, plain_library, steps,
    steps_and_log,
};

fn folder(test: &str) -> PathBuf {
    scratch(&format!("environment-{test}"))
        .canonicalize()
        .unwrap()
}

const LINKS: [Link; 3] = [Link::Shared, Link::Static, Link::Extension];

// HIPLAZY_DISABLE

#[test]
fn hiplazy_disable_means_no_hip_no_hiprtc_and_no_hsa() {
    let here = folder("disable");
    let runtime = Tiny::new(7, 3).build(&here);
    companion(&here, "libhiprtc.so.7", "HIPRTC", 7);
    companion(&here, "libhsa-runtime64.so.1", "HSA", 55);
    let open = format!("open:{}", runtime.display());
    let steps_ = [
        &*open, "count", "malloc", "rtc", "hsa", "load", "path", "error",
    ];
    for link in LINKS {
        let mut command = linked(link, &[&here]);
        command
            .env("HIPLAZY_DISABLE", "1")
            .env("HIPLAZY_RUNTIME", &runtime)
            .env("LD_LIBRARY_PATH", &here);
        let out = steps(&mut command, &steps_);
        let (answers, error) = out.split_once("error ").unwrap();
        assert_eq!(
            answers,
            "count 100 0\nmalloc 303 unwritten\nrtc 11 -7\nhsa 4096\nload 303\npath none\n",
            "{link:?}"
        );
        assert!(error.contains("HIPLAZY_DISABLE is set"), "{error}");
    }
}

#[test]
fn hiplazy_disable_opens_nothing() {
    let here = folder("disable-opens");
    Tiny::new(7, 3).build(&here);
    companion(&here, "libhsa-runtime64.so.1", "HSA", 55);
    let out = steps(
        fenced_client(&[&here])
            .env("HIPLAZY_DISABLE", "1")
            .env("LD_LIBRARY_PATH", &here),
        &["count", "hsa", "rtc", "mapped"],
    );
    assert_eq!(out, "count 100 0\nhsa 4096\nrtc 11 -7\n");
}

#[test]
fn hiplazy_disable_set_to_0_or_to_nothing_is_off() {
    let here = folder("disable-off");
    Tiny::new(7, 3).build(&here);
    for (value, expected) in [
        ("0", "count 0 3\n"),
        ("", "count 0 3\n"),
        ("yes", "count 100 0\n"),
    ] {
        let mut command = fenced_client(&[&here]);
        command
            .env("HIPLAZY_DISABLE", value)
            .env("LD_LIBRARY_PATH", &here);
        assert_eq!(steps(&mut command, &["count"]), expected, "{value:?}");
    }
}

// HIPLAZY_LOG

/// The level of each line that a search writes which refuses one candidate and takes the
/// next, at `HIPLAZY_LOG=level`.
fn levels(level: Option<&str>) -> Vec<String> {
    let here = folder(&format!("log-{}", level.unwrap_or("unset")));
    disguise(&here.join("path"), "libamdhip64.so.7");
    Tiny::new(7, 3).build(&here.join("hip/lib64"));
    let mut command = fenced_client(&[&here]);
    command
        .env("LD_LIBRARY_PATH", here.join("path"))
        .env("HIP_PATH", here.join("hip"));
    if let Some(level) = level {
        command.env("HIPLAZY_LOG", level);
    }
    let (out, log) = steps_and_log(&mut command, &["count"]);
    assert_eq!(out, "count 0 3\n");
    let level = |line: &str| {
        let rest = line
            .strip_prefix("hiplazy: ")
            .unwrap_or_else(|| panic!("{line}"));
        rest.split_once(": ").unwrap().0.to_owned()
    };
    let mut levels: Vec<String> = log.lines().map(level).collect();
    levels.dedup();
    levels
}

#[test]
fn hiplazy_log_says_how_much_is_written() {
    assert_eq!(levels(None), [""; 0]);
    assert_eq!(levels(Some("error")), [""; 0]);
    assert_eq!(levels(Some("warn")), ["warn"]);
    assert_eq!(levels(Some("info")), ["warn", "info"]);
    assert_eq!(levels(Some("debug")), ["warn", "debug", "info"]);
}

#[test]
fn an_unknown_hiplazy_log_is_told_and_means_error() {
    assert_eq!(levels(Some("verbose")), ["error"]);
    let mut command = fenced_client(&[]);
    command.env("HIPLAZY_LOG", "verbose");
    let (_, log) = steps_and_log(&mut command, &["count", "malloc"]);
    assert_eq!(
        log,
        "hiplazy: error: HIPLAZY_LOG=verbose is not error, warn, info or debug\n"
    );
}

#[test]
fn a_missing_runtime_is_info() {
    let log = |level: &str| {
        let mut command = fenced_client(&[]);
        command.env("HIPLAZY_LOG", level);
        steps_and_log(&mut command, &["count", "count"]).1
    };
    assert_eq!(log("warn"), "");
    let info = log("info");
    assert!(
        info.starts_with("hiplazy: info: no HIP runtime (libamdhip64)\n  1. "),
        "{info}"
    );
    assert_eq!(
        info.matches("no HIP runtime").count(),
        1,
        "once per search: {info}"
    );
}

#[test]
fn the_log_says_which_runtime_was_taken_how_and_how_much_of_it() {
    let here = folder("log-bound");
    let runtime = Tiny::new(7, 3).build(&here.join("lib"));
    let mut command = fenced_client(&[&here]);
    command.env("ROCM_PATH", &here).env("HIPLAZY_LOG", "info");
    let (_, log) = steps_and_log(&mut command, &["count", "malloc"]);
    let path = runtime.display();
    let lines: Vec<&str> = log.lines().collect();
    let [found, bound] = lines[..] else {
        panic!("{log}");
    };
    assert_eq!(
        found,
        format!(
            "hiplazy: info: bound HIP runtime (libamdhip64): {path} (SONAME libamdhip64.so.7); \
             ROCM_PATH: {path}"
        )
    );
    // All that tiny_runtime.c has, of all functions: not what is made of others, and none
    // twice that has several entries.
    let functions = parse_functions(FUNCTIONS_TXT).unwrap();
    let hip = functions
        .iter()
        .filter(|function| function.library == Library::Hip);
    let all = hip.count();
    assert_eq!(
        bound,
        format!("hiplazy: info: bound 9 of {all} functions of {path}")
    );
}

/// A catalogue for the C library, as gettext reads it: `texts` in the order of the first.
fn catalogue(texts: &[(&str, &str)]) -> Vec<u8> {
    let count = texts.len() as u32;
    let (mut tables, mut strings) = (Vec::new(), Vec::new());
    let start = 28 + 16 * texts.len();
    let firsts = texts.iter().map(|text| text.0);
    let seconds = texts.iter().map(|text| text.1);
    for text in firsts.chain(seconds) {
        let place = (start + strings.len()) as u32;
        tables.extend([text.len() as u32, place].map(u32::to_ne_bytes));
        strings.extend_from_slice(text.as_bytes());
        strings.push(0);
    }
    let header = [0x9504_12de, 0, count, 28, 28 + 8 * count, 0, 0];
    let numbers = header.map(u32::to_ne_bytes);
    [numbers.as_flattened(), tables.as_flattened(), &strings].concat()
}

/// The program's language is not what decides whether a file was there.
#[test]
fn a_missing_runtime_is_not_worth_a_warning_in_another_language_either() {
    let here = folder("language");
    let messages = here.join("xx/LC_MESSAGES");
    fs::create_dir_all(&messages).unwrap();
    let texts = [
        ("", "Content-Type: text/plain; charset=UTF-8\n"),
        ("No such file or directory", "Weg"),
        ("cannot open shared object file", "Geht nicht auf"),
    ];
    fs::write(messages.join("libc.mo"), catalogue(&texts)).unwrap();
    // The fence has messages of its own. It lets pass what LD_LIBRARY_PATH has; ld.so does
    // not look there, since the program sets it too late.
    Tiny::new(7, 3).build(&here.join("path"));
    let mut command = fenced_client(&[&here]);
    command.env("HIPLAZY_LOG", "warn");
    let (out, log) = steps_and_log(
        &mut command,
        &[
            &format!("translate:{}", here.display()),
            "ld.so:libgone.so.7",
            &format!("set:LD_LIBRARY_PATH={}", here.join("path").display()),
            "count",
            "error",
            "ld.so:libgone.so.7",
        ],
    );
    let ld_so = "ld.so libgone.so.7: Geht nicht auf: Weg\n";
    const WHAT: &str = "a missing runtime in another language";
    let Some(answers) = out.strip_prefix(ld_so) else {
        return skip(WHAT, &format!("messages are not translated: {out}"));
    };
    if !answers.starts_with("count 100 0\n") {
        return skip(WHAT, "this machine has a runtime that ld.so finds");
    }
    assert_eq!(log, "");
    assert!(
        answers.contains(
            "ld.so: libamdhip64.so.7: libamdhip64.so.7: cannot open shared object file: \
             No such file or directory\n"
        ),
        "{answers}"
    );
    assert!(answers.ends_with(ld_so), "the language is the program's");
}

// HIPLAZY_SCOPE

/// The client with a tracing tool preloaded that answers 77 devices.
fn interposed(scope: Option<&str>, steps_: &[&str]) -> (String, String) {
    let here = folder(&format!("scope-{}", scope.unwrap_or("unset")));
    Tiny::new(7, 3).build(&here);
    let mut answers = Vec::new();
    for link in LINKS {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        preload(&mut command, &plain_library("interposer.c"));
        if let Some(scope) = scope {
            command.env("HIPLAZY_SCOPE", scope);
        }
        answers.push(steps_and_log(&mut command, steps_));
    }
    answers.dedup();
    assert_eq!(
        answers.len(),
        1,
        "the same however it is linked: {answers:?}"
    );
    answers.remove(0)
}

#[test]
fn hiplazy_scope_global_honours_a_preloaded_interposer() {
    let (out, _) = interposed(Some("global"), &["count", "malloc", "version", "count"]);
    assert_eq!(
        out,
        "count 0 77\nmalloc 0 written\nversion 0 71460850\ncount 0 77\n"
    );
}

#[test]
fn hiplazy_scope_runtime_is_the_default_and_does_not() {
    for scope in [None, Some("runtime")] {
        let (out, log) = interposed(scope, &["count", "malloc"]);
        assert_eq!(out, "count 0 3\nmalloc 0 written\n");
        assert_eq!(log, "");
    }
}

#[test]
fn an_unknown_hiplazy_scope_is_told_and_means_runtime() {
    let (out, log) = interposed(Some("process"), &["count", "malloc"]);
    assert_eq!(out, "count 0 3\nmalloc 0 written\n");
    assert_eq!(
        log,
        "hiplazy: error: HIPLAZY_SCOPE=process is not runtime or global; runtime is used\n"
    );
}

// More rights than the caller (AT_SECURE)

#[test]
fn a_set_user_id_program_ignores_the_variables_and_says_so() {
    const WHAT: &str = "a set-user-ID program";
    const NOBODY: u32 = 65534;
    // SAFETY: no conditions.
    if unsafe { libc::geteuid() } != 0 {
        return skip(WHAT, "only root can make one");
    }
    let here = folder("secure");
    let runtime = Tiny::new(7, 3).build(&here.join("lib"));
    let program = here.join("client");
    // Static: the other user may not be able to read the shared library.
    cc(
        &["client.c"],
        &program,
        &link_arguments(Link::Static, libraries()),
    );
    if let Err(why) = chown(&program, Some(NOBODY), Some(NOBODY)) {
        return skip(WHAT, &format!("it cannot be given to another user: {why}"));
    }
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
    if run(clean(&program).arg("secure")) == "secure 0\n" {
        return skip(
            WHAT,
            "the file system of the target folder does not allow it",
        );
    }
    for (name, value) in [
        ("HIPLAZY_RUNTIME", &runtime),
        ("ROCM_PATH", &here),
        ("HIP_PATH", &here),
    ] {
        let mut command = clean(&program);
        command.env(name, value).env("HIPLAZY_LOG", "debug");
        let (out, log) = steps_and_log(&mut command, &["count", "path"]);
        // The machine may have a runtime of its own; this one must not be taken.
        assert!(!out.contains(runtime.to_str().unwrap()), "{name}: {out}");
        let lines: Vec<&str> = log.lines().collect();
        let [only] = lines[..] else {
            panic!("{name}: one line, and no other of HIPLAZY_LOG=debug: {log}");
        };
        assert!(
            only.starts_with("hiplazy: error: ") && only.ends_with("(AT_SECURE)"),
            "{only}"
        );
    }
    let (_, log) = steps_and_log(&mut clean(&program), &["count"]);
    assert_eq!(log, "", "nothing is said where no variable is set");
}

// Without the cargo feature

#[test]
fn without_the_feature_env_no_hiplazy_variable_is_read() {
    let here = folder("feature");
    let named = Tiny::new(7, 1).build(&here.join("named"));
    let found = Tiny::new(7, 2).build(&here.join("rocm/lib"));
    for (name, link) in [("shared", Link::Shared), ("static", Link::Static)] {
        let program = here.join(name);
        cc(
            &["client.c"],
            &program,
            &link_arguments(link, libraries_without_env()),
        );
        let mut command = common::fenced(&program, &[&here]);
        preload(&mut command, &plain_library("interposer.c"));
        command
            .env("HIPLAZY_RUNTIME", &named)
            .env("HIPLAZY_DISABLE", "1")
            .env("HIPLAZY_LOG", "debug")
            .env("HIPLAZY_SCOPE", "global")
            .env("ROCM_PATH", here.join("rocm"));
        let (out, log) = steps_and_log(&mut command, &["count", "path"]);
        assert_eq!(
            out,
            format!("count 0 2\npath {}\n", found.display()),
            "{name}"
        );
        assert_eq!(log, "", "{name}");
        let bytes = fs::read(libraries_without_env().join("libhiplazy.so")).unwrap();
        assert!(!contains(&bytes, b"HIPLAZY_SCOPE"), "not even its name");
    }
    let bytes = fs::read(libraries().join("libhiplazy.so")).unwrap();
    assert!(contains(&bytes, b"HIPLAZY_SCOPE"), "this can be seen");
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_variable_set_by_the_program_before_the_first_call_counts() {
    let here = folder("set");
    let runtime = Tiny::new(7, 3).build(&here);
    let set = format!("set:HIPLAZY_RUNTIME={}", runtime.display());
    let out = steps(&mut fenced_client(&[Path::new(&here)]), &[&set, "count"]);
    assert_eq!(out, "count 0 3\n");
}
