//! The runtimes, and processes that make calls on them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::thread;

use fakehip::{Library, Version};

use crate::cell::Cell;
use crate::common::{self, cc, exports, scratch, text_of};

/// A fake runtime.
pub(crate) struct Runtime {
    pub(crate) file: PathBuf,
    /// The headers that go with it.
    pub(crate) version: hiplazy_abi::Version,
    exports: BTreeSet<String>,
    /// Whether it is the derivative DTK.
    pub(crate) is_derivative: bool,
}

/// How a call ended, as the caller program says.
pub(crate) struct Answer {
    pub(crate) status: i32,
    /// How many calls the runtime's function has had.
    pub(crate) calls: u64,
    /// Whether that was a success.
    pub(crate) succeeded: bool,
    /// How many bytes around buffers were changed.
    pub(crate) broken: u64,
    /// Whether the address was the runtime's own function.
    pub(crate) is_own: bool,
    /// The result of a look-up by name that gave no address.
    pub(crate) no_address: Option<u32>,
    pub(crate) error: String,
    pub(crate) given: BTreeMap<usize, Vec<u8>>,
    pub(crate) buffers: BTreeMap<usize, Vec<u8>>,
}

impl Answer {
    /// Whether the call has got as far as the runtime.
    pub(crate) fn is_reached(&self) -> bool {
        self.calls != 0
    }
}

/// Every version that can be faked, and the derivative.
pub(crate) fn runtimes() -> &'static [Runtime] {
    static BUILT: OnceLock<Vec<Runtime>> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = scratch("abi-matrix-runtimes");
        let plain = Version::ALL.map(|version| (Library::hip(version), version, false));
        let derivative = Library::hip(Version::V5_7_1).dtk();
        let all = plain
            .into_iter()
            .chain([(derivative, Version::V5_7_1, true)]);
        let all: Vec<_> = all.collect();
        let libraries = all.iter().enumerate().map(|(number, (library, ..))| {
            let name = format!("libamdhip64-{number}.so");
            library.clone().file_name(name)
        });
        let libraries: Vec<Library> = libraries.collect();
        let files = fakehip::build(&folder, &libraries).unwrap();
        let built = files
            .into_iter()
            .zip(all)
            .map(|(file, (_, version, is_derivative))| Runtime {
                is_derivative,
                ..Runtime::of(file, version)
            });
        built.collect()
    })
}

/// A fake that is not as that version usually is, in a folder of the test's own.
pub(crate) fn odd_runtime(test: &str, library: &Library, version: Version) -> Runtime {
    let files = fakehip::build(&scratch(test), std::slice::from_ref(library)).unwrap();
    Runtime::of(files.into_iter().next().unwrap(), version)
}

impl Runtime {
    fn of(file: PathBuf, version: Version) -> Runtime {
        Runtime {
            exports: exports(&file),
            file,
            version: version.header(),
            is_derivative: false,
        }
    }

    pub(crate) fn has(&self, function: &str) -> bool {
        self.exports.contains(function)
    }
}

fn caller() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let program = scratch("abi-matrix-caller").join("caller");
        let include = common::root().join("fakehip/include");
        let include = format!("-I{}", include.display());
        cc(
            &["abi_matrix/caller.c"],
            &program,
            &[include.as_str(), "-ldl"],
        );
        program
    })
}

/// A library to be preloaded: `in_front.c` in one of its ways.
pub(crate) fn in_front(way: &str) -> PathBuf {
    let library = scratch(&format!("abi-matrix-in-front-{way}")).join("in_front.so");
    let way = format!("-D{way}");
    cc(
        &["abi_matrix/in_front.c"],
        &library,
        &["-shared", "-fPIC", &way],
    );
    library
}

/// Makes the calls one after another in one process with `HIPLAZY_ABI=mode`. Returns how
/// they ended and what was said on standard error.
pub(crate) fn make(runtime: &Runtime, mode: &str, cells: &[Cell]) -> (Vec<Answer>, String) {
    make_below(None, runtime, mode, cells)
}

/// The same with the functions of a preloaded library in front of the runtime's, and
/// `HIPLAZY_SCOPE=global`.
pub(crate) fn make_below(
    interposer: Option<&Path>,
    runtime: &Runtime,
    mode: &str,
    cells: &[Cell],
) -> (Vec<Answer>, String) {
    let folder = runtime.file.parent().unwrap();
    let mut command = common::fenced(caller(), &[folder]);
    command
        .arg(common::libraries().join("libhiplazy.so"))
        .arg(&runtime.file)
        .env("HIPLAZY_RUNTIME", &runtime.file)
        .env("HIPLAZY_ABI", mode)
        .env("HIPLAZY_LOG", "info")
        .env("FAKEHIP_RECORD", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(interposer) = interposer {
        common::preload(&mut command, interposer);
        command.env("HIPLAZY_SCOPE", "global");
    }
    let mut process = command.spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    let output = thread::scope(|scope| {
        scope.spawn(move || {
            for cell in cells {
                // A process that has died says so below.
                let _ = input.write_all(cell.lines().as_bytes());
            }
        });
        process.wait_with_output().unwrap()
    });
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let answers: Vec<Answer> = text.lines().map(read).collect();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() || answers.len() != cells.len() {
        let last = cells.get(answers.len()).map(Cell::title);
        let text = text_of(&output);
        let end = text.len() - text.len().min(2000);
        panic!("{}: died in {last:?}\n{}", output.status, &text[end..]);
    }
    (answers, said)
}

fn read(line: &str) -> Answer {
    let mut parts = line.splitn(3, '|');
    let mut next = || parts.next().unwrap_or_else(|| panic!("{line}"));
    let (numbers, error, bytes) = (next(), next(), next());
    let numbers: Vec<&str> = numbers.split(' ').collect();
    let [status, calls, succeeded, broken, place] = numbers[..] else {
        panic!("{line}")
    };
    let mut answer = Answer {
        status: status.parse().unwrap(),
        calls: calls.parse().unwrap(),
        succeeded: succeeded == "success",
        broken: broken.parse().unwrap(),
        is_own: place == "own",
        no_address: place.strip_prefix("none").map(|it| it.parse().unwrap()),
        error: error.to_string(),
        given: BTreeMap::new(),
        buffers: BTreeMap::new(),
    };
    for word in bytes.split_whitespace() {
        let (name, digits) = word.split_once('=').unwrap();
        let (kind, argument) = name.split_at(1);
        let bytes = (0..digits.len()).step_by(2);
        let bytes = bytes.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap());
        let map = match kind {
            "g" => &mut answer.given,
            _ => &mut answer.buffers,
        };
        map.insert(argument.parse().unwrap(), bytes.collect());
    }
    answer
}
