//! The manifest's tables, parsed and indexed once.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use hiplazy_abi::{
    self as abi, Break, Constant, Declared, Defaults, Entry, ErrorCode, Export, Function, Layout,
    Library, Macro, NotWrapped, Overload, Prototype, Version,
};

/// All tables.
pub(super) struct Tables {
    pub(super) functions: Vec<Function>,
    pub(super) history: HashMap<String, Declared>,
    pub(super) prototypes: Vec<Prototype>,
    pub(super) layouts: Vec<Layout>,
    pub(super) constants: Vec<Constant>,
    pub(super) breaks: Vec<Break>,
    pub(super) not_wrapped: Vec<NotWrapped>,
    pub(super) macros: Vec<Macro>,
    pub(super) defaults: Vec<Defaults>,
    pub(super) overloads: Vec<Overload>,
    pub(super) errors: Vec<ErrorCode>,
    pub(super) entries: Vec<Entry>,
    pub(super) measured: Vec<Measured>,
}

/// A real library whose exports were measured.
pub(super) struct Measured {
    /// `libamdhip64 5.2.3 (Debian)`.
    pub(super) title: String,
    /// `libamdhip64`.
    pub(super) library: String,
    /// The HIP version that it belongs to.
    pub(super) version: Version,
    /// Its functions, with their nodes.
    exports: HashMap<String, Option<String>>,
}

impl Measured {
    /// The node of a function, `Some(None)` if it has none; `None` if it is not exported.
    pub(super) fn node(&self, name: &str) -> Option<Option<&str>> {
        self.exports.get(name).map(Option::as_deref)
    }

    /// The nodes of its functions, each as often as it occurs.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &str> {
        self.exports.values().filter_map(Option::as_deref)
    }

    /// The functions on a node.
    pub(super) fn on_node(&self, node: &str) -> Vec<&str> {
        let on_it = self.exports.iter();
        let on_it = on_it.filter(|(_, has)| has.as_deref() == Some(node));
        on_it.map(|(name, _)| name.as_str()).collect()
    }

    /// The names that it exports.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.exports.keys().map(String::as_str)
    }
}

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::read);

