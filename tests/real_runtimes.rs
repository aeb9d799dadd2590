//! The real HIP 7.14 and 5.2.3 runtimes through hiplazy, on a machine without a GPU.
//!
//! The program `c/real_runtime/caller.c` is linked with `libhiplazy.so` and with
//! `libhiplazy.a`; every test runs it in processes of its own, with the real runtime
//! named by `HIPLAZY_RUNTIME` unless the test is about finding it.

// The published runtimes are of x86-64.
#![cfg(target_arch = "x86_64")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::{Fetched, exports, there};
use hiplazy_abi::{
    Action, BREAKS_TXT, Code, Domain, ERRORS_TXT, ErrorCode, FUNCTIONS_TXT, Function, Library,
};
use hiplazy_abi::{parse_breaks, parse_errors, parse_functions};
use xtask::fetch;

/// How the program is linked with hiplazy.
#[derive(Clone, Copy)]
enum Linked {
    Shared,
    Statically,
}

/// A real runtime and the libraries that belong to it.
struct Real {
    /// The program that calls it.
    program: &'static Path,
    /// The file that hiplazy's own code is in.
    hiplazy: PathBuf,
    runtime: PathBuf,
    /// The file that has the `hiprtc*` functions.
    hiprtc: PathBuf,
    hsa: PathBuf,
    /// Where the runtime's dependencies, or links to them, lie.
    search: PathBuf,
}

fn programs() -> &'static [PathBuf; 2] {
    static BUILT: OnceLock<[PathBuf; 2]> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = common::scratch("real_runtimes");
        let names: Vec<String> = manifest()
            .iter()
            .map(|function| format!("X({})", function.name))
            .collect();
        let header = format!("#define FOR_EACH_NAME(X) {}\n", names.join(" "));
        fs::write(folder.join("names.h"), header).unwrap();
        let libraries = common::libraries().display();
        let shared = [
            format!("-L{libraries}"),
            "-l:libhiplazy.so".to_string(),
            format!("-Wl,-rpath,{libraries}"),
        ];
        let archive = [format!("{libraries}/libhiplazy.a")];
        [("shared", &shared[..]), ("static", &archive[..])].map(|(name, link)| {
            let program = folder.join(name);
            let mut arguments = vec![
                format!("-I{}", folder.display()),
                format!("-I{}", common::root().join("fakehip/include").display()),
                // A function's address is then the wrapper's, in whatever object.
                "-fPIE".to_string(),
                "-pie".to_string(),
            ];
            arguments.extend(link.iter().cloned());
            let sources = ["real_runtime/caller.c", "real_runtime/functions.c"];
            common::cc(&sources, &program, &arguments);
            program
        })
    })
}

fn manifest() -> Vec<Function> {
    parse_functions(FUNCTIONS_TXT).unwrap()
}

impl Real {
    /// HIP 7.14 with its libhiprtc and HSA runtime beside it, all named by auditwheel.
    fn hip_7_14(linked: Linked) -> Option<Real> {
        static FETCHED: Fetched = Fetched::new();
        let runtime = there("the real HIP 7.14 runtime", &FETCHED, fetch::runtime_7_14)?;
        let folder = runtime.parent().unwrap();
        let named = |stem: &str| {
            let entries = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let mut named = entries.filter(|path| file_name(path).starts_with(stem));
            named
                .next()
                .unwrap_or_else(|| panic!("no {stem} in {}", folder.display()))
        };
        // libhiprtc opens libamd_comgr by its SONAME, which auditwheel has changed, and
        // calls through NULL when there is none: with and without hiplazy. A link by the
        // old name leads it to the copy that is mapped already.
        static SEARCH: OnceLock<PathBuf> = OnceLock::new();
        let search = SEARCH.get_or_init(|| {
            let search = common::scratch("real_runtimes_comgr");
            symlink(named("libamd_comgr-"), search.join("libamd_comgr.so.3")).unwrap();
            search
        });
        Some(Real {
            hiprtc: named("libhiprtc-"),
            hsa: named("libhsa-runtime64-"),
            search: search.clone(),
            ..Real::with(linked, runtime)
        })
    }

