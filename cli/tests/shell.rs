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
            let name = argument.get_long().map(|long| format!("--{long}"));
            assert!(
                name.is_none_or(|name| plain.contains(&name)),
                "{argument:?}"
            );
        }
    }
    for text in [
        "NAME\n",
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

#[test]
fn zsh_and_fish_read_their_completions() {
    for (shell, read) in [("zsh", "-n"), ("fish", "--no-execute")] {
        let script = scratch(&format!("completions-{shell}")).join("hiplazy");
        let text = run(hiplazy().args(["completions", shell]));
        for command in ["doctor", "lint", "explain"] {
            assert!(text.contains(command), "{shell}: {command}");
        }
        fs::write(&script, text).unwrap();
        if let Some(program) = tool(shell, &format!("the completions of {shell}")) {
            run(Command::new(program).arg(read).arg(&script));
        }
    }
}

#[test]
fn a_shell_without_completions_is_refused() {
    let output = hiplazy().args(["completions", "tcsh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}
