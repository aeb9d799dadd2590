//! The manual page and the completions, by the programs that read them.

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use clap::CommandFactory;
use common::hiplazy;
use common::shared::{run, scratch, skip};
use hiplazy_cli::cli::Arguments;
use xtask::fetch;

fn tool(program: &str, what: &str) -> Option<PathBuf> {
    let found = fetch::tool(program);
    found
        .map_err(|missing| skip(what, &missing.to_string()))
        .ok()
}

#[test]
fn the_manual_page_is_well_formed_and_complete() {
    let Some(mandoc) = tool("mandoc", "the manual page") else {
        return;
    };
    let page = scratch("manual").join("hiplazy.1");
    fs::write(&page, run(hiplazy().arg("man"))).unwrap();
    run(Command::new(&mandoc)
        .args(["-T", "lint", "-W", "error"])
        .arg(&page));
    let shown = Command::new(&mandoc)
        .args(["-T", "ascii", "-O", "width=200"])
        .arg(&page)
        .output()
        .unwrap();
    // Bold letters are printed twice, with a backspace.
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let mut plain = String::new();
    for character in text.chars() {
        match character {
            '\u{8}' => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    let mut command = Arguments::command();
    command.build();
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        let heading = format!("HIPLAZY {}\n", sub.get_name().to_uppercase());
        assert!(plain.contains(&heading), "{heading}{plain}");
        for argument in sub.get_arguments() {
            if argument.is_hide_set() {
                let id = argument.get_id();
                assert!(!plain.contains(&format!("--{id}")), "{id} is hidden");
                continue;
            }
            let name = argument.get_long().map(|long| format!("--{long}"));
            assert!(
                name.is_none_or(|name| plain.contains(&name)),
                "{argument:?}"
            );
        }
    }
    for text in [
        "NAME\n",
        "hiplazy run [OPTIONS] -- <CMD>...",
        "hiplazy lint dist/*.whl  ",
        "  3  nothing could be looked at",
    ] {
        assert!(plain.contains(text), "{text}\n{plain}");
    }
}

#[test]
fn bash_completes_commands_and_options() {
    let Some(bash) = tool("bash", "the completions of bash") else {
        return;
    };
    let script = scratch("bash").join("hiplazy.bash");
    fs::write(&script, run(hiplazy().args(["completions", "bash"]))).unwrap();
    run(Command::new(&bash).arg("-n").arg(&script));
    let complete = |words: &[&str]| {
        let (line, last) = (words.join(" "), words.last().unwrap());
        let ask = format!(
            "source {}; COMP_WORDS=({line}); [ -n '{last}' ] || COMP_WORDS+=(''); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _hiplazy hiplazy '{last}' ''; echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        run(Command::new(&bash).args(["--norc", "-c", &ask]))
    };
    assert_eq!(complete(&["hiplazy", "doc"]).trim(), "doctor");
    assert_eq!(complete(&["hiplazy", "lint", "--al"]).trim(), "--allow");
    assert_eq!(
        complete(&["hiplazy", "doctor", "--p"]).trim(),
        "--pid --prefix"
    );
}

/// Where zsh looks for functions, and with what lists the candidates replaced by what
/// prints them: the real one needs a terminal.
#[test]
fn zsh_finds_and_loads_its_completions() {
    let Some(zsh) = tool("zsh", "the completions of zsh") else {
        return;
    };
    let folder = scratch("completions-zsh");
    let script = run(hiplazy().args(["completions", "zsh"]));
    fs::write(folder.join("_hiplazy"), script).unwrap();
    let ask = format!(
        "fpath=({} $fpath); autoload -Uz compinit; compinit -u -D; print -r -- $_comps[hiplazy]; \
         autoload -Uz +X _hiplazy; _arguments() {{ print -rl -- \"$@\"; }}; _hiplazy; \
         _describe() {{ print -rl -- ${{(P)4}}; }}; _hiplazy_commands",
        folder.display()
    );
    let text = run(Command::new(zsh)
        .args(["-f", "-c", &ask])
        .env("HOME", &folder));
    assert_eq!(text.lines().next(), Some("_hiplazy"), "{text}");
    for line in [
        "doctor:This machine",
        "lint:Check files",
        "--json[Print the report",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn fish_completes_commands_and_options() {
    let Some(fish) = tool("fish", "the completions of fish") else {
        return;
    };
    let folder = scratch("completions-fish");
    let script = folder.join("hiplazy.fish");
    fs::write(&script, run(hiplazy().args(["completions", "fish"]))).unwrap();
    let complete = |line: &str| {
        let ask = format!("source {}; complete -C '{line}'", script.display());
        let mut command = Command::new(&fish);
        command
            .args(["--no-config", "-c", &ask])
            .env("HOME", &folder);
        let text = run(&mut command);
        let words = text.lines().filter_map(|line| line.split('\t').next());
        words.map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(complete("hiplazy doc"), ["doctor"]);
    assert_eq!(complete("hiplazy lint --al"), ["--allow"]);
    assert_eq!(complete("hiplazy doctor --p"), ["--pid", "--prefix"]);
}

#[test]
fn a_shell_without_completions_is_refused() {
    let output = hiplazy().args(["completions", "tcsh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}