    /// HIP 5.2.3, which has hiprtc inside.
    fn hip_5_2(linked: Linked) -> Option<Real> {
        static FETCHED: Fetched = Fetched::new();
        let runtime = there("the real HIP 5.2.3 runtime", &FETCHED, fetch::runtime_5_2)?;
        Some(Real::with(linked, runtime))
    }

    fn with(linked: Linked, runtime: &Path) -> Real {
        let [shared, statically] = programs();
        let (program, hiplazy) = match linked {
            Linked::Shared => (shared, common::libraries().join("libhiplazy.so")),
            Linked::Statically => (statically, statically.clone()),
        };
        let folder = runtime.parent().unwrap().to_path_buf();
        Real {
            program,
            hiplazy,
            runtime: runtime.to_path_buf(),
            hiprtc: runtime.to_path_buf(),
            hsa: folder.join("libhsa-runtime64.so.1"),
            search: folder,
        }
    }

    /// The program where this is the only runtime there is.
    fn command(&self) -> Command {
        let mut command = common::fenced(self.program, &[self.runtime.parent().unwrap()]);
        command.env("LD_LIBRARY_PATH", &self.search);
        command
    }

    /// What the program prints for `commands` with this runtime.
    fn ask(&self, commands: &[&str]) -> Vec<String> {
        let mut command = self.command();
        command.env("HIPLAZY_RUNTIME", &self.runtime).args(commands);
        lines(&mut command)
    }

    fn check_version(&self, number: u32) {
        let path = fs::canonicalize(&self.runtime).unwrap();
        let expected = [
            "runtime none 0".to_string(),
            format!("version status=0 number={number}"),
            format!("runtime {} {number}", path.display()),
        ];
        assert_eq!(self.ask(&["runtime", "version", "runtime"]), expected);
    }

    /// hiprtc from its creation to its end, with a source that is not C++ and one that is.
    fn check_hiprtc(&self) {
        let kernel = "extern \"C\" __global__ void kernel(int *p) { *p = 1; }";
        let compile = ["compile", "gfx90a", "garbage", "compile", "gfx90a", kernel];
        let expected = [
            "compile created=0 program=some",
            "compile compiled=6", // HIPRTC_ERROR_COMPILATION
            "compile log=0 error=yes",
            "compile code=0 size=none",
            "compile destroyed=0",
            "compile created=0 program=some",
            "compile compiled=0",
            "compile log=0 error=no",
            "compile code=0 size=some",
            "compile destroyed=0",
        ];
        assert_eq!(self.ask(&compile), expected);
    }

    /// The HSA runtime's own answer, and not hiplazy's for a machine without one, which
    /// is HSA_STATUS_ERROR, 0x1000.
    fn check_hsa(&self) {
        let lines = self.ask(&["hsa"]);
        let [line] = &lines[..] else {
            panic!("{lines:?}")
        };
        let (status, real) = line
            .strip_prefix("hsa status=")
            .unwrap()
            .split_once(" real=")
            .unwrap();
        assert_eq!(status, real);
        assert_ne!(status, "0x1000");
    }

