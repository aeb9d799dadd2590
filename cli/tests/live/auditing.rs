//! `hiplazy run`: what the auditing module tells, and that the program does not feel it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::shared::{self, skip, text_of};
use crate::run_command::{Watched, is_alive, unreadable, until_it_has_looked};
use crate::running::{binding, built, file, library, rules};

/// The smallest runtime there is, unloadable unlike HIP's own.
const HSA: &str = "int hsa_init(void) { return 0; }\nint hsa_shut_down(void) { return 0; }\n";
const HSA_NAME: &str = "libhsa-runtime64.so.1";

/// Two copies of a runtime, in folders of their own.
fn copies(folder: &Path) -> [PathBuf; 2] {
    ["one", "two"].map(|name| {
        let folder = folder.join(name);
        fs::create_dir(&folder).unwrap();
        library(&folder, HSA_NAME, HSA, &[format!("-Wl,-soname,{HSA_NAME}")])
    })
}

/// A program that does what its words say: `open PATH`, `close`, `call NAME` (asks the
/// last library), `fork` (the child does the rest), `wait` (for a line), `exit` (_exit).
const PROGRAM: &str = r#"#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words)
{
    void *library = NULL;
    (void)count;
    while (*++words) {
        if (!strcmp(*words, "open")) {
            library = dlopen(*++words, RTLD_NOW);
            if (!library)
                printf("%s\n", dlerror());
        } else if (!strcmp(*words, "close")) {
            dlclose(library);
        } else if (!strcmp(*words, "call")) {
            int (*call)(void) = (int (*)(void))dlsym(library, *++words);
            if (call)
                call();
        } else if (!strcmp(*words, "fork")) {
            if (fork()) {
                wait(NULL);
                return 0;
            }
        } else if (!strcmp(*words, "wait")) {
            puts("waiting");
            fflush(stdout);
            getchar();
        } else if (!strcmp(*words, "exit")) {
            _exit(0);
        }
    }
    return 0;
}
"#;

fn program(folder: &Path, name: &str, text: &str, arguments: &[String]) -> String {
    let source = folder.join(format!("{name}.c"));
    fs::write(&source, text).unwrap();
    let program = folder.join(name);
    shared::cc(&[source.to_str().unwrap()], &program, arguments);
    program.display().to_string()
}

/// A program that is linked to the fake HIP 7.
fn linked(folder: &Path, name: &str, text: &str, flags: &[&str]) -> String {
    let mut arguments: Vec<String> = flags.iter().map(ToString::to_string).collect();
    arguments.push(format!("-L{}", built().runtime.display()));
    arguments.push("-l:libamdhip64.so.7".to_string());
    program(folder, name, text, &arguments)
}

/// `hiplazy run` of the program above, with two copies of a runtime; `1` and `2` in its
/// words stand for them.
fn of_words(test: &str, words: &[&str]) -> (Value, Watched) {
    let mut watched = Watched::new(test, &[], &[]);
    let [one, two] = copies(&watched.folder);
    let driver = program(&watched.folder, "driver", PROGRAM, &[]);
    watched.command.arg(driver);
    for word in words {
        match *word {
            "1" => watched.command.arg(&one),
            "2" => watched.command.arg(&two),
            word => watched.command.arg(word),
        };
    }
    let output = watched.output();
    assert!(output.status.success(), "{}", text_of(&output));
    (watched.report(), watched)
}

