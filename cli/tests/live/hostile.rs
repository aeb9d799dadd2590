//! Processes whose memory, files or root say what no honest one says, and those that are
//! half over: a report or an error, never without end.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use hiplazy_cli::names::Names;
use hiplazy_cli::process::Capture;
use hiplazy_cli::process::proc_folder::ProcFolder;
use serde_json::Value;

use crate::common::{hiplazy, shared};
use crate::running::{Waiting, binding, built, driver, file, library};

/// A program from C text; `wait()` says "waiting" and ends with its input.
fn program(folder: &Path, text: &str, arguments: &[&str]) -> PathBuf {
    const WAIT: &str = "static void wait(void) { puts(\"waiting\"); fflush(stdout); getchar(); }\n";
    let source = folder.join("program.c");
    let includes = "#define _GNU_SOURCE\n#include <link.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
    fs::write(&source, format!("{includes}{WAIT}{text}")).unwrap();
    let program = folder.join("program");
    shared::cc(&[source.to_str().unwrap()], &program, arguments);
    program
}

/// The lines about what could not be read.
fn unreadable(report: &Value) -> Vec<String> {
    let lines = report["unreadable"].as_array().unwrap().iter();
    lines
        .map(|line| format!("{} {}", file(&line["path"]), line["why"].as_str().unwrap()))
        .collect()
}

fn preloaded(report: &Value) -> Vec<String> {
    let hazards = report["hazards"].as_array().unwrap().iter();
    hazards
        .filter(|hazard| hazard["what"] == "preloaded")
        .map(|hazard| hazard["detail"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn lists_of_objects_have_an_end() {
    let folder = shared::scratch("endless_list");
    let text = "int main(int argc, char **argv) {\n\
        if (argc < 2) return 2;\n        struct r_debug *debug = 0;\n\
        for (ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag; entry++)\n\
            if (entry->d_tag == DT_DEBUG) debug = (void *)entry->d_un.d_ptr;\n\
        struct link_map *last = debug->r_map;\n\
        while (last->l_next) last = last->l_next;\n\
        enum { MANY = 100000 };\n\
        struct link_map *more = calloc(MANY, sizeof *more);\n\
        if (!strcmp(argv[1], \"long\")) {\n\
            for (int i = 0; i < MANY - 1; i++) more[i].l_next = &more[i + 1];\n\
            last->l_next = more;\n\
        } else if (!strcmp(argv[1], \"circle\")) {\n\
            last->l_next = debug->r_map;\n\
        } else {\n\
            debug->r_state = RT_ADD;\n\
        }\n\
        wait();\n\
        _Exit(0);\n}\n";

    let program = program(&folder, text, &[]);
    let start = |how: &str| Waiting::start(shared::clean(&program).arg(how));

    let output = start("long").doctor(&[]);
    assert_eq!(
        output.status.code(),
        Some(3),
        "{}",
        shared::text_of(&output)
    );
    let text = shared::text_of(&output);
    assert!(
        text.contains("the list of its objects has no end"),
        "{text}"
    );

    let report = start("circle").report();
    assert_eq!(unreadable(&report), [""; 0]);
    assert!(report["objects"].as_u64().unwrap() >= 3, "{report:#}");

    // Stopped in the middle of dlopen, as a debugger leaves it.
    let lines = unreadable(&start("adding").report());
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("changed while it was read, 3 times: the dynamic linker was loading"),
        "{lines:?}"
    );
}

#[test]
fn a_process_whose_first_thread_has_ended_is_read() {
    let folder = shared::scratch("first_thread");
    let text = "#include <dlfcn.h>\n#include <pthread.h>\n\
        static void *rest(void *unused) { (void)unused; wait(); exit(0); }\n\
        int main(int argc, char **argv) {\n\
        pthread_t thread;\n\
        if (argc < 2 || !dlopen(argv[1], RTLD_NOW)) return 2;\n\
        pthread_create(&thread, NULL, rest, NULL);\n\
        pthread_exit(NULL);\n}\n";
    let program = program(&folder, text, &["-pthread", "-ldl"]);
    let mut command = shared::clean(&program);
    command.env("LD_LIBRARY_PATH", &built().runtime);
    let waiting = Waiting::start(command.arg(built().folder.join("client.so")));
    while ProcFolder::of(waiting.pid()).status().unwrap().state != 'Z' {
        thread::sleep(Duration::from_millis(1));
    }
    let report = waiting.report();
    let bound = binding(&report, "client.so", "hipGetDevicePropertiesR0600");
    assert_eq!(bound, ("bound".into(), "libamdhip64.so.7".into()));
    let subject = format!("process {} (program)", waiting.pid());
    assert_eq!(report["subject"], subject);
    waiting.end();
}

/// What `dlmopen` of an old glibc, or a loader of one's own, does.
#[test]
fn a_runtime_that_the_dynamic_linker_does_not_know_is_named() {
    let folder = shared::scratch("hidden_runtime");
    let text = "#include <fcntl.h>\n#include <sys/mman.h>\n\
        int main(int argc, char **argv) {\n\
        for (int i = 1; i < argc; i++)\n\
            if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(argv[i], O_RDONLY), 0) == MAP_FAILED) return 2;\n\
        wait();\n\
        return 0;\n}\n";
    let program = program(&folder, text, &[]);
    let runtime = built().runtime.join("libamdhip64.so.7");
    let client = built().folder.join("client.so");
    let mut command = shared::clean(&program);
    let report = Waiting::start(command.args([&runtime, &runtime, &client])).report();
    // Once, and nothing about others that are no runtimes.
    let lines = unreadable(&report);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].starts_with("libamdhip64.so.7 is mapped, but in no list of the dynamic linker"),
        "{lines:?}"
    );
}

