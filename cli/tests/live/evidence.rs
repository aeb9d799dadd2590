//! What reports conclude from nodes: who will be caught.

use std::fs;

use crate::common::shared;
use crate::running::{Waiting, binding, driver, json, library, rules};
use serde_json::Value;

fn detail<'r>(report: &'r Value, rule: &str) -> &'r str {
    let mut findings = report["findings"].as_array().unwrap().iter();
    let found = findings.find(|finding| finding["rule"] == rule);
    let found = found.unwrap_or_else(|| panic!("no {rule}: {report:#}"));
    found["detail"].as_str().unwrap()
}

/// Who asks for the runtime's node passes it by; who asks without one gets it.
#[test]
fn an_exporter_on_a_node_of_its_own_waits_for_those_that_ask_without_one() {
    let folder = shared::scratch("evidence_node");
    let map = folder.join("map");
    fs::write(&map, "MINE_1 { global: hip*; local: *; };\n").unwrap();
    let script = format!("-Wl,--version-script={}", map.display());
    let text =
        "int hipMalloc(void **memory, unsigned long size) { return memory ? (int)size : 1; }\n";
    let exporter = library(&folder, "exporter.so", text, &[script]);
    let text = "int hipMalloc(void **, unsigned long);\n\
                int unversioned(void) { void *memory; return hipMalloc(&memory, 1); }\n";
    let client = library(&folder, "unversioned.so", text, &[]);
    let words = [
        "open",
        "exporter",
        exporter.to_str().unwrap(),
        "now,global",
        "wait",
        "open",
        "client",
        client.to_str().unwrap(),
        "now,local",
    ];
    let mut waiting = Waiting::start(&mut driver(&folder, &words));
    let output = waiting.doctor(&["--json"]);
    let report = json(&output);
    let forecast = report["forecast"].as_array().unwrap().iter();
    let malloc: Vec<(&Value, String)> = forecast
        .filter(|line| line["name"] == "hipMalloc")
        .map(|line| (&line["node"], crate::running::file(&line["provider"])))
        .collect();
    assert_eq!(
        malloc,
        [
            (&Value::from("hip_4.2"), "nobody".to_string()),
            (&Value::Null, "exporter.so".to_string()),
        ]
    );
    assert!(!rules(&report).contains(&"local-exporter".to_string()));
    let detail = detail(&report, "waiting-exporter");
    assert!(
        detail.ends_with(
            "answers libraries that ask without a version node, and dlsym(RTLD_DEFAULT), for hipMalloc"
        ),
        "{detail}"
    );
    assert_eq!(output.status.code(), Some(1));
    let text = shared::text_of(&waiting.doctor(&[]));
    assert!(text.contains("hipMalloc without a node gets "), "{text}");
    // And so it comes.
    waiting.go_on();
    waiting.wait_again();
    let bound = binding(&waiting.report(), "unversioned.so", "hipMalloc");
    assert_eq!(bound, ("bound".into(), "exporter.so".into()));
}

/// An exporter without nodes catches everybody, which is said once.
#[test]
fn an_exporter_without_nodes_waits_for_everybody() {
    let folder = shared::scratch("evidence_bare");
    let text =
        "int hipMalloc(void **memory, unsigned long size) { return memory ? (int)size : 1; }\n";
    let exporter = library(&folder, "exporter.so", text, &[]);
    let words = ["open", "exporter", exporter.to_str().unwrap(), "now,global"];
    let report = Waiting::start(&mut driver(&folder, &words)).report();
    let detail = detail(&report, "waiting-exporter");
    assert!(detail.ends_with("; answers hipMalloc"), "{detail}");
}
