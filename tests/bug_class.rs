//! TileLang's HIP stub in a process, and hiplazy in its place.
//!
//! TileLang PR #1867 put a library that exports bare `hip*` names into the global
//! scope. An extension that is loaded later and needs
//! `hipGetDevicePropertiesR0600@hip_6.0` binds to it instead of the runtime, and is
//! given the 792-byte struct of HIP 5 where it reads the 1472-byte one of HIP 6:
//! vLLM issue #51151, AITER issue #4585 and PR #4566. Whether that happens depends
//! on what was opened in which order and how. Every such state is a module below,
//! and in each
//!
//! - TileLang 0.1.10's stub, the real file, fails or passes as it does in public,
//! - TileLang 0.1.15's stub reads the right struct, and still answers in the
//!   runtime's place,
//! - hiplazy does neither, as the shared library, linked statically into an
//!   extension, or shared by one.
//!
//! Every case is a process of its own: `c/bug_class/driver.c` opens the libraries.

// The stubs and the reports are of x86-64.
#![cfg(target_arch = "x86_64")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use common::{Fetched, there};
use object::Endianness;
use object::elf::{FileHeader64, SHT_DYNSYM};
use object::read::elf::FileHeader;
use xtask::fetch;

const PROPERTIES: &str = "hipGetDevicePropertiesR0600";

/// A library that the driver opens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// The library that puts, or does not put, names into the global scope.
    Global,
    /// The extension that calls HIP.
    Client,
    /// The HIP runtime, opened by somebody else.
    Runtime,
}
use What::{Client, Global, Runtime};

/// How the client is linked.
#[derive(Clone, Copy)]
enum Linked {
    Plainly,
    /// `-Wl,-Bsymbolic`
    Symbolically,
    /// `-fno-plt`
    WithoutPlt,
}

/// What happens before the client's first HIP call.
struct State {
    client: Linked,
    /// What is opened, in this order, with the flags of `dlopen`.
    opened: &'static [(What, &'static str)],
    /// Whether the client's call reaches a stub that exports bare names.
    captured: bool,
}

/// The test libraries that do not depend on what is opened globally.
struct Built {
    folder: PathBuf,
    /// Holds the fake HIP 7 as `libamdhip64.so.7`, and `libamdhip64.so` leading to
    /// it: the stubs do not know the former name.
    runtime: PathBuf,
    driver: PathBuf,
}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = common::scratch("bug_class");
        let runtime = folder.join("runtime");
        fs::create_dir(&runtime).unwrap();
        fake_hip_7(&runtime);
        symlink("libamdhip64.so.7", runtime.join("libamdhip64.so")).unwrap();
        let driver = folder.join("driver");
        common::cc(&["bug_class/driver.c"], &driver, &[include_fakehip()]);
        let built = Built {
            folder,
            runtime,
            driver,
        };
        for (linked, flags) in [
            (Linked::Plainly, &[][..]),
            (Linked::Symbolically, &["-Wl,-Bsymbolic"]),
            (Linked::WithoutPlt, &["-fno-plt"]),
        ] {
            let mut arguments = vec![
                include_fakehip(),
                "-shared".to_string(),
                "-fPIC".to_string(),
                format!("-L{}", built.runtime.display()),
                "-l:libamdhip64.so.7".to_string(),
                // Some distributions' compilers bind at load by default, which would make
                // the lazy client an ordinary one.
                "-Wl,-z,lazy".to_string(),
            ];
            arguments.extend(flags.iter().map(ToString::to_string));
            common::cc(&["bug_class/caller.c"], &built.client(linked), &arguments);
        }
        built
    })
}

impl Built {
    fn client(&self, linked: Linked) -> PathBuf {
        self.folder.join(match linked {
            Linked::Plainly => "client.so",
            Linked::Symbolically => "client_symbolic.so",
            Linked::WithoutPlt => "client_no_plt.so",
        })
    }
}

fn include_fakehip() -> String {
    format!("-I{}", common::root().join("fakehip/include").display())
}

/// The fake runtime with the SONAME, nodes and structs of HIP 7.14 and one device.
fn fake_hip_7(folder: &Path) {
    let runtime = fakehip::Library::hip(fakehip::Version::V7_14);
    fakehip::build(folder, &[runtime]).unwrap_or_else(|error| panic!("{error}"));
}

fn stub_0_1_10() -> Option<PathBuf> {
    static FETCHED: Fetched = Fetched::new();
    let folder = there("TileLang 0.1.10's stub", &FETCHED, fetch::tilelang_0_1_10)?;
    Some(folder.join("libhip_stub.so"))
}

