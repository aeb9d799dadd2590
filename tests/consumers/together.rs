//! Two consumers with different builds of hiplazy and a client that is linked
//! `-lamdhip64`, in one process: whatever is opened first, and into whichever scope,
//! each binds as it should.

use std::path::{Path, PathBuf};

use crate::common::scratch;
use crate::expect::{self, Consumer};
use crate::process::{Runtime, Said, fakes, process};
use crate::toolchain::{Compiler, Kind, cc, tool};
use crate::{DROP_IN, SHARED, Way, elf, installed, with_both_compilers};

/// The client that hiplazy must never get in the way of: `source/consumer.c` with the
/// fake HIP 7, hiprtc and HSA as ordinary dependencies.
fn plain(compiler: &Compiler, folder: &Path) -> PathBuf {
    let output = folder.join("libplain.so");
    let rocm = installed::hiplazy().join("include/hiplazy/rocm");
    let mut arguments = vec![
        "-shared".to_string(),
        "-fPIC".to_string(),
        "-D__HIP_PLATFORM_AMD__".to_string(),
        "-isystem".to_string(),
        rocm.display().to_string(),
        format!("-L{}", fakes(7).display()),
    ];
    for name in [
        "libamdhip64.so.7",
        "libhiprtc.so.7",
        "libhsa-runtime64.so.1",
    ] {
        arguments.push(format!("-l:{name}"));
    }
    cc(compiler, "consumer.c", &output, &arguments);
    assert!(elf::needed(&output).contains("libamdhip64.so.7"));
    output
}

/// Every order of three things.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

fn each_binds_as_it_should(kind: Kind) {
    let name = "together";
    let (Some(compiler), Some(_)) = (kind.there(name), tool("cmake", name)) else {
        return;
    };
    let name = format!("{name}-{}", compiler.name);
    let folder = scratch(&name);
    let shared = SHARED.build(
        &format!("{name}-shared"),
        &compiler,
        installed::hiplazy(),
        &[],
    );
    // The other build has other names where it has names at all.
    let drop_in = Way {
        definitions: &["HIP_LIBRARY:STRING=tl_hip::dropin"],
        ..DROP_IN
    }
    .build(
        &format!("{name}-dropin"),
        &compiler,
        installed::vendor(),
        &[],
    );
    let client = plain(&compiler, &folder);
    let consumers = [
        SHARED.consumer(&shared),
        DROP_IN.consumer(&drop_in),
        Consumer {
            library: &client,
            enters: Some("libamdhip64.so.7"),
            tells_binding: false,
            has_headers: true,
        },
    ];
    let library = Runtime::Fake7.library(&name).unwrap();
    let mut cases = 0;
    for order in ORDERS {
        // Each bit says which of the three goes into the global scope.
        for global in 0..8 {
            let mut command = process(Runtime::Fake7, Some(&library));
            for index in order {
                let scope = ["local", "global"][global >> index & 1];
                let path = consumers[index].library.display();
                // All that are open work at once, so that the first has bound before
                // the next is there, and again after.
                command.arg(format!("{scope}:{path}")).arg("run");
            }
            let said = Said::by(&mut command);
            for (opened, index) in order.into_iter().enumerate() {
                for time in 0..order.len() - opened {
                    let consumer = &consumers[index];
                    expect::worked(consumer, Runtime::Fake7, Some(&library), &said, time);
                }
            }
            let part = said.part("process", 0);
            // The runtime is in the global scope if its client is, and hiplazy never.
            let owner = ["nobody", "libamdhip64.so.7"][global >> 2 & 1];
            assert_eq!(part["global hipMalloc"], [owner], "{order:?} {global:03b}");
            assert_eq!(part["mapped"], [library.to_str().unwrap()]);
            cases += 1;
        }
    }
    assert_eq!(cases, 48);
}

with_both_compilers! {
    every_order_and_scope: each_binds_as_it_should;
}