#[test]
fn a_library_that_is_cut_short_while_it_is_read_is_said_to_be_cut() {
    let folder = shared::scratch("cut_short");
    let client = folder.join("client.so");
    fs::copy(built().folder.join("client.so"), &client).unwrap();
    let words = ["open", "client", client.to_str().unwrap(), "now,local"];
    let waiting = Waiting::start(&mut driver(&built().runtime, &words));
    let capture = Capture::take(waiting.pid()).unwrap();
    let opened = fs::OpenOptions::new().write(true).open(&client).unwrap();
    opened.set_len(0).unwrap();
    let world = capture.read(&Names::default());
    let line = world
        .unreadable
        .iter()
        .find(|line| line.path.ends_with("client.so"));
    let why = &line.expect("a line on the client").why;
    assert!(why.contains("became shorter"), "{why}");
}

/// The entry is a link with another name, and another library has the name of its file.
#[test]
fn what_is_preloaded_is_told_by_its_file() {
    let folder = shared::scratch("preloaded");
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    let text = "int nothing(void) { return 0; }\n";
    let hook = library(&folder, "hook.so", text, &[]);
    let namesake = library(&other, "hook.so", text, &[]);
    let named = library(
        &folder,
        "named.so",
        text,
        &["-Wl,-soname,named.so.1".into()],
    );
    fs::rename(&named, folder.join("named.so.1")).unwrap();
    symlink("hook.so", folder.join("alias.so")).unwrap();
    let words = ["open", "other", namesake.to_str().unwrap(), "now,local"];
    let mut command = driver(&folder, &words);
    let alias = folder.join("alias.so");
    command.env("LD_PRELOAD", format!("{}:named.so.1", alias.display()));
    let report = Waiting::start(&mut command).report();
    let mut expected = [hook, folder.join("named.so.1")].map(|path| path.display().to_string());
    expected.sort();
    let mut found = preloaded(&report);
    found.sort();
    assert_eq!(found, expected);
    // Relative to where it was started.
    let mut command = driver(&folder, &words);
    command.current_dir(&folder).env("LD_PRELOAD", "./alias.so");
    let found = preloaded(&Waiting::start(&mut command).report());
    assert_eq!(found, [folder.join("hook.so").display().to_string()]);
}

