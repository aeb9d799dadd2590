//! Programs that write logs, and the reports on these.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::common::{hiplazy, shared};
use crate::running::{file, json, library};

/// Does what its words say, one after the other.
const LOADER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *opened(void *handle)
{
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(9);
    }
    return handle;
}

/* open PATH, close (what was opened last), namespace PATH (dlmopen), ask NAME (dlsym),
 * fork (a child does the rest), exec PROGRAM WORDS */
int main(int count, char **words)
{
    void *last = NULL;
    for (int i = 1; i < count; i++) {
        if (!strcmp(words[i], "open"))
            last = opened(dlopen(words[++i], RTLD_LAZY | RTLD_GLOBAL));
        else if (!strcmp(words[i], "namespace"))
            opened(dlmopen(LM_ID_NEWLM, words[++i], RTLD_LAZY));
        else if (!strcmp(words[i], "close"))
            dlclose(last);
        else if (!strcmp(words[i], "ask"))
            dlsym(RTLD_DEFAULT, words[++i]);
        else if (!strcmp(words[i], "fork")) {
            int status = 0;
            if (fork()) {
                wait(&status);
                return WEXITSTATUS(status);
            }
        } else if (!strcmp(words[i], "exec"))
            return execv(words[i + 1], words + i + 1);
        else
            return 8;
    }
    return 0;
}
"#;

/// What the programs are made of.
pub(crate) struct Made {
    pub(crate) loader: PathBuf,
    /// Two copies of a runtime that can be unloaded.
    pub(crate) first: PathBuf,
    pub(crate) second: PathBuf,
    /// A library that is bound to the runtime beside it, when it is loaded.
    pub(crate) client: PathBuf,
    /// The same for the other copy.
    pub(crate) other_client: PathBuf,
    /// Exports `hipInit`.
    pub(crate) stub: PathBuf,
}

pub(crate) fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = shared::scratch("logged");
        let loader = program(&folder, "loader", LOADER, &[]);
        let first = folder.join("first");
        let second = folder.join("second");
        let runtimes = [&first, &second].map(|folder| {
            fs::create_dir(folder).unwrap();
            runtime(folder)
        });
        let [client, other_client] = [&first, &second].map(|runtime| {
            let text = "int hipInit(unsigned);\nint call(void) { return hipInit(0); }\n";
            library(runtime, "client.so", text, &linked(runtime, "now"))
        });
        let stub = library(
            &folder,
            "stub.so",
            "int hipInit(unsigned flags) { return (int)flags; }\n",
            &[],
        );
        let [first, second] = runtimes;
        Made {
            loader,
            first,
            second,
            client,
            other_client,
            stub,
        }
    })
}

/// Arguments that link with the runtime in a folder.
pub(crate) fn linked(runtime: &Path, binding: &str) -> Vec<String> {
    let folder = runtime.display();
    vec![
        format!("-L{folder}"),
        "-l:libamdhip64.so.7".to_string(),
        format!("-Wl,-z,{binding},-rpath,{folder}"),
    ]
}

/// Needs the C library, as all real ones do.
const INIT: &str = "#include <stdlib.h>\n\
    int hipInit(unsigned flags) { return flags && getenv(\"NO_GPU\"); }\n";

/// A runtime as far as it can be told from its names: the fake one stays loaded.
fn runtime(folder: &Path) -> PathBuf {
    let script = folder.join("versions");
    fs::write(&script, "hip_4.2 { global: hip*; local: *; };\n").unwrap();
    let functions =
        (0..120).map(|number| format!("int hipFunction{number}(void) {{ return {number}; }}\n"));
    let text = functions.collect::<String>() + INIT;
    let arguments = [
        "-Wl,-soname,libamdhip64.so.7".to_string(),
        format!("-Wl,--version-script={}", script.display()),
    ];
    library(folder, "libamdhip64.so.7", &text, &arguments)
}

/// A program from C text.
#[track_caller]
pub(crate) fn program(folder: &Path, name: &str, text: &str, arguments: &[String]) -> PathBuf {
    let source = folder.join(format!("{name}.c"));
    fs::write(&source, text).unwrap();
    let output = folder.join(name);
    shared::cc(&[source.to_str().unwrap()], &output, arguments);
    output
}

/// What ld.so writes about a command, all files together, and its status.
#[track_caller]
pub(crate) fn written(test: &str, command: &mut Command) -> (Vec<u8>, Option<i32>) {
    let folder = shared::scratch(&format!("written_{test}"));
    command.env("LD_DEBUG", "bindings");
    command.env("LD_DEBUG_OUTPUT", folder.join("log"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let text = files.iter().flat_map(|file| fs::read(file).unwrap());
    (text.collect(), output.status.code())
}

/// The log of the loader with some words.
#[track_caller]
pub(crate) fn loader(test: &str, words: &[&str]) -> Vec<u8> {
    let (text, status) = written(test, shared::clean(&made().loader).args(words));
    assert_eq!(status, Some(0), "{words:?}");
    text
}

/// `hiplazy log` of a text in a file.
#[track_caller]
pub(crate) fn output(test: &str, text: &[u8], arguments: &[&str]) -> Output {
    let file = shared::scratch(&format!("read_{test}")).join("log");
    fs::write(&file, text).unwrap();
    hiplazy()
        .arg("log")
        .args(arguments)
        .arg(&file)
        .output()
        .unwrap()
}

#[track_caller]
pub(crate) fn report(test: &str, text: &[u8]) -> Value {
    json(&output(test, text, &["--json"]))
}

/// The lines before the summary.
pub(crate) fn preface(report: &Value) -> String {
    let lines = report["preface"].as_array();
    let lines = lines.map_or(&[][..], Vec::as_slice).iter();
    lines
        .map(|line| line.as_str().unwrap().to_string() + "\n")
        .collect()
}

/// The last parts of the paths in a section.
pub(crate) fn files(report: &Value, section: &str) -> Vec<String> {
    let all = report[section].as_array().unwrap().iter();
    all.map(|one| file(&one["path"])).collect()
}

/// The circumstances of a kind.
pub(crate) fn hazards(report: &Value, what: &str) -> Vec<String> {
    let all = report["hazards"].as_array().unwrap().iter();
    let of_kind = all.filter(|hazard| hazard["what"] == what);
    of_kind
        .map(|hazard| hazard["detail"].as_str().unwrap().to_string())
        .collect()
}

/// The text of a path.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
