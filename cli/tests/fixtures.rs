//! Each rule of `hiplazy lint` finds what is wrong, and nothing in the nearest thing
//! without fault. `tests/fixtures/README.md` has the layout.

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{lint, report, shared};
use hiplazy_cli::commands::lint::RULES;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Runs the compiler as a source's own comment says.
fn build(source: &Path, folder: &Path) {
    let text = fs::read_to_string(source).unwrap();
    let here = source.parent().unwrap().to_str().unwrap();
    let command = text.lines().find_map(|line| line.strip_prefix("// cc "));
    let command = command.unwrap_or_else(|| panic!("{}: no line \"// cc\"", source.display()));
    let mut words: Vec<String> = command
        .split(' ')
        .map(|word| word.replace("$HERE", here))
        .collect();
    // Before the libraries, which the linker would drop otherwise.
    words.insert(0, source.to_str().unwrap().to_string());
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    shared::run(Command::new(compiler).args(words).current_dir(folder));
}

/// Builds `bad` or `good` of a fixture; the folder to lint.
fn built(test: &str, fixture: &str, variant: &str) -> PathBuf {
    let folder = shared::scratch(&format!("{test}-{fixture}"));
    let linked = folder.join("linked");
    let linted = folder.join("linted");
    fs::create_dir(&linked).unwrap();
    fs::create_dir(&linted).unwrap();
    for major in [5, 6, 7] {
        let name = format!("libamdhip64.so.{major}");
        let map = fixtures().join("runtime.map");
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        shared::run(
            Command::new(compiler)
                .args(["-shared", "-fPIC", "-o", &name])
                .arg(format!("-Wl,-soname,{name}"))
                .arg(format!("-Wl,--version-script={}", map.display()))
                .arg(fixtures().join("runtime.c"))
                .current_dir(&linked),
        );
    }
    let sources = fs::read_dir(fixtures().join(fixture).join(variant)).unwrap();
    let mut sources: Vec<PathBuf> = sources.map(|entry| entry.unwrap().path()).collect();
    sources.sort();
    for source in sources {
        if source.extension().is_some_and(|ending| ending == "c") {
            build(&source, &linted);
        }
    }
    linted
}

/// `hiplazy lint PATH`, with the fixture's own arguments if it has some.
fn lint_fixture(fixture: &str, path: &Path) -> Command {
    let mut command = common::lint(path);
    if let Ok(arguments) = fs::read_to_string(fixtures().join(fixture).join("arguments")) {
        command.args(arguments.split_whitespace());
    }
    command
}

/// The JSON report on a fixture.
fn report_on_fixture(fixture: &str, path: &Path) -> serde_json::Value {
    let output = lint_fixture(fixture, path).arg("--json").output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shared::text_of(&output)))
}

/// `(folder, rule id)` of every fixture.
fn all() -> Vec<(String, String)> {
    let folders = fs::read_dir(fixtures()).unwrap();
    let mut names: Vec<String> = folders
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    let id = |name: &String| name[3..].replace('_', "-");
    names.iter().map(|name| (name.clone(), id(name))).collect()
}

/// With the nodes that they ask for: a search in the page finds who refers to a function.
#[test]
fn clients_list_the_names_that_they_refer_to() {
    for (variant, names) in [("bad", ["hipMalloc"]), ("good", ["hipMalloc@hip_4.2"])] {
        let report = report(&built("names", "06_unversioned_reference", variant));
        let found = &report["clients"][0]["names"];
        assert_eq!(*found, serde_json::json!(names), "{variant}");
    }
}

#[test]
fn every_rule_has_a_fixture_and_every_fixture_a_rule() {
    let mut rules: Vec<String> = RULES.iter().map(|rule| rule.id.to_string()).collect();
    let mut fixtures: Vec<String> = all().into_iter().map(|(_, id)| id).collect();
    rules.sort();
    fixtures.sort();
    assert_eq!(rules, fixtures);
}

#[test]
fn each_rule_finds_its_bad_fixture() {
    for (fixture, id) in all() {
        let linted = built("bad", &fixture, "bad");
        let report = report_on_fixture(&fixture, &linted);
        let found = report["findings"].as_array().unwrap();
        let of_rule = found.iter().filter(|found| found["rule"] == id.as_str());
        assert_eq!(of_rule.count(), 1, "{fixture}: {report:#}");
        let rule = RULES.iter().find(|rule| rule.id == id).unwrap();
        let text = shared::text_of(
            &lint_fixture(&fixture, &linted)
                .args(["-v"])
                .output()
                .unwrap(),
        );
        for said in [rule.title, rule.meaning, rule.owner] {
            assert!(text.contains(said), "{fixture}: {text}");
        }
        let status = lint_fixture(&fixture, &linted)
            .output()
            .unwrap()
            .status
            .code();
        let worst = found
            .iter()
            .map(|found| {
                let rule = RULES.iter().find(|rule| found["rule"] == rule.id).unwrap();
                rule.severity
            })
            .max();
        let expected = match worst.unwrap() {
            hiplazy_cli::finding::Severity::Conflict => 2,
            hiplazy_cli::finding::Severity::Warning => 1,
            hiplazy_cli::finding::Severity::Note => 0,
        };
        assert_eq!(status, Some(expected), "{fixture}");
    }
}

