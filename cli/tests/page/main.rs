//! The page of a report, in a browser, and the graph for Graphviz.

#[path = "../common/mod.rs"]
mod common;

mod browser;
#[path = "../synthetic/mod.rs"]
mod synthetic;

use std::fs;
use std::path::Path;
use std::process::Command;

use browser::{chromium, open, open_with};
use common::lint;
use common::shared::{run, scratch, skip, text_of};
use hiplazy_cli::report::{Binding, Bound, Kind, Picture, Printing, Report, Wrong};
use synthetic::{HOSTILE, files, hostile, process};
use xtask::fetch;

#[test]
fn a_search_narrows_the_picture_of_500_objects() {
    let Some(chromium) = chromium() else { return };
    let folder = scratch("page-large");
    let page = process(498, 0).html();
    let whole = open(&chromium, &folder, &page, "");
    assert_eq!(whole.console, Vec::<String>::new());
    // Those of interest have a mark of their own, the others are one.
    assert!((20..60).contains(&whole.nodes()), "{}", whole.nodes());
    assert_eq!(whole.nodes() + whole.collapsed(), 500);
    assert_eq!(whole.edges("wrong"), 20);

    let one = open(&chromium, &folder, &page, "_C32.cpython");
    assert_eq!(one.console, Vec::<String>::new());
    // The object, and what it is bound to: the stub and the runtime.
    assert_eq!((one.nodes(), one.collapsed()), (3, 0));
    assert!(
        one.text("count").starts_with("3 of 500 objects"),
        "{}",
        one.text("count")
    );

    let by_name = open(&chromium, &folder, &page, "hipOnlyOf77x");
    assert_eq!(by_name.nodes(), 2);

    let nothing = open(&chromium, &folder, &page, "no-such-thing");
    assert_eq!((nothing.nodes(), nothing.collapsed()), (0, 0));
}

#[test]
fn a_small_process_is_drawn_whole() {
    let Some(chromium) = chromium() else { return };
    let folder = scratch("page-small");
    let opened = open(&chromium, &folder, &process(9, 0).html(), "");
    assert_eq!(opened.console, Vec::<String>::new());
    assert_eq!((opened.nodes(), opened.collapsed()), (11, 0));
    assert_eq!(opened.edges("wrong"), 1);
    for text in ["Global scope", "Local scopes", "bare-export", "LD_PRELOAD"] {
        assert!(opened.dom.contains(text), "{text}");
    }
}

#[test]
fn files_are_drawn_by_what_they_need() {
    let Some(chromium) = chromium() else { return };
    let folder = scratch("page-files");
    let opened = open(&chromium, &folder, &files().html(), "");
    assert_eq!(opened.console, Vec::<String>::new());
    assert_eq!((opened.nodes(), opened.edges("need")), (4, 2));
    assert!(opened.dom.contains("Not there"));
}

/// Files are bound to nothing, so that no edge has a function's name: who refers to it
/// is found all the same, with what it needs.
#[test]
fn a_function_is_found_in_files() {
    let Some(chromium) = chromium() else { return };
    let folder = scratch("page-functions");
    let mut report = files();
    report.exporters.push(hiplazy_cli::report::Exporter {
        path: "dist/package.whl!package/libstub.so".into(),
        exported: vec!["hipFree".into(), "hipMemcpyOld".into()],
        ..Default::default()
    });
    let page = report.html();
    let search = |text: &str| {
        let opened = open(&chromium, &folder, &page, text);
        assert_eq!(opened.console, Vec::<String>::new());
        (opened.nodes(), opened.edges("need"))
    };
    assert_eq!(search("hipMallocAsync@hip_5.2"), (2, 1));
    // The client, the library that is not there, the exporter.
    assert_eq!(search("hipMemcpyOld"), (3, 1));
    assert_eq!(search("hipFree"), (5, 2));
    assert_eq!(search("hipNobody"), (0, 0));
}

