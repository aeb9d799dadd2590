//! The names that HIP's headers have in C++ alone, AMD's and ours compared as sets.
//!
//! clang says what a header declares, so that no spelling is missed: a function that is
//! not C is `name/parameters`, a template `name<>/parameters`, a specialization
//! `name<type>/parameters`, and one with default arguments `name/parameters-defaults` as
//! well; a type is its name, whether typedef, struct or enumeration.
//! `cxx_differences.txt` has the differences, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use hiplazy_abi::Version;
use serde::Deserialize;

use crate::common::{scratch, skip};
use crate::setup::{Headers, ours, output, real_named};

/// Headers of every kind.
const ALL: [&str; 6] = [
    "headers-5.2",
    "headers-5.7",
    "headers-6.2",
    "headers-6.4",
    "headers-7.1",
    "headers-7.2",
];

const DIFFERENCES: &str = include_str!("cxx_differences.txt");

/// A declaration or anything else in clang's syntax tree.
#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    kind: String,
    name: Option<String>,
    #[serde(rename = "mangledName")]
    mangled: Option<String>,
    /// How a parameter or variable is initialized.
    init: Option<String>,
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
    /// Functions, those of C too, that may be called with fewer arguments.
    defaults: BTreeSet<String>,
    /// The names of vectors by the templates that they stand for.
    vectors: BTreeMap<String, String>,
}

impl Names {
    fn all(&self) -> BTreeSet<String> {
        let all = self.functions.iter().chain(&self.types);
        all.chain(&self.defaults).cloned().collect()
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
        let inner = [&place.spelling_loc, &place.expansion_loc];
        for inner in inner.into_iter().flatten() {
            self.pass(inner);
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
        let template = node.inner.iter().find(|inner| inner.kind == "FunctionDecl");
        let function = match node.kind.as_str() {
            "FunctionDecl" => Some(node),
            "FunctionTemplateDecl" => template,
            _ => None,
        };
        if let Some(function) = function {
            let optional = function.inner.iter();
            let optional = optional
                .filter(|inner| inner.kind == "ParmVarDecl" && inner.init.is_some())
                .count();
            if optional > 0 {
                let key = format!("{name}/{}-{optional}", parameters(function));
                self.names.defaults.insert(key);
            }
        }
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
                let count = template.map_or(0, parameters);
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
    let mut complaints = Vec::new();
    for headers in real_named(&ALL) {
        let version = headers.version;
        // Some packages have HIP alone.
        let with_hiprtc = headers.folder.join("hip/hiprtc.h").is_file();
        let (real, ours) = (
            names(&headers, with_hiprtc).all(),
            ours[usize::from(with_hiprtc)].all(),
        );
        assert!(real.len() > 300, "{} names of {version}", real.len());
        let only_real: BTreeSet<String> = real.difference(&ours).cloned().collect();
        complaints.extend(differing("AMD", version, &only_real));
        if version >= Version::new(7, 0) {
            let only_ours: BTreeSet<String> = ours.difference(&real).cloned().collect();
            complaints.extend(differing("hiplazy", version, &only_ours));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What the table lacks or has too much, if it does.
fn differing(side: &str, version: Version, found: &BTreeSet<String>) -> Option<String> {
    let listed = listed(side, version);
    let unlisted: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(found).collect();
    (!unlisted.is_empty() || !gone.is_empty()).then(|| {
        format!(
            "{version}, names that only {side} has: not in cxx_differences.txt: {unlisted:?}; \
             there, but no difference: {gone:?}"
        )
    })
}