/// `chroot` by root, else in a user namespace; `None` where neither is allowed.
fn chroot(root: &Path) -> Option<Command> {
    // SAFETY: takes nothing and cannot fail.
    if unsafe { libc::getuid() } == 0 {
        let mut command = shared::clean(Path::new("chroot"));
        command.arg(root);
        return Some(command);
    }
    let allowed = Command::new("unshare").args(["-r", "true"]).output();
    if allowed.is_ok_and(|output| output.status.success()) {
        let mut command = shared::clean(Path::new("unshare"));
        command.args(["-r", "chroot"]).arg(root);
        return Some(command);
    }
    shared::skip("a root of its own", "neither root nor user namespaces");
    None
}

/// A folder with what a program needs as its root: its libraries are in `/libs`.
fn root_for(program: &Path, root: &Path) {
    fs::create_dir_all(root.join("libs")).unwrap();
    fs::create_dir_all(root.join("etc")).unwrap();
    fs::copy(program, root.join("program")).unwrap();
    let waiting = Waiting::start(&mut shared::clean(program));
    for mapping in ProcFolder::of(waiting.pid()).mappings().unwrap() {
        let name = mapping.path.file_name().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|name| name.starts_with("lib")) {
            fs::copy(&mapping.path, root.join("libs").join(name)).unwrap();
        }
    }
    let linker = Path::new("/lib64/ld-linux-x86-64.so.2");
    fs::create_dir_all(root.join("lib64")).unwrap();
    fs::copy(linker, root.join(linker.strip_prefix("/").unwrap())).unwrap();
}

#[test]
fn a_process_in_another_root_is_read_there() {
    let folder = shared::scratch("other_root");
    let program = program(&folder, "int main(void) { wait(); return 0; }\n", &[]);
    let root = folder.join("root");
    root_for(&program, &root);
    let text = "int hipMalloc(void) { return 0; }\n";
    library(&root.join("libs"), "hook.so", text, &[]);
    // The link is absolute: here it would lead to nothing.
    fs::write(root.join("preloads"), "# everywhere\n/libs/hook.so\n").unwrap();
    let list = root.join("etc/ld.so.preload");
    symlink("/preloads", &list).unwrap();
    let Some(mut command) = chroot(&root) else {
        return;
    };
    command.arg("/program").env("LD_LIBRARY_PATH", "/libs");
    let waiting = Waiting::start(&mut command);
    let report = waiting.report();
    assert_eq!(unreadable(&report), [""; 0], "its files were found");
    assert_eq!(file(&report["exporters"][0]["path"]), "hook.so");
    let found = preloaded(&report);
    assert!(
        found.len() == 1 && found[0].ends_with("/libs/hook.so"),
        "{found:?}"
    );
    // A pipe that nobody writes to, a file without end and one that is too long are no
    // lists of libraries.
    fs::remove_file(&list).unwrap();
    shared::run(Command::new("mkfifo").arg(&list));
    assert_eq!(preloaded(&waiting.report()), [""; 0]);
    fs::remove_file(&list).unwrap();
    fs::write(
        &list,
        [&b" ".repeat(64 << 10)[..], b"/libs/hook.so\n"].concat(),
    )
    .unwrap();
    assert_eq!(preloaded(&waiting.report()), [""; 0]);
    waiting.end();
}

/// In a container, root has few capabilities.
#[test]
fn root_without_the_capability_is_told_which_one_is_missing() {
    // SAFETY: takes nothing and cannot fail.
    if unsafe { libc::getuid() } != 0 {
        shared::skip("root without capabilities", "this is not root");
        return;
    }
    let has_setpriv = Command::new("setpriv").arg("--version").output();
    if has_setpriv.is_err() {
        shared::skip("root without capabilities", "there is no setpriv");
        return;
    }
    let waiting = Waiting::start(&mut driver(&built().runtime, &[]));
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-sys_ptrace", "--inh-caps=-all"]);
    command.arg(hiplazy().get_program());
    let output = command.args(["doctor", "--pid", &waiting.pid().to_string()]);
    let text = shared::text_of(&output.output().unwrap());
    assert!(text.contains("--cap-add=SYS_PTRACE"), "{text}");
}
