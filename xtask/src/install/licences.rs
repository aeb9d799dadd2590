//! The licences of what is linked into the libraries: whoever passes those on passes on
//! these crates, and their licences ask for their notice.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::build;
use super::templates;

/// What names of licence files begin with.
const NAMES: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "UNLICENSE",
    "COPYING",
    "COPYRIGHT",
    "NOTICE",
];

/// The notices of Rust's own libraries in a toolchain, of which parts of `core` and of
/// the compiler's support are linked.
const RUST_NOTICES: &str = "share/doc/rust/COPYRIGHT-library.html";

/// The licence files of all crates that are linked into the archives, and into the command
/// with this manifest: the name below the installation's own licence folder, and the text.
pub(super) fn files(
    workspace: &Path,
    command: Option<&Path>,
) -> Result<Vec<(String, String)>, String> {
    let mut files = Vec::new();
    for package in linked(&metadata(workspace)?, command)? {
        let folder = package.manifest_path.parent().unwrap_or(workspace);
        for file in of_crate(&package.name, folder)? {
            let name = file.file_name().unwrap_or_default().display();
            let name = format!("{}-{}/{name}", package.name, package.version);
            files.push((name, templates::read(&file)?));
        }
    }
    let notices = rustc(&["--print", "sysroot"])?.join(RUST_NOTICES);
    if notices.is_file() {
        let name = notices.file_name().unwrap_or_default().display();
        files.push((format!("rust/{name}"), templates::read(&notices)?));
    } else {
        println!(
            "the notices of Rust's core library are not installed: {} is not there. A toolchain \
             from rustup has it",
            notices.display()
        );
    }
    Ok(files)
}

/// The licence files in the folder of a crate, sorted.
fn of_crate(name: &str, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("cannot read {}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let upper = path.file_name().unwrap_or_default().to_string_lossy();
        let upper = upper.to_ascii_uppercase();
        if NAMES.iter().any(|start| upper.starts_with(start)) && path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(format!(
            "the crate {name} is linked into what is installed and has no licence file in {}: its \
             notice must be passed on. Take another version of it, or none",
            folder.display()
        ));
    }
    files.sort();
    Ok(files)
}

/// What cargo knows of the workspace, as far as it is of use here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    manifest_path: PathBuf,
    /// Where it comes from; nowhere if it is part of this workspace.
    source: Option<String>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    /// `None` for what is linked, else `build` or `dev`.
    kind: Option<String>,
}

fn metadata(workspace: &Path) -> Result<Metadata, String> {
    // What other platforms need is not linked, and need not even be downloaded.
    let version = rustc(&["-vV"])?;
    let version = version.to_string_lossy();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("rustc -vV does not say which host it is for")?;
    let output = build::cargo(workspace)
        .args(["metadata", "--format-version=1", "--locked"])
        .args(["--filter-platform", host])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", output.status));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cannot read what cargo metadata says: {error}"))
}

/// What rustc prints.
fn rustc(arguments: &[&str]) -> Result<PathBuf, String> {
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start rustc: {error}"))?;
    if !output.status.success() {
        return Err(format!("rustc {arguments:?}: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim_end().into())
}

/// The crates of others that are linked into the archives and the command. Not macros:
/// they are part of the compiler's work.
fn linked<'a>(metadata: &'a Metadata, command: Option<&Path>) -> Result<Vec<&'a Package>, String> {
    let package = |id: &str| {
        let found = metadata.packages.iter().find(|package| package.id == id);
        found.ok_or_else(|| format!("cargo metadata does not describe {id}"))
    };
    let own = |package: &&Package| package.source.is_none();
    let mut ids: Vec<&str> = metadata
        .packages
        .iter()
        .filter(own)
        .filter(|package| {
            build::PACKAGES.contains(&package.name.as_str())
                || command == Some(&package.manifest_path)
        })
        .map(|package| package.id.as_str())
        .collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(id) = ids.pop() {
        let package = package(id)?;
        let is_macro = |target: &Target| target.kind.iter().any(|kind| kind == "proc-macro");
        if !seen.insert(id) || package.targets.iter().any(is_macro) {
            continue;
        }
        if !own(&package) {
            found.push(package);
        }
        let node = metadata.resolve.nodes.iter().find(|node| node.id == id);
        let needs = node.iter().flat_map(|node| &node.deps);
        let needs = needs.filter(|need| need.dep_kinds.iter().any(|kind| kind.kind.is_none()));
        ids.extend(needs.map(|need| need.pkg.as_str()));
    }
    if found.is_empty() {
        return Err("cargo metadata shows no crate that is linked into the libraries".into());
    }
    found.sort_by_key(|package| (&package.name, &package.version));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_without_a_licence_file_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        fs::create_dir(folder.path().join("LICENSES")).unwrap();
        let error = of_crate("bare", folder.path()).unwrap_err();
        assert!(error.contains("the crate bare is linked"), "{error}");
        for name in ["license.md", "Copying"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let files = of_crate("bare", folder.path()).unwrap();
        assert_eq!(
            files,
            ["Copying", "license.md"].map(|name| folder.path().join(name))
        );
    }

    #[test]
    fn only_what_is_linked_counts() {
        let package = |name: &str, source: &str, kind: &str| {
            format!(
                r#"{{"id":"{name}","name":"{name}","version":"1.0.0","manifest_path":"/{name}",
                    "source":{source},"targets":[{{"kind":["{kind}"]}}]}}"#
            )
        };
        let packages = [
            package("hiplazy-static", "null", "staticlib"),
            package("hiplazy", "null", "lib"),
            package("other", "null", "lib"),
            package("linked", "\"there\"", "lib"),
            package("macros", "\"there\"", "proc-macro"),
            package("built", "\"there\"", "lib"),
            package("elsewhere", "\"there\"", "lib"),
        ];
        let text = format!(
            r#"{{"packages":[{}],"resolve":{{"nodes":[
                {{"id":"hiplazy-static","deps":[{{"pkg":"hiplazy","dep_kinds":[{{"kind":null}}]}}]}},
                {{"id":"other","deps":[{{"pkg":"elsewhere","dep_kinds":[{{"kind":null}}]}}]}},
                {{"id":"hiplazy","deps":[
                    {{"pkg":"linked","dep_kinds":[{{"kind":"dev"}},{{"kind":null}}]}},
                    {{"pkg":"macros","dep_kinds":[{{"kind":null}}]}},
                    {{"pkg":"built","dep_kinds":[{{"kind":"build"}}]}}]}}]}}}}"#,
            packages.join(",")
        );
        let metadata: Metadata = serde_json::from_str(&text).unwrap();
        let names = |command: Option<&Path>| -> Vec<&str> {
            let linked = linked(&metadata, command).unwrap();
            linked.iter().map(|package| &*package.name).collect()
        };
        assert_eq!(names(None), ["linked"]);
        // What another package needs counts if that is the command.
        assert_eq!(names(Some(Path::new("/other"))), ["elsewhere", "linked"]);
    }
}
