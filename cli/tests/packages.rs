//! What `hiplazy lint` judges together: which file a need means, and where packages end.

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{found, hiplazy, report, shared, wheel};

/// Builds a library from its text, with these arguments of the compiler.
fn library(path: &Path, text: &str, arguments: &[&str]) -> PathBuf {
    let folder = path.parent().unwrap();
    fs::create_dir_all(folder).unwrap();
    let source = path.with_extension("c");
    fs::write(&source, text).unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command.current_dir(folder).args(["-shared", "-fPIC", "-o"]);
    // What is named is needed, whether or not anything of it is used.
    let linker = ["-Wl,--allow-shlib-undefined", "-Wl,--no-as-needed"];
    command.arg(path).arg(&source).args(linker).args(arguments);
    shared::run(&mut command);
    path.to_path_buf()
}

const STUB: &str = "int hipMalloc(void) { return 0; }\nint stub(void) { return 0; }\n";
const PLAIN: &str = "int stub(void) { return 0; }\n";
const USER: &str = "extern int stub(void);\nint user(void) { return stub(); }\n";

/// A library called `libst.so` that exports `hipMalloc`.
fn stub(folder: &Path) -> PathBuf {
    library(&folder.join("libst.so"), STUB, &["-Wl,-soname,libst.so"])
}

/// A user of the `libst.so` in `at`, with a search path.
fn user(path: &Path, at: &Path, search: &str) -> PathBuf {
    let at = format!("-L{}", at.display());
    let search = format!("-Wl,-rpath,{search}");
    library(path, USER, &[&at, "-lst", &search])
}

/// The JSON report on several paths.
fn report_on(paths: &[&Path]) -> serde_json::Value {
    let mut command = hiplazy();
    let output = command
        .arg("lint")
        .args(paths)
        .arg("--json")
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shared::text_of(&output)))
}

fn rule(id: &str, object: &str) -> (String, String) {
    (id.into(), object.into())
}

fn of_rule<'a>(report: &'a serde_json::Value, id: &str) -> Vec<&'a str> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["rule"] == id)
        .map(|finding| finding["object"].as_str().unwrap())
        .collect()
}

/// Stands for a runtime of a major: enough to be needed by its SONAME.
fn needed_runtime(folder: &Path, major: u32) -> String {
    let name = format!("libamdhip64.so.{major}");
    let soname = format!("-Wl,-soname,{name}");
    library(&folder.join(&name), "int unused;\n", &[&soname]);
    format!("{}/{name}", folder.display())
}

/// Two builds in folders of their own, each with its library beside it: nobody needs two.
#[test]
fn a_need_means_the_file_that_the_search_path_leads_to() {
    let folder = shared::scratch("two-builds");
    let linked = shared::scratch("two-builds-linked");
    for major in [6, 7] {
        let build = folder.join(format!("rocm{major}"));
        let runtime = needed_runtime(&linked, major);
        let soname = "-Wl,-soname,libfoo.so";
        library(
            &build.join("libfoo.so"),
            "int foo(void) { return 0; }\n",
            &[soname, &runtime],
        );
        let arguments = ["-L.", "-lfoo", "-Wl,-rpath,$ORIGIN", &runtime];
        library(
            &build.join("ext.so"),
            "extern int foo(void);\nint ext(void) { return foo(); }\n",
            &arguments,
        );
    }
    let report = report(&folder);
    assert_eq!(of_rule(&report, "two-majors"), [""; 0], "{report:#}");
    assert_eq!(of_rule(&report, "several-majors").len(), 1, "{report:#}");
    // The other way round it is found, and named.
    let mixed = folder.join("rocm7/mixed.so");
    let six = format!("-L{}/rocm6", folder.display());
    let seven = format!("{}/libamdhip64.so.7", linked.display());
    library(
        &mixed,
        "extern int foo(void);\nint ext(void) { return foo(); }\n",
        &[&six, "-lfoo", "-Wl,-rpath,$ORIGIN/../rocm6", &seven],
    );
    let report = common::report(&folder);
    assert_eq!(of_rule(&report, "two-majors"), [mixed.to_str().unwrap()]);
}