/// Names that have both ends in common are shortened where they do not differ.
#[test]
fn long_names_can_be_told_apart() {
    let Some(chromium) = chromium() else { return };
    let folder = scratch("page-long");
    let mut report = files();
    let [start, end] = ["x".repeat(45), "z".repeat(60)];
    for kind in ["gfx90a", "gfx942", "gfx1100"] {
        let mut client = report.clients[0].clone();
        client.path = format!("dist/package.whl!package/lib{start}_{kind}_{end}.so");
        report.clients.push(client);
    }
    let labels = "<script>by(\"tool\").textContent = Array.from(document.querySelectorAll(\"#picture [data-node] text:not(.caption)\"), (text) => text.textContent).join(\" \")</script></body>";
    let page = report.html().replace("</body>", labels);
    let opened = open(&chromium, &folder, &page, "");
    assert_eq!(opened.console, Vec::<String>::new());
    let text = opened.text("tool");
    for kind in ["gfx90a", "gfx942", "gfx1100"] {
        let fitting = text.split(' ').filter(|label| label.contains(kind));
        let fitting: Vec<&str> = fitting.collect();
        assert_eq!(fitting.len(), 1, "{kind}: {text}");
        assert!(fitting[0].starts_with("libxxx"), "{text}");
        assert!(fitting[0].chars().count() < 60, "{text}");
    }
    assert!(text.contains("_old.so"), "{text}");
}

#[test]
fn needs_of_runtimes_and_exporters_are_edges() {
    let mut report = files();
    let [client, hip] = [
        report.clients[0].path.clone(),
        report.runtimes[0].path.clone(),
    ];
    let hsa = "dist/package.whl!package.libs/libhsa-runtime64.so.1";
    let stub = "dist/package.whl!package/libstub.so";
    report.runtimes.push(hiplazy_cli::report::Runtime {
        path: hsa.into(),
        soname: Some("libhsa-runtime64.so.1".into()),
        needed_by: vec![vec![client.clone(), hip.clone()]],
        ..Default::default()
    });
    report.exporters.push(hiplazy_cli::report::Exporter {
        path: stub.into(),
        needed_by: vec![vec![client.clone()]],
        ..Default::default()
    });
    let picture = Picture::of(&report);
    let has = |from: &str, to: &str| {
        let path = |at: usize| picture.nodes[at].path.as_str();
        let mut edges = picture.edges.iter();
        edges.any(|edge| edge.need && path(edge.from) == from && path(edge.to) == to)
    };
    assert!(has(&hip, hsa) && has(&client, stub) && has(&client, &hip));
    assert!(!has(&client, hsa) && !has(stub, &hip));
}

/// What somebody does who has only a keyboard.
const USER: &str = include_str!("user.js");

#[test]
fn the_keyboard_is_enough() {
    let Some(chromium) = chromium() else { return };
    let folder = scratch("page-keyboard");
    let page = process(9, 0).html();
    let page = page.replace("</body>", &format!("<script>{USER}</script></body>"));
    let opened = open(&chromium, &folder, &page, "");
    assert_eq!(opened.console, Vec::<String>::new());
    assert_eq!(
        opened.text("tool"),
        r#"["query",3,"node exporter is-conflict",true,true,11,0,2]"#
    );
}

#[test]
fn hostile_names_stay_text() {
    let Some(chromium) = chromium() else { return };
    let folder = scratch("page-hostile");
    let page = hostile().html();
    let opened = open(&chromium, &folder, &page, "");
    assert_eq!(opened.console, Vec::<String>::new());
    // The browser writes the document with its texts escaped: an element would be bare.
    assert!(!opened.dom.contains("<img"));
    assert!(opened.dom.contains("&lt;img src=x"));
    assert!(opened.nodes() > 3, "{}", opened.nodes());
}

