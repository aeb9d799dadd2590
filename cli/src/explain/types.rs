//! Structs and enums: which a function reaches, and what changed about them when.

use std::collections::{BTreeMap, BTreeSet};

use hiplazy_abi::{Constant, Field, Function, HEADER_VERSIONS, Layout, Version};
use serde::Serialize;

use super::tables::Tables;
use super::versions::{range, ranges, within};

/// A struct or union.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// The name by which functions take it.
    pub name: String,
    /// Its layouts, oldest first.
    pub layouts: Vec<RecordLayout>,
}

/// How some headers lay a record out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordLayout {
    /// The header versions.
    pub headers: String,
    /// Bytes.
    pub size: u32,
    /// Bytes.
    pub align: u32,
    /// What is different from the layout before; nothing for the first.
    pub changes: Vec<String>,
    /// Every scalar.
    pub fields: Vec<RecordField>,
}

/// A scalar of a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordField {
    /// Bytes from the start.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// The path from the record, `params.fence.value`.
    pub name: String,
    /// The C type.
    #[serde(rename = "type")]
    pub ty: String,
}

/// An enum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Enum {
    /// The typedef or tag.
    pub name: String,
    /// Its constants, in order of the newest headers.
    pub constants: Vec<EnumConstant>,
}

/// A constant and its values over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EnumConstant {
    /// The C name.
    pub name: String,
    /// The enum, `macro` for a `#define`, `unnamed` for an enum without a name.
    #[serde(rename = "enum")]
    pub domain: String,
    /// Its values, oldest first.
    pub values: Vec<Value>,
}

/// A value and who has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value {
    /// The header versions.
    pub headers: String,
    /// The value.
    pub value: i64,
    #[serde(skip)]
    pub(super) versions: BTreeSet<Version>,
}

impl EnumConstant {
    pub(super) fn of(name: &str, lines: &[&Constant]) -> EnumConstant {
        let mut lines = lines.to_vec();
        lines.sort_by_key(|line| line.versions.first);
        EnumConstant {
            name: name.to_string(),
            domain: lines
                .first()
                .map(|line| line.domain.clone())
                .unwrap_or_default(),
            values: lines
                .iter()
                .map(|line| Value {
                    headers: range(line.versions),
                    value: line.value,
                    versions: within(line.versions),
                })
                .collect(),
        }
    }

    /// Whether two headers give it different values.
    pub fn is_renumbered(&self) -> bool {
        self.values
            .iter()
            .any(|it| it.value != self.values[0].value)
    }

    /// Its value in the headers of a version.
    pub(super) fn value_in(&self, version: Version) -> Option<i64> {
        let mut values = self.values.iter();
        let value = values.find(|it| it.versions.contains(&version));
        value.map(|it| it.value)
    }
}

impl Enum {
    pub(super) fn of(tables: &Tables, name: &str) -> Option<Enum> {
        let constants = tables.constants_of(name);
        (!constants.is_empty()).then(|| Enum {
            name: name.to_string(),
            constants: constants
                .iter()
                .map(|(name, lines)| EnumConstant::of(name, lines))
                .collect(),
        })
    }

    /// Spans of header versions in which no constant changes, oldest first.
    pub(super) fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for &version in HEADER_VERSIONS {
            let values: Vec<Option<i64>> = self
                .constants
                .iter()
                .map(|constant| constant.value_in(version))
                .collect();
            match spans.last_mut() {
                Some(span) if span.values == values => span.versions.insert(version),
                _ => {
                    let versions = BTreeSet::from([version]);
                    spans.push(Span { versions, values });
                    true
                }
            };
        }
        spans.retain(|span| span.values.iter().any(Option::is_some));
        spans
    }
}

/// Header versions that agree on an enum.
pub(super) struct Span {
    versions: BTreeSet<Version>,
    /// The value of each constant.
    pub(super) values: Vec<Option<i64>>,
}

impl Span {
    pub(super) fn headers(&self) -> String {
        ranges(&self.versions)
    }
}

impl Record {
    pub(super) fn of(tables: &Tables, name: &str) -> Option<Record> {
        let layouts = tables.layouts_of(name);
        let mut before: Option<&Layout> = None;
        let mut described = Vec::new();
        for layout in layouts {
            described.push(RecordLayout {
                headers: range(layout.versions),
                size: layout.size,
                align: layout.align,
                changes: before.map_or_else(Vec::new, |before| changes(before, layout)),
                fields: layout.fields.iter().map(field).collect(),
            });
            before = Some(layout);
        }
        (!described.is_empty()).then(|| Record {
            name: name.to_string(),
            layouts: described,
        })
    }
}

fn field(field: &Field) -> RecordField {
    RecordField {
        offset: field.offset,
        size: field.size,
        name: field.name.clone(),
        ty: field.ty.clone(),
    }
}

