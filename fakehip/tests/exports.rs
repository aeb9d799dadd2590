//! What the dynamic linker sees of the built libraries.

mod compiler;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use fakehip::{Error, Kind, Library, Version};
use object::Endianness;
use object::elf;
use object::read::elf::{Dyn, ElfFile64, FileHeader, Sym};
use tempfile::TempDir;

/// SONAME, DT_NEEDED, and exports as (name, node).
struct Linkage {
    soname: String,
    needed: Vec<String>,
    exports: BTreeSet<(String, Option<String>)>,
}

fn linkage(path: &Path) -> Linkage {
    let bytes = fs::read(path).unwrap();
    let file = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
    let endian = file.endian();
    let header = file.elf_header();
    let sections = header.sections(endian, &*bytes).unwrap();
    let symbols = sections.symbols(endian, &*bytes, elf::SHT_DYNSYM).unwrap();
    let versions = sections.versions(endian, &*bytes).unwrap().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();

    let (mut soname, mut needed) = (String::new(), Vec::new());
    let (entries, strings) = sections.dynamic(endian, &*bytes).unwrap().unwrap();
    let strings = sections.strings(endian, &*bytes, strings).unwrap();
    for entry in entries {
        let string = || text(entry.string(endian, strings).unwrap());
        match entry.tag32(endian) {
            Some(elf::DT_SONAME) => soname = string(),
            Some(elf::DT_NEEDED) => needed.push(string()),
            _ => {}
        }
    }
    let exports = symbols
        .enumerate()
        .filter(|(_, symbol)| {
            !symbol.is_undefined(endian) && matches!(symbol.st_type(), elf::STT_FUNC)
        })
        .map(|(index, symbol)| {
            let name = text(symbols.symbol_name(endian, symbol).unwrap());
            let version = versions
                .version(versions.version_index(endian, index))
                .unwrap();
            (name, version.map(|version| text(version.name())))
        })
        .collect();
    Linkage {
        soname,
        needed,
        exports,
    }
}

fn table(exports: Vec<hiplazy_abi::Export>) -> BTreeSet<(String, Option<String>)> {
    exports
        .into_iter()
        .map(|export| (export.name, export.node))
        .collect()
}

/// The table of a real runtime, as it was measured.
fn measured(name: &str) -> BTreeSet<(String, Option<String>)> {
    let table = hiplazy_abi::EXPORTS
        .iter()
        .find(|table| table.name == name)
        .unwrap();
    hiplazy_abi::parse_exports(table.text)
        .unwrap()
        .into_iter()
        .filter(|export| export.is_function)
        .map(|export| (export.name, export.node))
        .collect()
}

/// Splits the controls off, which must be on their own node.
fn without_controls(linkage: &Linkage, node: &str) -> BTreeSet<(String, Option<String>)> {
    let (controls, rest): (BTreeSet<_>, BTreeSet<_>) = linkage
        .exports
        .iter()
        .cloned()
        .partition(|(name, _)| name.starts_with("fakehip_"));
    assert_eq!(controls.len(), 16);
    assert!(controls.iter().all(|(_, at)| at.as_deref() == Some(node)));
    rest
}

fn build(library: Library) -> (TempDir, std::path::PathBuf) {
    let folder = TempDir::new().unwrap();
    let mut paths = fakehip::build(folder.path(), &[library]).unwrap_or_else(|e| panic!("{e}"));
    (folder, paths.remove(0))
}

#[test]
fn every_real_export_is_there_on_its_real_node_and_nothing_else() {
    for version in Version::ALL {
        let (_folder, path) = build(Library::hip(version));
        let linkage = linkage(&path);
        assert_eq!(
            linkage.soname,
            format!("libamdhip64.so.{}", version.major())
        );
        assert_eq!(linkage.needed, ["libc.so.6"]);
        let exports = without_controls(&linkage, "FAKEHIP_1");
        assert_eq!(exports, table(version.exports().unwrap()), "{version}");
        if version.is_measured() {
            assert_eq!(exports, measured(version.hip_table()), "{version}");
        }
    }
}

