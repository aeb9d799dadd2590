//! `dispatch.h`: calls through the slot table.

use std::collections::BTreeSet;
use std::fs;

use hiplazy_abi::Version;

use crate::common::{clean, fenced, libraries, root, run, scratch};
use crate::setup::{command, compilers, declared_in, entries, needed, ours, real, source, table};

/// The call has the function's own type, goes to the function's own slot, and needs
/// nothing but the table.
#[test]
fn calls_go_through_the_slot_of_the_function() {
    let folder = scratch("c-headers-dispatch");
    let mut all = real();
    all.retain(|headers| headers.version >= Version::new(6, 0));
    all.push(ours());
    for headers in &all {
        for compiler in compilers() {
            for name in ["dispatch.c", "dispatch.cpp"] {
                let program = folder.join(format!("{}-{}-{name}.out", headers.name, compiler.c));
                let mut command = command(compiler, headers, &source(name));
                run(command
                    .args(["-Wall", "-Wextra", "-Werror", "-o"])
                    .arg(&program));
                assert_eq!(run(&mut clean(&program)), "all three slots\n");
            }
        }
    }
}

/// Every function that a header declares can be called so, overloaded or not, and the
/// places are those of `abi/slots.txt`.
#[test]
fn every_function_has_a_typed_call_and_its_place() {
    let folder = scratch("c-headers-dispatch-all");
    let mut all = real();
    all.push(ours());
    for headers in &all {
        let mut functions = declared_in(headers.version);
        // 5.2 declares them only when it is asked to use them.
        functions.retain(|function| {
            headers.version >= Version::new(6, 0) || !function.name.ends_with("_spt")
        });
        let mut text =
            String::from("#include <hip/hip_runtime_api.h>\n#include <hiplazy/dispatch.h>\n");
        let entries = entries();
        for (index, entry) in entries.iter().enumerate() {
            // That of such a function is one of its generations': see `generations.rs`.
            let generation = format!("{entry}_h");
            if !entries.iter().any(|other| other.starts_with(&generation)) {
                text += &format!("ASSERT(HIPLAZY_INDEX_{entry} == {index});\n");
            }
        }
        // By version, two names have the place of what their macro stands for.
        let renamed = headers.version >= Version::new(6, 0);
        for name in ["hipGetDeviceProperties", "hipChooseDevice"] {
            text = text.replace(
                &format!("INDEX_{name} =="),
                &format!("INDEX_{name} * {} ==", u8::from(!renamed)),
            );
            if renamed {
                text = text
                    .lines()
                    .filter(|line| !line.contains(&format!("{name} * 0")))
                    .collect::<Vec<_>>()
                    .join("\n");
                text += &format!("\nASSERT(HIPLAZY_INDEX_{name} == HIPLAZY_INDEX_{name}R0600);\n");
            }
        }
        text += "void (*volatile sink)(void);\nvoid all(void) {\n";
        for function in &functions {
            text += &format!(
                "  sink = (void (*)(void))HIPLAZY_CALL({});\n",
                function.name
            );
        }
        text += "}\n";
        for (name, assert) in [
            ("all.c", "_Static_assert(x, #x)"),
            ("all.cpp", "static_assert(x, #x)"),
        ] {
            let file = folder.join(format!("{}-{name}", headers.name));
            fs::write(&file, format!("#define ASSERT(x) {assert}\n{text}")).unwrap();
            for compiler in compilers() {
                let object = folder.join("all.o");
                let mut command = command(compiler, headers, &file);
                run(command
                    .args([
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-Wno-deprecated-declarations",
                        "-c",
                        "-o",
                    ])
                    .arg(&object));
                assert_eq!(needed(&object), BTreeSet::from([table()]));
            }
        }
    }
}

/// The table is callable before anything was bound: the first call finds out.
#[test]
fn the_first_call_may_be_one_through_the_table() {
    let folder = scratch("c-headers-first-call");
    for compiler in compilers() {
        for flags in [&[][..], &["-DHIPLAZY_STATIC"][..]] {
            let program = folder.join(compiler.c);
            let mut command = command(compiler, &ours(), &source("first_call.c"));
            command.arg("-I").arg(root().join("include")).args(flags);
            command.arg(libraries().join("libhiplazy.a"));
            run(command
                .args(["-Wall", "-Werror", "-pthread", "-o"])
                .arg(&program));
            let said = run(&mut fenced(&program, &[]));
            assert!(
                said.starts_with("100 0\nhipGetDeviceCount: no HIP runtime"),
                "{said}"
            );
        }
    }
}
