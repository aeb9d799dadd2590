//! Consumers with HIP headers of different generations in one process, on one installed
//! `libhiplazy.so.1`: each sees the numbers of its own headers, whatever the runtime has.

use std::path::PathBuf;

use fakehip::{Library, Version};
use xtask::fetch;

use crate::common::{scratch, skip};
use crate::process::{Said, process_beside};
use crate::toolchain::{Compiler, Kind, cc};
use crate::{elf, installed, with_both_compilers};

/// `source/generation.c` with AMD's headers `headers`, or with hiplazy's own. No record of
/// the version is linked: only the entries that its calls became can tell it.
fn consumer(compiler: &Compiler, headers: Option<&str>) -> Option<PathBuf> {
    let name = headers.unwrap_or("own-headers");
    let folder = match headers.map(fetch::fetch) {
        None => installed::hiplazy().join("include/hiplazy/rocm"),
        Some(Ok(folder)) => folder,
        Some(Err(missing)) => {
            skip(&format!("a consumer with {name}"), &missing.to_string());
            return None;
        }
    };
    let prefix = installed::hiplazy();
    let output = scratch(&format!("generations-{name}-{}", compiler.name));
    let output = output.join(format!("lib{name}.so"));
    let arguments = [
        "-shared".to_string(),
        "-fPIC".to_string(),
        "-D__HIP_PLATFORM_AMD__".to_string(),
        "-include".to_string(),
        prefix
            .join("include/hiplazy/redirect.h")
            .display()
            .to_string(),
        format!("-I{}", prefix.join("include").display()),
        "-isystem".to_string(),
        folder.display().to_string(),
        prefix.join("lib/libhiplazy.so.1").display().to_string(),
        format!("-Wl,-rpath,{}", prefix.join("lib").display()),
    ];
    cc(compiler, "generation.c", &output, &arguments);
    assert!(elf::needed(&output).contains("libhiplazy.so.1"));
    Some(output)
}

fn each_sees_its_own_numbers(kind: Kind) {
    let Some(compiler) = kind.there("generations") else {
        return;
    };
    // The headers' major, and their number of device memory.
    let consumers: Vec<(PathBuf, u32, u32)> = [
        (Some("headers-5.7"), 5, 1),
        (Some("headers-7.2"), 7, 2),
        (None, 7, 2),
    ]
    .into_iter()
    .filter_map(|(headers, major, device)| Some((consumer(&compiler, headers)?, major, device)))
    .collect();
    let folder = scratch(&format!("generations-runtimes-{}", compiler.name));
    for version in [Version::V5_7_1, Version::V6_4_3, Version::V7_14] {
        let hip = Library::hip(version);
        let library = fakehip::build(&folder.join(version.to_string()), &[hip]).unwrap();
        for reversed in [false, true] {
            let mut order: Vec<_> = consumers.iter().collect();
            if reversed {
                order.reverse();
            }
            // All open before the first call, then each does its work twice.
            let mut command = process_beside(&library[0]);
            for (consumer, ..) in &order {
                command.arg(format!("local:{}", consumer.display()));
            }
            let said = Said::by(command.args(["run", "run"]));
            for (consumer, major, device) in order {
                for time in 0..2 {
                    let part = said.part(consumer.file_name().unwrap().to_str().unwrap(), time);
                    let runtime = version.runtime_version().to_string();
                    assert_eq!(part[&*format!("headers {major} on runtime")], [runtime]);
                    let right = format!(
                        "0, type {device} of device memory {device}, the pointer, 0 bytes behind \
                         touched"
                    );
                    assert_eq!(part["by name"], [&*right], "{version} {consumer:?}");
                    assert_eq!(part["by table"], [&*right], "{version} {consumer:?}");
                }
            }
        }
    }
}

with_both_compilers! {
    headers_of_two_majors: each_sees_its_own_numbers;
}