#[test]
fn nothing_is_found_in_good_fixtures() {
    for (fixture, _) in all() {
        let linted = built("good", &fixture, "good");
        let report = report_on_fixture(&fixture, &linted);
        assert_eq!(
            report["findings"].as_array().unwrap().len(),
            0,
            "{fixture}: {report:#}"
        );
        assert!(report["objects"].as_u64().unwrap() > 0, "{fixture}");
        let output = lint_fixture(&fixture, &linted).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            shared::text_of(&output)
        );
    }
}

#[test]
fn a_rule_that_is_allowed_is_not_reported() {
    let linted = built("allowed", "01_bare_export", "bad");
    let allowed = lint(&linted)
        .args(["--allow", "bare-export"])
        .output()
        .unwrap();
    assert_eq!(
        allowed.status.code(),
        Some(0),
        "{}",
        shared::text_of(&allowed)
    );
    let unknown = lint(&linted)
        .args(["--allow", "bare-exports"])
        .output()
        .unwrap();
    assert_eq!(unknown.status.code(), Some(3));
    assert!(shared::text_of(&unknown).contains("bare-export,"));
}

/// Names that are not HIP's are nobody's: who defines them is listed and not blamed.
#[test]
fn prefixes_find_exporters_of_other_libraries() {
    let folder = shared::scratch("prefix");
    let source = folder.join("stub.c");
    fs::write(
        &source,
        "// cc -shared -fPIC -o libcudart_stub.so\nint cudaMalloc(void) { return 0; }\n",
    )
    .unwrap();
    build(&source, &folder);
    let library = folder.join("libcudart_stub.so");
    // As reports write it, too.
    for prefix in ["cuda", "cuda*"] {
        let output = lint(&library).args(["--prefix", prefix]).output().unwrap();
        let text = shared::text_of(&output);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(
            text.contains("libcudart_stub.so: 1 name, 1 without a node"),
            "{text}"
        );
        assert!(
            !text.contains("HIP") && !text.contains("github.com"),
            "{text}"
        );
    }
    for prefix in ["", "*"] {
        let output = lint(&library).args(["--prefix", prefix]).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{prefix}");
        assert!(shared::text_of(&output).contains("all names are too many"));
    }
}

/// With `--prefix hip` too the runtime is the one that has the names.
#[test]
fn a_prefix_makes_no_conflict_of_the_runtime() {
    let linted = built("prefix-runtime", "09_bundled_runtime", "good");
    let output = lint(&linted).args(["--prefix", "hip"]).output().unwrap();
    let text = shared::text_of(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
}

#[test]
fn two_objects_with_the_same_unique_symbol_of_hip_clash() {
    let folder = shared::scratch("unique-clash");
    for (name, symbol) in [
        ("a", "_ZZN8hip_impl5stateEvE1s"),
        ("b", "_ZZN8hip_impl5stateEvE1s"),
        ("c", "_ZZN4mine5stateEvE1s"),
    ] {
        let source = folder.join(format!("{name}.c"));
        let text = format!(
            "// cc -shared -fPIC -o lib{name}.so\n\
             extern int hipMalloc(void) __attribute__((weak));\n\
             __asm__(\".type {symbol}, @gnu_unique_object\");\n\
             int {symbol} = 1;\n"
        );
        fs::write(&source, text).unwrap();
        build(&source, &folder);
    }
    let report = report(&folder);
    let found = report["findings"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!(found[0]["rule"], "unique-symbol");
    assert!(found[0]["object"].as_str().unwrap().ends_with("liba.so"));
    assert!(found[0]["detail"].as_str().unwrap().ends_with("libb.so"));
}

/// A library that defines `hipMalloc`, linked with these arguments; the rules that find it.
fn rules_of(folder: &Path, file: &str, arguments: &[&str]) -> Vec<String> {
    let source = folder.join("exporter.c");
    fs::write(&source, "int hipMalloc(void) { return 0; }\n").unwrap();
    let linted = folder.join("linted");
    fs::create_dir_all(&linted).unwrap();
    let library = linted.join(file);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command.args(["-shared", "-fPIC"]).args(arguments);
    shared::run(command.arg("-o").args([&library, &source]));
    let report = report(&library);
    let found = report["findings"].as_array().unwrap().iter();
    found
        .map(|finding| finding["rule"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn the_runtimes_own_node_is_none_of_an_exporters_own() {
    let folder = shared::scratch("lint-nodes");
    for (node, rule) in [("MINE_1", "node-export"), ("hip_4.2", "bare-export")] {
        let map = folder.join("map");
        fs::write(
            &map,
            format!("{node} {{ global: hipMalloc; local: *; }};\n"),
        )
        .unwrap();
        let script = format!("-Wl,--version-script={}", map.display());
        let rules = rules_of(&folder, &format!("{node}.so"), &[&script]);
        assert_eq!(rules, [rule], "{node}");
    }
}

#[test]
fn a_runtimes_file_name_is_a_disguise_whatever_the_soname() {
    let folder = shared::scratch("lint-file-name");
    let soname = "-Wl,-soname,libother.so";
    let rules = rules_of(&folder, "libamdhip64.so.7", &[soname]);
    assert!(
        rules.contains(&"disguised-runtime".to_string()),
        "{rules:?}"
    );
    let rules = rules_of(&folder, "libother.so", &[soname]);
    assert_eq!(rules, ["bare-export"]);
}
