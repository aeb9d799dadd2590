//! What HIP's headers say, version by version: the manifest's tables, and under which name
//! a field or a struct goes on where it was renamed.

use std::collections::HashMap;
use std::sync::OnceLock;

use hiplazy_abi::{
    BREAKS_TXT, Break, CONSTANTS_TXT, Constant, Entry, FUNCTIONS_TXT, Field, Function, LAYOUTS_TXT,
    Layout, Version, entries, entry_for, layout_of, parse_breaks, parse_constants, parse_functions,
    parse_layouts,
};

/// The versions of callers' headers that the matrix has.
pub(crate) const HEADERS: [Version; 8] = [
    Version::new(5, 2),
    Version::new(5, 3),
    Version::new(5, 7),
    Version::new(6, 0),
    Version::new(6, 4),
    Version::new(7, 0),
    Version::new(7, 1),
    Version::new(7, 14),
];

/// The manifest.
pub(crate) struct Tables {
    pub(crate) functions: Vec<Function>,
    pub(crate) breaks: Vec<Break>,
    layouts: Vec<Layout>,
    constants: Vec<Constant>,
    /// The places of each enum's in `constants`.
    domains: HashMap<String, Vec<usize>>,
    entries: Vec<Entry>,
}

pub(crate) fn tables() -> &'static Tables {
    static READ: OnceLock<Tables> = OnceLock::new();
    READ.get_or_init(|| {
        let functions = parse_functions(FUNCTIONS_TXT).unwrap();
        let breaks = parse_breaks(BREAKS_TXT).unwrap();
        let constants = parse_constants(CONSTANTS_TXT).unwrap();
        let mut domains: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, constant) in constants.iter().enumerate() {
            let domain = domains.entry(constant.domain.clone()).or_default();
            domain.push(place);
        }
        Tables {
            entries: entries(&functions, &breaks),
            functions,
            breaks,
            layouts: parse_layouts(LAYOUTS_TXT).unwrap(),
            constants,
            domains,
        }
    })
}

impl Tables {
    /// Whether headers of `version` declare the function.
    pub(crate) fn declares(&self, version: Version, function: &str) -> bool {
        let row = self.functions.iter().find(|row| row.name == function);
        let row = row.unwrap_or_else(|| panic!("{function} is not in the manifest"));
        row.first.is_some_and(|first| first <= version)
            && row.last.is_none_or(|last| version <= last)
    }

    /// The name that the shared library exports for callers with these headers.
    pub(crate) fn entry(&self, function: &str, headers: Version) -> String {
        let place = self.functions.iter().position(|row| row.name == function);
        let entry = entry_for(&self.entries, place.unwrap(), headers).unwrap();
        format!("hiplazy_{}", self.entries[entry].name)
    }

    /// The layout of a struct. `record` is its name, or `OLD<6.2/NEW` for one that was
    /// renamed; a version before the first that has it is taken to have the first one.
    pub(crate) fn layout(&self, record: &str, version: Version) -> &Layout {
        let name = match record.split_once('<') {
            Some((old, rest)) => {
                let (bound, new) = rest.split_once('/').unwrap();
                let bound: Version = bound.parse().unwrap();
                if version < bound { old } else { new }
            }
            None => record,
        };
        layout_of(&self.layouts, name, version)
            .or_else(|| self.layouts.iter().find(|layout| layout.record == name))
            .unwrap_or_else(|| panic!("no layout of {name} in {version}"))
    }

    /// Whether a C type is an enum of HIP's.
    pub(crate) fn is_enum(&self, ty: &str) -> bool {
        self.domains.contains_key(ty)
    }

    /// The constants of an enum, without those that only mark its end.
    pub(crate) fn constants(
        &self,
        domain: &str,
        version: Version,
    ) -> impl Iterator<Item = &Constant> {
        const ENDS: [&str; 2] = ["hipGraphNodeTypeCount", "hipLaunchAttributeMax"];
        let places = self.domains.get(domain).into_iter().flatten();
        let constants = places.map(|place| &self.constants[*place]);
        constants.filter(move |constant| {
            constant.versions.contains(version) && !ENDS.contains(&constant.name.as_str())
        })
    }

    /// The names of a number in an enum.
    pub(crate) fn names_of(&self, domain: &str, value: u64, version: Version) -> Vec<&str> {
        self.constants(domain, version)
            .filter(|constant| constant.value as u64 == value)
            .map(|constant| constant.name.as_str())
            .collect()
    }

    /// The number of a constant, of an enum or a macro.
    pub(crate) fn value(&self, name: &str, version: Version) -> Option<u64> {
        hiplazy_abi::constant_of(&self.constants, name, version)
            .map(|constant| constant.value as u64)
    }
}

/// What a field is called in every version: two were renamed, three were put into a struct
/// of their own.
pub(crate) fn canonical(name: &str) -> &str {
    match name {
        "memoryType" => "type",
        "requestedHandleTypes" => "requestedHandleType",
        other => other.strip_prefix("allocFlags.").unwrap_or(other),
    }
}

/// Whether a field has no meaning of its own.
pub(crate) fn is_reserved(field: &Field) -> bool {
    let last = field.name.rsplit('.').next().unwrap_or_default();
    ["reserved", "hipReserved", "pad"].contains(&last)
        && !field.name.ends_with("nvSciSync.reserved")
}

/// The range of a field's bytes.
pub(crate) fn range(field: &Field) -> std::ops::Range<usize> {
    let start = field.offset as usize;
    start..start + field.size as usize
}