fn stub_0_1_15() -> Option<PathBuf> {
    static FETCHED: Fetched = Fetched::new();
    let folder = there("TileLang 0.1.15's stub", &FETCHED, fetch::tilelang_0_1_15)?;
    Some(folder.join("libstub_hip.so"))
}

/// hiplazy itself as the global library.
fn shared_library() -> PathBuf {
    common::libraries().join("libhiplazy.so")
}

/// An extension that calls HIP through hiplazy, linked with `libhiplazy.a`.
fn static_extension() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let archive = common::libraries().join("libhiplazy.a");
        extension("static_extension.so", &[archive.display().to_string()])
    })
}

/// An extension that calls HIP through hiplazy, linked with `libhiplazy.so`.
fn sharing_extension() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = common::libraries().display();
        let link = [
            format!("-L{folder}"),
            "-l:libhiplazy.so".to_string(),
            format!("-Wl,-rpath,{folder}"),
        ];
        extension("sharing_extension.so", &link)
    })
}

fn extension(name: &str, link: &[String]) -> PathBuf {
    let output = built().folder.join(name);
    let mut arguments: Vec<String> = ["-shared", "-fPIC", "-DHIPLAZY", "-Wl,-z,defs"]
        .map(String::from)
        .into();
    arguments.push(include_fakehip());
    arguments.extend(link.iter().cloned());
    common::cc(&["bug_class/caller.c"], &output, &arguments);
    output
}

/// Runs the driver where only the runtimes in `folder` exist.
fn drive(folder: &Path, commands: &[String]) -> Vec<String> {
    let mut driver = common::fenced(&built().driver, &[folder]);
    driver.env("LD_LIBRARY_PATH", folder).args(commands);
    common::run(&mut driver)
        .lines()
        .map(str::to_string)
        .collect()
}

/// `open` for each library of `state`, and `then` after the first that is the global
/// one.
fn open(state: &State, global: &Path, then: &[&str]) -> Vec<String> {
    let mut commands = Vec::new();
    let mut then = Some(then);
    for (what, flags) in state.opened {
        let (name, path) = match what {
            Global => ("global", global.to_path_buf()),
            Client => ("client", built().client(state.client)),
            Runtime => ("runtime", built().runtime.join("libamdhip64.so.7")),
        };
        commands.extend(["open", name, path.to_str().unwrap(), flags].map(String::from));
        if *what == Global {
            commands.extend(
                then.take()
                    .unwrap_or_default()
                    .iter()
                    .map(ToString::to_string),
            );
        }
    }
    commands
}

const READ_CLIENT: [&str; 5] = ["read", "client", "bound", "client", PROPERTIES];
const READ_GLOBAL: [&str; 2] = ["read", "global"];

/// What the fake HIP 7 gives for device 0 (fakehip/README.md, "Device properties").
fn right(who: &str) -> String {
    format!(
        "read {who} status=0 warpSize=64 maxThreadsPerBlock=1024 multiProcessorCount=304 \
         gcnArchName=gfx942:sramecc+:xnack- written=1472 broken=0"
    )
}

/// What a caller finds where it looks for the fields of the 1472-byte struct, when
/// the 792-byte one was written: its clockRate, the lower half of its totalConstMem
/// and its canMapHostMemory, by the rule of the fake runtime, and no gcnArchName. The
/// call itself reports success.
fn legacy(who: &str) -> String {
    format!(
        "read {who} status=0 warpSize=1500308 maxThreadsPerBlock=500320 \
         multiProcessorCount=1500388 gcnArchName=(untouched) written=792 broken=0"
    )
}

fn bound_to(file: &Path) -> String {
    let file = fs::canonicalize(file).unwrap();
    format!("bound client {PROPERTIES} {}", file.display())
}

fn runtime_file() -> PathBuf {
    built().runtime.join("libamdhip64.so.7")
}

/// TileLang 0.1.10: whoever is captured reads the wrong struct.
fn check_old_stub(state: &State) {
    let Some(stub) = stub_0_1_10() else { return };
    let mut commands = open(state, &stub, &[]);
    commands.extend(READ_CLIENT.map(String::from));
    let expected = if state.captured {
        [legacy("client"), bound_to(&stub)]
    } else {
        [right("client"), bound_to(&runtime_file())]
    };
    assert_eq!(drive(&built().runtime, &commands), expected);
}

