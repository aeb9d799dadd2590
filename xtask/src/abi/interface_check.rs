//! The tables of layouts and constants against a header set.

use std::collections::BTreeSet;
use std::fmt;

use hiplazy_abi::{Constant, Field, Layout, Version, layout_of};
use hiplazy_headers::Interface;

/// A layout or a constant on which headers and table differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterfaceDifference {
    /// A record is laid out otherwise, or by one of the two only.
    Layout {
        /// The record.
        record: String,
        /// What the headers say.
        headers: Option<String>,
        /// What the table says.
        table: Option<String>,
    },
    /// A constant has another value, or is in one of the two only.
    Constant {
        /// The enum, or what stands for it.
        domain: String,
        /// The constant.
        name: String,
        /// Its value in the headers.
        headers: Option<i64>,
        /// Its value in the table.
        table: Option<i64>,
    },
}

impl fmt::Display for InterfaceDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InterfaceDifference::Layout {
                record,
                headers,
                table,
            } => write!(
                f,
                "{record} is {} where abi/layouts.txt has {}",
                headers.as_deref().unwrap_or("not declared"),
                table.as_deref().unwrap_or("no line for this version")
            ),
            InterfaceDifference::Constant {
                domain,
                name,
                headers,
                table,
            } => {
                let value = |value: &Option<i64>, none: &str| {
                    value.map_or(none.to_string(), |value| value.to_string())
                };
                write!(
                    f,
                    "{name} ({domain}) is {} where abi/constants.txt has {}",
                    value(headers, "not declared"),
                    value(table, "no line for this version")
                )
            }
        }
    }
}

/// Compares records and constants of the headers of `version` with the tables.
///
/// Absence counts only where the set has the header that declares the thing: `headers`
/// are the files of the set.
pub fn compare_interface(
    version: Version,
    interface: &Interface,
    headers: &[&str],
    layouts: &[Layout],
    constants: &[Constant],
) -> Vec<InterfaceDifference> {
    let mut differences = Vec::new();
    let in_table: BTreeSet<&str> = layouts
        .iter()
        .filter(|layout| layout.versions.contains(version))
        .map(|layout| layout.record.as_str())
        .collect();
    let in_headers = interface.records.keys().map(String::as_str);
    for record in in_headers
        .chain(in_table.iter().copied())
        .collect::<BTreeSet<_>>()
    {
        let theirs = interface.records.get(record);
        let ours = layout_of(layouts, record, version);
        if theirs.is_none() && !headers.contains(&header_of_record(record)) {
            continue;
        }
        let theirs = theirs.map(|it| spelled(it.size, it.align, &it.fields));
        let ours = ours.map(|it| spelled(it.size, it.align, &it.fields));
        if theirs != ours {
            differences.push(InterfaceDifference::Layout {
                record: record.to_string(),
                headers: theirs,
                table: ours,
            });
        }
    }

    let in_table: Vec<&Constant> = constants
        .iter()
        .filter(|constant| constant.versions.contains(version))
        .collect();
    let keys = in_table
        .iter()
        .map(|constant| (constant.domain.clone(), constant.name.clone()));
    for key in keys
        .chain(interface.constants.keys().cloned())
        .collect::<BTreeSet<_>>()
    {
        let theirs = interface.constants.get(&key).copied();
        let ours = in_table
            .iter()
            .find(|constant| (&constant.domain, &constant.name) == (&key.0, &key.1))
            .map(|constant| constant.value);
        let is_expected = theirs.is_some() || headers.contains(&header_of_constant(&key.0));
        if theirs != ours && is_expected {
            differences.push(InterfaceDifference::Constant {
                domain: key.0,
                name: key.1,
                headers: theirs,
                table: ours,
            });
        }
    }
    differences
}

fn header_of_record(record: &str) -> &'static str {
    match record {
        "hipDeviceProp_tR0000" => "hip_deprecated.h",
        _ => "hip_runtime_api.h",
    }
}

fn header_of_constant(domain: &str) -> &'static str {
    match domain {
        "hipGLDeviceList" => "hip_gl_interop.h",
        _ if domain.starts_with("hiprtc") => "hiprtc.h",
        _ => "hip_runtime_api.h",
    }
}

fn spelled(size: u32, align: u32, fields: &[Field]) -> String {
    let fields: Vec<String> = fields.iter().map(Field::to_string).collect();
    format!("{size} | {align} | {}", fields.join(", "))
}
