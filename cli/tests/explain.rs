//! `hiplazy explain`, as a user calls it.

mod common;

use common::hiplazy;
use common::shared::{run, text_of};
use serde_json::Value;

fn json(name: &str) -> Value {
    let text = run(hiplazy().args(["explain", "--json", name]));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_function_of_the_bug_class_is_explained() {
    let text = run(hiplazy().args(["explain", "hipGetDeviceProperties"]));
    for part in [
        "hipGetDevicePropertiesR0600 since 6.0",
        "792 bytes",
        "1472 bytes",
        "libamdhip64 5.2.3 (Debian)",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json = json("hipGetDeviceProperties");
    assert_eq!(
        json["renamed"]["replacement"],
        "hipGetDevicePropertiesR0600"
    );
    assert_eq!(json["functions"][1]["node"], "hip_6.0");
    assert_eq!(
        json["functions"][1]["structs"][0]["layouts"][0]["size"],
        1472
    );
}

#[test]
fn an_error_code_has_its_name_and_text() {
    let json = json("709");
    assert_eq!(json["errors"][0]["name"], "hipErrorContextIsDestroyed");
    assert_eq!(json["errors"][0]["text"], "context is destroyed");
}

#[test]
fn a_message_is_explained_with_and_without_quotes() {
    let words = ["invalid", "configuration", "argument"];
    for words in [&words[..], &[&words.join(" ")]] {
        let text = run(hiplazy().arg("explain").args(words));
        assert!(text.starts_with("9 hipErrorInvalidConfiguration"), "{text}");
    }
    let message = "_C.so: undefined symbol: hipMemAdvise_v2, version hip_7.1";
    let json = json(message);
    assert_eq!(json["name"], "hipMemAdvise_v2");
    assert_eq!(json["functions"][0]["node"], "hip_7.1");
}

#[test]
fn a_mistyped_name_in_a_message_is_the_one_that_is_named() {
    let message = "x.so: undefined symbol: hipMaloc";
    let output = hiplazy().args(["explain", message]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = text_of(&output);
    assert!(text.contains("\"hipMaloc\" is no function"), "{text}");
    assert!(text.contains("did you mean hipMalloc?"), "{text}");
}

#[test]
fn fields_are_listed_on_request() {
    let short = run(hiplazy().args(["explain", "hipGetDevicePropertiesR0600"]));
    let long = run(hiplazy().args(["explain", "-v", "hipGetDevicePropertiesR0600"]));
    assert!(!short.contains("maxThreadsPerBlock") && long.contains("maxThreadsPerBlock"));
}

#[test]
fn a_mistyped_name_is_a_failure_with_a_suggestion() {
    let output = hiplazy().args(["explain", "hipMaloc"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = text_of(&output);
    assert!(text.contains("did you mean hipMalloc?"), "{text}");
}

#[test]
fn control_characters_of_a_name_do_not_reach_the_terminal() {
    let output = hiplazy()
        .args(["explain", "hip\u{1b}[31m"])
        .output()
        .unwrap();
    assert!(!output.stderr.contains(&0x1b), "{}", text_of(&output));
}