/// What is different in a newer layout.
fn changes(old: &Layout, new: &Layout) -> Vec<String> {
    let mut changes = Vec::new();
    let same_place =
        |one: &Field, other: &Field| (one.offset, one.size) == (other.offset, other.size);
    // A field under another name at the same place is no field gone and one added.
    let renamed = |field: &Field, from: &Layout, to: &Layout| -> Option<String> {
        let mut there = to.fields.iter().filter(|it| same_place(it, field));
        let other = there.next()?;
        let is_only = there.next().is_none() && from.field(&other.name).is_none();
        is_only.then(|| other.name.clone())
    };
    for field in &old.fields {
        let Field {
            name, offset, size, ..
        } = field;
        match new.field(name) {
            None => match renamed(field, old, new) {
                Some(other) => changes.push(format!("{name} is {other} now")),
                None => changes.push(format!("{name} at {offset} is gone")),
            },
            Some(other) => {
                if other.offset != *offset {
                    changes.push(format!("{name} moved from {offset} to {}", other.offset));
                }
                if other.size != *size {
                    changes.push(format!("{name} has {} bytes, not {size}", other.size));
                } else if other.ty != field.ty {
                    changes.push(format!("{name} is {}, not {}", other.ty, field.ty));
                }
            }
        }
    }
    for field in &new.fields {
        if old.field(&field.name).is_none() && renamed(field, new, old).is_none() {
            changes.push(format!("{} is new, at {}", field.name, field.offset));
        }
    }
    changes
}

/// The records and enums that a function's arguments lead to, in any version.
#[derive(Default)]
pub(super) struct Reached {
    pub(super) records: BTreeSet<String>,
    pub(super) enums: BTreeSet<String>,
    /// Types of HIP's that are neither: handles, and other names of types.
    pub(super) named: BTreeSet<String>,
}

impl Reached {
    pub(super) fn by(tables: &Tables, function: &Function) -> Reached {
        let mut reached = Reached::default();
        let others = tables.prototypes.iter();
        let others = others.filter(|other| other.name == function.name);
        let args = others.flat_map(|other| &other.args).chain(&function.args);
        for arg in args {
            reached.follow(tables, base(&arg.ty));
        }
        reached
    }

    fn follow(&mut self, tables: &Tables, name: &str) {
        let layouts = tables.layouts_of(name);
        if layouts.is_empty() {
            if !tables.constants_of(name).is_empty() {
                self.enums.insert(name.to_string());
            } else if name.starts_with("hip") {
                self.named.insert(name.to_string());
            }
            return;
        }
        if self.records.insert(name.to_string()) {
            for field in layouts.iter().flat_map(|layout| &layout.fields) {
                self.follow(tables, base(&field.ty));
            }
        }
    }
}

/// Whether functions take a type of that name, and nothing else is known of it.
pub(super) fn is_only_named(tables: &Tables, name: &str) -> bool {
    let mut functions = tables.functions.iter();
    functions.any(|function| Reached::by(tables, function).named.contains(name))
}

/// The functions that lead to each type.
pub(super) fn users(tables: &Tables) -> BTreeMap<String, Vec<String>> {
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for function in &tables.functions {
        let reached = Reached::by(tables, function);
        let types = reached.records.into_iter().chain(reached.enums);
        for name in types.chain(reached.named) {
            users.entry(name).or_default().push(function.name.clone());
        }
    }
    users
}

/// The name in a C type without `const`, pointers and array lengths.
fn base(c_type: &str) -> &str {
    let end = c_type.find(['*', '[']).unwrap_or(c_type.len());
    let mut words = c_type[..end].split_whitespace();
    let is_name =
        |word: &&str| !matches!(*word, "const" | "volatile" | "struct" | "enum" | "union");
    words.rfind(is_name).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiplazy_abi::parse_layouts;

    #[test]
    fn what_changed_in_a_struct_is_told_field_by_field() {
        let layouts = parse_layouts(
            "hipX | 5.0-5.7 | 24 | 8 | 0:4:a:int, 4:4:b:int, 8:8:c:void *, 16:8:old:size_t\n\
             hipX | 6.0- | 32 | 8 | 0:4:a:unsigned int, 8:8:b:size_t, 16:8:new:size_t, 24:8:e:size_t",
        )
        .unwrap();
        assert_eq!(
            changes(&layouts[0], &layouts[1]),
            [
                "a is unsigned int, not int",
                "b moved from 4 to 8",
                "b has 8 bytes, not 4",
                "c at 8 is gone",
                "old is new now",
                "e is new, at 24"
            ]
        );
    }

    #[test]
    fn types_are_reached_through_pointers_and_structs() {
        let tables = Tables::get();
        let reached = Reached::by(tables, tables.function("hipMemcpyParam2D").unwrap());
        assert!(reached.records.contains("hip_Memcpy2D"));
        assert!(reached.enums.contains("hipMemoryType"));
        assert!(users(tables)["hipMemoryType"].contains(&"hipMemcpyParam2D".to_string()));
    }

    #[test]
    fn an_enum_has_a_span_for_each_numbering() {
        let memory = Enum::of(Tables::get(), "hipMemoryType").unwrap();
        let spans: Vec<String> = memory.spans().iter().map(Span::headers).collect();
        assert_eq!(spans, ["5.0 to 5.2", "5.3 to 5.7", "6.0 and newer"]);
        let host = memory.constants.iter();
        let host = host
            .clone()
            .find(|it| it.name == "hipMemoryTypeHost")
            .unwrap();
        assert!(host.is_renumbered());
        assert_eq!(host.value_in(Version::new(6, 1)), Some(1));
    }
}
