//! Processes that are not as one would like them.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use hiplazy_cli::names::Names;
use hiplazy_cli::process::memory::Memory;
use hiplazy_cli::process::proc_folder::ProcFolder;
use hiplazy_cli::process::{Capture, Error, bindings};
use hiplazy_cli::report::Scope;

use crate::common::{hiplazy, shared};
use crate::running::{Waiting, binding, built, driver, file, library, rules};

#[test]
fn a_process_that_exits_while_it_is_read_is_said_to_have_exited() {
    let client = built().folder.join("client.so");
    let words = ["open", "client", client.to_str().unwrap(), "now,local"];
    let waiting = Waiting::start(&mut driver(&built().runtime, &words));
    let pid = waiting.pid();
    let capture = Capture::take(pid).unwrap();
    let names = Names::default();
    let world = capture.read(&names);
    assert!(capture.changes().unwrap().is_none());
    waiting.end();
    let error = bindings::read(&world, Memory::of(pid), &names).unwrap_err();
    let error = Error::reading(pid, "the words", &error);
    assert!(matches!(error, Error::Exited(_)), "{error}");
    assert!(matches!(capture.changes(), Err(Error::Exited(_))));
    assert!(matches!(Capture::take(pid), Err(Error::NoSuchProcess(_))));
}

#[test]
fn a_process_that_loads_more_while_it_is_read_has_changed() {
    let client = built().folder.join("client.so");
    let words = [
        "wait",
        "open",
        "client",
        client.to_str().unwrap(),
        "now,local",
    ];
    let mut waiting = Waiting::start(&mut driver(&built().runtime, &words));
    let capture = Capture::take(waiting.pid()).unwrap();
    assert!(capture.changes().unwrap().is_none());
    waiting.go_on();
    waiting.wait_again();
    let changed = capture.changes().unwrap().expect("two more objects");
    assert!(changed.contains("objects loaded, and now has"), "{changed}");
}

#[test]
fn a_process_that_has_exited_and_is_not_waited_for_is_named_so() {
    let mut child = Command::new("true").spawn().unwrap();
    let folder = ProcFolder::of(child.id());
    while folder.status().unwrap().state != 'Z' {
        thread::sleep(Duration::from_millis(1));
    }
    fails(child.id(), "only waits for its parent");
    child.wait().unwrap();
    fails(child.id(), "there is no process");
}

/// The doctor's one line, and its status.
#[track_caller]
fn fails(pid: u32, why: &str) {
    let mut command = hiplazy();
    command.args(["doctor", "--pid", &pid.to_string()]);
    let output = command.output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(3),
        "{}",
        shared::text_of(&output)
    );
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains(why), "{text}");
}

const PAUSE: &str = "#include <stdio.h>\nint main(void) { puts(\"waiting\"); fflush(stdout); getchar(); return 0; }\n";

#[test]
fn a_static_program_has_nothing_to_bind() {
    let folder = shared::scratch("static_program");
    let source = folder.join("pause.c");
    fs::write(&source, PAUSE).unwrap();
    for (name, flags) in [("static", "-static"), ("static_pie", "-static-pie")] {
        let program = folder.join(name);
        shared::cc(&[source.to_str().unwrap()], &program, &[flags]);
        let waiting = Waiting::start(&mut shared::clean(&program));
        fails(waiting.pid(), "is linked statically");
    }
}

#[test]
fn a_32_bit_program_is_named_so() {
    let folder = shared::scratch("program_32");
    let source = folder.join("pause.c");
    // Without a C library, which is rarely there for 32 bits: write(1, "waiting\n", 8), pause().
    fs::write(
        &source,
        "static int call(int number, int a, const void *b, int c) {\n\
         int result;\n\
         __asm__ volatile(\"int $0x80\" : \"=a\"(result) : \"a\"(number), \"b\"(a), \"c\"(b), \"d\"(c) : \"memory\");\n\
         return result;\n}\n\
         void _start(void) { call(4, 1, \"waiting\\n\", 8); for (;;) call(29, 0, 0, 0); }\n",
    )
    .unwrap();
    let program = folder.join("pause");
    let arguments = [
        "-m32",
        "-static",
        "-nostdlib",
        "-ffreestanding",
        "-fno-pic",
        "-no-pie",
        "-fno-stack-protector",
    ];
    shared::cc(&[source.to_str().unwrap()], &program, &arguments);
    if Command::new(&program)
        .stdout(std::process::Stdio::null())
        .spawn()
        .map(|mut child| child.kill())
        .is_err()
    {
        shared::skip("a 32-bit program", "this kernel does not run any");
        return;
    }
    let waiting = Waiting::start(&mut shared::clean(&program));
    fails(waiting.pid(), "is a 32-bit program");
}

