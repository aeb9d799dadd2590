//! The published schemas against what the command prints.

mod common;
#[allow(dead_code)]
mod synthetic;

use std::fs;
use std::path::Path;

use common::shared::{root, run, scratch};
use common::{hiplazy, report};
use hiplazy_cli::finding::Finding;
use hiplazy_cli::report::{Binding, Bound, Loaded, Printing, Report, Scope, Unreadable, Wrong};
use hiplazy_cli::rules;
use jsonschema::Validator;
use serde_json::Value;

/// The repository's own folder: `root()` is that of the package under test.
fn docs() -> std::path::PathBuf {
    root().join("../docs")
}

fn read(name: &str) -> Value {
    let text = fs::read_to_string(docs().join(name)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A schema by itself: a user's validator is given the one file.
fn schema(name: &str) -> Validator {
    let text = read(name).to_string();
    assert!(!text.contains(".schema.json#"), "{name} refers to another");
    jsonschema::validator_for(&read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Both schemas describe a rule, and the same one.
#[test]
fn a_rule_is_described_in_one_way() {
    let rule = |name: &str| read(name)["$defs"]["rule"].clone();
    assert_eq!(rule("explain.schema.json"), rule("report.schema.json"));
}

#[track_caller]
fn holds(schema: &Validator, value: &Value) {
    let errors: Vec<String> = schema
        .iter_errors(value)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

fn json(report: &Report) -> Value {
    let printing = Printing {
        json: true,
        ..Printing::default()
    };
    serde_json::from_str(&report.print(printing)).unwrap()
}

/// A report in which no list is empty and no field is null everywhere.
fn full() -> Report {
    let mut report = synthetic::process(12, 2);
    for (number, scope) in [Scope::Unknown, Scope::Namespace { number: 3 }]
        .into_iter()
        .enumerate()
    {
        let path = format!("/lib/{number}.so");
        report.loaded.push(Loaded { path, scope });
    }
    for (state, wrong) in [
        (Bound::Unresolved, None),
        (Bound::NoLibrary, None),
        (Bound::Unmapped, Some(Wrong::Unmapped)),
        (Bound::Bound, Some(Wrong::OtherCopy)),
        (Bound::Bound, Some(Wrong::OtherLibrary)),
    ] {
        report.bindings.push(Binding {
            object: "/lib/0.so".into(),
            name: "hipNobody".into(),
            node: None,
            state,
            provider: None,
            expected: None,
            wrong,
        });
    }
    report.passed_over.insert("static libraries".into(), 2);
    report.preface.push("1. HIPLAZY_RUNTIME: not set".into());
    report.unreadable.push(Unreadable {
        path: "/lib/1.so".into(),
        why: "truncated".into(),
    });
    report.clients[0]
        .breaks
        .push("hipPointerGetAttributes".into());
    let every = rules::ALL
        .iter()
        .map(|rule| Finding::new(rule, "/lib/0.so", "here"));
    report.findings.extend(every);
    report
}

#[test]
fn reports_follow_their_schema() {
    let schema = schema("report.schema.json");
    holds(&schema, &json(&full()));
    holds(&schema, &json(&synthetic::files()));
    holds(&schema, &json(&synthetic::hostile()));
    holds(&schema, &report(Path::new(env!("CARGO_BIN_EXE_hiplazy"))));
}

#[test]
fn so_do_those_of_this_machine_and_of_a_command() {
    let schema = schema("report.schema.json");
    let doctor = hiplazy().args(["doctor", "--json"]).output().unwrap();
    holds(&schema, &serde_json::from_slice(&doctor.stdout).unwrap());
    let file = scratch("schema-run").join("report.json");
    let command = [env!("CARGO_BIN_EXE_hiplazy"), "--version"];
    run(hiplazy()
        .args(["run", "--json", "--output"])
        .arg(&file)
        .arg("--")
        .args(command));
    let text = fs::read_to_string(file).unwrap();
    holds(&schema, &serde_json::from_str(&text).unwrap());
}

#[test]
fn explanations_follow_theirs() {
    let schema = schema("explain.schema.json");
    for name in [
        "hipMalloc",
        "hipGetDeviceProperties",
        "hipDrvGraphAddMemsetNode",
        "hipGetProcAddress",
        "__hipRegisterFatBinary",
        "hiprtcCompileProgram",
        "hsa_init",
        "hipMemoryType",
        "hipDeviceProp_tR0600",
        "hipMemoryTypeHost",
        "hipProfilerEnableExt",
        "709",
        "1054",
        "invalid",
        "hipStream_t",
        "hipMalloc@hip_9.9",
        "hip_9.9",
        "free(): invalid size",
        "hiplazy_hipMemCreate_h53",
        "hip_6.0",
        "libamdhip64-00ca863d.so.7.14.60850-0000000",
        "bare-export",
    ] {
        let text = run(hiplazy().args(["explain", "--json", name]));
        holds(&schema, &serde_json::from_str(&text).unwrap());
    }
}

/// Everything that the schema describes is written by some report: nothing in it is
/// left from a field that has gone.
#[test]
fn no_property_of_the_schema_is_unused() {
    let whole = read("report.schema.json");
    let printed = json(&full()).to_string();
    let mut properties = Vec::new();
    names(&whole, &mut properties);
    assert!(properties.len() > 60, "{}", properties.len());
    for name in properties {
        assert!(printed.contains(&format!("\"{name}\":")), "{name}");
    }
}

fn names<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                found.extend(properties.keys().map(String::as_str));
            }
            members.values().for_each(|value| names(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, found)),
        _ => {}
    }
}

#[test]
fn what_no_schema_mentions_would_be_noticed() {
    let schema = schema("report.schema.json");
    let good = json(&full());
    for (pointer, value) in [
        ("/schema", Value::from(2)),
        ("/command", Value::from("guess")),
        ("/runtimes/0/kind", Value::from("cuda")),
        ("/bindings/0/state", Value::Null),
        ("/bindings/0/wrong", Value::from("perhaps")),
        ("/loaded/0/scope", Value::from("global")),
        ("/exit", Value::from(4)),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        assert!(!schema.is_valid(&bad), "{pointer}");
    }
    let mut bad = good;
    bad["runtimes"][0]["surprise"] = Value::from(1);
    assert!(!schema.is_valid(&bad));
}
