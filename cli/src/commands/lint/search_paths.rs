//! The rules about search paths.

use std::path::Path;

use super::place::normal;
use super::search::{begins_with_token, search_path};
use crate::elf::Object;
use crate::finding::Finding;
use crate::rules;

/// What the rules say about an object's search path.
pub(super) fn findings(object: &Object, found: &mut Vec<Finding>) {
    let kind = if object.runpath.is_empty() {
        "RPATH"
    } else {
        "RUNPATH"
    };
    let entries = search_path(object);
    let relative: Vec<String> = entries
        .iter()
        .filter(|entry| is_relative(entry))
        .map(|entry| format!("\"{entry}\""))
        .collect();
    let build: Vec<String> = entries
        .iter()
        .filter(|entry| is_of_a_build(entry))
        .cloned()
        .collect();
    let whole = || [format!("{kind} {}", entries.join(":"))];
    if !relative.is_empty() {
        let detail = format!("{kind} entry {}", relative.join(", "));
        found.push(Finding::new(&rules::RELATIVE_PATH, &object.path, detail).with(whole()));
    }
    if !build.is_empty() {
        let detail = format!("{kind} entry {}", build.join(", "));
        found.push(Finding::new(&rules::BUILD_PATH, &object.path, detail).with(whole()));
    }
}

/// Of the dynamic linker's words `$ORIGIN` alone is an absolute path; what it does not know
/// stays as it is written.
fn is_relative(entry: &str) -> bool {
    !entry.starts_with('/') && !begins_with_token(entry, "ORIGIN")
}

/// Absolute, and no place that packages install libraries to.
fn is_of_a_build(entry: &str) -> bool {
    // Also those of Nix, Guix, Flatpak and Snap.
    const INSTALLED: [&str; 8] = [
        "/usr",
        "/lib",
        "/lib64",
        "/opt",
        "/nix/store",
        "/gnu/store",
        "/app",
        "/snap",
    ];
    // Where sources are unpacked, though below one of those.
    const SOURCES: [&str; 2] = ["/usr/src", "/usr/local/src"];
    let path = normal(Path::new(entry));
    let below = |roots: &[&str]| roots.iter().any(|root| path.starts_with(root));
    // conda-build's folders, wherever it is installed: it replaces them in what it packs.
    let of_conda = path.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part == "conda-bld" || part.starts_with("_h_env")
    });
    entry.starts_with('/') && (of_conda || below(&SOURCES) || !below(&INSTALLED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_paths_are_judged_by_where_they_begin() {
        for entry in [
            "/home/ci/build",
            "/tmp/x",
            "/usrlocal/lib",
            "/__w/1/s",
            "/",
            "/usr/src/build",
            "/builddir/build/lib",
            "/root/rocm/lib",
            "/nix/var/build",
            "/opt/rocm/../../home/ci",
            "/opt/conda/conda-bld/x_1/_h_env_placehold_placehold/lib",
            "/opt/x/_h_env_placehold_placehold/lib",
        ] {
            assert!(is_of_a_build(entry), "{entry}");
        }
        for entry in [
            "/opt/rocm/lib",
            "/usr/lib64",
            "/lib",
            "/nix/store/0123-rocm-clr-7.0/lib",
            "/gnu/store/0123-glibc/lib",
            "/home/../opt/rocm/lib",
            "$ORIGIN/../lib",
            "lib",
            "",
        ] {
            assert!(!is_of_a_build(entry), "{entry}");
        }
        for entry in [
            "",
            "lib",
            "../x",
            "$LIB/x",
            "$FOO/y",
            "$ORIGINAL",
            "$PLATFORM",
        ] {
            assert!(is_relative(entry), "{entry}");
        }
        for entry in ["$ORIGIN", "${ORIGIN}/lib", "$ORIGIN.libs", "/lib"] {
            assert!(!is_relative(entry), "{entry}");
        }
    }

    /// As glibc has it: an empty `DT_RPATH` is as none, an empty part of one is the current
    /// folder, and `DT_RUNPATH` alone counts where both are.
    #[test]
    fn search_paths_count_as_for_the_dynamic_linker() {
        let rules = |rpath: &[&str], runpath: &[&str]| {
            let texts = |entries: &[&str]| entries.iter().map(ToString::to_string).collect();
            let object = Object {
                rpath: texts(rpath),
                runpath: texts(runpath),
                ..Object::default()
            };
            let mut found = Vec::new();
            findings(&object, &mut found);
            let ids = found.iter().map(|finding| finding.rule.id);
            ids.collect::<Vec<_>>()
        };
        assert_eq!(rules(&[""], &[]), [""; 0]);
        assert_eq!(rules(&[], &[""]), [""; 0]);
        assert_eq!(rules(&["", ""], &[]), ["relative-path"]);
        assert_eq!(rules(&["/home/ci"], &[]), ["build-path"]);
        assert_eq!(rules(&["/home/ci"], &["$ORIGIN"]), [""; 0]);
        assert_eq!(rules(&["/home/ci"], &[""]), [""; 0]);
    }
}