#[test]
fn libhiprtc_has_no_nodes_of_its_own() {
    for version in Version::ALL.into_iter().filter(|v| v.major() >= 6) {
        let (_folder, path) = build(Library::rtc(version));
        let linkage = linkage(&path);
        assert_eq!(linkage.soname, format!("libhiprtc.so.{}", version.major()));
        assert_eq!(linkage.needed, ["libc.so.6"]);
        let exports = without_controls(&linkage, "FAKEHIPRTC_1");
        let expected = table(version.rtc_exports().unwrap().unwrap());
        assert_eq!(exports, expected, "{version}");
    }
}

#[test]
fn hip_5_has_no_libhiprtc() {
    let folder = TempDir::new().unwrap();
    let error = fakehip::build(folder.path(), &[Library::rtc(Version::V5_7_1)]).unwrap_err();
    assert!(matches!(error, Error::NoRtc(Version::V5_7_1)), "{error}");
}

#[test]
fn libhsa_has_its_two_functions() {
    let (_folder, path) = build(Library::new(Kind::Hsa));
    let linkage = linkage(&path);
    assert_eq!(linkage.soname, "libhsa-runtime64.so.1");
    let node = Some("ROCR_1".to_owned());
    let expected = ["hsa_init", "hsa_shut_down"].map(|name| (name.to_owned(), node.clone()));
    assert_eq!(linkage.exports, BTreeSet::from(expected));
}

#[test]
fn build_all_builds_six_libraries_and_leaves_nothing_else() {
    let folder = TempDir::new().unwrap();
    let paths = fakehip::build_all(folder.path()).unwrap();
    let mut present: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    present.sort();
    assert_eq!(
        present,
        [
            "libamdhip64.so.5",
            "libamdhip64.so.6",
            "libamdhip64.so.7",
            "libhiprtc.so.6",
            "libhiprtc.so.7",
            "libhsa-runtime64.so.1"
        ]
    );
    assert!(paths.iter().all(|path| path.is_absolute() && path.exists()));
}

#[test]
fn functions_can_be_withheld() {
    let gone = [
        "hipMemcpyPeer",
        "hipGetDevicePropertiesR0600",
        "hipGraphCreate",
    ];
    let (_folder, path) = build(Library::hip(Version::V7_14).without(gone));
    let exports = without_controls(&linkage(&path), "FAKEHIP_1");
    let mut expected = measured(Version::V7_14.hip_table());
    expected.retain(|(name, _)| !gone.contains(&name.as_str()));
    assert_eq!(exports, expected);

    let (_folder, path) = build(Library::rtc(Version::V7_14).without(["hiprtcVersion"]));
    let exports = without_controls(&linkage(&path), "FAKEHIPRTC_1");
    assert_eq!(exports.len(), 17);
    assert!(!exports.iter().any(|(name, _)| name == "hiprtcVersion"));
}

#[test]
fn a_runtime_with_a_few_functions_only() {
    let few = ["hipMalloc", "hipRuntimeGetVersion"];
    let (_folder, path) = build(Library::hip(Version::V5_7_1).only(few));
    let exports = without_controls(&linkage(&path), "FAKEHIP_1");
    assert_eq!(
        exports
            .into_iter()
            .map(|(name, _)| name)
            .collect::<Vec<_>>(),
        few
    );
}

#[test]
fn a_derivative_has_names_of_its_own() {
    let (_folder, path) = build(Library::hip(Version::V5_7_1).dtk());
    let linkage = linkage(&path);
    assert_eq!(linkage.soname, "libamdhip64.so.5");
    let exports = without_controls(&linkage, "FAKEHIP_1");
    let mut expected = measured(Version::V5_7_1.hip_table());
    for name in ["hipGetDeviceProperties_v2", "hipChooseDevice_v2"] {
        expected.insert((name.to_owned(), Some("hip_4.2".to_owned())));
    }
    assert_eq!(exports, expected);

    let (_folder, path) = build(Library::hip(Version::V6_4_3).dtk());
    let exports = without_controls(&self::linkage(&path), "FAKEHIP_1");
    assert!(!exports.iter().any(|(name, _)| name.ends_with("R0600")));
}