/// A report takes its name when it is whole.
fn until_there(report: &Path) {
    while !report.exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn two_copies_that_follow_each_other_are_no_conflict() {
    let (report, _) = of_words("audit_reopened", &["open", "1", "close", "open", "2"]);
    assert_eq!(rules(&report), [] as [&str; 0]);
    let runtimes = report["runtimes"].as_array().unwrap();
    assert_eq!(runtimes.len(), 2, "{runtimes:#?}");
    let (report, _) = of_words("audit_both", &["open", "1", "open", "2"]);
    assert_eq!(rules(&report), ["two-runtimes"]);
}

/// `fork` goes on from what was loaded, `exec` begins anew; the number says neither.
#[test]
fn a_copy_that_a_forked_child_loads_meets_its_parents() {
    let words = ["open", "1", "fork", "open", "2", "exit"];
    let (report, _) = of_words("audit_forked", &words);
    assert_eq!(rules(&report), ["two-runtimes"]);
    // What the parent loads later is not the child's.
    let words = ["open", "1", "close", "fork", "open", "2", "exit"];
    let (report, _) = of_words("audit_forked_after", &words);
    assert_eq!(rules(&report), [] as [&str; 0]);
}

#[test]
fn programs_that_follow_each_other_in_one_process_are_not_one() {
    let watched = Watched::new("audit_exec", &[], &[]);
    let [one, two] = copies(&watched.folder);
    let driver = program(&watched.folder, "driver", PROGRAM, &[]);
    drop(watched);
    let script = "exec 4<&0; \"$1\" open \"$2\"; exec \"$1\" open \"$3\"";
    let both = "import ctypes, os, sys\nctypes.CDLL(sys.argv[2])\nos.execv(sys.argv[1], [sys.argv[1], 'open', sys.argv[3]])";
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    for command in [
        ["sh", "-c", script, "sh", &driver, one, two],
        ["python3", "-c", both, &driver, one, two, ""],
    ] {
        let mut watched = Watched::new("audit_exec_run", &[], &command);
        let output = watched.output();
        assert!(output.status.success(), "{}", text_of(&output));
        let report = watched.report();
        assert_eq!(rules(&report), [] as [&str; 0], "{command:?}");
        assert_eq!(report["runtimes"].as_array().unwrap().len(), 2);
    }
}

/// Both are number 1 where they are.
#[test]
fn equal_numbers_of_two_process_namespaces_are_two_processes() {
    // SAFETY: takes nothing and cannot fail.
    let own: &[&str] = match unsafe { libc::getuid() } {
        0 => &[],
        _ => &["--user", "--map-root-user"],
    };
    let unshare = [&["unshare"], own, &["--pid", "--fork"]].concat();
    let tried = Command::new(unshare[0])
        .args(&unshare[1..])
        .arg("true")
        .output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        skip(
            "processes in two namespaces under run",
            "none can be made here",
        );
        return;
    }
    let unshare = unshare.join(" ");
    let script = format!("{unshare} \"$1\" open \"$2\"; {unshare} \"$1\" open \"$3\"; exit 0");
    let folder = shared::scratch("audit_namespaces");
    let [one, two] = copies(&folder).map(|path| path.display().to_string());
    let driver = program(&folder, "driver", PROGRAM, &[]);
    let command = ["sh", "-c", &script, "sh", &driver, &one, &two];
    let mut watched = Watched::new("audit_namespaces_run", &[], &command);
    let output = watched.output();
    assert!(output.status.success(), "{}", text_of(&output));
    let report = watched.report();
    assert_eq!(rules(&report), [] as [&str; 0]);
    assert_eq!(report["runtimes"].as_array().unwrap().len(), 2);
    // A report at a symbol is on the process that has bound it, not on number 1 here.
    let script = format!("exec {unshare} \"$1\" open \"$2\" call hsa_init wait");
    let command = ["sh", "-c", &script, "sh", &driver, &one];
    let mut watched = Watched::new(
        "audit_namespaces_symbol",
        &["--at-symbol", "hsa_init"],
        &command,
    );
    let waiting = watched.start();
    until_there(&watched.folder.join("report.json"));
    waiting.end();
    let report = watched.report();
    let subject = report["subject"].as_str().unwrap();
    assert!(subject.ends_with("(driver)"), "{subject}");
    assert_eq!(file(&report["runtimes"][0]["path"]), HSA_NAME);
}

