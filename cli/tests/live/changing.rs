//! Processes that load and unload libraries, or start other programs, all the time.

use std::process::Stdio;

use hiplazy_cli::process::{Capture, Error};

use crate::common::shared;
use crate::run_command::unreadable;
use crate::running::{Waiting, json, library};

/// Copies a small library again and again, and keeps the last ones open: no two moments
/// are alike.
const LOADER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

int main(int count, char **words)
{
    static void *open_ones[61];
    struct stat about;
    int library = open(words[count - 1], O_RDONLY);
    if (library < 0 || fstat(library, &about))
        return 1;
    fcntl(0, F_SETFL, O_NONBLOCK);
    for (unsigned i = 0;; i++) {
        char name[64], line;
        snprintf(name, sizeof name, "./copy%u.so", i);
        int copy = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0755);
        off_t from = 0;
        if (copy < 0 || sendfile(copy, library, &from, (size_t)about.st_size) < 0)
            return 1;
        close(copy);
        void **place = &open_ones[i % 61];
        if (*place)
            dlclose(*place);
        *place = dlopen(name, RTLD_NOW);
        unlink(name);
        if (!*place)
            return 1;
        if (i == 61) {
            puts("waiting");
            fflush(stdout);
        }
        if (read(0, &line, 1) == 0)
            return 0;
    }
}
"#;

#[test]
fn a_process_that_never_rests_is_read_three_times_and_said_to() {
    let folder = shared::scratch("changing");
    let source = folder.join("loader.c");
    std::fs::write(&source, LOADER).unwrap();
    let loader = folder.join("loader");
    shared::cc(&[source.to_str().unwrap()], &loader, &[] as &[&str]);
    let one = library(&folder, "one.so", "int one(void) { return 1; }\n", &[]);
    let mut command = shared::clean(&loader);
    command.arg(&one).current_dir(&folder).stderr(Stdio::null());
    let waiting = Waiting::start(&mut command);
    // The scheduler may let it rest in the one moment that counts.
    for _ in 0..1000 {
        let report = json(&waiting.doctor(&["--json"]));
        let mut not_read = unreadable(&report).into_iter();
        if let Some((subject, why)) = not_read.find(|(_, why)| why.contains("changed while")) {
            assert!(why.contains("3 times"), "{why}");
            assert!(subject.starts_with("process "), "{subject}");
            assert!(why.contains("loading or unloading") || why.contains("objects loaded"));
            assert_ne!(report["exit"], 0);
            waiting.end();
            return;
        }
    }
    panic!("it was never seen to change");
}

/// A program that starts itself again without end. It ends with its input.
const STARTER: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **words)
{
    char line;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    fcntl(0, F_SETFL, O_NONBLOCK);
    if (count < 2) {
        puts("waiting");
        fflush(stdout);
    }
    if (read(0, &line, 1) == 0)
        return 0;
    execl("/proc/self/exe", words[0], "again", (char *)0);
    return 1;
}
"#;

#[test]
fn a_process_that_starts_programs_in_its_own_place_is_read_again_and_said_to() {
    let folder = shared::scratch("starting");
    let source = folder.join("starter.c");
    std::fs::write(&source, STARTER).unwrap();
    let starter = folder.join("starter");
    shared::cc(&[source.to_str().unwrap()], &starter, &[] as &[&str]);
    let waiting = Waiting::start(&mut shared::clean(&starter));
    // The scheduler may let it rest in the one moment that counts. Which part of it is
    // read when it goes on is different each time.
    let mut seen = 0;
    for _ in 0..5000 {
        let output = waiting.doctor(&["--json"]);
        let text = String::from_utf8_lossy(&output.stderr);
        if text.contains("runs another program than when reading it began") {
            assert_eq!(output.status.code(), Some(3));
            seen += 1;
            if seen < 10 {
                continue;
            }
            waiting.end();
            return;
        }
        // Whatever else it says, it is about one program, which may have begun just now.
        if text.contains("the dynamic linker has not yet loaded") {
            continue;
        }
        assert_eq!(text, "");
        let report = json(&output);
        assert!(report["objects"].as_u64().unwrap() > 0, "{report:#}");
    }
    panic!("it was seen to start a program {seen} times only");
}

/// The number, the start and the file are the same.
#[test]
fn a_program_that_was_started_again_is_another_one() {
    let folder = shared::scratch("started_again");
    let source = folder.join("again.c");
    let text = "#include <stdio.h>\n#include <sys/prctl.h>\n#include <unistd.h>\n\
                int main(int count, char **words)\n{\n\
                prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);\n\
                puts(\"waiting\");\nfflush(stdout);\n\
                return getchar() == '\\n' && execl(\"/proc/self/exe\", words[0], (char *)0) && count;\n}\n";
    std::fs::write(&source, text).unwrap();
    let program = folder.join("again");
    shared::cc(&[source.to_str().unwrap()], &program, &[] as &[&str]);
    let mut waiting = Waiting::start(&mut shared::clean(&program));
    let capture = Capture::take(waiting.pid()).unwrap();
    assert!(capture.changes().unwrap().is_none());
    waiting.go_on();
    waiting.wait_again();
    let error = capture.changes().unwrap_err();
    assert!(matches!(error, Error::OtherProgram(_)), "{error}");
    assert!(
        Capture::take(waiting.pid())
            .unwrap()
            .changes()
            .unwrap()
            .is_none()
    );
    waiting.end();
}
