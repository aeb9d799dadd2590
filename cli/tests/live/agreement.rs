//! `--pid`, `run` and ld.so's own log agree on every binding of a process with hundreds of
//! objects: bound at load or still lazy, on several nodes, global and local, with
//! `RTLD_DEEPBIND`, function pointers in data and a namespace of `dlmopen`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use serde_json::Value;

use crate::common::shared;
use crate::run_command::{Watched, unreadable};
use crate::running::{Waiting, file, json, library};

const LIBRARIES: usize = 240;
/// Names that several libraries define.
const SHARED: usize = 20;
/// When this many are open, every shared name is in the global scope: who binds at load
/// comes later.
const SETTLED: usize = 60;

const DRIVER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* Opens "FLAGS PATH" pairs, waits for a line, then calls all that it opened. */
int main(int count, char **words)
{
    void **handles = calloc((size_t)count, sizeof *handles);
    for (int i = 1; i + 1 < count; i += 2) {
        int flags = 0, namespace = 0;
        for (char *flag = words[i]; *flag; flag++) {
            flags |= *flag == 'n' ? RTLD_NOW : *flag == 'l' ? RTLD_LAZY : 0;
            flags |= *flag == 'g' ? RTLD_GLOBAL : *flag == 'd' ? RTLD_DEEPBIND : 0;
            namespace |= *flag == 'm';
        }
        handles[i] = namespace ? dlmopen(LM_ID_NEWLM, words[i + 1], flags)
                               : dlopen(words[i + 1], flags);
        if (!handles[i]) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    }
    puts("waiting");
    fflush(stdout);
    if (getchar() == EOF)
        return 0;
    for (int i = 1; i + 1 < count; i += 2)
        for (int j = 0; j < 1000; j++) {
            char name[32];
            snprintf(name, sizeof name, "gen_call_%d", j);
            int (*call)(void) = dlsym(handles[i], name);
            if (call)
                call();
        }
    return 0;
}
"#;

/// Library `i` needs up to two of the ones before it, and calls them, a name that it
/// defines itself and so do others, and one that only others define.
fn text(i: usize) -> String {
    let mut text = String::new();
    let (own, other) = (i % SHARED, (i + 3) % SHARED);
    text += &format!("int gen_own_{i}(void) {{ return {i}; }}\n");
    text += &format!("int gen_shared_{own}(void) {{ return {i}; }}\n");
    text += &format!("int gen_shared_{other}(void);\n");
    let mut calls = format!("gen_shared_{own}() + gen_shared_{other}()");
    for need in needs(i) {
        text += &format!("int gen_own_{need}(void);\n");
        calls += &format!(" + gen_own_{need}()");
    }
    if i.is_multiple_of(6) {
        text += &format!("int (*gen_pointer_{i})(void) = gen_shared_{own};\n");
    }
    text + &format!("int gen_call_{i}(void) {{ return {calls}; }}\n")
}

fn needs(i: usize) -> BTreeSet<usize> {
    let before = |by: usize| (i > 0).then(|| (i - 1) / by);
    [before(2), before(3)].into_iter().flatten().collect()
}

fn name(i: usize) -> String {
    format!("libgen{i}.so")
}

fn generate(folder: &Path) {
    let nodes = folder.join("nodes.map");
    fs::write(
        &nodes,
        "NODE_1 { global: gen_shared_*; };\nNODE_2 { global: gen_own_*; gen_call_*; gen_pointer_*; local: *; } NODE_1;\n",
    )
    .unwrap();
    let build = |i: usize| {
        let mut arguments = vec![
            "-O0".to_string(),
            "-Wl,-z,lazy".to_string(),
            "-Wl,-rpath,$ORIGIN".to_string(),
            format!("-Wl,-soname,{}", name(i)),
            format!("-L{}", folder.display()),
        ];
        if i.is_multiple_of(4) {
            arguments.push(format!("-Wl,--version-script={}", nodes.display()));
        }
        if i.is_multiple_of(9) {
            arguments.push("-Wl,-Bsymbolic".to_string());
        }
        if i.is_multiple_of(7) && i >= SETTLED {
            arguments.push("-fno-plt".to_string());
        }
        arguments.extend(needs(i).iter().map(|need| format!("-l:{}", name(*need))));
        library(folder, &name(i), &text(i), &arguments);
    };
    // A library is linked with those before it: one level of the tree after the other.
    let mut level = 0..1;
    while level.start < LIBRARIES {
        level.clone().into_par_iter().for_each(build);
        level = level.end..(level.end * 2 + 1).min(LIBRARIES);
        if level.is_empty() {
            break;
        }
    }
}

fn flags(i: usize) -> String {
    let mut flags = if i.is_multiple_of(5) && i >= SETTLED {
        "n"
    } else {
        "l"
    }
    .to_string();
    if i.is_multiple_of(3) {
        flags.push('g');
    }
    if i % 11 == 5 {
        flags.push('d');
    }
    flags
}