const CALLS: &str = r#"#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int hipInit(unsigned);
int main(int count, char **words)
{
    closefrom(3);
    int file = open(words[count - 1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    write(file, "before\n", 7);
    hipInit(0);
    write(file, "after\n", 6);
    return file == 3 ? 0 : 9;
}
"#;

/// A log that is kept open would be on the lowest free descriptor.
#[test]
fn files_of_the_program_have_what_the_program_writes() {
    let folder = shared::scratch("audit_descriptors");
    for (name, flags) in [("lazy", &["-Wl,-z,lazy"]), ("now", &["-Wl,-z,now"])] {
        let program = linked(&folder, name, CALLS, flags);
        let data = folder.join(format!("{name}.data"));
        let command = [&program, data.to_str().unwrap()];
        let mut watched = Watched::new("audit_closefrom", &[], &command);
        let output = watched.output();
        assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
        assert_eq!(fs::read_to_string(&data).unwrap(), "before\nafter\n");
        let bound = binding(&watched.report(), name, "hipInit");
        assert_eq!(bound, ("bound".into(), "libamdhip64.so.7".into()), "{name}");
    }
    let script = r#"exec 3>"$REPORT"; echo one >&3; "$1" open client "$2" now,local; echo two >&3"#;
    let mut watched = Watched::script("audit_script", &[], script);
    let file = watched.folder.join("report.txt");
    watched.command.env("REPORT", &file);
    watched.output();
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\ntwo\n");
    assert_eq!(watched.report()["bindings"].as_array().unwrap().len(), 1);
}

/// Descriptors and `errno`, with and without.
#[test]
fn a_program_does_not_feel_it() {
    const TEXT: &str = r#"#include <dirent.h>
#include <errno.h>
#include <stdio.h>
int hipInit(unsigned);
int main(void)
{
    errno = 77;
    hipInit(0);
    printf("errno %d\n", errno);
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    printf("descriptors %d\n", count);
    return 0;
}
"#;
    let folder = shared::scratch("audit_unfelt");
    let program = linked(&folder, "program", TEXT, &["-Wl,-z,lazy"]);
    let mut alone = shared::clean(Path::new(&program));
    alone.env("LD_LIBRARY_PATH", &built().runtime);
    let alone = alone.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&alone.stdout).into_owned();
    assert!(text.starts_with("errno 77\n"), "{text}");
    let mut watched = Watched::new("audit_unfelt_run", &[], &[&program]);
    assert_eq!(String::from_utf8_lossy(&watched.output().stdout), text);
    binding(&watched.report(), "program", "hipInit");
}

/// Also the words that ld.so fills without a word.
#[test]
fn every_way_to_refer_is_told() {
    const TEXT: &str = "int hipInit(unsigned);\nint (*volatile in_data)(unsigned) = hipInit;\nint main(int count, char **words) { (void)words; return count > 9 ? hipInit(0) : 0; }\n";
    let folder = shared::scratch("audit_words");
    for (name, flags) in [
        ("no_plt", &["-fno-plt", "-fPIE", "-pie"][..]),
        ("in_data", &["-Wl,-z,lazy", "-fPIE", "-pie"]),
        ("not_pie", &["-Wl,-z,now", "-no-pie"]),
    ] {
        let program = linked(&folder, name, TEXT, flags);
        let mut watched = Watched::new("audit_words_run", &["--fail"], &[&program]);
        let output = watched.output();
        assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
        let bound = binding(&watched.report(), name, "hipInit");
        assert_eq!(bound, ("bound".into(), "libamdhip64.so.7".into()), "{name}");
    }
}

#[test]
fn what_was_never_called_is_counted() {
    const TEXT: &str = "int hipInit(unsigned);\nint hipDeviceSynchronize(void);\nint main(int count, char **words) { (void)words; return count > 9 ? hipDeviceSynchronize() : hipInit(0); }\n";
    let folder = shared::scratch("audit_never");
    let program = linked(&folder, "program", TEXT, &["-Wl,-z,lazy"]);
    let mut watched = Watched::new("audit_never_run", &[], &[&program]);
    watched.output();
    let said = watched.report()["preface"].to_string();
    assert!(said.contains("never called: 1 of 2 functions"), "{said}");
}

#[test]
fn a_question_by_dlsym_is_no_reference() {
    let (report, _) = of_words("audit_dlsym", &["open", "1", "call", "hsa_init"]);
    assert_eq!(report["bindings"].as_array().unwrap().len(), 0);
    let said = report["preface"].to_string();
    assert!(
        said.contains("looked up by dlsym") && said.contains(HSA_NAME),
        "{said}"
    );
}

#[test]
fn a_program_that_cannot_start_is_not_clean() {
    let folder = shared::scratch("audit_missing");
    let text = "int hipInit(unsigned);\nint main(void) { return hipInit(0); }\n";
    let program = linked(&folder, "program", text, &[]);
    let mut watched = Watched::new("audit_missing_run", &[], &[&program]);
    watched.command.env("LD_LIBRARY_PATH", &folder);
    let output = watched.output();
    assert_eq!(output.status.code(), Some(127), "{}", text_of(&output));
    let not_seen = unreadable(&watched.report());
    assert_eq!(not_seen.len(), 1, "{not_seen:#?}");
    assert!(not_seen[0].0.contains(&program), "{not_seen:#?}");
    assert!(not_seen[0].1.contains("did not start"), "{not_seen:#?}");
}

/// It was mapped for a moment, and none of its code ran.
#[test]
fn a_library_that_could_not_be_loaded_is_not_there() {
    let folder = shared::scratch("audit_failed");
    let [one, two] = copies(&folder);
    let client = library(
        &folder,
        "needs.so",
        "int nothing;\n",
        &[
            "-Wl,--no-as-needed".to_string(),
            two.display().to_string(),
            library(&folder, "libgone.so", "int gone;\n", &[])
                .display()
                .to_string(),
        ],
    );
    fs::remove_file(folder.join("libgone.so")).unwrap();
    let driver = program(&folder, "driver", PROGRAM, &[]);
    let words = [one.to_str().unwrap(), client.to_str().unwrap()];
    let command = [&driver[..], "open", words[0], "open", words[1]];
    let mut watched = Watched::new("audit_failed_run", &[], &command);
    watched
        .command
        .env("LD_LIBRARY_PATH", two.parent().unwrap());
    let output = watched.output();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("libgone.so"), "it was tried: {said}");
    assert_eq!(rules(&watched.report()), [] as [&str; 0]);
}