impl Tables {
    /// The tables.
    pub(super) fn get() -> &'static Tables {
        &TABLES
    }

    // The tables are part of this program, and the manifest's own tests parse them: one
    // that cannot be read is empty here.
    fn read() -> Tables {
        let functions = abi::parse_functions(abi::FUNCTIONS_TXT).unwrap_or_default();
        let breaks = abi::parse_breaks(abi::BREAKS_TXT).unwrap_or_default();
        let history = abi::parse_history(abi::HISTORY_TXT).unwrap_or_default();
        Tables {
            entries: abi::entries(&functions, &breaks),
            functions,
            history: by_name(history),
            prototypes: abi::parse_prototypes(abi::PROTOTYPES_TXT).unwrap_or_default(),
            layouts: abi::parse_layouts(abi::LAYOUTS_TXT).unwrap_or_default(),
            constants: abi::parse_constants(abi::CONSTANTS_TXT).unwrap_or_default(),
            breaks,
            not_wrapped: abi::parse_not_wrapped(abi::NOT_WRAPPED_TXT).unwrap_or_default(),
            macros: abi::parse_macros(abi::MACROS_TXT).unwrap_or_default(),
            defaults: abi::parse_defaults(abi::DEFAULTS_TXT).unwrap_or_default(),
            overloads: abi::parse_overloads(abi::OVERLOADS_TXT).unwrap_or_default(),
            errors: abi::parse_errors(abi::ERRORS_TXT).unwrap_or_default(),
            measured: abi::EXPORTS.iter().filter_map(measured).collect(),
        }
    }

    /// The function with this link name.
    pub(super) fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Whether headers of `version` declare the function; those that no public header
    /// declares are the compiler's own, in every version.
    pub(super) fn is_declared(&self, function: &Function, version: Version) -> bool {
        let declared = self.history.get(&function.name);
        declared.is_none_or(|declared| declared.versions.contains(&version))
    }

    /// Whether a runtime of `version` has the function, as far as can be told: a measured
    /// one up to that version exports it (HIP removes none), or headers declare it and no
    /// newer one is known to lack it.
    pub(super) fn is_exported(&self, function: &Function, version: Version) -> bool {
        if function.library == Library::Hsa {
            return true;
        }
        let name = &function.name;
        let has = |measured: &Measured| measured.node(name).is_some();
        let mut older = self.measured.iter().filter(|it| it.version <= version);
        if older.any(has) {
            return true;
        }
        let declared = self.history.get(name);
        let first = declared.and_then(|declared| declared.versions.first());
        let lacks = self.measured.iter().any(|it| {
            it.library == "libamdhip64" && it.version >= version && it.node(name).is_none()
        });
        // Those that no header declares are as old as the compiler that calls them.
        first.is_none_or(|first| *first <= version)
            && (!lacks || function.library == Library::Hiprtc)
    }

    /// The layouts of a record, oldest first.
    pub(super) fn layouts_of(&self, record: &str) -> Vec<&Layout> {
        let of_record = |layout: &&Layout| layout.record == record;
        self.layouts.iter().filter(of_record).collect()
    }

    /// The constants of an enum by name, in order of the table. `macro` and `unnamed` are
    /// no enums.
    pub(super) fn constants_of(&self, domain: &str) -> Vec<(&str, Vec<&Constant>)> {
        let mut all: Vec<(&str, Vec<&Constant>)> = Vec::new();
        let mut place: BTreeMap<&str, usize> = BTreeMap::new();
        if matches!(domain, "macro" | "unnamed") {
            return all;
        }
        for constant in self.constants.iter().filter(|it| it.domain == domain) {
            let at = *place.entry(&constant.name).or_insert_with(|| {
                all.push((&constant.name, Vec::new()));
                all.len() - 1
            });
            all[at].1.push(constant);
        }
        all
    }

    /// What a name is renamed to by macro.
    pub(super) fn macro_of(&self, name: &str) -> Option<&Macro> {
        self.macros.iter().find(|it| it.name == name)
    }
}

fn by_name(history: Vec<Declared>) -> HashMap<String, Declared> {
    let named = history.into_iter().map(|it| (it.name.clone(), it));
    named.collect()
}

/// `libamdhip64_debian_5.2.3`.
fn measured(table: &abi::ExportTable) -> Option<Measured> {
    let mut parts = table.name.split('_');
    let (library, origin, release) = (parts.next()?, parts.next()?, parts.next()?);
    let origin = match origin {
        "debian" => "Debian",
        "therock" => "TheRock",
        other => other,
    };
    let mut numbers = release.split('.');
    let mut number = || numbers.next()?.parse().ok();
    let exports = abi::parse_exports(table.text).unwrap_or_default();
    let functions = exports.into_iter().filter(|export| export.is_function);
    Some(Measured {
        title: format!("{library} {release} ({origin})"),
        library: library.to_string(),
        version: Version::new(number()?, number()?),
        exports: functions
            .map(|Export { name, node, .. }| (name, node))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_is_empty() {
        let tables = Tables::get();
        assert_eq!(tables.measured.len(), abi::EXPORTS.len());
        assert!(tables.measured.iter().all(|it| !it.exports.is_empty()));
        assert!(tables.functions.len() > 500 && tables.entries.len() > tables.functions.len());
        assert!(tables.history.len() > 500 && !tables.prototypes.is_empty());
        assert!(!tables.layouts.is_empty() && !tables.constants.is_empty());
        assert!(!tables.breaks.is_empty() && !tables.not_wrapped.is_empty());
        assert!(!tables.macros.is_empty() && !tables.defaults.is_empty());
        assert!(!tables.overloads.is_empty() && !tables.errors.is_empty());
    }
}
