//! The cargo feature `bindgen`: functions and types from the ROCm headers that the
//! build is given, instead of the committed manifest.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};

use common::{cc, exports, run, scratch, skip, text_of};

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("artefacts/bindgen")
}

/// A build of the C libraries with the feature, and no headers named yet.
fn cargo_build() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(common::root())
        .args(["build", "--release", "--locked", "--features", "bindgen"])
        .args(["-p", "hiplazy-shared", "-p", "hiplazy-static"])
        .arg("--target-dir")
        .arg(target())
        .env_remove("ROCM_PATH")
        .env_remove("HIPLAZY_HIP_INCLUDE");
    cargo
}

/// What the objects of an archive define for others.
fn defined(archive: &Path) -> BTreeSet<String> {
    let data = fs::read(archive).unwrap();
    let mut names = BTreeSet::new();
    for member in ArchiveFile::parse(&*data).unwrap().members() {
        let object = object::File::parse(member.unwrap().data(&*data).unwrap()).unwrap();
        let symbols = object.symbols();
        let global = symbols.filter(|symbol| symbol.is_definition() && symbol.is_global());
        names.extend(global.map(|symbol| symbol.name().unwrap().to_string()));
    }
    names
}

/// Builds from the headers in `include`; the build's own words.
fn build(include: &Path, variable: &str) -> Result<(PathBuf, String), String> {
    let libclang = xtask::fetch::libclang().map_err(|missing| missing.to_string())?;
    let mut cargo = cargo_build();
    let output = cargo
        .env("LIBCLANG_PATH", libclang)
        .env(variable, include)
        .output()
        .unwrap();
    let text = text_of(&output);
    assert!(output.status.success(), "{text}");
    Ok((target().join("release"), text))
}

/// The build's one line about `include`.
#[track_caller]
fn line_about<'a>(text: &'a str, include: &Path) -> &'a str {
    let about = format!("headers in {}", include.display());
    let mut lines = text.lines().filter(|line| line.contains(&about));
    let line = lines
        .next()
        .unwrap_or_else(|| panic!("no line about the headers: {text}"));
    assert_eq!(lines.next(), None, "one line");
    line
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), &place).unwrap();
        }
    }
}

/// One test, since the builds share a folder.
#[test]
fn wrappers_are_those_of_the_given_headers() {
    let (new, old) = match (xtask::fetch::headers_7_1(), xtask::fetch::headers_5_2()) {
        (Ok(new), Ok(old)) => (new, old),
        (new, old) => {
            let why = [new.err(), old.err()].into_iter().flatten();
            let why: Vec<String> = why.map(|missing| missing.to_string()).collect();
            skip("builds with the feature bindgen", &why.join("; "));
            return;
        }
    };

    // HIP 7.1 with a function more, a function that takes something else, and, as a
    // macro, a function that has another link name than its source spelling.
    let folder = scratch("bindgen-feature");
    let include = folder.join("include");
    copy_folder(&new.join("hip"), &include.join("hip"));
    let header = include.join("hip/hip_runtime_api.h");
    let text = fs::read_to_string(&header).unwrap();
    let changed = text.replacen(
        "hipError_t hipDeviceSynchronize(void);",
        "hipError_t hipDeviceSynchronize(int brandNewArgument);\n\
         #define hipBrandNew hipBrandNewR0800\n\
         #ifdef __cplusplus\nextern \"C\"\n#endif\n\
         hipError_t hipBrandNew(hipStream_t stream);\n\
         typedef struct { int a; } hipTiny_t;\n\
         #ifdef __cplusplus\nextern \"C\" {\n#endif\n\
         hipTiny_t hipNewTiny(void *p);\n\
         float hipNewFloat(int i);\n\
         size_t hipNewSize(int *p);\n\
         hipError_t hipNewCallback(void (*callback)(int, void *), void *p);\n\
         #ifdef __cplusplus\n}\n#endif\n",
        1,
    );
    assert_ne!(
        text, changed,
        "the header declares hipDeviceSynchronize as expected"
    );
    fs::write(&header, changed).unwrap();

    let (release, text) = match build(&include, "HIPLAZY_HIP_INCLUDE") {
        Ok(built) => built,
        Err(why) => return skip("builds with the feature bindgen", &why),
    };
    let line = line_about(&text, &include);
    assert!(line.contains("HIP 70125424 headers"), "{line}");
    assert!(
        line.contains("the manifest lacks 5 (hipBrandNewR0800, hipNewCallback, hipNewFloat, hipNewSize, hipNewTiny)"),
        "{line}"
    );
    // The 7.1 headers take the options of hipLibraryLoad* through one pointer more than
    // later ones.
    assert!(
        line.contains("declares otherwise 3 (hipDeviceSynchronize, hipLibraryLoadData, hipLibraryLoadFromFile)"),
        "{line}"
    );
    // Nothing could be answered for these: no struct or float of theirs is known.
    assert!(
        line.contains("of their return type, 2 (hipNewFloat, hipNewTiny)"),
        "{line}"
    );
    let names = exports(&release.join("libhiplazy.so"));
    assert!(!names.contains("hiplazy_hipNewTiny") && !names.contains("hiplazy_hipNewFloat"));
    for name in [
        "hiplazy_hipBrandNewR0800",
        "hiplazy_hipNewCallback",
        "hiplazy_hipGetDevicePropertiesR0600",
        "hiplazy_hipMemcpy_spt",
        "hiplazy___hipRegisterFatBinary",
        "hiplazy_hiprtcCompileProgram",
        "hiplazy_hsa_init",
        "hiplazy_load",
    ] {
        assert!(names.contains(name), "{name}");
    }
    assert!(!names.contains("hiplazy_hipBrandNew"));

    // The places in its slot table are not those that dispatch.h promises.
    let tables: BTreeSet<String> = defined(&release.join("libhiplazy.a"))
        .into_iter()
        .filter(|name| name.contains("slots"))
        .filter(|name| name.starts_with("hiplazy_"))
        .collect();
    assert_eq!(tables, BTreeSet::from(["hiplazy_slots".to_string()]));

    // The new function works as any other, and the header version is known.
    let source = folder.join("client.c");
    let client = "#include <hiplazy/hiplazy.h>\n#include <stdio.h>\n\
                  #include <stddef.h>\n\
                  int hiplazy_hipBrandNewR0800(void *stream);\n\
                  size_t hiplazy_hipNewSize(int *p);\n\
                  int main(void) {\n\
                  int untouched = 7;\n\
                  printf(\"%zu %d \", hiplazy_hipNewSize(&untouched), untouched);\n\
                  printf(\"%d %d\\n\", hiplazy_hipBrandNewR0800(0), hiplazy_header_version());\n\
                  return 0;\n}\n";
    fs::write(&source, client).unwrap();
    let program = folder.join("client");
    cc(&[], &program, &[&source, &release.join("libhiplazy.a")]);
    let output = run(common::clean(&program).env("HIPLAZY_DISABLE", "1"));
    assert_eq!(output, "0 7 303 70125424\n");

    // Older headers, found as a ROCm folder: no R0600 struct, so no such function.
    let rocm = folder.join("rocm");
    fs::create_dir(&rocm).unwrap();
    copy_folder(&old.join("hip"), &rocm.join("include/hip"));
    let (release, text) = match build(&rocm, "ROCM_PATH") {
        Ok(built) => built,
        Err(why) => return skip("builds with the feature bindgen", &why),
    };
    let line = line_about(&text, &rocm.join("include"));
    assert!(line.contains("the manifest lacks none"), "{line}");
    let names = exports(&release.join("libhiplazy.so"));
    assert!(names.contains("hiplazy_hipGetDeviceProperties"));
    assert!(names.contains("hiplazy_hipMallocArray"));
    assert!(!names.contains("hiplazy_hipGetDevicePropertiesR0600"));
    rust_callers_have_the_numbers_of_their_types(&folder, &rocm);
}