#[test]
fn a_stopped_process_is_read_as_it_is() {
    let client = built().folder.join("client.so");
    let words = ["open", "client", client.to_str().unwrap(), "lazy,local"];
    let waiting = Waiting::start(&mut driver(&built().runtime, &words));
    // SAFETY: sends a signal to a child of this process.
    unsafe { libc::kill(waiting.pid() as libc::pid_t, libc::SIGSTOP) };
    while ProcFolder::of(waiting.pid()).status().unwrap().state != 'T' {
        thread::sleep(Duration::from_millis(1));
    }
    let report = waiting.report();
    assert!(
        report["subject"]
            .as_str()
            .unwrap()
            .ends_with("(driver, stopped)")
    );
    let bound = binding(&report, "client.so", "hipGetDevicePropertiesR0600");
    assert_eq!(bound, ("lazy".into(), "libamdhip64.so.7".into()));
}

#[test]
fn another_users_process_is_refused_with_what_helps() {
    // SAFETY: takes nothing and cannot fail.
    if unsafe { libc::getuid() } != 0 {
        shared::skip("another user's process", "only root can be two users");
        return;
    }
    let waiting = Waiting::start(&mut driver(&built().runtime, &[]));
    let folder = shared::scratch("other_user");
    // Where another user may not look, the command would not start at all.
    let copy = std::env::temp_dir().join(format!("hiplazy-test-{}", std::process::id()));
    fs::copy(env!("CARGO_BIN_EXE_hiplazy"), &copy).unwrap();
    let mut command = shared::clean(&copy);
    command.uid(65534).gid(65534).current_dir("/");
    command.args(["doctor", "--pid", &waiting.pid().to_string()]);
    let output = command.output();
    fs::remove_file(&copy).unwrap();
    fs::remove_dir_all(folder).unwrap();
    let output = output.unwrap();
    assert_eq!(
        output.status.code(),
        Some(3),
        "{}",
        shared::text_of(&output)
    );
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("it belongs to user 0") && text.contains("sudo -u '#0'"),
        "{text}"
    );
}