#[test]
fn of_many_processes_at_once_none_is_lost() {
    let script = r#"i=0
        while [ $i -lt 200 ]; do "$1" open client "$2" now,local wait <&4 > /dev/null & i=$((i + 1)); done 4<&0
        echo waiting
        read line
        wait"#;
    let script = format!("exec 5<&0; {script}");
    let mut watched = Watched::script("audit_many", &[], &script);
    watched.command.stdin(Stdio::null());
    let output = watched.output();
    assert!(output.status.success(), "{}", text_of(&output));
    let report = watched.report();
    assert_eq!(unreadable(&report), []);
    let said = report["preface"].to_string();
    assert!(said.contains("and 199 like it"), "{said}");
}

/// Who reports may be killed: the program goes on, and waits for nobody.
#[test]
fn a_command_outlives_hiplazy() {
    let script = r#"echo $$; echo waiting; read line; "$1" open client "$2" now,local read client; echo waiting; read line"#;
    let mut watched = Watched::script("audit_killed", &[], script);
    let mut waiting = watched.start();
    let command: u32 = waiting.said[0].parse().unwrap();
    // SAFETY: sends a signal to a child of this process.
    unsafe { libc::kill(waiting.pid() as libc::pid_t, libc::SIGKILL) };
    waiting.go_on();
    waiting.wait_again();
    assert!(is_alive(command));
    let read = waiting.said.concat();
    assert!(read.contains("read client status=0"), "{read}");
    waiting.end();
}

