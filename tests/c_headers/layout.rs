//! The assertions about sizes and offsets in HIP's headers.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{root, scratch};
use crate::setup::{Headers, command, compilers, include, ours, output};

/// The members of the records that have a name, and the records, as the facts have them
/// that the headers are written from: bindgen's own words about layouts.
fn facts() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("src/sys/types.rs")).unwrap();
    let of = |start: &str| -> BTreeSet<String> {
        let start = format!("[\"{start}");
        let parts = text.split(&start).skip(1);
        parts
            .map(|part| part.split('"').next().unwrap().to_string())
            .filter(|fact| !fact.contains("__bindgen"))
            .collect()
    };
    let sizes = of("Size of ")
        .into_iter()
        .map(|name| format!("sizeof({name})"));
    let offsets = of("Offset of field: ").into_iter().map(|fact| {
        let (name, member) = fact.split_once("::").unwrap();
        format!("offsetof({name}, {member})")
    });
    sizes.chain(offsets).collect()
}

/// A struct that is another one than the runtime's is an error, whichever it is and
/// whichever member has moved. Here all of them have, by a first member that is long.
#[test]
fn every_size_and_every_offset_is_asserted() {
    if !compilers().iter().any(|compiler| compiler.c == "clang") {
        return;
    }
    let folder = scratch("c-headers-layout");
    let header = include().join("hiplazy/rocm/hip/hip_runtime_api.h");
    let text = fs::read_to_string(header).unwrap();
    let mut moved = String::new();
    let mut structs = BTreeSet::new();
    for line in text.lines() {
        moved += line;
        moved += "\n";
        // In unions nothing moves, and their assertions are about their sizes.
        for keyword in ["struct ", "union "] {
            let definition = line.strip_prefix(keyword);
            let Some(words) = definition.and_then(|rest| rest.strip_suffix(" {")) else {
                continue;
            };
            moved += "  char moved[1 << 12];\n";
            let name = words.rsplit(' ').next().unwrap();
            structs.insert((name, keyword));
        }
    }
    fs::create_dir(folder.join("hip")).unwrap();
    fs::write(folder.join("hip/hip_runtime_api.h"), moved).unwrap();
    let version = "hiplazy/rocm/hip/hip_version.h";
    fs::copy(include().join(version), folder.join("hip/hip_version.h")).unwrap();
    let source = folder.join("all.c");
    fs::write(&source, "#include <hip/hip_runtime_api.h>\n").unwrap();
    let headers = Headers {
        folder: folder.clone(),
        ..ours()
    };
    let clang = compilers().iter().find(|compiler| compiler.c == "clang");
    let mut command = command(clang.unwrap(), &headers, &source);
    let output = output(command.args(["-fsyntax-only", "-ferror-limit=0"]));
    let said = String::from_utf8_lossy(&output.stderr);
    // The assertion's own words come last.
    let complaints: BTreeSet<&str> = said
        .lines()
        .filter(|line| line.contains("error: "))
        .filter_map(|line| {
            let from = ["sizeof(", "offsetof("].map(|start| line.rfind(start));
            line[from.into_iter().max()??..].split(" == ").next()
        })
        .collect();
    let is_defined = |name: &str, keywords: &[&'static str]| {
        let mut keywords = keywords.iter();
        keywords.any(|keyword| structs.contains(&(name, keyword)))
    };
    let mut facts = facts();
    // What is declared inside another record is asserted as its members.
    facts.retain(|fact| {
        let (what, rest) = fact.split_once('(').unwrap();
        let name = rest.split([',', ')']).next().unwrap();
        match what {
            "sizeof" => is_defined(name, &["struct ", "union "]),
            _ => is_defined(name, &["struct "]),
        }
    });
    assert!(facts.len() > 750, "{} facts", facts.len());
    // bindgen appends a line to a name that Rust reserves.
    let missing: Vec<_> = facts
        .iter()
        .filter(|fact| {
            !complaints.contains(fact.as_str())
                && !complaints.contains(fact.replace("_)", ")").as_str())
        })
        .collect();
    assert!(missing.is_empty(), "not asserted: {missing:?}\n{said}");
}