#[test]
fn a_runtime_in_a_namespace_of_its_own_is_there() {
    let runtime = built().runtime.join("libamdhip64.so.7");
    let client = built().folder.join("client.so");
    let words = [
        "namespace",
        "client",
        client.to_str().unwrap(),
        "open",
        "runtime",
        runtime.to_str().unwrap(),
        "now,global",
    ];
    let waiting = Waiting::start(&mut driver(&built().runtime, &words));
    let report = waiting.report();
    let scopes: Vec<String> = report["runtimes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|runtime| runtime["scope"].to_string())
        .collect();
    assert_eq!(scopes.len(), 2, "{scopes:?}");
    assert!(
        scopes.contains(&r#"{"namespace":{"number":1}}"#.to_string()),
        "{scopes:?}"
    );
    let bound = binding(&report, "client.so", "hipGetDevicePropertiesR0600");
    assert_eq!(bound, ("bound".into(), "libamdhip64.so.7".into()));
    assert!(rules(&report).contains(&"two-namespaces".to_string()));
}

/// Another dynamic linker may keep its scopes elsewhere.
#[test]
fn without_scopes_there_is_an_estimate_that_is_marked_as_one() {
    let client = built().folder.join("client.so");
    let words = ["open", "client", client.to_str().unwrap(), "lazy,local"];
    let waiting = Waiting::start(&mut driver(&built().runtime, &words));
    let names = Names::default();
    let mut capture = Capture::take(waiting.pid()).unwrap();
    let name = "hipGetDevicePropertiesR0600";
    let answer = |capture: &Capture| {
        let world = capture.read(&names);
        let client = world
            .objects
            .iter()
            .position(|live| live.object.file_name() == "client.so")
            .unwrap();
        let found = world.look_up(client, name, Some("hip_6.0")).unwrap();
        let provider = world.objects[found.place].object.called().to_string();
        (provider, world.scope_of(client), world.estimated.clone())
    };
    let runtime = "libamdhip64.so.7".to_string();
    assert_eq!(answer(&capture), (runtime.clone(), Scope::Local, None));
    let why = "another layout".to_string();
    capture.scopes = Err(why.clone());
    assert_eq!(answer(&capture), (runtime, Scope::Unknown, Some(why)));
}

/// mori and librocroller each had spdlog inside: the runtime's compiler needs the one,
/// and a global library brings the other.
#[test]
fn names_of_any_kind_that_are_taken_from_the_runtime_are_counted() {
    let folder = shared::scratch("taken");
    let text = "int spdlog_registry(void) { return 1; }\nint spdlog_level(void) { return 2; }\nint roll(void) { return spdlog_registry() + spdlog_level(); }\n";
    library(
        &folder,
        "librocroller.so",
        text,
        &["-Wl,-soname,librocroller.so".into()],
    );
    let arguments = [
        "-Wl,-soname,libamd_comgr.so.3".to_string(),
        "-Wl,-rpath,$ORIGIN".to_string(),
        format!("-L{}", folder.display()),
        "-l:librocroller.so".to_string(),
    ];
    let text = "int roll(void);\nint compile(void) { return roll(); }\n";
    let compiler = library(&folder, "libamd_comgr.so.3", text, &arguments);
    let text = "int spdlog_registry(void) { return 3; }\nint spdlog_level(void) { return 4; }\n";
    let mori = library(&folder, "mori.so", text, &[]);
    for (flags, expected) in [("now,local", false), ("now,global", true)] {
        let words = [
            "open",
            "mori",
            mori.to_str().unwrap(),
            flags,
            "open",
            "compiler",
            compiler.to_str().unwrap(),
            "lazy,local",
        ];
        let report = Waiting::start(&mut driver(&folder, &words)).report();
        let findings = report["findings"].as_array().unwrap();
        let taken: Vec<_> = findings
            .iter()
            .filter(|finding| finding["rule"] == "taken-symbols")
            .collect();
        assert_eq!(taken.len(), usize::from(expected), "{flags}: {findings:#?}");
        if let Some(taken) = taken.first() {
            assert_eq!(file(&taken["object"]), "mori.so");
            assert!(taken["detail"].as_str().unwrap().starts_with("2 names of "));
            assert_eq!(taken["evidence"][0], "spdlog_level");
        }
    }
}

/// Of HIP's functions it is known which came with which version, of hiprtc's it is not.
#[test]
fn the_version_of_hiprtc_is_not_told_from_its_functions() {
    let folder = shared::scratch("hiprtc_version");
    let version = fakehip::Version::V6_4_3;
    let libraries = [
        fakehip::Library::hip(version),
        fakehip::Library::rtc(version),
    ];
    fakehip::build(&folder, &libraries).unwrap_or_else(|error| panic!("{error}"));
    let mut words = Vec::new();
    for name in ["libamdhip64.so.6", "libhiprtc.so.6"] {
        words.extend(["open", name, name, "now,local"]);
    }
    let report = Waiting::start(&mut driver(&folder, &words)).report();
    let runtimes = report["runtimes"].as_array().unwrap().iter();
    let versions: Vec<(&str, &str, Option<&str>)> = runtimes
        .map(|it| {
            (
                it["kind"].as_str().unwrap(),
                it["version"].as_str().unwrap(),
                it["at_least"].as_str(),
            )
        })
        .collect();
    assert_eq!(versions, [("hip", "6", Some("6.4")), ("hiprtc", "6", None)]);
}