    /// hiplazy has exactly what the real files export, and leads there, but where callers
    /// with headers of every version need a translator.
    fn check_functions(&self, title: &str) {
        let breaks = parse_breaks(BREAKS_TXT).unwrap();
        let is_translated = |name: &str| {
            let mut lines = breaks.iter().filter(|line| line.function == name);
            lines.any(|line| line.action == Action::Translate && line.headers.to_string() == "5.0-")
        };
        let hip = exports(&self.runtime);
        let hiprtc = exports(&self.hiprtc);
        let hsa = exports(&self.hsa);
        let mut present = 0;
        let mut expected = Vec::new();
        let hiplazy = real_name(&self.hiplazy);
        for Function { name, library, .. } in manifest() {
            let (exported, file) = match library {
                Library::Hip => (&hip, &self.runtime),
                Library::Hiprtc => (&hiprtc, &self.hiprtc),
                Library::Hsa => (&hsa, &self.hsa),
            };
            expected.push(if exported.contains(&name) {
                present += 1;
                let file = real_name(file);
                let leads_to = if is_translated(&name) {
                    &hiplazy
                } else {
                    &file
                };
                format!("function {name} | 1 | {file} | {leads_to}")
            } else {
                format!("function {name} | 0 | - | {hiplazy}")
            });
        }
        let found = self.ask(&["functions"]);
        let wrong: Vec<_> = expected
            .iter()
            .zip(&found)
            .filter(|(e, f)| e != f)
            .collect();
        assert!(wrong.is_empty(), "expected and found: {wrong:#?}");
        assert_eq!(expected.len(), found.len());
        common::say(&format!(
            "{title}: {present} of {} functions",
            expected.len()
        ));
    }
}

/// Whether this machine answers as one without a GPU; if not, that is a visible skip.
fn without_gpu(what: &str) -> bool {
    let without = !Path::new("/dev/kfd").exists();
    if !without {
        common::skip(
            what,
            "/dev/kfd: this machine has AMD's GPU driver and answers otherwise",
        );
    }
    without
}

fn lines(command: &mut Command) -> Vec<String> {
    common::run(command).lines().map(str::to_string).collect()
}

fn file_name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// What the program prints for a file.
fn real_name(path: &Path) -> String {
    fs::canonicalize(path)
        .unwrap()
        .to_str()
        .unwrap()
        .to_string()
}

/// The manifest's error codes of one enumeration, and one code that it does not have.
fn error_codes(domain: Domain) -> Vec<(i32, ErrorCode)> {
    let all = parse_errors(ERRORS_TXT).unwrap().into_iter();
    let number = |error: &ErrorCode| match error.code {
        Code::Known(code) => code,
        Code::Other => 12345,
    };
    all.filter(|error| error.domain == domain)
        .map(|error| (number(&error), error))
        .collect()
}

/// `command CODE` for every code.
fn ask_errors(real: &Real, command: &str, codes: &[(i32, ErrorCode)]) -> Vec<String> {
    let numbers: Vec<String> = codes.iter().map(|(code, _)| code.to_string()).collect();
    let words: Vec<&str> = numbers.iter().flat_map(|code| [command, code]).collect();
    real.ask(&words)
}