#[test]
fn what_goes_wrong_in_a_page_would_be_noticed() {
    let Some(chromium) = chromium() else { return };
    let folder = scratch("page-console");
    let page = process(3, 0).html();
    let broken =
        "<script>nobody.has = this;</script><img src=\"https://example.invalid/x\"></body>";
    let opened = open(&chromium, &folder, &page.replace("</body>", broken), "");
    let console = opened.console.join("\n");
    assert!(console.contains("nobody is not defined"), "{console}");
    // The page's policy lets nothing be fetched.
    assert!(console.contains("Content Security Policy"), "{console}");
}

#[test]
fn the_page_is_the_same_without_a_browser() {
    let page = hostile().html();
    // One element of data and one of code; the text for readers without scripts.
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("<noscript>") && !page.contains(HOSTILE));
    assert!(!page.contains("<img"));
}

#[test]
fn the_picture_has_scopes_and_wrong_bindings() {
    let picture = Picture::of(&process(30, 2));
    assert_eq!(picture.groups, ["Global scope", "Local scopes"]);
    let wrong = picture.edges.iter().filter(|edge| edge.wrong > 0);
    let captured: Vec<&str> = wrong
        .clone()
        .map(|edge| picture.nodes[edge.from].path.as_str())
        .collect();
    assert_eq!(captured.len(), 1);
    assert!(captured[0].contains("_C7."), "{captured:?}");
    for edge in wrong {
        assert_eq!(picture.nodes[edge.to].kind, Kind::Exporter);
    }
    // Objects that have nothing to do with the names are in no picture.
    assert!(
        picture
            .nodes
            .iter()
            .all(|node| !node.path.contains("libother"))
    );
}

/// A process in which nobody knows who should answer, with words that point to no library.
fn unknown() -> Report {
    let mut report = process(9, 0);
    for binding in &mut report.bindings {
        binding.expected = None;
    }
    for (place, state, wrong) in [
        (0, Bound::NoLibrary, None),
        (1, Bound::Unmapped, Some(Wrong::Unmapped)),
    ] {
        let object = report.clients[place].path.clone();
        report.bindings.push(Binding {
            object,
            name: format!("hipElsewhere{place}"),
            node: None,
            state,
            provider: None,
            expected: None,
            wrong,
        });
    }
    report
}

/// The edges of a graph from an object, by the file names of both, with their attributes.
fn edges(dot: &str) -> Vec<(String, String, String)> {
    let mut names = std::collections::HashMap::new();
    let mut edges = Vec::new();
    for line in dot.lines().map(str::trim) {
        let Some((ends, attributes)) = line.split_once(" [") else {
            continue;
        };
        if let Some((from, to)) = ends.split_once(" -> ") {
            edges.push((from.to_string(), to.to_string(), attributes.to_string()));
        } else if let Some(label) = attributes.strip_prefix("label=\"") {
            let name = label.split(['\\', '"']).next().unwrap();
            names.insert(ends.to_string(), name.to_string());
        }
    }
    for (from, to, _) in &mut edges {
        *from = names[from.as_str()].clone();
        *to = names[to.as_str()].clone();
    }
    edges
}

#[test]
fn the_graph_marks_what_is_wrong_and_nothing_else() {
    for report in [process(9, 0), unknown()] {
        let edges = edges(&report.dot());
        let mut wrong: Vec<(&str, &str)> = edges
            .iter()
            .filter(|(.., attributes)| attributes.contains("color=\"#dc2626\""))
            .map(|(from, to, _)| (from.as_str(), to.as_str()))
            .collect();
        wrong.sort_unstable();
        let captured = ("_C7.cpython-312-x86_64-linux-gnu.so", "libhip_stub.so");
        let gone = (
            "_C1.cpython-312-x86_64-linux-gnu.so",
            "memory that is no longer mapped",
        );
        let has_gone = edges.iter().any(|(_, to, _)| to == gone.1);
        let expected = if has_gone {
            vec![gone, captured]
        } else {
            vec![captured]
        };
        assert_eq!(wrong, expected);
        let to_memory: Vec<&str> = edges
            .iter()
            .filter(|(_, to, _)| to == "memory of no library")
            .map(|(from, ..)| from.as_str())
            .collect();
        let from = "_C0.cpython-312-x86_64-linux-gnu.so";
        assert_eq!(to_memory, if has_gone { vec![from] } else { vec![] });
    }
}

