//! `c/layouts.h` against the layouts and values that real headers have.

mod compiler;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use fakehip::Version;
use tempfile::TempDir;

const LAYOUTS: &str = include_str!("layouts.txt");
const CONSTANTS: &str = include_str!("constants.txt");

/// Expressions of the C probe and what they must be.
type Expected = BTreeMap<String, String>;

/// The measured headers that stand for a version. Between 6.4 and 7.1 and after
/// 7.2 none were measured: 7.0 has the layouts of 7.1, 7.14 those of 7.2.
fn headers_of(version: Version) -> hiplazy_abi::Version {
    match version {
        Version::V7_0 => hiplazy_abi::Version::new(7, 1),
        Version::V7_14 => hiplazy_abi::Version::new(7, 2),
        _ => version.header(),
    }
}

fn rows(table: &'static str, version: Version) -> impl Iterator<Item = Vec<&'static str>> {
    let headers = headers_of(version);
    table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split(" | ").collect::<Vec<_>>())
        .filter(move |columns| {
            let (first, last) = columns[1].split_once('-').unwrap();
            (first.parse().unwrap()..=last.parse().unwrap()).contains(&headers)
        })
}

fn expected(version: Version) -> Expected {
    let mut expected = Expected::new();
    for columns in rows(LAYOUTS, version) {
        let [name, _, size, align, members] = columns[..] else {
            panic!("{columns:?}")
        };
        expected.insert(format!("sizeof({name})"), size.into());
        expected.insert(format!("_Alignof({name})"), align.into());
        for member in members.split(' ') {
            let (offset, member) = member.split_once(':').unwrap();
            expected.insert(format!("offsetof({name}, {member})"), offset.into());
        }
    }
    for columns in rows(CONSTANTS, version) {
        expected.insert(columns[0].into(), columns[2].into());
    }
    expected
}

/// What the compiler says of the same expressions.
fn compiled(version: Version, expressions: &Expected) -> Expected {
    let folder = TempDir::new().unwrap();
    let (source, program) = (folder.path().join("probe.c"), folder.path().join("probe"));
    let mut text = String::from("#include <stdio.h>\n#include \"layouts.h\"\nint main(void) {\n");
    for expression in expressions.keys() {
        let _ = writeln!(
            text,
            "  printf(\"%s=%zu\\n\", \"{expression}\", (size_t)({expression}));"
        );
    }
    text.push_str("  return 0;\n}\n");
    fs::write(&source, text).unwrap();
    let output = compiler::compiler()
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror"])
        .arg(format!("-DFAKE_HIP_MAJOR={}", version.major()))
        .arg(format!("-DFAKE_HIP_MINOR={}", version.minor()))
        .arg("-I")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("c"))
        .arg("-o")
        .args([&program, &source])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{version}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let output = Command::new(&program).output().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| {
            let (expression, value) = line.split_once('=').unwrap();
            (expression.into(), value.into())
        })
        .collect()
}

#[test]
fn every_struct_and_constant_is_that_of_the_version_s_headers() {
    for version in Version::ALL {
        let expected = expected(version);
        // Both tables are there for every version.
        assert!(expected.len() > 200, "{version}: {}", expected.len());
        assert!(expected.contains_key("hipMemoryTypeHost"), "{version}");
        assert_eq!(compiled(version, &expected), expected, "{version}");
    }
}

/// What changed, version by version, so that a table with too few rows is noticed.
#[test]
fn the_tables_hold_every_change() {
    let value = |version, expression: &str| {
        let found = expected(version).remove(expression);
        found.unwrap_or_else(|| panic!("{expression} of {version}"))
    };
    for (expression, old, new) in [
        (
            "sizeof(HIP_MEMCPY3D)",
            (Version::V5_7_1, "128"),
            (Version::V6_0, "184"),
        ),
        (
            "offsetof(hipMemAllocationProp, type)",
            (Version::V5_2_3, "16"),
            (Version::V5_3, "0"),
        ),
        (
            "offsetof(hipMemPoolProps, reserved)",
            (Version::V6_0, "24"),
            (Version::V6_4_3, "32"),
        ),
        (
            "sizeof(hipExternalSemaphoreWaitParams)",
            (Version::V5_7_1, "136"),
            (Version::V6_0, "144"),
        ),
        (
            "sizeof(hipLaunchAttributeValue)",
            (Version::V6_4_3, "32"),
            (Version::V7_0, "64"),
        ),
        (
            "hipMemoryTypeDevice",
            (Version::V5_7_1, "1"),
            (Version::V6_0, "2"),
        ),
        (
            "hipGraphNodeTypeKernel",
            (Version::V5_2_3, "1"),
            (Version::V5_3, "0"),
        ),
        (
            "hipLimitRange",
            (Version::V6_4_3, "3"),
            (Version::V7_0, "4099"),
        ),
    ] {
        assert_eq!(value(old.0, expression), old.1, "{expression}");
        assert_eq!(value(new.0, expression), new.1, "{expression}");
    }
}
