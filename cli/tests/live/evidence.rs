//! What reports conclude from nodes and functions: who will be caught, and which headers a
//! client was compiled with.

use std::fs;

use crate::common::shared;
use crate::running::{Waiting, binding, built, driver, json, library, rules};
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

/// Linked with HIP 7, compiled with the headers of HIP 5.
#[test]
fn the_functions_of_a_client_tell_its_headers_whatever_it_needs() {
    let folder = shared::scratch("evidence_old");
    let text = "int hipGetDeviceProperties(void *, int);\nint hipDrvMemcpy3D(const void *);\n\
                int old(void) { static char memory[4096];\n\
                return hipGetDeviceProperties(memory, 0) + hipDrvMemcpy3D(memory); }\n";
    let needs = [
        format!("-L{}", built().runtime.display()),
        "-l:libamdhip64.so.7".to_string(),
    ];
    let client = library(&folder, "old.so", text, &needs);
    let words = ["open", "client", client.to_str().unwrap(), "lazy,local"];
    let report = Waiting::start(&mut driver(&built().runtime, &words)).report();
    assert_eq!(
        detail(&report, "old-struct"),
        "refers to hipGetDeviceProperties and needs HIP 7"
    );
    let generation = detail(&report, "struct-generation");
    assert!(
        generation.starts_with("compiled with headers of HIP 5, bound to a runtime of HIP 7.")
            && generation.contains("hipDrvMemcpy3D"),
        "{generation}"
    );
}

/// The reverse: its functions came with HIP 6, and it needs HIP 5.
#[test]
fn a_client_of_new_headers_that_needs_an_old_runtime_is_told() {
    let folder = shared::scratch("evidence_new");
    let library_of_hip_5 = fakehip::Library::hip(fakehip::Version::V5_7_1);
    fakehip::build(&folder, &[library_of_hip_5]).unwrap_or_else(|error| panic!("{error}"));
    let text = "int hipGetDevicePropertiesR0600(void *, int);\nint hipMalloc(void **, unsigned long);\n\
                int new(void) { static char memory[4096]; void *at;\n\
                return hipGetDevicePropertiesR0600(memory, 0) + hipMalloc(&at, 1); }\n";
    let needs = [
        format!("-L{}", folder.display()),
        "-l:libamdhip64.so.5".to_string(),
        "-Wl,-z,lazy".to_string(),
    ];
    let client = library(&folder, "new.so", text, &needs);
    let words = ["open", "client", client.to_str().unwrap(), "lazy,local"];
    let report = Waiting::start(&mut driver(&folder, &words)).report();
    assert_eq!(
        detail(&report, "new-struct"),
        "refers to hipGetDevicePropertiesR0600 and needs HIP 5"
    );
    assert_eq!(detail(&report, "unresolved"), "hipGetDevicePropertiesR0600");
}

/// What is global is in sight, also behind the runtime.
#[test]
fn an_exporter_behind_the_runtime_is_not_out_of_sight() {
    let folder = shared::scratch("evidence_behind");
    let text = "int hipInit(unsigned flags) { return (int)flags; }\n";
    let exporter = library(&folder, "exporter.so", text, &[]);
    let runtime = built().runtime.join("libamdhip64.so.7");
    for (flags, expected, other) in [
        ("now,global", "shadowed-exporter", "local-exporter"),
        ("now,local", "local-exporter", "shadowed-exporter"),
    ] {
        let words = [
            "open",
            "runtime",
            runtime.to_str().unwrap(),
            "now,global",
            "open",
            "exporter",
            exporter.to_str().unwrap(),
            flags,
        ];
        let report = Waiting::start(&mut driver(&folder, &words)).report();
        let found = rules(&report);
        assert!(found.contains(&expected.to_string()), "{flags}: {found:?}");
        assert!(!found.contains(&other.to_string()), "{flags}: {found:?}");
    }
}
