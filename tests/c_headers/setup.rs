//! Compilers and HIP headers to combine, and what an object file needs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use hiplazy_abi::{
    Declared, FUNCTIONS_TXT, Function, HISTORY_TXT, SLOTS_TXT, Version, parse_functions,
    parse_history, parse_slots,
};
use object::{Object, ObjectSymbol};
use xtask::c_headers::{HeaderOptions, write};
use xtask::fetch;

use crate::common::{root, scratch, skip};

/// A compiler for both languages.
pub(crate) struct Compiler {
    pub(crate) c: &'static str,
    pub(crate) cxx: &'static str,
}

/// gcc, and clang where there is one.
pub(crate) fn compilers() -> &'static [Compiler] {
    static FOUND: OnceLock<Vec<Compiler>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let known = [("gcc", "g++"), ("clang", "clang++")];
        let found = known.into_iter().filter(|(c, cxx)| {
            let answers = |name: &str| Command::new(name).arg("--version").output().is_ok();
            let both = answers(c) && answers(cxx);
            if !both {
                skip(
                    &format!("the C headers with {c}"),
                    &format!("no {c} and {cxx} here; apt-get install {c}"),
                );
            }
            both
        });
        found.map(|(c, cxx)| Compiler { c, cxx }).collect()
    })
}

impl Compiler {
    pub(crate) fn of(&self, source: &Path) -> &'static str {
        if source.extension().is_some_and(|ending| ending == "cpp") {
            self.cxx
        } else {
            self.c
        }
    }
}

/// The include folder with hiplazy's headers.
pub(crate) fn include() -> &'static Path {
    static WRITTEN: OnceLock<PathBuf> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let folder = scratch("c-headers-include");
        let options = HeaderOptions {
            prefix: "hiplazy_".to_string(),
            folder: "hiplazy".to_string(),
        };
        write(&folder, &options).unwrap();
        folder
    })
}

/// HIP headers to compile with.
pub(crate) struct Headers {
    pub(crate) name: &'static str,
    pub(crate) version: Version,
    pub(crate) folder: PathBuf,
}

pub(crate) fn ours() -> Headers {
    Headers {
        name: "ours",
        version: Version::new(7, 14),
        folder: include().join("hiplazy/rocm"),
    }
}

/// AMD's headers of three majors, those that can be had.
pub(crate) fn real() -> Vec<Headers> {
    real_named(&["headers-5.2", "headers-6.2", "headers-7.1"])
}

/// AMD's headers of these names, those that can be had.
pub(crate) fn real_named(names: &[&'static str]) -> Vec<Headers> {
    let found = names.iter().filter_map(|name| match fetch::fetch(name) {
        Ok(folder) => Some(Headers {
            name,
            version: name.strip_prefix("headers-")?.parse().unwrap(),
            folder,
        }),
        Err(missing) => {
            skip(
                &format!("the C headers beside {name}"),
                &missing.to_string(),
            );
            None
        }
    });
    found.collect()
}

pub(crate) fn source(name: &str) -> PathBuf {
    root().join("tests/c/headers").join(name)
}

/// A compilation with HIP headers. AMD's have warnings of their own and are system
/// headers; ours are not spared.
pub(crate) fn command(compiler: &Compiler, headers: &Headers, source: &Path) -> Command {
    let mut command = Command::new(compiler.of(source));
    let place = if headers.name == "ours" {
        "-I"
    } else {
        "-isystem"
    };
    command.args(["-O2", "-fPIC", "-D__HIP_PLATFORM_AMD__"]);
    command.arg("-I").arg(include());
    command.arg(place).arg(&headers.folder).arg(source);
    command
}

pub(crate) fn output(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The names that an object file needs from elsewhere, HIP's and HSA's alone.
pub(crate) fn needed(path: &Path) -> BTreeSet<String> {
    let data = fs::read(path).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let names = file.symbols().filter(|symbol| symbol.is_undefined());
    let names = names.map(|symbol| symbol.name().unwrap().to_string());
    names
        .filter(|name| name.contains("hip") || name.contains("hsa"))
        .collect()
}

/// The entries of the slot table by their places.
pub(crate) fn entries() -> Vec<String> {
    parse_slots(SLOTS_TXT).unwrap().entries().to_vec()
}

/// The name of the slot table for code that is compiled now.
pub(crate) fn table() -> String {
    format!("hiplazy_slots_{}", entries().len())
}

pub(crate) fn manifest() -> Vec<Function> {
    parse_functions(FUNCTIONS_TXT).unwrap()
}

/// The functions that `hip_runtime_api.h` of a version declares.
pub(crate) fn declared_in(version: Version) -> Vec<Function> {
    let history = parse_history(HISTORY_TXT).unwrap();
    let declares = |declared: &Declared, name: &str| {
        declared.name == name
            && declared.header == "hip_runtime_api.h"
            && declared.versions.contains(&version)
    };
    let mut functions = manifest();
    functions.retain(|function| history.iter().any(|entry| declares(entry, &function.name)));
    functions
}
