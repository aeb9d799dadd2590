//! A runtime library by its name, and a version node.

use std::collections::BTreeSet;

use serde::Serialize;

use super::tables::Tables;
use crate::classify::{LibraryName, Part};

/// A library of the runtime, by its SONAME or file name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LibraryFacts {
    /// The name that was asked for.
    pub name: String,
    /// `hip`, `hiprtc`, `hsa`, `comgr`.
    pub kind: &'static str,
    /// The number after `.so.`: libraries with different ones are not interchangeable.
    pub major: Option<u32>,
    /// The hash with which a wheel's copy is named.
    pub wheel_hash: Option<String>,
    /// The measured libraries of that name, with how many functions they export.
    pub measured: Vec<MeasuredFacts>,
    /// The version nodes that these have.
    pub nodes: Vec<String>,
}

/// A measured library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MeasuredFacts {
    /// `libamdhip64 6.4.3 (Debian)`.
    pub name: String,
    /// How many functions it exports.
    pub functions: usize,
}

/// A version node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeFacts {
    /// `hip_6.0`.
    pub name: String,
    /// The functions on it, sorted.
    pub functions: Vec<String>,
    /// The measured libraries that have the node.
    pub exported_by: Vec<String>,
    /// Those of the same libraries that have not.
    pub absent_from: Vec<String>,
}

impl LibraryFacts {
    pub(super) fn of(tables: &Tables, name: &str) -> Option<LibraryFacts> {
        let parsed = LibraryName::parse(name)?;
        let stem = match parsed.part {
            Part::Hip => "libamdhip64",
            Part::Hiprtc => "libhiprtc",
            Part::Hsa => "libhsa-runtime64",
            Part::Comgr => "libamd_comgr",
        };
        // HSA and comgr have majors of their own, which HIP's version does not tell.
        let counts = matches!(parsed.part, Part::Hip | Part::Hiprtc);
        let measured: Vec<_> = tables
            .measured
            .iter()
            .filter(|it| it.library == stem)
            .filter(|it| !counts || parsed.major.is_none_or(|major| it.version.major == major))
            .collect();
        let nodes: BTreeSet<&str> = measured.iter().flat_map(|it| it.nodes()).collect();
        Some(LibraryFacts {
            name: name.to_string(),
            kind: parsed.part.as_str(),
            major: parsed.major,
            wheel_hash: parsed.hash,
            measured: measured
                .iter()
                .map(|it| MeasuredFacts {
                    name: it.title.clone(),
                    functions: it.names().count(),
                })
                .collect(),
            nodes: nodes.into_iter().map(str::to_string).collect(),
        })
    }
}

impl NodeFacts {
    pub(super) fn of(tables: &Tables, name: &str) -> Option<NodeFacts> {
        let mut functions = BTreeSet::new();
        let mut libraries = BTreeSet::new();
        for measured in &tables.measured {
            let on_it = measured.on_node(name);
            if !on_it.is_empty() {
                libraries.insert(measured.library.as_str());
            }
            functions.extend(on_it);
        }
        let of_manifest = tables.functions.iter();
        let of_manifest = of_manifest.filter(|it| it.node.as_deref() == Some(name));
        functions.extend(of_manifest.map(|it| it.name.as_str()));
        if functions.is_empty() {
            return None;
        }
        let all = tables.measured.iter();
        let (have, lack): (Vec<_>, Vec<_>) = all
            .filter(|it| libraries.contains(it.library.as_str()))
            .partition(|it| it.nodes().any(|node| node == name));
        let titles = |of: Vec<&super::tables::Measured>| -> Vec<String> {
            of.into_iter().map(|it| it.title.clone()).collect()
        };
        Some(NodeFacts {
            name: name.to_string(),
            functions: functions.into_iter().map(str::to_string).collect(),
            exported_by: titles(have),
            absent_from: titles(lack),
        })
    }
}