/// A program without a free descriptor cannot tell, and hiplazy knows that it could not.
#[test]
fn what_could_not_be_told_is_missed() {
    const TEXT: &str = r#"#include <fcntl.h>
#include <unistd.h>
#include <sys/resource.h>
int hipInit(unsigned);
int main(void)
{
    struct rlimit few = {64, 64};
    setrlimit(RLIMIT_NOFILE, &few);
    int last = 0;
    for (int next; (next = open("/dev/null", O_RDONLY)) >= 0;)
        last = next;
    hipInit(0);
    close(last);
    return 0;
}
"#;
    let folder = shared::scratch("audit_untold");
    let program = linked(&folder, "program", TEXT, &["-Wl,-z,lazy"]);
    let mut watched = Watched::new("audit_untold_run", &[], &[&program]);
    let output = watched.output();
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    let not_seen = unreadable(&watched.report());
    assert_eq!(not_seen.len(), 1, "{not_seen:#?}");
    assert!(
        not_seen[0].1.contains("could not tell 1 of its events"),
        "{not_seen:#?}"
    );
}

/// More than there is room for: the program waits once, and then no more.
#[test]
fn a_command_goes_on_while_hiplazy_is_stopped() {
    let mut watched = Watched::new("audit_stopped", &[], &[]);
    let [one, _] = copies(&watched.folder);
    let driver = program(&watched.folder, "driver", PROGRAM, &[]);
    watched.command.arg(driver).args(["wait", "open"]).arg(&one);
    for _ in 0..2000 {
        watched.command.args(["call", "hsa_init"]);
    }
    let mut waiting = {
        watched.command.arg("wait");
        watched.start()
    };
    let send = |pid: u32, signal| {
        // SAFETY: sends a signal to a child of this process.
        unsafe { libc::kill(pid as libc::pid_t, signal) };
    };
    send(waiting.pid(), libc::SIGSTOP);
    waiting.go_on();
    waiting.wait_again();
    send(waiting.pid(), libc::SIGCONT);
    // It is heard again: who ends before that cannot tell that something is missing.
    until_it_has_looked(waiting.pid());
    assert_eq!(waiting.end_with_status().code(), Some(0));
    let not_seen = unreadable(&watched.report());
    assert!(
        not_seen
            .iter()
            .any(|(_, why)| why.contains("could not tell")),
        "{not_seen:#?}"
    );
}

/// A message of the right form, "this glibc is too old", with the token and with another.
#[test]
fn without_the_token_nobody_is_heard() {
    // Token and address stand behind the mark.
    let script = r#"python3 -c 'import socket, struct, sys
module = open(sys.argv[1], "rb").read()
at = module.index(b"hiplazy run: settings of module\n") + 32
token, address = module[at:at + 16], module[at + 16:at + 48]
token = token if sys.argv[2] == "right" else bytes(16)
out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
message = struct.pack("=16sQQIIQ5Q", token, 77, 0, 0, 0, 2, 1, 0, 0, 0, 0)
for text in (b"", b"x" * 9000, message[:-1], message):
    out.sendto(text, b"\0" + address)
print("sent")' "$LD_AUDIT" "$WHICH""#;
    for (which, heard) in [("wrong", 0), ("right", 1)] {
        let mut watched = Watched::script("audit_strangers", &["--prefix", "gone_"], script);
        watched.command.env("WHICH", which);
        let output = watched.output();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said, "sent\n", "{}", text_of(&output));
        let not_seen = unreadable(&watched.report());
        assert_eq!(not_seen.len(), heard, "{which}: {not_seen:#?}");
        let is_it = |(_, why): &(String, String)| why.contains("older than 2.35");
        assert!(not_seen.iter().all(is_it), "{not_seen:#?}");
    }
}