/// The functions of `hiplazy::sys` are those for callers with the headers that its types
/// are of: HIP 5.2's on a runtime that numbers kinds of memory otherwise.
fn rust_callers_have_the_numbers_of_their_types(folder: &Path, rocm: &Path) {
    let project = folder.join("dependent");
    fs::create_dir_all(project.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"dependent\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [dependencies]\nhiplazy = {{ path = {:?}, features = [\"bindgen\"] }}\n[workspace]\n",
        common::root()
    );
    fs::write(project.join("Cargo.toml"), manifest).unwrap();
    fs::copy(
        common::root().join("Cargo.lock"),
        project.join("Cargo.lock"),
    )
    .unwrap();
    let source = "use hiplazy::sys::*;\n\
        fn main() {\n\
        let mut memory = std::ptr::null_mut();\n\
        unsafe {\n\
        let mut attributes: hipPointerAttribute_t = std::mem::zeroed();\n\
        assert_eq!(hipMalloc(&mut memory, 64), hipSuccess);\n\
        assert_eq!(hipPointerGetAttributes(&mut attributes, memory), hipSuccess);\n\
        assert_eq!(attributes.memoryType, hipMemoryTypeDevice);\n\
        println!(\"{} {}\", attributes.memoryType.0, hiplazy::runtime_version());\n\
        }\n}\n";
    fs::write(project.join("src/main.rs"), source).unwrap();
    run(Command::new(env!("CARGO"))
        .current_dir(&project)
        .args(["build", "--release", "--offline", "--quiet", "--target-dir"])
        .arg(target())
        .env("LIBCLANG_PATH", xtask::fetch::libclang().unwrap())
        .env_remove("HIPLAZY_HIP_INCLUDE")
        .env("ROCM_PATH", rocm));
    let newest = fakehip::Version::V7_14;
    let runtime = fakehip::build(&folder.join("runtime"), &[fakehip::Library::hip(newest)]);
    let program = target().join("release/dependent");
    let mut command = common::clean(&program);
    let said = run(command.env("HIPLAZY_RUNTIME", &runtime.unwrap()[0]));
    assert_eq!(said, format!("1 {}\n", newest.runtime_version()));
}

/// Without a folder the build fails and says what to set.
#[test]
fn a_missing_folder_is_a_clear_error() {
    let output = cargo_build().output().unwrap();
    let text = text_of(&output);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("set HIPLAZY_HIP_INCLUDE"), "{text}");
}
