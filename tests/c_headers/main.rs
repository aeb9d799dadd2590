//! The installed C headers, as gcc and clang see them. (`xtask/tests/c_headers.rs`
//! compares every type and prototype.)

#[path = "../common/mod.rs"]
mod common;
mod cxx_names;
mod dispatch;
mod generations;
mod layout;
mod redirect;
mod rocm;
mod same_code;
mod setup;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use common::{run, scratch};
use object::{Object, ObjectSymbol};
use setup::{compilers, table};
use xtask::c_headers::{HeaderOptions, write};

#[test]
fn another_prefix_is_in_every_name() {
    let folder = scratch("c-headers-vendor");
    let options = HeaderOptions {
        prefix: "tl_".to_string(),
        folder: "tl_hip".to_string(),
    };
    let written = write(&folder, &options).unwrap();
    assert!(
        written
            .iter()
            .all(|path| path.starts_with(folder.join("tl_hip")))
    );
    let file = folder.join("vendor.cpp");
    let text = "#include <hip/hip_runtime_api.h>\n#include <tl_hip/dispatch.h>\n\
                hipError_t both(void **p) { return hipFree(*p) ? hipErrorUnknown : TL_CALL(hipMalloc)(p, 8); }\n";
    fs::write(&file, text).unwrap();
    for compiler in compilers() {
        let object = folder.join("vendor.o");
        let mut command = Command::new(compiler.of(&file));
        command
            .arg("-include")
            .arg(folder.join("tl_hip/redirect.h"));
        command
            .arg("-I")
            .arg(&folder)
            .arg("-I")
            .arg(folder.join("tl_hip/rocm"));
        run(command
            .args(["-Wall", "-Werror", "-c", "-o"])
            .args([&object, &file]));
        let slots = table().replace("hiplazy_", "tl_");
        let expected = ["tl_hipFree".to_string(), slots];
        let data = fs::read(&object).unwrap();
        let object = object::File::parse(&*data).unwrap();
        let names = object.symbols().filter(|symbol| symbol.is_undefined());
        let names = names.map(|symbol| symbol.name().unwrap().to_string());
        let names: BTreeSet<String> = names.filter(|name| name.starts_with("tl_")).collect();
        assert_eq!(names, BTreeSet::from(expected));
    }
    for path in written {
        let text = fs::read_to_string(&path).unwrap();
        let is_ours = path.starts_with(folder.join("tl_hip/rocm"));
        assert!(is_ours || !text.contains("hiplazy_"), "{}", path.display());
    }
}
