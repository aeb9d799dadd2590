//! `docs/doctor.md` says what the command does.

#[path = "../common/mod.rs"]
mod common;

mod blocks;
// The stub, the real runtimes and the fake ones are of x86-64.
#[cfg(target_arch = "x86_64")]
mod session;
mod wheel;

use std::collections::BTreeSet;
use std::fs;

use blocks::{blocks, commands, words};
use clap::Parser;
use common::hiplazy;
use common::shared::root;
use hiplazy_cli::cli::Arguments;
use hiplazy_cli::rules;

fn page() -> String {
    fs::read_to_string(root().join("../docs/doctor.md")).unwrap()
}

#[test]
fn every_command_line_is_one() {
    let page = page();
    let mut seen = 0;
    for (_, text) in blocks(&page).iter().filter(|block| block.0 == "sh") {
        for line in text.lines().filter(|line| line.contains("hiplazy ")) {
            let words = words(line);
            assert_eq!(words[0], "hiplazy", "{line}");
            Arguments::try_parse_from(&words).unwrap_or_else(|error| panic!("{line}: {error}"));
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn what_explain_prints_there_is_what_it_prints() {
    let page = page();
    let mut seen = 0;
    for command in commands(&page) {
        let words = words(command.text.trim());
        if let (Some("explain"), Some(shown)) = (words.get(1).map(String::as_str), command.output) {
            let output = hiplazy().args(&words[1..]).output().unwrap();
            let printed = [output.stdout, output.stderr].concat();
            let printed = String::from_utf8(printed).unwrap();
            assert_eq!(
                blocks::difference(shown, &printed),
                None,
                "{}",
                command.text
            );
            seen += 1;
        }
    }
    assert!(seen >= 5, "{seen}");
}

#[test]
fn findings_there_are_of_rules_that_there_are() {
    let page = page();
    let mut found = BTreeSet::new();
    for (_, text) in blocks(&page) {
        for line in text.lines() {
            for severity in ["conflict ", "warning "] {
                let branch = format!("── {severity}");
                if let Some((_, rest)) = line.split_once(&branch) {
                    let (id, title) = rest.split_once(": ").unwrap();
                    let rule = rules::by_id(id).unwrap_or_else(|| panic!("{line}"));
                    assert_eq!(
                        (rule.severity.as_str(), rule.title),
                        (severity.trim(), title)
                    );
                    found.insert(id);
                }
            }
        }
    }
    assert!(found.len() >= 5, "{found:?}");
}

#[test]
fn links_lead_somewhere() {
    let page = page();
    let anchors: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(anchor)
        .collect();
    let targets = page.split("](").skip(1);
    for target in targets.filter_map(|rest| rest.split(')').next()) {
        match target.strip_prefix('#') {
            Some(heading) => assert!(anchors.contains(heading), "{target}"),
            None => assert!(root().join("../docs").join(target).exists(), "{target}"),
        }
    }
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|character| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        other => other.is_alphanumeric().then(|| other.to_ascii_lowercase()),
    });
    kept.collect()
}