/// TileLang 0.1.15: the same calls are captured, with the right struct.
fn check_newest_stub(state: &State) {
    let Some(stub) = stub_0_1_15() else { return };
    let mut commands = open(state, &stub, &[]);
    commands.extend(READ_CLIENT.map(String::from));
    let answers = if state.captured { stub } else { runtime_file() };
    let expected = [right("client"), bound_to(&answers)];
    assert_eq!(drive(&built().runtime, &commands), expected);
}

/// hiplazy: the client is never captured, the global library's own calls through
/// hiplazy are right before and after the client's, whoever calls first, and both
/// use the one runtime.
fn check_hiplazy(state: &State, global: &Path) {
    let runtime = runtime_file();
    let client = [right("client"), bound_to(&runtime)];
    let mapped = format!("mapped {}", runtime.display());
    let end = READ_CLIENT
        .iter()
        .chain(&READ_GLOBAL)
        .chain(&["mapped", "libamdhip64"]);

    let mut global_first = open(state, global, &READ_GLOBAL);
    global_first.extend(end.clone().map(ToString::to_string));
    let mut expected = vec![right("global")];
    expected.extend(client.clone());
    expected.extend([right("global"), mapped.clone()]);
    assert_eq!(
        drive(&built().runtime, &global_first),
        expected,
        "global library first"
    );

    let mut client_first = open(state, global, &[]);
    client_first.extend(end.map(ToString::to_string));
    assert_eq!(
        drive(&built().runtime, &client_first),
        expected[1..],
        "client first"
    );
}

