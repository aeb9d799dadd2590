//! The names that HIP's headers have in C++ alone, AMD's and ours compared as sets.
//!
//! clang says what a header declares, so that no spelling is missed: a function that is
//! not C is `name/parameters`, a template `name<>/parameters`, a specialization
//! `name<type>/parameters`; a type is its name, whether typedef, struct or enumeration.
//! `cxx_differences.txt` has the differences, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hiplazy_abi::Version;
use serde::Deserialize;
use xtask::fetch;

use crate::common::{scratch, skip};
use crate::setup::{Headers, ours, output};

const DIFFERENCES: &str = include_str!("cxx_differences.txt");

/// A declaration or anything else in clang's syntax tree.
#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    kind: String,
    name: Option<String>,
    #[serde(rename = "mangledName")]
    mangled: Option<String>,
    #[serde(rename = "type")]
    ty: Option<Type>,
    #[serde(default)]
    loc: Place,
    #[serde(default)]
    range: Range,
    #[serde(default)]
    inner: Vec<Node>,
}

#[derive(Deserialize)]
struct Type {
    #[serde(rename = "qualType")]
    name: String,
}

#[derive(Deserialize, Default)]
struct Range {
    begin: Place,
    end: Place,
}

/// A place in a file, or the two of something in a macro: where its text is, and where
/// the macro was used.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Place {
    file: Option<String>,
    spelling_loc: Option<Box<Place>>,
    expansion_loc: Option<Box<Place>>,
}

/// What a header set declares below its own folder.
#[derive(Default)]
struct Names {
    functions: BTreeSet<String>,
    types: BTreeSet<String>,
    /// The names of vectors by the templates that they stand for.
    vectors: BTreeMap<String, String>,
}

impl Names {
    fn all(&self) -> BTreeSet<String> {
        self.functions.union(&self.types).cloned().collect()
    }
}

/// Reads the tree in its order: clang names a file only where it is another one than
/// at the place before.
struct Reader<'a> {
    folder: &'a Path,
    file: String,
    names: Names,
}

impl Reader<'_> {
    fn pass(&mut self, place: &Place) {
        for inner in [&place.spelling_loc, &place.expansion_loc] {
            if let Some(inner) = inner {
                self.pass(inner);
            }
        }
        if let Some(file) = &place.file {
            self.file.clone_from(file);
        }
    }

    fn read(&mut self, node: &Node, is_global: bool) {
        self.pass(&node.loc);
        let is_declared_here = is_global && Path::new(&self.file).starts_with(self.folder);
        if let Some(name) = node.name.as_deref().filter(|_| is_declared_here) {
            self.take(node, name);
        }
        self.pass(&node.range.begin);
        self.pass(&node.range.end);
        // What is inside other things has no name of its own for a caller.
        let is_global =
            is_global && ["TranslationUnitDecl", "LinkageSpecDecl"].contains(&node.kind.as_str());
        for inner in &node.inner {
            self.read(inner, is_global);
        }
    }

    fn take(&mut self, node: &Node, name: &str) {
        let parameters = |function: &Node| {
            let parameters = function.inner.iter();
            parameters
                .filter(|inner| inner.kind == "ParmVarDecl")
                .count()
        };
        match node.kind.as_str() {
            "TypedefDecl" | "TypeAliasDecl" => {
                let ty = node.ty.as_ref().map_or("", |ty| &ty.name);
                if ty.ends_with('>') {
                    self.names.vectors.insert(ty.to_string(), name.to_string());
                }
                self.names.types.insert(name.to_string());
            }
            "CXXRecordDecl" | "ClassTemplateDecl" | "EnumDecl" => {
                self.names.types.insert(name.to_string());
            }
            "FunctionTemplateDecl" => {
                let of = node.inner.iter().find(|inner| inner.kind == "FunctionDecl");
                let count = of.map_or(0, parameters);
                self.names.functions.insert(format!("{name}<>/{count}"));
            }
            // What is called by its own name is C.
            "FunctionDecl" if node.mangled.as_deref() != Some(name) => {
                let arguments = node.inner.iter();
                let arguments = arguments.filter(|inner| inner.kind == "TemplateArgument");
                let arguments: Vec<&str> = arguments
                    .map(|argument| argument.ty.as_ref().map_or("?", |ty| &ty.name))
                    // AMD's vectors are templates with other names.
                    .map(|ty| self.names.vectors.get(ty).map_or(ty, String::as_str))
                    .collect();
                let arguments = match arguments[..] {
                    [] => String::new(),
                    _ => format!("<{}>", arguments.join(",")),
                };
                let key = format!("{name}{arguments}/{}", parameters(node)).replace(' ', "");
                self.names.functions.insert(key);
            }
            _ => {}
        }
    }
}

