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

use crate::common::{scratch, skip, text_of};
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
    /// Other names of types: what they stand for, and the name.
    aliases: BTreeMap<String, String>,
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
        let is_global = is_global
            && ["TranslationUnitDecl", "LinkageSpecDecl"].contains(&node.kind.as_str());
        for inner in &node.inner {
            self.read(inner, is_global);
        }
    }

    fn take(&mut self, node: &Node, name: &str) {
        let parameters = |function: &Node| {
            let parameters = function.inner.iter();
            parameters.filter(|inner| inner.kind == "ParmVarDecl").count()
        };
        match node.kind.as_str() {
            "TypedefDecl" | "TypeAliasDecl" => {
                let ty = node.ty.as_ref().map_or("", |ty| &ty.name);
                self.names.aliases.insert(ty.to_string(), name.to_string());
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
                    .map(|ty| self.names.aliases.get(ty).map_or(ty, String::as_str))
                    .collect();
                let arguments = match arguments[..] {
                    [] => String::new(),
                    _ => format!("<{}>", arguments.join(",")),
                };
                let key = format!("{name}{arguments}/{}", parameters(node));
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
    // Not all that it printed, which is the tree.
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
        let missing = |missing: &fetch::Missing| skip(name, &missing.to_string());
        let folder: PathBuf = found.inspect_err(missing).ok()?;
        Some(Headers {
            name,
            version,
            folder,
        })
    });
    found.collect()
}

#[test]
fn dump() {
    let o = [names(&ours(), false), names(&ours(), true)];
    for headers in real() {
        let t = std::time::Instant::now();
        let with = headers.folder.join("hip/hiprtc.h").is_file();
        let real = names(&headers, with);
        let ours = &o[usize::from(with)];
        println!("== {} {:?}", headers.name, t.elapsed());
        println!("F- {:?}", real.functions.difference(&ours.functions).collect::<Vec<_>>());
        println!("F+ {:?}", ours.functions.difference(&real.functions).collect::<Vec<_>>());
        println!("T- {:?}", real.types.difference(&ours.types).collect::<Vec<_>>());
        println!("T+ {:?}", ours.types.difference(&real.types).collect::<Vec<_>>());
    }
    let _ = text_of;
}