#[test]
fn a_wrong_binding_is_marked_also_where_nobody_knows_the_right_one() {
    let report = unknown();
    let text = report.print(Printing::default());
    let captured = "hipMalloc@hip_4.2 bound to /venv/lib/python3.12/site-packages/tilelang/lib/libhip_stub.so, which is no HIP runtime\n";
    assert!(text.contains(captured), "{text}");
    let gone =
        "hipElsewhere1 bound to memory that is no longer mapped, where a call ends the program\n";
    assert!(text.contains(gone), "{text}");
    assert!(
        !text.contains("hipElsewhere0"),
        "nothing is wrong with it: {text}"
    );
    let Some(chromium) = chromium() else { return };
    let folder = scratch("page-unknown");
    let opened = open(&chromium, &folder, &report.html(), "");
    assert_eq!(opened.console, Vec::<String>::new());
    assert_eq!(opened.edges("wrong"), 2);
    for cell in ["no runtime", "gone", "memory of no library"] {
        assert!(opened.dom.contains(&format!(">{cell}</td>")), "{cell}");
    }
    let rows = opened.dom.matches("class=\"is-wrong\"").count();
    let wrong = report
        .bindings
        .iter()
        .filter(|binding| binding.wrong.is_some());
    assert_eq!(rows, wrong.count());
}

#[test]
fn graphviz_takes_the_graph() {
    let folder = scratch("page-dot");
    let dot = match fetch::tool("dot") {
        Ok(dot) => dot,
        Err(missing) => return skip("the graph by Graphviz", &missing.to_string()),
    };
    for (name, report) in [
        ("process", process(40, 0)),
        ("unknown", unknown()),
        ("hostile", hostile()),
        ("files", files()),
    ] {
        let file = folder.join(name);
        fs::write(&file, report.dot()).unwrap();
        let drawn = run(Command::new(&dot).arg("-Tsvg").arg(&file));
        let nodes = Picture::of(&report).nodes.len();
        assert_eq!(drawn.matches("class=\"node\"").count(), nodes, "{name}");
        let is_wrong = ["process", "unknown"].contains(&name);
        assert_eq!(drawn.contains("#dc2626"), is_wrong, "{name}");
    }
}

#[test]
fn the_page_is_dark_where_the_reader_wants_that() {
    let Some(chromium) = chromium() else { return };
    let folder = scratch("page-dark");
    let ask = "<script>by(\"tool\").textContent = getComputedStyle(document.body).backgroundColor</script></body>";
    let page = process(3, 0).html().replace("</body>", ask);
    let light = open(&chromium, &folder, &page, "");
    assert_eq!(light.text("tool"), "rgb(255, 255, 255)");
    let options = ["--blink-settings=preferredColorScheme=0"];
    let dark = open_with(&options, &chromium, &folder, &page, "");
    assert_eq!(dark.text("tool"), "rgb(20, 24, 29)");
}

#[test]
fn a_command_writes_what_it_is_asked_for() {
    let folder = scratch("page-command");
    let (page, graph) = (folder.join("report.html"), folder.join("report.dot"));
    let program = Path::new(env!("CARGO_BIN_EXE_hiplazy"));
    let output = lint(program)
        .arg("--html")
        .arg(&page)
        .arg("--dot")
        .arg(&graph)
        .output()
        .unwrap();
    assert!(output.status.code() < Some(3), "{}", text_of(&output));
    assert!(
        fs::read_to_string(page)
            .unwrap()
            .starts_with("<!DOCTYPE html>")
    );
    assert!(fs::read_to_string(graph).unwrap().starts_with("digraph"));

    let nowhere = folder.join("no-such-folder/report.html");
    let output = lint(program).arg("--html").arg(&nowhere).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = text_of(&output);
    assert!(
        text.contains("cannot write") && text.contains("no-such-folder"),
        "{text}"
    );
}