/// The tests of both ways to link.
macro_rules! linkings {
    ($($(#[$doc:meta])* $name:ident($linked:ident) $body:block)*) => {
        mod shared_library {
            use super::*;
            $($(#[$doc])* #[test] fn $name() { let $linked = Linked::Shared; $body })*
        }
        mod static_library {
            use super::*;
            $($(#[$doc])* #[test] fn $name() { let $linked = Linked::Statically; $body })*
        }
    };
}

mod hip_7_14 {
    use super::*;

    const NO_DEVICE: &str = "properties status=100 written=no from_tool=0 broken=0";
    const FAKED: &str = "properties status=0 written=yes from_tool=1472 broken=0";

    /// Preloads the tool library that can replace an entry of HIP's dispatch table.
    fn with_tool(real: &Real) -> Command {
        static TOOL: OnceLock<PathBuf> = OnceLock::new();
        let tool = TOOL.get_or_init(|| {
            let tool = common::scratch("real_runtimes_tool").join("tool.so");
            common::cc(&["real_runtime/tool.c"], &tool, &["-shared", "-fPIC"]);
            tool
        });
        let mut command = real.command();
        command.env("HIPLAZY_RUNTIME", &real.runtime);
        common::preload(&mut command, tool);
        command
    }

    linkings! {
        version_is_the_runtimes_own(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            real.check_version(71_460_850);
        }

        no_device_is_counted(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            if without_gpu("HIP 7.14's device count") {
                assert_eq!(real.ask(&["count"]), ["count status=100 n=0"]);
            }
        }

        error_names_and_texts_are_the_runtimes_own(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            let codes = error_codes(Domain::Hip);
            let found = ask_errors(&real, "hip_error", &codes);
            let expected: Vec<_> = codes
                .iter()
                .map(|(code, error)| format!("hip_error {code} | {} | {}", error.name, error.text))
                .collect();
            assert_eq!(found, expected);
        }

        hiprtc_error_texts_are_the_compilers_own(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            let codes = error_codes(Domain::Rtc);
            let found = ask_errors(&real, "hiprtc_error", &codes);
            // An unknown code is NULL there; the manifest's text is hiplazy's own.
            let text = |error: &ErrorCode| match error.code {
                Code::Known(_) => error.text.clone(),
                Code::Other => "NULL".to_string(),
            };
            let expected: Vec<_> = codes
                .iter()
                .map(|(code, error)| format!("hiprtc_error {code} | {}", text(error)))
                .collect();
            assert_eq!(found, expected);
        }

        properties_reach_the_runtime(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            if without_gpu("HIP 7.14's properties") {
                // The runtime's own answer: hiplazy has recorded no failure.
                let expected = [NO_DEVICE, "last_error "];
                assert_eq!(real.ask(&["properties", "last_error"]), expected);
            }
        }

        /// A profiler's entry is in place before the runtime does its first work: the call
        /// that binds the slot and the one that goes through it both reach the entry.
        properties_reach_an_entry_replaced_at_the_start(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            let mut command = with_tool(&real);
            command.env("TOOL_REPLACE", "1").args(["properties", "properties"]);
            assert_eq!(lines(&mut command), [FAKED, FAKED]);
        }

        /// A bound slot leads to the public function, which looks at the table on each call.
        properties_reach_an_entry_replaced_after_binding(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            if without_gpu("HIP 7.14's properties before and after a tool's change") {
                let mut command = with_tool(&real);
                command.args(["load", "properties", "fake", "properties", "properties"]);
                let expected = ["load 0", NO_DEVICE, "fake replaced", FAKED, FAKED];
                assert_eq!(lines(&mut command), expected);
            }
        }

        /// What a tool's device is to the runtime, in the numbers of the caller's headers: type
        /// 2 is hipMemoryTypeDevice in HIP 6 and newer, 1 in HIP 5.
        pointer_attributes_are_in_the_callers_numbers(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            let mut command = with_tool(&real);
            command.env("TOOL_REPLACE", "1").arg("pointer");
            let of = |kind: u32| format!(
                "pointer status=0 type={kind} device=3 same=1 managed=0 flags=0x1234 broken=0"
            );
            assert_eq!(lines(&mut command), [of(1), of(2)]);
        }

        /// The struct of HIP 6 arrives as that of HIP 7.
        fill_nodes_of_hip_6_arrive_in_the_struct_of_hip_7(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            let mut command = with_tool(&real);
            command.env("TOOL_REPLACE", "1").arg("fill");
            let expected = "fill status=0 same=1 element=4 height=3 pitch=512 value=0x55 width=100";
            assert_eq!(lines(&mut command), [expected]);
        }

        hiprtc_compiles_with_the_library_beside_the_runtime(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            real.check_hiprtc();
        }

        hsa_init_reaches_the_hsa_runtime(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            real.check_hsa();
        }

        every_function_leads_to_the_real_one(linked) {
            let Some(real) = Real::hip_7_14(linked) else { return };
            real.check_functions("HIP 7.14");
        }
    }
}

mod hip_5_2_3 {
    use super::*;

    const ABSENT: &str = "properties status=302 written=no from_tool=0 broken=0";
    /// hipErrorInvalidDevice, as there is none.
    const LEGACY: &str = "legacy status=101 written=no broken=0";
    const NO_DEVICE: &str = "properties status=101 written=no from_tool=0 broken=0";

    /// What 5.2.3 answers otherwise than 7.14: it does not have the codes yet, and
    /// hipErrorTbd has moved from 1054 to 1055 since.
    fn name_in_5_2_3(code: i32, name: &str) -> &str {
        match code {
            911 | 912 | 1055 => "hipErrorUnknown",
            1054 => "hipErrorTbd",
            _ => name,
        }
    }

    linkings! {
        version_is_the_runtimes_own(linked) {
            let Some(real) = Real::hip_5_2(linked) else { return };
            real.check_version(50_221_153);
        }

        /// Where ld.so finds it: no variable of ours is set.
        the_runtime_is_found_without_being_named(linked) {
            let Some(real) = Real::hip_5_2(linked) else { return };
            let mut command = real.command();
            command.args(["load", "runtime"]);
            let runtime = format!("runtime {} 50221153", real_name(&real.runtime));
            assert_eq!(lines(&mut command), ["load 0", &runtime]);
        }

        no_device_is_counted(linked) {
            let Some(real) = Real::hip_5_2(linked) else { return };
            if without_gpu("HIP 5.2.3's device count") {
                assert_eq!(real.ask(&["count"]), ["count status=100 n=0"]);
            }
        }

        /// The texts of that version are the names.
        error_names_are_the_runtimes_own(linked) {
            let Some(real) = Real::hip_5_2(linked) else { return };
            let codes = error_codes(Domain::Hip);
            let found = ask_errors(&real, "hip_error", &codes);
            let expected: Vec<_> = codes
                .iter()
                .map(|(code, error)| {
                    let name = name_in_5_2_3(*code, &error.name);
                    format!("hip_error {code} | {name} | {name}")
                })
                .collect();
            assert_eq!(found, expected);
        }

        /// The 1472-byte struct came with HIP 6: the legacy function of the unsuffixed name,
        /// which this runtime has, stands in, and its answer is the caller's.
        properties_r0600_answer_what_the_legacy_function_answers(linked) {
            let Some(real) = Real::hip_5_2(linked) else { return };
            if without_gpu("HIP 5.2.3's properties") {
                let expected = [LEGACY, NO_DEVICE, NO_DEVICE, "last_error "];
                let found = real.ask(&["legacy", "properties", "properties", "last_error"]);
                assert_eq!(found, expected);
            }
        }

        /// Without translation it is absent, and the text says why.
        properties_r0600_is_absent_with_translation_off(linked) {
            let Some(real) = Real::hip_5_2(linked) else { return };
            let mut command = real.command();
            command.env("HIPLAZY_RUNTIME", &real.runtime).env("HIPLAZY_ABI", "off");
            let found = lines(command.args(["properties", "last_error", "properties"]));
            let [first, why, second] = &found[..] else { panic!("{found:#?}") };
            assert_eq!([first, second], [ABSENT, ABSENT]);
            assert!(why.contains("hipGetDevicePropertiesR0600"), "{why}");
        }

        what_came_later_is_absent_and_says_why(linked) {
            let Some(real) = Real::hip_5_2(linked) else { return };
            let found = real.ask(&["newer", "last_error", "newer"]);
            let [first, why, second] = &found[..] else { panic!("{found:#?}") };
            assert_eq!([first, second], ["newer status=302"; 2]);
            let runtime = real_name(&real.runtime);
            for part in ["hipExtGetLastError", &runtime, "HIP 5.2.21153", "hip_6.0"] {
                assert!(why.contains(part), "{part} is not in: {why}");
            }
        }

        hiprtc_compiles_with_the_runtime_itself(linked) {
            let Some(real) = Real::hip_5_2(linked) else { return };
            real.check_hiprtc();
        }

        hsa_init_reaches_the_hsa_runtime(linked) {
            let Some(real) = Real::hip_5_2(linked) else { return };
            real.check_hsa();
        }

        every_function_leads_to_the_real_one(linked) {
            let Some(real) = Real::hip_5_2(linked) else { return };
            real.check_functions("HIP 5.2.3");
        }
    }
}