/// What clang finds declared, with or without `hiprtc.h`.
fn names(headers: &Headers, with_hiprtc: bool) -> Names {
    let folder = scratch(&format!("c-headers-names-{}-{with_hiprtc}", headers.name));
    let file = folder.join("all.cpp");
    let hiprtc = if with_hiprtc {
        "#include <hip/hiprtc.h>\n"
    } else {
        ""
    };
    fs::write(&file, format!("#include <hip/hip_runtime_api.h>\n{hiprtc}")).unwrap();
    let mut command = Command::new("clang++");
    command
        .args(["-std=c++17", "-D__HIP_PLATFORM_AMD__", "-fsyntax-only"])
        .args(["-Xclang", "-ast-dump=json", "-isystem"])
        .args([&headers.folder, &file]);
    let output = output(&mut command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    let tree: Node = serde_json::from_slice(&output.stdout).unwrap();
    let mut reader = Reader {
        folder: &headers.folder,
        file: String::new(),
        names: Names::default(),
    };
    reader.read(&tree, true);
    reader.names
}

/// AMD's headers of every kind, those that can be had.
fn real() -> Vec<Headers> {
    let known = [
        ("headers-5.2", Version::new(5, 2)),
        ("headers-5.7", Version::new(5, 7)),
        ("headers-6.2", Version::new(6, 2)),
        ("headers-6.4", Version::new(6, 4)),
        ("headers-7.1", Version::new(7, 1)),
        ("headers-7.2", Version::new(7, 2)),
    ];
    let found = known.into_iter().filter_map(|(name, version)| {
        let found = fetch::fetch(name);
        let what = format!("the names of C++ beside {name}");
        let missing = |missing: &fetch::Missing| skip(&what, &missing.to_string());
        let folder: PathBuf = found.inspect_err(missing).ok()?;
        Some(Headers {
            name,
            version,
            folder,
        })
    });
    found.collect()
}

/// The names that the table gives for one side and one version.
fn listed(side: &str, version: Version) -> BTreeSet<String> {
    let rows = DIFFERENCES.lines();
    let rows = rows.filter(|row| !row.is_empty() && !row.starts_with('#'));
    let mut names = BTreeSet::new();
    for row in rows {
        let columns: Vec<&str> = row.split(" | ").collect();
        let [who, versions, reason, all] = columns[..] else {
            panic!("not four columns: {row}");
        };
        assert!(["AMD", "hiplazy"].contains(&who), "{row}");
        assert!(!reason.is_empty(), "no reason: {row}");
        let (first, last) = versions.split_once('-').unwrap_or((versions, versions));
        let is_in = first.parse::<Version>().unwrap() <= version
            && (last.is_empty() || version <= last.parse().unwrap());
        if who == side && is_in {
            for name in all.split_whitespace() {
                assert!(names.insert(name.to_string()), "{name} is listed twice");
            }
        }
    }
    names
}

/// What only one side has is what the table lists, no more and no less.
#[test]
fn names_of_cxx_are_those_of_the_real_headers() {
    if Command::new("clang++").arg("--version").output().is_err() {
        skip(
            "the names that the C headers have in C++",
            "no clang++ here; apt-get install clang",
        );
        return;
    }
    let ours = [names(&ours(), false), names(&ours(), true)];
    for headers in real() {
        let version = headers.version;
        // Some packages have HIP alone.
        let with_hiprtc = headers.folder.join("hip/hiprtc.h").is_file();
        let (real, ours) = (
            names(&headers, with_hiprtc).all(),
            ours[usize::from(with_hiprtc)].all(),
        );
        assert!(real.len() > 220, "{} names of {version}", real.len());
        let only_real: BTreeSet<String> = real.difference(&ours).cloned().collect();
        same("AMD", version, &only_real);
        if version >= Version::new(7, 0) {
            let only_ours: BTreeSet<String> = ours.difference(&real).cloned().collect();
            same("hiplazy", version, &only_ours);
        }
    }
}

#[track_caller]
fn same(side: &str, version: Version, found: &BTreeSet<String>) {
    let listed = listed(side, version);
    let unlisted: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(found).collect();
    assert!(
        unlisted.is_empty() && gone.is_empty(),
        "{version}, names that only {side} has: not in cxx_differences.txt: {unlisted:?}; \
         there, but no difference: {gone:?}"
    );
}
