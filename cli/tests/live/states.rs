//! The control states of the bug: what was opened in which order and how decides who
//! answers the client. Each is judged from outside, before and after the first call.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use xtask::fetch;

use crate::common::hiplazy;
use crate::common::shared::{self, Fetched, there};
use crate::running::{Waiting, binding, built, driver, library, rules};

const PROPERTIES: &str = "hipGetDevicePropertiesR0600";

fn old_stub() -> Option<PathBuf> {
    static FETCHED: Fetched = Fetched::new();
    let folder = there("TileLang 0.1.10's stub", &FETCHED, fetch::tilelang_0_1_10)?;
    Some(folder.join("libhip_stub.so"))
}

/// Opens what the words say (`stub`, `client` or another client, `runtime`, each with
/// its flags), and checks who answers the client: the state of the word before the first
/// call, and the exit status.
fn check(opened: &[(&str, &str)], client: &str, state: &str, captured: bool, exit: i32) {
    let Some(stub) = old_stub() else { return };
    let folder = &built().folder;
    let path = |what: &str| match what {
        "stub" => stub.display().to_string(),
        "runtime" => built()
            .runtime
            .join("libamdhip64.so.7")
            .display()
            .to_string(),
        _ => folder.join(client).display().to_string(),
    };
    let opened: Vec<[String; 4]> = opened
        .iter()
        .map(|(what, flags)| ["open".into(), (*what).into(), path(what), (*flags).into()])
        .collect();
    let words: Vec<&str> = opened.iter().flatten().map(String::as_str).collect();
    let provider = if captured {
        "libhip_stub.so"
    } else {
        "libamdhip64.so.7"
    };
    for called in [false, true] {
        let mut words = words.clone();
        if called {
            words.extend(["read", "client"]);
        }
        let waiting = Waiting::start(&mut driver(&built().runtime, &words));
        let output = waiting.doctor(&["--json"]);
        let report = crate::running::json(&output);
        let state = if called { "bound" } else { state };
        assert_eq!(
            binding(&report, client, PROPERTIES),
            (state.to_string(), provider.to_string()),
            "called: {called}"
        );
        let found = rules(&report);
        assert_eq!(
            found.iter().any(|rule| rule == "wrong-provider"),
            captured,
            "{found:?}"
        );
        assert_eq!(output.status.code(), Some(exit), "{found:?}");
        // Both the text and the process say the same.
        if called {
            let right = waiting
                .said
                .iter()
                .any(|line| line.contains("written=1472"));
            assert_eq!(right, !captured, "{:?}", waiting.said);
        }
        waiting.end();
    }
}

#[test]
fn no_stub_is_clean() {
    let client = built().folder.join("client.so");
    let words = ["open", "client", client.to_str().unwrap(), "now,local"];
    let waiting = Waiting::start(&mut driver(&built().runtime, &words));
    let output = waiting.doctor(&[]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        shared::text_of(&output)
    );
}

#[test]
fn a_local_stub_captures_nobody() {
    check(
        &[("stub", "now,local"), ("client", "now,local")],
        "client.so",
        "bound",
        false,
        1,
    );
}

#[test]
fn a_global_stub_captures_the_client() {
    check(
        &[("stub", "now,global"), ("client", "now,local")],
        "client.so",
        "bound",
        true,
        2,
    );
}

#[test]
fn promoting_the_runtime_after_it_does_not_help() {
    check(
        &[
            ("stub", "now,global"),
            ("runtime", "now,local"),
            ("runtime", "now,global,noload"),
            ("client", "now,local"),
        ],
        "client.so",
        "bound",
        true,
        2,
    );
}

#[test]
fn the_runtime_globally_first_hides_it() {
    check(
        &[
            ("runtime", "now,global"),
            ("stub", "now,global"),
            ("client", "now,local"),
        ],
        "client.so",
        "bound",
        false,
        1,
    );
}

#[test]
fn a_client_with_deepbind_is_not_captured() {
    check(
        &[("stub", "now,global"), ("client", "now,local,deepbind")],
        "client.so",
        "bound",
        false,
        1,
    );
}

#[test]
fn a_lazy_client_with_deepbind_would_not_be_captured() {
    check(
        &[("stub", "now,global"), ("client", "lazy,local,deepbind")],
        "client.so",
        "lazy",
        false,
        1,
    );
}

#[test]
fn a_stub_that_is_promoted_later_captures() {
    check(
        &[
            ("stub", "now,local"),
            ("stub", "now,global,noload"),
            ("client", "now,local"),
        ],
        "client.so",
        "bound",
        true,
        2,
    );
}

#[test]
fn a_lazy_client_opened_before_would_be_captured_at_its_first_call() {
    check(
        &[("client", "lazy,local"), ("stub", "now,global")],
        "client.so",
        "lazy",
        true,
        2,
    );
}

#[test]
fn a_client_linked_symbolically_is_captured() {
    check(
        &[("stub", "now,global"), ("client", "now,local")],
        "client_symbolic.so",
        "bound",
        true,
        2,
    );
}

#[test]
fn a_client_without_plt_is_captured() {
    check(
        &[("stub", "now,global"), ("client", "now,local")],
        "client_no_plt.so",
        "bound",
        true,
        2,
    );
}

