//! Prototypes with default arguments, renamings and overloads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use hiplazy_abi::{Declared, Defaults, Function, Overload, Version};

use super::Error;

/// The first version of which no C header was read, only Rust declarations: those
/// show no renaming by macro.
const WITHOUT_C_HEADER: Version = Version::new(7, 14);

/// The functions that a header of HIP 7 declares, in the manifest's order, and the
/// table's default arguments for them.
pub(crate) struct Interface<'a> {
    functions: Vec<(&'a Function, &'a str)>,
    defaults: BTreeMap<&'a str, &'a Defaults>,
}

impl<'a> Interface<'a> {
    /// Joins the tables.
    ///
    /// # Errors
    ///
    /// A default for a function or an argument that does not exist.
    pub(crate) fn new(
        functions: &'a [Function],
        history: &'a [Declared],
        defaults: &'a [Defaults],
    ) -> Result<Interface<'a>, Error> {
        let headers: BTreeMap<&str, &str> = history
            .iter()
            .map(|declared| (declared.name.as_str(), declared.header.as_str()))
            .collect();
        let functions: Vec<(&Function, &str)> = functions
            .iter()
            .filter(|function| function.first.is_some() && function.last.is_none())
            .filter_map(|function| Some((function, *headers.get(function.name.as_str())?)))
            .collect();
        for entry in defaults {
            let function = functions
                .iter()
                .find(|(function, _)| function.name == entry.name);
            let last = function.map(|(function, _)| {
                let from = function.args.len().saturating_sub(entry.args.len());
                function.args[from..].iter().map(|arg| arg.name.as_str())
            });
            let fits =
                last.is_some_and(|last| last.eq(entry.args.iter().map(|(name, _)| name.as_str())));
            if !fits {
                return Err(Error::new(format!(
                    "abi/cxx_defaults.txt: {} has no such last arguments in abi/functions.txt, \
                     or HIP 7 does not declare it",
                    entry.name
                )));
            }
        }
        let defaults = defaults.iter();
        Ok(Interface {
            functions,
            defaults: defaults.map(|entry| (entry.name.as_str(), entry)).collect(),
        })
    }

    /// The prototypes of the functions of some headers.
    pub(crate) fn prototypes(&self, of: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        for (function, _) in self.functions.iter().filter(|(_, header)| of(header)) {
            let defaults = self.defaults.get(function.name.as_str());
            text += &prototype(function, defaults.map_or(&[][..], |entry| &entry.args));
        }
        text
    }

    /// The names that a per-thread default stream renames: those that have a `_spt`
    /// form.
    pub(crate) fn per_thread(&self) -> Vec<&'a str> {
        let names: BTreeSet<&str> = self
            .functions
            .iter()
            .map(|(function, _)| function.name.as_str())
            .collect();
        let renamed = self.functions.iter().filter_map(|(function, _)| {
            let is_known = function.first.is_some_and(|first| first < WITHOUT_C_HEADER);
            let base = function.name.strip_suffix("_spt").filter(|_| is_known)?;
            names.get(base).copied()
        });
        renamed.collect()
    }
}

/// One prototype. OpenGL's types are written as what they are: GL's own header
/// declares them, and C99 allows that only once.
fn prototype(function: &Function, defaults: &[(String, String)]) -> String {
    let arguments: Vec<String> = function
        .args
        .iter()
        .map(|arg| {
            let default = defaults
                .iter()
                .find(|(name, _)| *name == arg.name)
                .map_or_else(String::new, |(_, value)| {
                    format!(" HIPLAZY_ROCM_DEFAULT({value})")
                });
            let text = arg.to_string();
            let text = text
                .replace("GLuint ", "unsigned int ")
                .replace("GLenum ", "unsigned int ");
            format!("{text}{default}")
        })
        .collect();
    let arguments = if arguments.is_empty() {
        "void".to_string()
    } else {
        arguments.join(", ")
    };
    let space = if function.ret.ends_with('*') { "" } else { " " };
    format!("{}{space}{}({arguments});\n", function.ret, function.name)
}

/// The overloads as C++.
pub(crate) fn overloads(overloads: &[Overload]) -> String {
    let mut text = String::new();
    for overload in overloads {
        if let Some(unless) = &overload.unless {
            let _ = writeln!(text, "#ifndef {unless}");
        }
        if let Some(template) = &overload.template {
            let _ = writeln!(text, "template <{template}>");
        }
        let _ = writeln!(
            text,
            "static inline hipError_t {} {{\n  return {};\n}}",
            overload.signature, overload.call
        );
        if overload.unless.is_some() {
            text += "#endif\n";
        }
    }
    text
}
