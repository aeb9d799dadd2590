//! The system's own places, `/opt` and ld.so's cache, each test in a file system of its own.

mod common;
mod loader;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{clean, root, scratch, skip};
use loader::{Tiny, fenced_client, open_client, steps};

/// A scratch folder by its real path, which is what the fence compares with.
fn folder(test: &str) -> PathBuf {
    scratch(&format!("system-{test}")).canonicalize().unwrap()
}

/// Runs `setup` (shell) and then the client with `steps` in a private mount namespace.
/// `None`, said as a skip, where there is none to be had.
fn in_namespace(test: &str, setup: &str, command: &Command, steps_: &[&str]) -> Option<String> {
    if root().starts_with("/opt") {
        skip(test, "this repository lies in /opt, which the test hides");
        return None;
    }
    // As root plainly, else as the root of a user namespace.
    let namespace = ["-m", "-rm"].into_iter().find(|flags| {
        let mut probe = Command::new("unshare");
        probe.args([*flags, "sh", "-c", "mount -t tmpfs none /opt"]);
        probe.output().is_ok_and(|output| output.status.success())
    });
    let Some(namespace) = namespace else {
        skip(
            test,
            "no private mount namespace: needs root, or user namespaces",
        );
        return None;
    };
    let mut shell = clean(Path::new("unshare"));
    shell.args([namespace, "sh", "-e", "-c"]);
    // The environment, LD_PRELOAD above all, is the client's alone.
    shell.arg(format!("{setup}\nexec env \"$@\"")).arg("sh");
    for (name, value) in command.get_envs() {
        let mut pair = name.to_owned();
        pair.push("=");
        pair.push(value.unwrap_or_default());
        shell.arg(pair);
    }
    shell.arg(command.get_program()).args(command.get_args());
    Some(steps(&mut shell, steps_))
}

#[test]
fn opt_is_searched_newest_first_by_number() {
    let here = folder("opt");
    let places = [
        "rocm/lib",
        "rocm/core-10.0/lib",
        "rocm/core-7.14/lib",
        "rocm-7.10.0/lib",
        "rocm-7.9.1/lib",
        "rocm-6.4.0/lib",
    ];
    for (tag, place) in (1..).zip(places) {
        Tiny::new(7, tag).build(&here.join("opt").join(place));
    }
    let mut client = fenced_client(&[&here, Path::new("/opt")]);
    client.env_remove("PATH");
    let setup = format!(
        "mount -t tmpfs none /opt && cp -r {}/opt/. /opt",
        here.display()
    );
    let mut removed = String::new();
    for (tag, place) in (1..).zip(places) {
        let setup = format!("{setup}{removed}");
        let Some(out) = in_namespace("the order in /opt", &setup, &client, &["count", "path"])
        else {
            return;
        };
        assert_eq!(
            out,
            format!("count 0 {tag}\npath /opt/{place}/libamdhip64.so.7\n")
        );
        removed += &format!(" && rm /opt/{place}/libamdhip64.so.7");
    }
}

#[test]
fn an_old_installation_in_opt_does_not_beat_a_newer_abi_elsewhere() {
    let here = folder("opt-stale");
    Tiny::new(5, 5).build(&here.join("opt/rocm/lib"));
    Tiny::new(7, 7).build(&here.join("opt/rocm-7.0.0/lib"));
    let client = fenced_client(&[&here, Path::new("/opt")]);
    let setup = format!(
        "mount -t tmpfs none /opt && cp -r {}/opt/. /opt",
        here.display()
    );
    let found = in_namespace("old and new in /opt", &setup, &client, &["count"]);
    assert!(found.is_none_or(|out| out == "count 0 7\n"));
}

/// Shell lines that make a linker cache of `folder` the namespace's own.
fn cache_of(here: &Path, folder: &Path) -> String {
    let here = here.display();
    format!(
        "mount -t tmpfs none /opt\n\
         echo {} >{here}/conf\n\
         PATH=$PATH:/sbin:/usr/sbin ldconfig -X -f {here}/conf -C {here}/cache\n\
         mount --bind {here}/cache /etc/ld.so.cache",
        folder.display()
    )
}

#[test]
fn the_cache_of_ld_so_is_searched() {
    let here = folder("cache");
    let cached = Tiny::new(7, 7).build(&here.join("cached"));
    let setup = cache_of(&here, &here.join("cached"));
    let out = in_namespace(
        "the cache of ld.so",
        &setup,
        &open_client(),
        &["count", "path"],
    );
    let expected = format!("count 0 7\npath {}\n", cached.display());
    assert!(out.is_none_or(|out| out == expected));
}

#[test]
fn a_stale_distribution_runtime_does_not_beat_a_newer_abi_elsewhere() {
    let here = folder("cache-stale");
    Tiny::new(5, 5).build(&here.join("cached"));
    let new = Tiny::new(7, 7).build(&here.join("rocm/lib"));
    let setup = cache_of(&here, &here.join("cached"));
    let mut client = open_client();
    let out = in_namespace("a stale runtime", &setup, &client, &["count"]);
    assert!(
        out.is_none_or(|out| out == "count 0 5\n"),
        "it is found where it is alone"
    );
    client.env("ROCM_PATH", here.join("rocm"));
    let out = in_namespace("a stale runtime", &setup, &client, &["count", "path"]);
    let expected = format!("count 0 7\npath {}\n", new.display());
    assert!(out.is_none_or(|out| out == expected));
}