/// Tracing tools do this on purpose.
#[test]
fn a_preloaded_library_that_answers_is_a_warning_of_its_own() {
    let Some(stub) = old_stub() else { return };
    let client = built().folder.join("client.so");
    let words = ["open", "client", client.to_str().unwrap(), "now,local"];
    let mut command = driver(&built().runtime, &words);
    command.env("LD_PRELOAD", &stub);
    let report = Waiting::start(&mut command).report();
    let found = rules(&report);
    assert!(
        found.contains(&"preloaded-provider".to_string()),
        "{found:?}"
    );
    assert!(!found.contains(&"wrong-provider".to_string()), "{found:?}");
}

/// The command has the environment of `run`, which knows it therefore.
#[test]
fn run_knows_what_it_has_preloaded() {
    let folder = shared::scratch("live-preloaded");
    let text = format!("int {PROPERTIES}(void *it, int device) {{ return it ? device : 1; }}\n");
    let stub = library(&folder, "stub.so", &text, &[]);
    let client = built().folder.join("client.so");
    let mut command = hiplazy();
    command.env("LD_LIBRARY_PATH", &built().runtime);
    command.args(["run", "--json", "--"]).arg(&built().driver);
    command.arg("open").arg("client").arg(client);
    command.args(["now,local", "read", "client"]);
    let output = command.env("LD_PRELOAD", &stub).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let report = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let found = rules(&report);
    assert!(
        found.contains(&"preloaded-provider".to_string()),
        "{found:?}"
    );
    assert!(!found.contains(&"wrong-provider".to_string()), "{found:?}");
}

#[test]
fn the_forecast_names_the_stub_that_is_first_and_says_where() {
    let Some(stub) = old_stub() else { return };
    let words = ["open", "stub", stub.to_str().unwrap(), "now,global"];
    let waiting = Waiting::start(&mut driver(&built().runtime, &words));
    let report = waiting.report();
    let forecast = report["forecast"].as_array().unwrap();
    let malloc = forecast
        .iter()
        .find(|line| line["name"] == "hipMalloc")
        .unwrap();
    assert_eq!(malloc["node"], "hip_4.2");
    assert!(
        malloc["provider"]
            .as_str()
            .unwrap()
            .ends_with("/libhip_stub.so")
    );
    assert!(rules(&report).contains(&"waiting-exporter".to_string()));
    let exporter = &report["exporters"][0];
    assert!(exporter["scope"]["global"]["position"].as_u64().unwrap() > 0);
}

/// ld.so takes what lies under the name that the client needs, and so does the client.
#[test]
fn another_library_under_the_runtimes_file_name_is_a_conflict() {
    let folder = shared::scratch("live-file-name");
    let source = folder.join("other.c");
    let text = "int hipGetDevicePropertiesR0600(void *properties, int device) { return 0; }\n";
    fs::write(&source, text).unwrap();
    let map = folder.join("map");
    fs::write(&map, "hip_6.0 { global: hip*; local: *; };\n").unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command.args(["-shared", "-fPIC", "-Wl,-soname,libother.so", "-o"]);
    command.arg(folder.join("libamdhip64.so.7")).arg(&source);
    shared::run(command.arg(format!("-Wl,--version-script={}", map.display())));
    let client = built().folder.join("client.so");
    let words = ["open", "client", client.to_str().unwrap(), "now,local"];
    let waiting = Waiting::start(&mut driver(&folder, &words));
    let output = waiting.doctor(&["--json"]);
    let found = rules(&crate::running::json(&output));
    for rule in ["wrong-provider", "disguised-runtime"] {
        assert!(found.iter().any(|found| found == rule), "{rule}: {found:?}");
    }
    assert_eq!(output.status.code(), Some(2));
    waiting.end();
}

/// Two libraries that share a name of their own are no business of HIP's.
#[test]
fn a_name_of_ones_own_that_begins_like_hips_is_no_conflict() {
    let folder = shared::scratch("live-own-name");
    let compiler = || std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let build = |name: &str, text: &str| {
        let source = folder.join(format!("{name}.c"));
        fs::write(&source, text).unwrap();
        let library = folder.join(format!("{name}.so"));
        let mut command = Command::new(compiler());
        command.args(["-shared", "-fPIC", "-o"]);
        shared::run(command.args([&library, &source]));
        library.display().to_string()
    };
    let host = build("host", "int hipSetupThing(void) { return 0; }\n");
    let plugin = "int hipSetupThing(void);\nint plugin(void) { return hipSetupThing(); }\n";
    let plugin = build("plugin", plugin);
    let words = [
        "open",
        "host",
        &host,
        "now,global",
        "open",
        "plugin",
        &plugin,
        "now,local",
    ];
    let waiting = Waiting::start(&mut driver(&built().runtime, &words));
    let output = waiting.doctor(&["--json"]);
    let found = rules(&crate::running::json(&output));
    assert!(
        !found.iter().any(|rule| rule == "wrong-provider"),
        "{found:?}"
    );
    assert_ne!(output.status.code(), Some(2), "{found:?}");
    waiting.end();
}