/// Names without a node are held against the runtime too, and against what is known of its
/// major where it is not there.
#[test]
fn functions_that_the_runtime_does_not_have_are_missed() {
    let folder = shared::scratch("missing");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let text = fs::read_to_string(fixtures.join("runtime.c")).unwrap();
    let map = fixtures.join("runtime.map");
    let map = format!("-Wl,--version-script={}", map.display());
    let runtime = folder.join("libamdhip64.so.6");
    library(&runtime, &text, &["-Wl,-soname,libamdhip64.so.6", &map]);
    let client = |name: &str, attributes: &str| {
        let text = format!(
            "extern int {name}(void) {attributes};\nint client(void) {{ return {name}(); }}\n"
        );
        // Against the file for the need, and not for the node.
        let stand_in = shared::scratch("missing-linked");
        let linked = needed_runtime(&stand_in, 6);
        library(&folder.join("client.so"), &text, &[&linked]);
    };
    for (name, attributes, beside, alone) in [
        (
            "hipMemAdvise_v2",
            "",
            &["missing-node"][..],
            &["unknown-node"][..],
        ),
        ("hipMemAdvise_v2", "__attribute__((weak))", &[], &[]),
        // HIP 6 has it, the one beside does not.
        ("hipFreeAsync", "", &["missing-node"], &[]),
        ("hipMalloc", "", &[], &[]),
        // None of the runtime's: somebody else has it.
        ("hipMyOwn", "", &[], &[]),
    ] {
        client(name, attributes);
        let ids = |path: &Path| {
            let found = found(&report(path)).into_iter().map(|(rule, _)| rule);
            let mut found: Vec<String> = found.collect();
            found.retain(|rule| rule.ends_with("-node"));
            found
        };
        assert_eq!(ids(&folder), beside, "{name}");
        assert_eq!(ids(&folder.join("client.so")), alone, "{name}");
    }
    // A library of the package that has the name answers it.
    client("hipFreeAsync", "");
    library(
        &folder.join("more.so"),
        "int hipFreeAsync(void) { return 0; }\n",
        &[],
    );
    assert_eq!(of_rule(&report(&folder), "missing-node"), [""; 0]);
}

/// One of two libraries of that name is meant; without a search path nothing tells which.
#[test]
fn nothing_is_claimed_where_several_files_may_be_meant() {
    let folder = shared::scratch("several");
    stub(&folder.join("a"));
    library(&folder.join("b/libst.so"), PLAIN, &["-Wl,-soname,libst.so"]);
    user(&folder.join("c/ext.so"), &folder.join("b"), "/opt/rocm/lib");
    let whole = report(&folder);
    assert_eq!(found(&whole), [rule("bare-export", "libst.so")]);
    assert_eq!(whole["exporters"][0]["needed_by"], serde_json::json!([]));
    // With a search path it is told, also by way of `$LIB`.
    user(&folder.join("c/ext.so"), &folder.join("b"), "$ORIGIN/../b");
    assert_eq!(found(&report(&folder)), [rule("bare-export", "libst.so")]);
    fs::rename(folder.join("a"), folder.join("lib64")).unwrap();
    let search = format!("{}/$LIB", folder.display());
    user(&folder.join("c/ext.so"), &folder.join("b"), &search);
    let found = found(&report(&folder));
    assert!(
        found.contains(&rule("global-exporter", "ext.so")),
        "{found:?}"
    );
}

/// The dynamic linker passes over a library for another machine.
#[test]
fn libraries_for_another_machine_answer_nobody() {
    let folder = shared::scratch("machines");
    let other = stub(&folder.join("aarch64"));
    user(
        &folder.join("x86_64/ext.so"),
        &folder.join("aarch64"),
        "$ORIGIN/../aarch64",
    );
    let expected = [
        rule("bare-export", "libst.so"),
        rule("global-exporter", "ext.so"),
    ];
    assert_eq!(found(&report(&folder)), expected);
    // e_machine of the ELF header: SPARC V9.
    let mut data = fs::read(&other).unwrap();
    data[18..20].copy_from_slice(&43u16.to_le_bytes());
    fs::write(&other, data).unwrap();
    assert_eq!(found(&report(&folder)), expected[..1]);
}

#[test]
fn files_on_the_command_line_are_judged_together() {
    let folder = shared::scratch("together");
    let exporter = stub(&folder);
    let client = user(&folder.join("ext.so"), &folder, "$ORIGIN");
    let expected = [
        rule("bare-export", "libst.so"),
        rule("global-exporter", "ext.so"),
    ];
    assert_eq!(found(&report(&folder)), expected);
    assert_eq!(found(&report_on(&[&client, &exporter])), expected);
    // Also from folders of their own, and with no search path: it is the only one there is.
    let other = shared::scratch("together-elsewhere");
    let client = user(&other.join("ext.so"), &folder, "/opt/rocm/lib");
    assert_eq!(found(&report_on(&[&client, &exporter])), expected);
    // A file in a folder that is named as well belongs to the folder.
    assert_eq!(report_on(&[&folder, &exporter])["objects"], 2);
}

/// Distributions are told apart wherever lint is started, and paths stay as given.
#[test]
fn site_packages_is_itself_from_within() {
    let folder = shared::scratch("within");
    let site = folder.join("site-packages");
    stub(&site.join("tl/lib"));
    // Nothing of HIP in it, and an executable stack.
    library(
        &site.join("other/libother.so"),
        "int other;\n",
        &["-Wl,-z,execstack"],
    );
    let expected = [rule("bare-export", "libst.so")];
    assert_eq!(found(&report(&site)), expected);
    let mut within = hiplazy();
    within.current_dir(&site).args(["lint", ".", "--json"]);
    let output = within.output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found(&report), expected);
    assert_eq!(report["findings"][0]["object"], "./tl/lib/libst.so");
}