#[test]
fn a_misspelt_function_is_refused() {
    let folder = TempDir::new().unwrap();
    let library = Library::hip(Version::V5_7_1).without(["hipGetDevicePropertiesR0600"]);
    let error = fakehip::build(folder.path(), &[library])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("does not export 'hipGetDevicePropertiesR0600'"),
        "{error}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn names_as_auditwheel_writes_them() {
    let (_folder, path) = build(Library::hip(Version::V7_14).auditwheel("69e34bce"));
    let name = "libamdhip64-69e34bce.so.7.14.60850";
    assert_eq!(path.file_name().unwrap(), name);
    assert_eq!(linkage(&path).soname, name);
}

#[test]
fn a_stub_in_disguise() {
    let (_folder, path) = build(Library::hip(Version::V7_14).soname("libhip_stub.so"));
    assert_eq!(path.file_name().unwrap(), "libamdhip64.so.7");
    assert_eq!(linkage(&path).soname, "libhip_stub.so");
}

#[test]
fn a_constructor_of_the_caller_s_is_linked_in() {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("hook.c");
    fs::write(
        &source,
        "#include \"fakehip.h\"\n#include <stdio.h>\n\
         void provided_by_the_program(void);\n\
         __attribute__((constructor)) static void hook(void) {\n\
           provided_by_the_program(); printf(\"constructed \");\n}\n",
    )
    .unwrap();
    let library = Library::hip(Version::V7_14)
        .source(&source)
        .link_argument("-Wl,-z,undefs")
        .runtime_version(71_499_999);
    let path = fakehip::build(folder.path(), &[library]).unwrap().remove(0);
    assert!(
        !linkage(&path)
            .exports
            .iter()
            .any(|(name, _)| name == "hook")
    );
    let program = folder.path().join("program");
    let main = folder.path().join("main.c");
    fs::write(
        &main,
        "#include <stdio.h>\nint hipRuntimeGetVersion(int *);\n\
         void provided_by_the_program(void) { printf(\"called \"); }\n\
         int main(void) { int v; hipRuntimeGetVersion(&v); printf(\"%d\", v); return 0; }\n",
    )
    .unwrap();
    let status = compiler::compiler()
        .args(["-rdynamic", "-o"])
        .args([&program, &main, &path])
        .status()
        .unwrap();
    assert!(status.success());
    let output = Command::new(&program)
        .env("LD_LIBRARY_PATH", folder.path())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "called constructed 71499999"
    );
}

#[test]
fn compiler_errors_are_shown_in_full() {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("broken.c");
    fs::write(&source, "int f(void) { return nonsense; }\n").unwrap();
    let library = Library::hip(Version::V7_14).source(&source);
    let error = fakehip::build(&folder.path().join("out"), &[library])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("broken.c") && error.contains("nonsense"),
        "{error}"
    );
}

/// Number 10020 is an attribute since 7.1, hipGetDeviceProperties that of R0600 since 6.
#[test]
fn another_version_is_an_answer_and_no_other_behaviour() {
    let folder = TempDir::new().unwrap();
    let library = Library::hip(Version::V7_14).runtime_version(50_731_921);
    let path = fakehip::build(folder.path(), &[library]).unwrap().remove(0);
    let program = folder.path().join("program");
    let main = folder.path().join("main.c");
    fs::write(
        &main,
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\nint hipRuntimeGetVersion(int *);\n\
         int hipDeviceGetAttribute(int *, int, int);\n\
         int hipGetDriverEntryPoint(const char *, void **, unsigned long long, unsigned *);\n\
         int main(void) {\n\
           int version, value; void *address = NULL; unsigned found = 9;\n\
           hipRuntimeGetVersion(&version);\n\
           printf(\"%d %d\", version, hipDeviceGetAttribute(&value, 10020, 0));\n\
           hipGetDriverEntryPoint(\"hipGetDeviceProperties\", &address, 0, &found);\n\
           void *newer = dlsym(RTLD_DEFAULT, \"hipGetDevicePropertiesR0600\");\n\
           printf(\" %u %d\", found, newer && address == newer);\n\
           return 0;\n}\n",
    )
    .unwrap();
    let status = compiler::compiler()
        .arg("-o")
        .args([&program, &main, &path])
        .arg("-ldl")
        .status()
        .unwrap();
    assert!(status.success());
    let output = Command::new(&program)
        .env("LD_LIBRARY_PATH", folder.path())
        .env("FAKEHIP_DEVICES", "1")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "50731921 0 0 1");
}
