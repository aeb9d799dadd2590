//! Functions whose structs changed between HIP versions: code that is compiled now refers
//! to the entry for the headers it is compiled with.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hiplazy_abi::{BREAKS_TXT, Entry, HEADER_VERSIONS, Version, entry_for, parse_breaks};

use crate::common::{run, scratch};
use crate::setup::{
    Headers, command, compilers, declared_in, entries, include, manifest, needed, ours, real_named,
    table,
};

/// The manifest's functions and all entries that are made of them.
struct Table {
    functions: Vec<hiplazy_abi::Function>,
    entries: Vec<Entry>,
}

impl Table {
    fn new() -> Table {
        let functions = manifest();
        let breaks = parse_breaks(BREAKS_TXT).unwrap();
        let entries = hiplazy_abi::entries(&functions, &breaks);
        Table { functions, entries }
    }

    /// The entry that callers of `function` with headers of `version` are to have.
    fn entry(&self, function: &str, version: Version) -> &str {
        let place = self.functions.iter().position(|row| row.name == function);
        let entry = entry_for(&self.entries, place.unwrap(), version);
        &self.entries[entry.unwrap()].name
    }

    /// The functions that have an entry for each generation of headers.
    fn affected(&self) -> Vec<&str> {
        let of_generations = self.entries.iter().filter(|entry| entry.since.is_some());
        let names = of_generations.map(|entry| self.functions[entry.function].name.as_str());
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Every set of AMD's headers that can be had, and hiplazy's own.
fn header_sets() -> Vec<Headers> {
    let mut sets = real_named(&[
        "headers-5.2",
        "headers-5.7",
        "headers-6.1",
        "headers-6.2",
        "headers-6.4",
        "headers-7.1",
        "headers-7.2",
    ]);
    sets.push(ours());
    sets
}

/// The affected functions that `headers` declare without being asked for anything.
fn affected_in(table: &Table, headers: &Headers) -> Vec<String> {
    let declared = declared_in(headers.version);
    let affected = table.affected();
    let names = declared.into_iter().map(|function| function.name);
    names
        .filter(|name| affected.contains(&name.as_str()))
        .collect()
}

fn redirect() -> PathBuf {
    include().join("hiplazy/redirect.h")
}

/// The same source in C and in C++.
fn sources(folder: &Path, name: &str, text: &str) -> [PathBuf; 2] {
    ["c", "cpp"].map(|ending| {
        let file = folder.join(format!("{name}.{ending}"));
        fs::write(&file, text).unwrap();
        file
    })
}

/// HIP 7.2 and newer overload two of the functions in C++; the other is the one in C.
const PICK: &str = "#include <hip/hip_runtime_api.h>
#if defined __cplusplus && HIP_VERSION_MAJOR * 100 + HIP_VERSION_MINOR >= 702
typedef hipError_t loads(hipLibrary_t *, const void *, hipJitOption *, void **, unsigned,
                         hipLibraryOption *, void **, unsigned);
typedef hipError_t loads_file(hipLibrary_t *, const char *, hipJitOption *, void **, unsigned,
                              hipLibraryOption *, void **, unsigned);
#define PICK_hipLibraryLoadData 0, static_cast<loads *>(hipLibraryLoadData)
#define PICK_hipLibraryLoadFromFile 0, static_cast<loads_file *>(hipLibraryLoadFromFile)
#endif
#define FUNCTION(name) PICK(PICK_##name, name, 0)
#define PICK(...) SECOND(__VA_ARGS__)
#define SECOND(first, second, ...) second
";

#[test]
fn renamed_calls_are_those_of_the_headers_generation() {
    let folder = scratch("c-headers-generations");
    let table = Table::new();
    let mut led_to = BTreeSet::new();
    for headers in header_sets() {
        let affected = affected_in(&table, &headers);
        assert!(
            affected.len() >= 15,
            "{}: {} functions",
            headers.name,
            affected.len()
        );
        let mut text = String::from(PICK);
        text += "void (*volatile sink)(void);\nvoid all(void);\nvoid all(void) {\n";
        let mut expected = BTreeSet::new();
        for name in &affected {
            text += &format!("  sink = (void (*)(void))FUNCTION({name});\n");
            let entry = table.entry(name, headers.version);
            expected.insert(format!("hiplazy_{entry}"));
        }
        led_to.extend(expected.iter().cloned());
        for file in sources(&folder, headers.name, &(text + "}\n")) {
            for compiler in compilers() {
                let object = folder.join("generation.o");
                let mut command = command(compiler, &headers, &file);
                command.arg("-include").arg(redirect());
                command.args(["-Wall", "-Werror", "-Wno-deprecated-declarations", "-c"]);
                run(command.arg("-o").arg(&object));
                let found = needed(&object);
                assert_eq!(found, expected, "{} {}", headers.name, compiler.c);
            }
        }
    }
    // With all sets there, the generations have been seen that any of these is of.
    if header_sets().len() == 8 {
        for entry in [
            "hipMemCreate_h5",
            "hipMemCreate_h53",
            "hipDrvMemcpy3D_h5",
            "hipDrvMemcpy3D_h6",
            "hipMemPoolCreate_h5",
            "hipMemPoolCreate_h62",
            "hipDrvGraphAddMemsetNode_h6",
            "hipDrvGraphAddMemsetNode_h7",
            "hipDeviceGetAttribute_h71",
        ] {
            assert!(led_to.contains(&format!("hiplazy_{entry}")), "{entry}");
        }
    }
}

/// A folder with the one header that says a version.
fn version_header(folder: &Path, version: Version) -> PathBuf {
    let include = folder.join(format!("of-{version}"));
    fs::create_dir_all(include.join("hip")).unwrap();
    let text = format!(
        "#ifndef HIP_VERSION_H\n#define HIP_VERSION_H\n#define HIP_VERSION_MAJOR {}\n\
         #define HIP_VERSION_MINOR {}\n#endif\n",
        version.major, version.minor
    );
    fs::write(include.join("hip/hip_version.h"), text).unwrap();
    include
}

/// All functions, by every known version, by unknown ones, and with no HIP header in reach:
/// then by their plain names, whose callers' version is found out when they are bound.
#[test]
fn every_version_is_led_to_its_entries_and_none_to_the_plain_ones() {
    let folder = scratch("c-headers-every-version");
    let table = Table::new();
    let mut text = String::from(
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\nextern void (*volatile sink)(void);\n",
    );
    for function in &table.functions {
        text += &format!("void {}(void);\n", function.name);
    }
    text += "void all(void);\nvoid all(void) {\n";
    for function in &table.functions {
        text += &format!("  sink = {};\n", function.name);
    }
    text += "}\n#ifdef __cplusplus\n}\n#endif\n";
    let mut versions: Vec<Option<Version>> = HEADER_VERSIONS.iter().copied().map(Some).collect();
    let unknown = [(4, 5), (7, 3), (7, 15), (8, 0)];
    versions.extend(unknown.map(|(major, minor)| Some(Version::new(major, minor))));
    versions.push(None);
    for file in sources(&folder, "all", &text) {
        for compiler in compilers() {
            for version in &versions {
                let object = folder.join("all.o");
                let mut command = Command::new(compiler.of(&file));
                command.arg("-include").arg(redirect());
                if let Some(version) = version {
                    command.arg("-I").arg(version_header(&folder, *version));
                }
                command.args(["-Wall", "-Werror", "-c", "-o"]);
                run(command.args([&object, &file]));
                let expected: BTreeSet<String> = table
                    .functions
                    .iter()
                    .map(|function| match version {
                        Some(version) => table.entry(&function.name, *version),
                        None => &function.name,
                    })
                    .map(|entry| format!("hiplazy_{entry}"))
                    .collect();
                let found = needed(&object);
                assert!(found == expected, "{version:?}: {:?}", {
                    let differ = found.symmetric_difference(&expected);
                    differ.collect::<Vec<_>>()
                });
            }
        }
    }
}

/// Whoever has no header of HIP's in reach, or one of another version than he means, says the
/// version himself: as HIP_VERSION, or by its parts.
#[test]
fn a_version_of_the_users_own_is_believed() {
    let folder = scratch("c-headers-own-version");
    let table = Table::new();
    let text = "void hipDeviceGetAttribute(void);\nvoid hipDrvGraphAddMemsetNode(void);\n\
                extern void (*volatile sink)(void);\nvoid all(void);\nvoid all(void) {\n  \
                sink = hipDeviceGetAttribute;\n  sink = hipDrvGraphAddMemsetNode;\n}\n";
    let text = format!("#ifdef __cplusplus\nextern \"C\" {{\n#endif\n{text}")
        + "#ifdef __cplusplus\n}\n#endif\n";
    let whole: &[&str] = &["-DHIP_VERSION=60200000"];
    let parts: &[&str] = &["-DHIP_VERSION_MAJOR=7", "-DHIP_VERSION_MINOR=0"];
    let all: &[&str] = &[
        "-DHIP_VERSION=70051831",
        "-DHIP_VERSION_MAJOR=7",
        "-DHIP_VERSION_MINOR=0",
        "-DHIP_VERSION_PATCH=51831",
    ];
    let cases = [
        (whole, Version::new(6, 2)),
        (parts, Version::new(7, 0)),
        (all, Version::new(7, 0)),
    ];
    // The header that is in reach would lead elsewhere.
    let other = version_header(&folder, Version::new(5, 2));
    for file in sources(&folder, "own", &text) {
        for compiler in compilers() {
            for (defined, version) in cases {
                for reach in [None, Some(&other)] {
                    let object = folder.join("own.o");
                    let mut command = Command::new(compiler.of(&file));
                    command.args(defined).arg("-include").arg(redirect());
                    command.args(reach.map(|folder| format!("-I{}", folder.display())));
                    command.args(["-Wall", "-Wextra", "-Wundef", "-Werror", "-c", "-o"]);
                    run(command.args([&object, &file]));
                    let entry = |name| format!("hiplazy_{}", table.entry(name, version));
                    let names = ["hipDeviceGetAttribute", "hipDrvGraphAddMemsetNode"];
                    let expected = BTreeSet::from(names.map(entry));
                    assert_eq!(needed(&object), expected, "{defined:?} {reach:?}");
                }
            }
        }
    }
}

#[test]
fn dispatched_calls_have_the_place_of_the_headers_generation() {
    let folder = scratch("c-headers-dispatch-generations");
    let known = Table::new();
    let places = entries();
    for headers in header_sets() {
        let mut text = String::from(
            "#include <hip/hip_runtime_api.h>\n#include <hiplazy/dispatch.h>\n\
             #ifdef __cplusplus\n#define ASSERT(x) static_assert(x, #x)\n#else\n\
             #define ASSERT(x) _Static_assert(x, #x)\n#endif\n",
        );
        for name in known.affected() {
            let entry = known.entry(name, headers.version);
            let place = places.iter().position(|place| place == entry).unwrap();
            text += &format!("ASSERT(HIPLAZY_INDEX_{name} == {place});\n");
        }
        text += "void (*volatile sink)(void);\nvoid all(void);\nvoid all(void) {\n";
        for name in affected_in(&known, &headers) {
            text += &format!("  sink = (void (*)(void))HIPLAZY_CALL({name});\n");
        }
        for file in sources(&folder, headers.name, &(text + "}\n")) {
            for compiler in compilers() {
                let object = folder.join("dispatch.o");
                let mut command = command(compiler, &headers, &file);
                command.args(["-Wall", "-Wextra", "-Werror", "-c"]);
                command.arg("-Wno-deprecated-declarations");
                run(command.arg("-o").arg(&object));
                assert_eq!(needed(&object), BTreeSet::from([table()]));
            }
        }
    }
}

/// What is compiled with the header and has its own use for HIP's version, or none for C.
#[test]
fn assembler_and_sources_that_ask_for_the_version_compile() {
    let folder = scratch("c-headers-generations-bystanders");
    let assembler = folder.join("symbol.S");
    fs::write(
        &assembler,
        ".globl something\nsomething:\n.section .note.GNU-stack,\"\",%progbits\n",
    )
    .unwrap();
    let version = "#include <hip/hip_version.h>\n";
    let api = "#include <hip/hip_runtime_api.h>\n";
    let use_ = "extern int version;\nint version = HIP_VERSION_MAJOR * 100 + HIP_VERSION_MINOR;\n";
    let mut all = sources(&folder, "version", &[version, use_].concat()).to_vec();
    all.extend(sources(
        &folder,
        "around",
        &[version, api, version, use_].concat(),
    ));
    all.extend(sources(&folder, "after", &[api, version, use_].concat()));
    all.extend(sources(&folder, "none", "extern int nothing;\n"));
    all.push(assembler);
    for headers in header_sets() {
        for compiler in compilers() {
            for file in &all {
                let object = folder.join("bystander.o");
                let mut command = command(compiler, &headers, file);
                command.arg("-include").arg(redirect());
                command.args(["-Wall", "-Werror", "-c", "-o"]);
                run(command.arg(&object));
                assert_eq!(needed(&object), BTreeSet::new(), "{}", file.display());
            }
        }
    }
}
