//! Real runtimes in processes.

use std::path::{Path, PathBuf};

use xtask::fetch;

use crate::common::shared::{Fetched, there};
use crate::running::{Waiting, binding, driver, file, rules};

fn runtime_5_2() -> Option<&'static Path> {
    static FETCHED: Fetched = Fetched::new();
    there(
        "the real HIP 5.2.3 runtime, live",
        &FETCHED,
        fetch::runtime_5_2,
    )
}

fn runtime_7_14() -> Option<&'static Path> {
    static FETCHED: Fetched = Fetched::new();
    there(
        "the real HIP 7.14 runtime, live",
        &FETCHED,
        fetch::runtime_7_14,
    )
}

fn stub() -> Option<PathBuf> {
    static FETCHED: Fetched = Fetched::new();
    let folder = there(
        "TileLang's stub beside real runtimes",
        &FETCHED,
        fetch::tilelang_0_1_10,
    )?;
    Some(folder.join("libhip_stub.so"))
}

#[test]
fn a_global_stub_captures_six_references_of_the_real_5_2_runtime() {
    let (Some(runtime), Some(stub)) = (runtime_5_2(), stub()) else {
        return;
    };
    let words = [
        "open",
        "stub",
        stub.to_str().unwrap(),
        "now,global",
        "open",
        "runtime",
        runtime.to_str().unwrap(),
        "now,local",
    ];
    let waiting = Waiting::start(&mut driver(runtime.parent().unwrap(), &words));
    let report = waiting.report();
    let captured: Vec<&serde_json::Value> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["rule"] == "captured-runtime")
        .collect();
    assert_eq!(captured.len(), 1, "{captured:#?}");
    let evidence: Vec<&str> = captured[0]["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line.as_str().unwrap().split([' ', '@']).next())
        .filter(|name| name.starts_with("hip") || name.starts_with("hsa"))
        .collect();
    assert_eq!(
        evidence,
        [
            "hipHostMalloc",
            "hipMemcpy",
            "hipMemcpyAsync",
            "hipModuleLaunchKernel",
            "hsa_init",
            "hsa_shut_down"
        ]
    );
    let hip = file(&captured[0]["object"]);
    assert_eq!(binding(&report, &hip, "hsa_init").1, "libhip_stub.so");
}

#[test]
fn the_real_5_2_runtime_alone_is_clean() {
    let Some(runtime) = runtime_5_2() else { return };
    let words = ["open", "runtime", runtime.to_str().unwrap(), "now,local"];
    let waiting = Waiting::start(&mut driver(runtime.parent().unwrap(), &words));
    let report = waiting.report();
    assert_eq!(report["exit"], 0, "{:#?}", report["findings"]);
    let runtimes = report["runtimes"].as_array().unwrap();
    let hip = runtimes
        .iter()
        .find(|runtime| runtime["kind"] == "hip")
        .unwrap();
    assert!(hip["version"].as_str().unwrap().starts_with("5.2."));
    assert_eq!(hip["scope"], "local");
    assert!(hip["inode"].as_u64().unwrap() > 0);
    let hsa = runtimes
        .iter()
        .find(|runtime| runtime["kind"] == "hsa")
        .unwrap();
    assert_eq!(hsa["needed_by"][0][0], hip["path"]);
}

#[test]
fn the_real_7_14_runtime_alone_has_no_conflict() {
    let Some(runtime) = runtime_7_14() else {
        return;
    };
    let words = ["open", "runtime", runtime.to_str().unwrap(), "now,global"];
    let waiting = Waiting::start(&mut driver(runtime.parent().unwrap(), &words));
    let report = waiting.report();
    assert_eq!(report["exit"], 0, "{:#?}", report["findings"]);
    let runtimes = report["runtimes"].as_array().unwrap();
    let hip = runtimes
        .iter()
        .find(|runtime| runtime["kind"] == "hip")
        .unwrap();
    assert_eq!(hip["version"], "7.14.60850");
}

#[test]
fn two_real_runtimes_are_a_conflict_with_both_chains() {
    let (Some(old), Some(new)) = (runtime_5_2(), runtime_7_14()) else {
        return;
    };
    let words = [
        "open",
        "old",
        old.to_str().unwrap(),
        "now,local",
        "open",
        "new",
        new.to_str().unwrap(),
        "now,local",
    ];
    let waiting = Waiting::start(&mut driver(old.parent().unwrap(), &words));
    let report = waiting.report();
    assert_eq!(report["exit"], 2);
    let findings = report["findings"].as_array().unwrap();
    let copies: Vec<String> = findings
        .iter()
        .filter(|finding| finding["rule"] == "two-runtimes")
        .map(|finding| finding["evidence"].to_string())
        .collect();
    assert_eq!(copies.len(), 2, "HIP and HSA: {findings:#?}");
    let hip = copies
        .iter()
        .find(|lines| lines.contains("libamdhip64.so.5"))
        .unwrap();
    assert!(hip.contains("libamdhip64-00ca863d"), "{hip}");
    assert!(!rules(&report).contains(&"captured-runtime".to_string()));
}
