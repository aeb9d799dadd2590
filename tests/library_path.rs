//! The folders of ld.so's own search, in ld.so's order, as they were at program start.

mod common;
mod loader;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{cc, clean, libraries, scratch};
use loader::{Link, Tiny, disguise, link_arguments, steps};

fn folder(test: &str) -> PathBuf {
    scratch(&format!("library-path-{test}"))
        .canonicalize()
        .unwrap()
}

/// A program with hiplazy inside and `flags` for its linker. Not fenced: what these flags
/// name comes before what the machine has.
fn client_with(here: &Path, flags: &str) -> Command {
    let program = here.join("client");
    let mut arguments = link_arguments(Link::Static, libraries());
    arguments.push(format!("-Wl,{flags}").into());
    cc(&["client.c"], &program, &arguments);
    clean(&program)
}

/// A runtime in RPATH, and what `make` puts into LD_LIBRARY_PATH.
fn rpath_wins(test: &str, make: impl Fn(&Path)) {
    let here = folder(test);
    let mine = Tiny::new(7, 7).build(&here.join("mine"));
    make(&here.join("path"));
    let mut command = client_with(&here, "--disable-new-dtags,-rpath,$ORIGIN/mine");
    command.env("LD_LIBRARY_PATH", here.join("path"));
    let out = steps(&mut command, &["count", "path", "mapped"]);
    let mine = mine.display();
    assert_eq!(out, format!("count 0 7\npath {mine}\nmapped {mine}\n"));
}

#[test]
fn rpath_comes_before_ld_library_path() {
    rpath_wins("rpath", |path| {
        Tiny::new(7, 3).build(path);
    });
}

#[test]
fn a_stub_in_ld_library_path_does_not_hide_the_runtime_in_rpath() {
    rpath_wins("rpath-stub", |path| {
        disguise(path, "libamdhip64.so.7");
    });
}

#[test]
fn ld_library_path_comes_before_runpath() {
    let here = folder("runpath-after");
    Tiny::new(7, 7).build(&here.join("mine"));
    let other = Tiny::new(7, 3).build(&here.join("path"));
    let mut command = client_with(&here, "--enable-new-dtags,-rpath,$ORIGIN/mine");
    command.env("LD_LIBRARY_PATH", here.join("path"));
    let out = steps(&mut command, &["count", "path"]);
    assert_eq!(out, format!("count 0 3\npath {}\n", other.display()));
}

/// ld.so reads it once.
#[test]
fn ld_library_path_that_the_program_sets_changes_nothing() {
    let here = folder("set");
    let mine = Tiny::new(7, 7).build(&here.join("mine"));
    Tiny::new(7, 3).build(&here.join("path"));
    let mut command = client_with(&here, "--enable-new-dtags,-rpath,$ORIGIN/mine");
    let set = format!("set:LD_LIBRARY_PATH={}", here.join("path").display());
    let out = steps(&mut command, &[&set, "count", "path"]);
    assert_eq!(out, format!("count 0 7\npath {}\n", mine.display()));
}

/// ld.so would map the first file of the name, and die of SIGBUS.
#[test]
fn a_truncated_file_in_runpath_does_not_hide_a_good_one_behind_it() {
    let here = folder("truncated");
    let good = Tiny::new(7, 7).build(&here.join("good"));
    let bytes = fs::read(&good).unwrap();
    let bad = here.join("cut/libamdhip64.so.7");
    fs::create_dir(here.join("cut")).unwrap();
    fs::write(&bad, &bytes[..bytes.len() / 2]).unwrap();
    let flags = "--enable-new-dtags,-rpath,$ORIGIN/cut:$ORIGIN/good";
    let out = steps(&mut client_with(&here, flags), &["count", "path", "mapped"]);
    let good = good.display();
    assert_eq!(out, format!("count 0 7\npath {good}\nmapped {good}\n"));
}