#[test]
fn a_script_that_names_no_interpreter_is_started_as_by_a_shell() {
    let folder = shared::scratch("audit_script_plain");
    let script = folder.join("script");
    fs::write(&script, "echo \"ran $1\"\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, mode).unwrap();
    let command = [script.to_str().unwrap(), "it"];
    let mut watched = Watched::new("audit_script_plain_run", &[], &command);
    assert_eq!(
        String::from_utf8_lossy(&watched.output().stdout),
        "ran it\n"
    );
}

#[test]
fn the_users_own_variables_of_ld_so_stay() {
    let script = r#"echo "$LD_AUDIT"; echo "$LD_DEBUG $LD_DEBUG_OUTPUT""#;
    let mut watched = Watched::script("audit_variables", &[], script);
    let own = library(
        &watched.folder,
        "own.so",
        "unsigned la_version(unsigned v) { return v; }\n",
        &[],
    );
    watched.command.env("LD_AUDIT", &own);
    watched.command.env("LD_DEBUG", "libs");
    watched
        .command
        .env("LD_DEBUG_OUTPUT", watched.folder.join("log"));
    let output = watched.output();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with(&format!("{}:", own.display())), "{text}");
    let second = format!("libs {}", watched.folder.join("log").display());
    assert_eq!(text.lines().nth(1), Some(second.as_str()));
    assert_eq!(unreadable(&watched.report()), [], "both are heeded");
}

/// `name@node` is one of the functions of that name; what comes later counts as well.
#[test]
fn a_report_at_a_symbol_asks_for_the_node_and_what_comes_later_is_not_lost() {
    let folder = shared::scratch("audit_symbol");
    let text = "int hipInit(unsigned);\nint main(void) { return hipInit(0); }\n";
    let program = linked(&folder, "program", text, &["-Wl,-z,lazy"]);
    for (symbol, never) in [("hipInit@hip_4.2", false), ("hipInit@hip_9.9", true)] {
        let mut watched = Watched::new("audit_symbol_node", &["--at-symbol", symbol], &[&program]);
        watched.output();
        let said = watched.report()["preface"].to_string();
        assert_eq!(said.contains("was never bound"), never, "{symbol}: {said}");
    }
    let [one, two] = copies(&folder);
    let driver = self::program(&folder, "driver", PROGRAM, &[]);
    let command = [
        &driver[..],
        "open",
        one.to_str().unwrap(),
        "call",
        "hsa_init",
        "wait",
        "open",
        two.to_str().unwrap(),
    ];
    let arguments = ["--fail", "--at-symbol", "hsa_init"];
    let mut watched = Watched::new("audit_symbol_later", &arguments, &command);
    let waiting = watched.start();
    let report = watched.folder.join("report.json");
    until_there(&report);
    assert_eq!(rules(&watched.report()), [] as [&str; 0]);
    let hazards = watched.report()["hazards"].to_string();
    assert!(!hazards.contains("LD_AUDIT"), "hiplazy's own: {hazards}");
    assert_eq!(waiting.end_with_status().code(), Some(2));
    assert_eq!(rules(&watched.report()), ["two-runtimes"]);
}

/// Exactly the interface of rtld-audit(7) that has no trampoline, and nothing needed.
#[test]
fn the_module_is_alone_and_has_the_exports_that_it_should() {
    let script = r#"cat "$LD_AUDIT""#;
    let mut watched = Watched::script("audit_module", &[], script);
    let module = watched.folder.join("module.so");
    fs::write(&module, watched.output().stdout).unwrap();
    let exports: Vec<String> = shared::exports(&module).into_iter().collect();
    assert_eq!(
        exports,
        [
            "la_activity",
            "la_objclose",
            "la_objopen",
            "la_preinit",
            "la_symbind64",
            "la_version"
        ]
    );
    let mut bytes = Vec::new();
    fs::File::open(&module)
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    let object = hiplazy_cli::elf::read("module.so", &bytes, hiplazy_cli::elf::Keep::All).unwrap();
    assert_eq!(object.needed, [] as [&str; 0]);
    assert!(object.references.is_empty(), "{:?}", object.references);
}
