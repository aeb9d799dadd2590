//! Libraries that stand for others: filters (`DT_FILTER`, `DT_AUXILIARY`).

use std::fs;
use std::path::Path;

use crate::common::shared;
use crate::running::{Waiting, binding, built, driver, library, rules};

/// A filter under the runtime's name, before `filtee`.
fn filter(folder: &Path, kind: &str, filtee: &Path) {
    let arguments = [
        "-Wl,-soname,libamdhip64.so.7".to_string(),
        format!("-Wl,--{kind}={}", filtee.display()),
    ];
    let text = "int hipInit(unsigned flags) { return flags ? 98 : 99; }\n";
    library(folder, "libamdhip64.so.7", text, &arguments);
}

#[test]
fn a_filter_before_the_real_runtime_is_a_note() {
    let client = built().folder.join("client.so");
    let words = ["open", "client", client.to_str().unwrap(), "now,local"];
    for kind in ["filter", "auxiliary"] {
        let folder = shared::scratch(&format!("live_{kind}"));
        // Another name, since the dynamic linker would take the filter for it.
        let real = folder.join("libreal.so");
        fs::copy(built().runtime.join("libamdhip64.so.7"), &real).unwrap();
        filter(&folder, kind, &real);
        let report = Waiting::start(&mut driver(&folder, &words)).report();
        let bound = binding(&report, "client.so", "hipGetDevicePropertiesR0600");
        assert_eq!(bound, ("bound".into(), "libreal.so".into()), "{kind}");
        assert_eq!(rules(&report), ["runtime-filter"], "{kind}");
        assert_eq!(report["exit"], 0, "{:#}", report["findings"]);
    }
}

/// What is behind it counts.
#[test]
fn a_filter_before_a_stub_is_a_conflict() {
    let folder = shared::scratch("live_filtered_stub");
    let text =
        "int hipGetDevicePropertiesR0600(void *it, int device) { return it ? device : 1; }\n";
    let stub = library(&folder, "libhip_stub.so", text, &[]);
    filter(&folder, "auxiliary", &stub);
    let client = built().folder.join("client.so");
    let words = ["open", "client", client.to_str().unwrap(), "lazy,local"];
    let report = Waiting::start(&mut driver(&folder, &words)).report();
    let found = rules(&report);
    assert!(found.contains(&"wrong-provider".to_string()), "{found:?}");
    assert_eq!(report["exit"], 2);
}