/// A state and its tests.
macro_rules! state {
    ($(#[$doc:meta])* $name:ident: $client:ident [$($what:ident $flags:literal),*] $outcome:ident) => {
        $(#[$doc])*
        mod $name {
            use super::*;

            const STATE: State = State {
                client: Linked::$client,
                opened: &[$(($what, $flags)),*],
                captured: state!(@$outcome),
            };

            #[test]
            fn tilelang_0_1_10() {
                check_old_stub(&STATE);
            }

            #[test]
            fn tilelang_0_1_15() {
                check_newest_stub(&STATE);
            }

            #[test]
            fn hiplazy_shared_library() {
                check_hiplazy(&STATE, &shared_library());
            }

            #[test]
            fn hiplazy_in_a_static_extension() {
                check_hiplazy(&STATE, static_extension());
            }

            #[test]
            fn hiplazy_shared_by_an_extension() {
                check_hiplazy(&STATE, sharing_extension());
            }
        }
    };
    (@captured_by_a_stub) => { true };
    (@not_captured) => { false };
}

state!(
    /// Opened locally, nothing is in anybody's way.
    opened_locally:
    Plainly [Global "now,local", Client "now,local"] not_captured
);

state!(
    /// As TVM does with its runtime, which needs the stub.
    opened_globally:
    Plainly [Global "now,global", Client "now,local"] captured_by_a_stub
);

state!(
    /// Promotion does not reorder the scope.
    opened_globally_then_the_runtime_promoted:
    Plainly [Global "now,global", Runtime "now,local", Runtime "now,global,noload", Client "now,local"]
    captured_by_a_stub
);

state!(
    /// The order that hid the bug.
    the_runtime_globally_first:
    Plainly [Runtime "now,global", Global "now,global", Client "now,local"] not_captured
);

state!(
    /// What AITER PR #4566 reaches for.
    a_client_with_deepbind:
    Plainly [Global "now,global", Client "now,local,deepbind"] not_captured
);

state!(
    /// Harmless until some later import asks for it globally.
    opened_locally_then_promoted:
    Plainly [Global "now,local", Global "now,global,noload", Client "now,local"]
    captured_by_a_stub
);

state!(
    /// The reference is bound at the first call, with the scope of then.
    a_lazy_client_opened_before:
    Plainly [Client "lazy,local", Global "now,global"] captured_by_a_stub
);

state!(
    /// -Bsymbolic is about the client's own definitions.
    a_client_linked_symbolically:
    Symbolically [Global "now,global", Client "now,local"] captured_by_a_stub
);

state!(
    /// The same reference in another relocation.
    a_client_without_plt:
    WithoutPlt [Global "now,global", Client "now,local"] captured_by_a_stub
);

/// The control of the controls: with nothing in its way the client reads right.
#[test]
fn a_client_alone_reads_the_right_struct() {
    let client = built().client(Linked::Plainly);
    let mut commands = ["open", "client", client.to_str().unwrap(), "now,local"]
        .map(String::from)
        .to_vec();
    commands.extend(READ_CLIENT.map(String::from));
    assert_eq!(
        drive(&built().runtime, &commands),
        [right("client"), bound_to(&runtime_file())]
    );
}

/// The clients are of the kind that the reports are about, whatever the linker did.
#[test]
fn the_clients_need_the_real_name_on_the_real_node() {
    for linked in [Linked::Plainly, Linked::Symbolically, Linked::WithoutPlt] {
        let client = built().client(linked);
        let references = hip_references(&fs::read(&client).unwrap());
        assert_eq!(
            references,
            [[PROPERTIES, "hip_6.0", "libamdhip64.so.7"]],
            "{client:?}"
        );
    }
}

/// The undefined `hip*` names of an ELF file, with node and library.
fn hip_references(data: &[u8]) -> Vec<[String; 3]> {
    let header = FileHeader64::<Endianness>::parse(data).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, data).unwrap();
    let symbols = sections.symbols(endian, data, SHT_DYNSYM).unwrap();
    let versions = sections.versions(endian, data).unwrap().unwrap();
    let mut found = Vec::new();
    for (index, symbol) in symbols.enumerate() {
        let name = text(symbols.symbol_name(endian, symbol).unwrap());
        if name.starts_with("hip") {
            let version = versions.version_index(endian, index).index();
            let version = versions.version(version).unwrap().unwrap();
            found.push([name, text(version.name()), text(version.file().unwrap())]);
        }
    }
    found
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The functions that the real 5.2.3 runtime calls by name in other places than
/// where they are defined: four of its own and two of the HSA runtime.
mod the_real_5_2_runtime_loaded_after {
    use super::*;

    const OWN: [&str; 4] = [
        "hipHostMalloc",
        "hipMemcpy",
        "hipMemcpyAsync",
        "hipModuleLaunchKernel",
    ];
    const HSA: [&str; 2] = ["hsa_init", "hsa_shut_down"];

    /// Opens `global` globally, then the runtime; says what the runtime's references
    /// are bound to, by file name, and what else the driver is told to do.
    fn references(global: &Path, then: &[&str]) -> Option<Vec<String>> {
        static FETCHED: Fetched = Fetched::new();
        let what = "the real HIP 5.2.3 runtime after a global library";
        let runtime = there(what, &FETCHED, fetch::runtime_5_2)?;
        let mut commands: Vec<&str> =
            vec!["open", "global", global.to_str().unwrap(), "now,global"];
        commands.extend(["open", "runtime", runtime.to_str().unwrap(), "now,local"]);
        for name in OWN.into_iter().chain(HSA) {
            commands.extend(["bound", "runtime", name]);
        }
        commands.extend(then);
        let commands: Vec<String> = commands.into_iter().map(String::from).collect();
        Some(drive(runtime.parent().unwrap(), &commands))
    }

    /// The file names that the six references are bound to.
    fn files(lines: &[String]) -> Vec<&str> {
        lines
            .iter()
            .map(|line| line.rsplit('/').next().unwrap())
            .collect()
    }

    fn check_stub(stub: &Path) {
        if let Some(lines) = references(stub, &[]) {
            let stub = stub.file_name().unwrap().to_str().unwrap();
            assert_eq!(files(&lines), [stub; 6], "{lines:#?}");
        }
    }

    #[test]
    fn tilelang_0_1_10() {
        if let Some(stub) = stub_0_1_10() {
            check_stub(&stub);
        }
    }

    #[test]
    fn tilelang_0_1_15() {
        if let Some(stub) = stub_0_1_15() {
            check_stub(&stub);
        }
    }

    /// The references stay the runtime's own, and hiplazy uses the runtime that
    /// somebody else has loaded.
    fn check_hiplazy(global: &Path) {
        let then = ["version", "global", "mapped", "libamdhip64"];
        let Some(lines) = references(global, &then) else {
            return;
        };
        let (six, rest) = lines.split_at(6);
        for (name, file) in OWN.iter().chain(&HSA).zip(files(six)) {
            let own = if OWN.contains(name) {
                "libamdhip64.so.5."
            } else {
                "libhsa-runtime64.so.1."
            };
            assert!(file.starts_with(own), "{name}: {lines:#?}");
        }
        let [version, _one_mapped] = rest else {
            panic!("{lines:#?}")
        };
        assert_eq!(version, "version global status=0 number=50221153");
    }

    #[test]
    fn hiplazy_shared_library() {
        check_hiplazy(&shared_library());
    }

    #[test]
    fn hiplazy_in_a_static_extension() {
        check_hiplazy(static_extension());
    }

    #[test]
    fn hiplazy_shared_by_an_extension() {
        check_hiplazy(sharing_extension());
    }
}