#[test]
fn needs_lead_from_one_distribution_to_another() {
    let folder = shared::scratch("across");
    let site = folder.join("site-packages");
    let exporter = stub(&site.join("tl/lib"));
    user(
        &site.join("my/ext.so"),
        &site.join("tl/lib"),
        "$ORIGIN/../tl/lib",
    );
    let report = report(&site);
    assert_eq!(
        found(&report),
        [
            rule("bare-export", "libst.so"),
            rule("global-exporter", "ext.so")
        ]
    );
    // The one alone: what it needs from elsewhere is named.
    let my = common::report(&site.join("my/ext.so"));
    assert_eq!(found(&my), [rule("outside-need", "ext.so")]);
    let detail = my["findings"][0]["detail"].as_str().unwrap();
    assert!(detail.contains(exporter.to_str().unwrap()), "{detail}");
    assert_eq!(my["exit"], 0);
    // In a wheel nothing is outside of it that could be found.
    let packed = folder.join("my.whl");
    wheel(
        &packed,
        &[
            ("my/ext.so", &site.join("my/ext.so")),
            ("tl/lib/libst.so", &exporter),
        ],
    );
    assert_eq!(
        found(&common::report(&packed)),
        [
            rule("bare-export", "libst.so"),
            rule("global-exporter", "ext.so")
        ]
    );
}

/// Installers link the file of a cache into every environment.
#[test]
fn a_file_linked_into_two_packages_is_in_both() {
    let folder = shared::scratch("hard-links");
    let site = folder.join("site-packages");
    let exporter = stub(&site.join("a"));
    fs::create_dir_all(site.join("b")).unwrap();
    fs::hard_link(&exporter, site.join("b/libst.so")).unwrap();
    fs::hard_link(&exporter, site.join("b/libst.so.1")).unwrap();
    user(&site.join("b/ext.so"), &site.join("a"), "$ORIGIN");
    let report = report(&site);
    assert_eq!(report["objects"], 3, "{report:#}");
    assert_eq!(of_rule(&report, "bare-export").len(), 2);
    assert_eq!(
        of_rule(&report, "global-exporter"),
        [site.join("b/ext.so").to_str().unwrap()]
    );
}

/// What has no SONAME is needed by the path that the linker was given, or by a link's name.
#[test]
fn needs_may_be_paths_and_names_of_links() {
    let folder = shared::scratch("paths");
    let exporter = library(&folder.join("lib/libnosn.so"), STUB, &[]);
    symlink("libnosn.so", folder.join("lib/liblink.so.1")).unwrap();
    let absolute = exporter.to_str().unwrap();
    for (name, arguments) in [
        ("lib/absolute.so", &[absolute][..]),
        ("lib/relative.so", &["./libnosn.so"]),
        (
            "lib/link.so",
            &["-L.", "-l:liblink.so.1", "-Wl,-rpath,$ORIGIN"],
        ),
    ] {
        let path = library(&folder.join(name), USER, arguments);
        let report = report(&folder);
        assert_eq!(
            of_rule(&report, "global-exporter"),
            [path.to_str().unwrap()],
            "{name}"
        );
        fs::remove_file(path).unwrap();
    }
    // The class of a library does not depend on how it is needed.
    let runtime = needed_runtime(&shared::scratch("paths-runtime"), 6);
    let nameless = library(Path::new(&runtime), "int unused;\n", &[]);
    let client = folder.join("client.so");
    library(&client, "int client;\n", &[nameless.to_str().unwrap()]);
    let report = report(&client);
    assert_eq!(
        report["clients"][0]["majors"],
        serde_json::json!([6]),
        "{report:#}"
    );
}

/// What a filter stands for is loaded with it.
#[test]
fn filters_bring_along_what_they_stand_for() {
    let folder = shared::scratch("filters");
    stub(&folder);
    for kind in ["filter", "auxiliary"] {
        let argument = format!("-Wl,--{kind}=libst.so");
        library(
            &folder.join("front.so"),
            PLAIN,
            &[&argument, "-Wl,-rpath,$ORIGIN"],
        );
        let report = report(&folder);
        let front = folder.join("front.so");
        assert_eq!(
            of_rule(&report, "global-exporter"),
            [front.to_str().unwrap()],
            "{kind}"
        );
    }
}

/// Whose name it is decides the real library, not the shape.
#[test]
fn hsa_names_are_those_of_the_real_library() {
    let folder = shared::scratch("hsa");
    let of = |name: &str| {
        let text = format!("int {name}(void) {{ return 0; }}\n");
        found(&report(&library(&folder.join("lib.so"), &text, &[])))
    };
    assert_eq!(of("hsa_chi_squared_test"), []);
    for name in [
        "hsa_init",
        "hsa_amd_memory_pool_allocate",
        "hsa_amd_vmem_map",
    ] {
        assert_eq!(of(name), [rule("bare-export", "lib.so")], "{name}");
    }
}
