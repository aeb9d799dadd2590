//! `abi/functions.txt`, from declarations and the committed tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hiplazy_abi::{
    Class, Constant, Declared, Function, Layout, Library, NotWrapped, ParseError, Prototype,
    parse_constants, parse_exports, parse_history, parse_layouts, parse_not_wrapped,
    parse_prototypes,
};

use crate::abi::Error;
use hiplazy_headers::Declarations;

const HEADER: &str = include_str!("functions_header.txt");

/// The committed tables that the manifest rests on, read from the checkout
/// rather than from the compiled crate, so that an edit needs no rebuild.
pub(crate) struct Tables {
    /// The header versions that declare each function.
    pub(crate) history: Vec<Declared>,
    /// Prototypes of older headers.
    pub(crate) prototypes: Vec<Prototype>,
    /// Exports without a wrapper.
    pub(crate) not_wrapped: Vec<NotWrapped>,
    /// Struct layouts by version.
    pub(crate) layouts: Vec<Layout>,
    /// Enumerators and macros by version.
    pub(crate) constants: Vec<Constant>,
    /// Version nodes by link name, from the export tables of `libamdhip64`.
    nodes: BTreeMap<String, String>,
}

impl Tables {
    /// Reads the tables of the workspace at `root`.
    pub(crate) fn read(root: &Path) -> Result<Tables, Error> {
        let folder = root.join("abi");
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path)
                .map_err(|error| Error::new(format!("{}: {error}", path.display())))
        };
        let parsed = |name: &str, error: ParseError| Error::new(format!("abi/{name}: {error}"));
        let mut nodes = BTreeMap::new();
        for table in hiplazy_abi::EXPORTS {
            if !table.name.starts_with("libamdhip64") {
                continue;
            }
            let name = format!("exports/{}.txt", table.name);
            let exports = parse_exports(&read(&name)?).map_err(|error| parsed(&name, error))?;
            for export in exports.into_iter().filter(|export| export.is_function) {
                let Some(node) = export.node else { continue };
                let earlier = nodes.insert(export.name.clone(), node.clone());
                if earlier.is_some_and(|earlier| earlier != node) {
                    return Err(Error::new(format!(
                        "abi/{name}: {} is on another node than in an earlier table",
                        export.name
                    )));
                }
            }
        }
        Ok(Tables {
            history: parse_history(&read("history.txt")?)
                .map_err(|error| parsed("history.txt", error))?,
            prototypes: parse_prototypes(&read("prototypes.txt")?)
                .map_err(|error| parsed("prototypes.txt", error))?,
            not_wrapped: parse_not_wrapped(&read("not_wrapped.txt")?)
                .map_err(|error| parsed("not_wrapped.txt", error))?,
            layouts: parse_layouts(&read("layouts.txt")?)
                .map_err(|error| parsed("layouts.txt", error))?,
            constants: parse_constants(&read("constants.txt")?)
                .map_err(|error| parsed("constants.txt", error))?,
            nodes,
        })
    }
}

/// Puts declarations and tables together, sorted as the manifest is.
pub(crate) fn build(declarations: &Declarations, tables: &Tables) -> Result<Vec<Function>, Error> {
    let mut functions = Vec::new();
    for (name, declaration) in declarations {
        if tables.not_wrapped.iter().any(|entry| entry.name == *name) {
            continue;
        }
        let declared = tables.history.iter().find(|entry| entry.name == *name);
        let (first, last) = declared.map_or((None, None), Declared::range);
        let library = library(name);
        let node = match library {
            Library::Hip => tables.nodes.get(name).cloned(),
            Library::Hiprtc | Library::Hsa => None,
        };
        functions.push(Function {
            name: name.clone(),
            node,
            class: Class::of_return_type(&declaration.ret),
            ret: declaration.ret.clone(),
            args: declaration.args.clone(),
            first,
            last,
            library,
        });
    }
    functions.sort_by(|a, b| (a.library, &a.name).cmp(&(b.library, &b.name)));
    for entry in &tables.history {
        if !functions.iter().any(|function| function.name == entry.name) {
            return Err(Error::new(format!(
                "abi/history.txt lists {}, which neither the pinned headers nor abi/supplement/ declare",
                entry.name
            )));
        }
    }
    Ok(functions)
}

/// The manifest file.
pub(crate) fn text(functions: &[Function]) -> String {
    let mut text = HEADER.to_string();
    for function in functions {
        text += &function.line();
        text.push('\n');
    }
    text
}

fn library(name: &str) -> Library {
    if name.starts_with("hiprtc") {
        Library::Hiprtc
    } else if name.starts_with("hsa_") {
        Library::Hsa
    } else {
        Library::Hip
    }
}
