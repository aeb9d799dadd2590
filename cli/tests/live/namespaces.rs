//! One runtime in several namespaces of a process (`dlmopen`).

use serde_json::Value;

use crate::common::shared;
use crate::running::{Waiting, built, driver, rules};

fn finding<'r>(report: &'r Value, rule: &str) -> Option<&'r Value> {
    let mut findings = report["findings"].as_array().unwrap().iter();
    findings.find(|finding| finding["rule"] == rule)
}

#[test]
fn one_file_in_two_namespaces_is_named_with_them_and_has_advice_of_its_own() {
    let client = built().folder.join("client.so");
    let client = client.to_str().unwrap();
    let words = [
        "namespace",
        "client",
        client,
        "open",
        "again",
        client,
        "now,local",
    ];
    let waiting = Waiting::start(&mut driver(&built().runtime, &words));
    let report = waiting.report();
    let found = finding(&report, "two-namespaces").expect("it is found");
    let runtime = built().runtime.join("libamdhip64.so.7");
    let runtime = std::fs::canonicalize(runtime)
        .unwrap()
        .display()
        .to_string();
    assert_eq!(found["object"], runtime.as_str());
    let detail = found["detail"].as_str().unwrap();
    for place in ["the program's namespace", "namespace 1"] {
        assert!(detail.contains(&format!("{runtime} ({place})")), "{detail}");
    }
    assert!(!rules(&report).contains(&"two-runtimes".to_string()));
    assert_eq!(report["exit"], 2);
    let text = shared::text_of(&waiting.doctor(&["-v"]));
    assert!(text.contains("dlmopen"), "{text}");
    assert!(!text.contains("find the same file"), "{text}");
}

/// The one that is alone in its namespace is no conflict.
#[test]
fn one_runtime_in_a_namespace_is_a_circumstance_only() {
    let client = built().folder.join("client.so");
    let words = ["namespace", "client", client.to_str().unwrap()];
    let report = Waiting::start(&mut driver(&built().runtime, &words)).report();
    assert!(finding(&report, "two-namespaces").is_none());
    assert_eq!(report["exit"], 0, "{:#}", report["findings"]);
}
