//! Circumstances of a process that change how names bind, each there and not there.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::shared;
use crate::running::{Waiting, built, driver, file, include_fakehip, library, rules, source};

/// The lines on circumstances of one kind.
fn of_kind(report: &Value, what: &str) -> Vec<String> {
    let hazards = report["hazards"].as_array().unwrap().iter();
    let those = hazards.filter(|hazard| hazard["what"] == what);
    those
        .map(|hazard| hazard["detail"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn deepbind_beside_a_preloaded_allocator_is_warned_about() {
    let folder = shared::scratch("allocator");
    let text = "#include <stddef.h>\nextern void *__libc_malloc(size_t);\nvoid *malloc(size_t size) { return __libc_malloc(size); }\n";
    let allocator = library(&folder, "libjemalloc.so.2", text, &[]);
    let client = built().folder.join("client.so");
    for (flags, expected) in [("now,local", false), ("now,local,deepbind", true)] {
        let words = ["open", "client", client.to_str().unwrap(), flags];
        let mut command = driver(&built().runtime, &words);
        command.env("LD_PRELOAD", &allocator);
        let report = Waiting::start(&mut command).report();
        let warned = rules(&report).contains(&"deepbind-allocator".to_string());
        assert_eq!(warned, expected, "{flags}");
        let hazards = report["hazards"].to_string();
        assert!(hazards.contains("libjemalloc.so.2") && hazards.contains("LD_PRELOAD"));
        assert_eq!(hazards.contains("RTLD_DEEPBIND"), expected);
    }
}

#[test]
fn a_sanitizer_is_a_circumstance() {
    let folder = shared::scratch("sanitizer");
    let text = "int nothing(void) { return 0; }\n";
    let library = library(&folder, "libasan.so.8", text, &[]);
    let words = ["open", "asan", library.to_str().unwrap(), "now,local"];
    let report = Waiting::start(&mut driver(&folder, &words)).report();
    let hazards = report["hazards"].to_string();
    assert!(hazards.contains("AddressSanitizer"), "{hazards}");
}

/// gcc needs a library of its sanitizers, and clang puts it into the program.
#[test]
fn a_program_with_a_sanitizer_is_known_whoever_compiled_it() {
    let folder = shared::scratch("sanitized");
    let mut tried = 0;
    for compiler in ["gcc", "clang"] {
        if xtask::fetch::tool(compiler).is_err() {
            continue;
        }
        for (flags, expected) in [
            (&[][..], None),
            (&["-fsanitize=address"], Some("AddressSanitizer: ")),
        ] {
            let program = folder.join(format!("{compiler}-{}", flags.len()));
            let mut command = Command::new(compiler);
            command.args(flags).arg("-o").arg(&program);
            command
                .arg(source("bug_class/driver.c"))
                .arg(include_fakehip());
            let compiled = command.output().unwrap();
            if !compiled.status.success() && expected.is_some() {
                shared::skip(
                    &format!("AddressSanitizer of {compiler}"),
                    &shared::text_of(&compiled),
                );
                continue;
            }
            assert!(compiled.status.success(), "{}", shared::text_of(&compiled));
            let waiting = Waiting::start(shared::clean(&program).arg("wait"));
            let found = of_kind(&waiting.report(), "sanitizer");
            match expected {
                Some(tool) => assert!(
                    found.len() == 1 && found[0].starts_with(tool),
                    "{compiler}: {found:?}"
                ),
                None => assert!(found.is_empty(), "{compiler}: {found:?}"),
            }
            tried += usize::from(expected.is_some());
        }
    }
    if tried == 0 {
        shared::skip("programs with a sanitizer", "no compiler here makes them");
    }
}

#[test]
fn an_auditing_library_is_a_circumstance() {
    let folder = shared::scratch("audit");
    let text = "unsigned la_version(unsigned version) { return version; }\n";
    let audit = library(&folder, "audit.so", text, &[]);
    let client = built().folder.join("client.so");
    let words = ["open", "client", client.to_str().unwrap(), "now,local"];
    for audited in [false, true] {
        let mut command = driver(&built().runtime, &words);
        if audited {
            command.env("LD_AUDIT", &audit);
        }
        let report = Waiting::start(&mut command).report();
        let found = of_kind(&report, "LD_AUDIT");
        assert_eq!(found.len(), usize::from(audited), "{found:?}");
        assert!(found.iter().all(|line| line.contains("audit.so")));
        // It lives in a namespace of its own, and takes nothing away.
        assert_eq!(report["exit"], 0, "{:#}", report["findings"]);
    }
}

/// A static variable of an inline function, as g++ emits it.
#[test]
fn unique_symbols_of_two_libraries_are_one_in_the_process() {
    let folder = shared::scratch("unique");
    let name = "_ZZN8hip_impl13program_stateEvE1s";
    let build = |file: &str, kind: &str| {
        let text = format!(
            "__asm__(\".pushsection .bss\\n.globl {name}\\n.type {name}, @{kind}\\n.size {name}, 4\\n{name}: .zero 4\\n.popsection\\n\");\n\
             extern int {name};\nint {file}_state(void) {{ return {name}++; }}\n"
        );
        library(&folder, &format!("{file}.so"), &text, &[])
    };
    let all = [
        build("plain", "object"),
        build("first", "gnu_unique_object"),
        build("second", "gnu_unique_object"),
    ];
    let [plain, first, second] = &all;
    for (opened, expected) in [([plain, first], false), ([first, second], true)] {
        let mut words = Vec::new();
        for (name, library) in ["a", "b"].into_iter().zip(opened) {
            words.extend(["open", name, library.to_str().unwrap(), "now,local"]);
        }
        let report = Waiting::start(&mut driver(&built().runtime, &words)).report();
        let findings = report["findings"].as_array().unwrap();
        let clash: Vec<&Value> = findings
            .iter()
            .filter(|finding| finding["rule"] == "unique-symbol")
            .collect();
        assert_eq!(clash.len(), usize::from(expected), "{findings:#?}");
        if let Some(clash) = clash.first() {
            assert_eq!(file(&clash["object"]), "first.so");
            assert!(clash["detail"].as_str().unwrap().contains("second.so"));
            assert_eq!(clash["evidence"][0], name);
        }
    }
}

/// A program of root's that another user starts.
#[test]
fn more_rights_than_the_caller_are_a_circumstance() {
    let report = Waiting::start(&mut driver(&built().runtime, &[])).report();
    assert!(of_kind(&report, "AT_SECURE").is_empty());
    // SAFETY: takes nothing and cannot fail.
    if unsafe { libc::getuid() } != 0 {
        let why =
            "only root can start such a program and look at it; its rule has a test of its own";
        shared::skip("a set-user-ID program", why);
        return;
    }
    let program = Copy::for_everybody(&built().driver);
    fs::set_permissions(&program.0, fs::Permissions::from_mode(0o4755)).unwrap();
    let mut command = shared::clean(&program.0);
    command.uid(65534).gid(65534).current_dir("/").arg("wait");
    let report = Waiting::start(&mut command).report();
    let found = of_kind(&report, "AT_SECURE");
    if found.is_empty() && is_nosuid(&program.0) {
        shared::skip(
            "a set-user-ID program",
            "its file system is mounted with nosuid",
        );
        return;
    }
    assert_eq!(found.len(), 1, "{report:#}");
    assert!(found[0].contains("LD_PRELOAD"), "{found:?}");
}

/// A program where every user may start it.
struct Copy(PathBuf);

impl Copy {
    fn for_everybody(program: &Path) -> Copy {
        let name = format!("hiplazy-test-secure-{}", std::process::id());
        let copy = env::temp_dir().join(name);
        fs::copy(program, &copy).unwrap();
        Copy(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn is_nosuid(file: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(file.as_os_str().as_bytes()).unwrap();
    // SAFETY: plain numbers, for which zero is a value.
    let mut told = unsafe { std::mem::zeroed::<libc::statvfs>() };
    // SAFETY: the path is a string, and there is room for the answer.
    let asked = unsafe { libc::statvfs(path.as_ptr(), &raw mut told) };
    asked == 0 && told.f_flag & libc::ST_NOSUID != 0
}