/// A library that needs nothing of others, for a namespace of its own.
fn alone(folder: &Path) -> PathBuf {
    let inner = "int gen_own_900(void) { return 1; }\nint gen_shared_1(void) { return 2; }\n";
    library(
        folder,
        "libinner.so",
        inner,
        &["-Wl,-soname,libinner.so".to_string()],
    );
    let outer = "int gen_own_900(void);\nint gen_shared_1(void);\nint gen_call_901(void) { return gen_own_900() + gen_shared_1(); }\n";
    let arguments = [
        "-Wl,-z,lazy".to_string(),
        "-Wl,-rpath,$ORIGIN".to_string(),
        format!("-L{}", folder.display()),
        "-l:libinner.so".to_string(),
    ];
    library(folder, "libouter.so", outer, &arguments)
}

/// Object, name, node, provider.
type Bindings = BTreeSet<[String; 4]>;

#[test]
fn the_process_and_the_log_agree_on_every_binding() {
    let folder = shared::scratch("agreement");
    generate(&folder);
    let outer = alone(&folder);
    let source = folder.join("driver.c");
    fs::write(&source, DRIVER).unwrap();
    let driver = folder.join("driver");
    shared::cc(&[source.to_str().unwrap()], &driver, &[] as &[&str]);

    let mut words = vec![driver.display().to_string()];
    for i in 0..LIBRARIES {
        words.extend([flags(i), folder.join(name(i)).display().to_string()]);
    }
    words.extend(["lm".to_string(), outer.display().to_string()]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = shared::clean(&driver);
    command.args(&words[1..]);
    command.env("LD_DEBUG", "bindings");
    command.env("LD_DEBUG_OUTPUT", folder.join("log"));
    let mut waiting = Waiting::start(&mut command);
    let arguments = ["--json", "--prefix", "gen_"];
    let report = json(&waiting.doctor(&arguments));
    assert!(report["objects"].as_u64().unwrap() as usize > LIBRARIES);
    assert!(
        report["unreadable"].as_array().unwrap().is_empty(),
        "{}",
        report["unreadable"]
    );
    let log = folder.join(format!("log.{}", waiting.pid()));
    let before = logged(&log);
    waiting.go_on();
    waiting.end();
    let after = logged(&log);

    let (mut bound, mut lazy) = (Bindings::new(), Bindings::new());
    for binding in report["bindings"].as_array().unwrap() {
        let row = row(binding);
        match binding["state"].as_str().unwrap() {
            "bound" => bound.insert(row),
            "lazy" => lazy.insert(row),
            other => panic!("{other}: {row:?}"),
        };
    }
    assert!(
        bound.len() > 200 && lazy.len() > 200,
        "{} {}",
        bound.len(),
        lazy.len()
    );
    // What is bound is what ld.so had bound then; what was lazy is what it bound later.
    let difference = |left: &Bindings, right: &Bindings| -> Vec<[String; 4]> {
        left.difference(right).take(8).cloned().collect()
    };
    assert_eq!(
        difference(&bound, &before),
        [] as [[String; 4]; 0],
        "not in the log"
    );
    assert_eq!(
        difference(&before, &bound),
        [] as [[String; 4]; 0],
        "not in the report"
    );
    assert_eq!(
        difference(&lazy, &after),
        [] as [[String; 4]; 0],
        "bound otherwise later"
    );
    let both: Bindings = bound.union(&lazy).cloned().collect();
    assert_eq!(
        difference(&after, &both),
        [] as [[String; 4]; 0],
        "not foreseen"
    );
    // `run` tells the same of two such processes: one that ends before it calls anything,
    // and one that calls all.
    for (input, expected) in [("", &bound), ("\n", &both)] {
        let told = told(&words, input);
        assert_eq!(
            difference(expected, &told),
            [] as [[String; 4]; 0],
            "not told"
        );
        assert_eq!(difference(&told, expected), [] as [[String; 4]; 0], "told");
    }
}

/// What `run` says is bound in a command with this input.
fn told(words: &[&str], input: &str) -> Bindings {
    let mut watched = Watched::new("agreement_run", &["--prefix", "gen_"], words);
    let file = watched.folder.join("input");
    fs::write(&file, input).unwrap();
    watched.command.stdin(fs::File::open(file).unwrap());
    let output = watched.output();
    assert!(output.status.success(), "{}", shared::text_of(&output));
    let report = watched.report();
    assert_eq!(unreadable(&report), []);
    let bindings = report["bindings"].as_array().unwrap().iter();
    bindings.map(row).collect()
}

fn row(binding: &Value) -> [String; 4] {
    let text = |field: &str| binding[field].as_str().unwrap_or_default().to_string();
    [
        file(&binding["object"]),
        text("name"),
        text("node"),
        file(&binding["provider"]),
    ]
}

/// The bindings of the libraries in a log.
fn logged(log: &Path) -> Bindings {
    let text = fs::read_to_string(log).unwrap();
    let last = |path: &str| path.rsplit('/').next().unwrap().to_string();
    text.lines()
        .filter_map(hiplazy_cli::binding_log::Line::parse)
        .filter_map(|(_, line)| match line {
            hiplazy_cli::binding_log::Line::Binding {
                from,
                to,
                name,
                node,
            } => Some((from, to, name, node)),
            _ => None,
        })
        // The look-ups of dlsym are logged as well, as bindings of the library asked.
        .filter(|(_, _, name, _)| name.starts_with("gen_") && !name.starts_with("gen_call_"))
        .map(|(from, to, name, node)| {
            let node = node.unwrap_or_default().to_string();
            [last(from.0), name.to_string(), node, last(to.0)]
        })
        .collect()
}
