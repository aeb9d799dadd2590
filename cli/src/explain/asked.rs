//! The version node that was asked for: `hipMalloc@hip_9.9`, and what ld.so says of one
//! that it does not find.

use std::collections::BTreeSet;

use serde::Serialize;

use super::query;
use super::tables::Tables;

/// A node, or a name on a node, that no known runtime exports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// `hipMalloc@hip_9.9`, or the node alone.
    pub name: String,
    /// What runtimes export instead: the name with its nodes, or the nearest nodes.
    pub instead: Vec<String>,
    /// The newest node that is known.
    pub newest: Option<String>,
    /// What that means for who sees it.
    pub means: String,
}

/// What is wrong with the node that `text` asks the function `name` for; `None` if
/// nothing is.
pub(super) fn of_function(tables: &Tables, name: &str, text: &str) -> Option<Asked> {
    let node = query::node(text)?;
    let function = tables.function(name)?;
    let mut nodes: BTreeSet<&str> = BTreeSet::new();
    nodes.extend(function.node.as_deref());
    let measured = tables.measured.iter().filter_map(|it| it.node(name));
    nodes.extend(measured.flatten());
    if nodes.contains(node) {
        return None;
    }
    let has_none = "runtimes export it without a node: what refers to it with one was linked with a library that is no runtime, and finds it nowhere";
    let has_another = "a runtime that has the function does not answer this reference, and the program does not start, or ends at the first call: what refers to it was linked with a library that gives it another node than AMD's (a stub), or with a runtime that hiplazy does not know; link it with the real one, or with hiplazy";
    Some(Asked {
        name: format!("{name}@{node}"),
        means: match nodes.is_empty() {
            true => has_none,
            false => has_another,
        }
        .to_string(),
        instead: match nodes.is_empty() {
            true => Vec::from([name.to_string()]),
            false => nodes.iter().map(|node| format!("{name}@{node}")).collect(),
        },
        newest: newest(tables),
    })
}

/// What is to be said of a node of HIP's form that no runtime has, if `text` is about one.
pub(super) fn of_node(tables: &Tables, text: &str) -> Option<Asked> {
    let node = query::missing_node(text)?;
    let wanted = numbers(node)?;
    let known = nodes(tables);
    if known.contains(&(wanted, node)) {
        return None;
    }
    let before = known.range(..(wanted, "")).next_back();
    let after = known.range((wanted, node)..).next();
    let is_newer = after.is_none();
    Some(Asked {
        name: node.to_string(),
        instead: before
            .into_iter()
            .chain(after)
            .map(|(_, node)| (*node).to_string())
            .collect(),
        newest: newest(tables),
        means: match is_newer {
            true => "what asks for it was linked with a newer runtime than hiplazy knows, and needs that or a newer one: install it, or a build for the runtime that is there",
            false => "no known runtime ever had it: what asks for it was linked with a library that gives functions other nodes than AMD's (a stub); link it with the real runtime, or with hiplazy",
        }
        .to_string(),
    })
}

type Numbers = (u32, u32);

fn numbers(node: &str) -> Option<Numbers> {
    let (major, minor) = node.strip_prefix("hip_")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// HIP's nodes in their order.
fn nodes(tables: &Tables) -> BTreeSet<(Numbers, &str)> {
    let measured = tables.measured.iter().flat_map(|it| it.nodes());
    let of_manifest = tables.functions.iter().filter_map(|it| it.node.as_deref());
    measured
        .chain(of_manifest)
        .filter_map(|node| Some((numbers(node)?, node)))
        .collect()
}

fn newest(tables: &Tables) -> Option<String> {
    nodes(tables).last().map(|(_, node)| (*node).to_string())
}

#[cfg(test)]
mod tests {
    use super::super::look_up;

    fn asked(text: &str) -> Option<super::Asked> {
        look_up(text).unwrap_or_else(|| panic!("{text}")).asked
    }

    #[test]
    fn a_pair_that_no_runtime_exports_is_told() {
        for (text, name, instead) in [
            (
                "hipMalloc@hip_9.9",
                "hipMalloc@hip_9.9",
                "hipMalloc@hip_4.2",
            ),
            (
                "hipMalloc@@hip_6.0",
                "hipMalloc@hip_6.0",
                "hipMalloc@hip_4.2",
            ),
            (
                "x.so: undefined symbol: hipMalloc, version hip_6.0",
                "hipMalloc@hip_6.0",
                "hipMalloc@hip_4.2",
            ),
            (
                "hipGetDevicePropertiesR0600@hip_4.2",
                "hipGetDevicePropertiesR0600@hip_4.2",
                "hipGetDevicePropertiesR0600@hip_6.0",
            ),
        ] {
            let asked = asked(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(asked.name, name);
            assert_eq!(asked.instead, [instead]);
        }
    }

    #[test]
    fn a_pair_that_a_runtime_exports_is_not() {
        for text in [
            "hipMalloc@hip_4.2",
            "hipMalloc@@hip_4.2",
            "hipMalloc",
            "x.so: undefined symbol: hipFree, version hip_4.2",
            "hipGetDevicePropertiesR0600@hip_6.0",
            "version `hip_6.0' not found (required by x.so)",
        ] {
            assert_eq!(asked(text), None, "{text}");
        }
    }

    #[test]
    fn an_unknown_node_has_neighbours() {
        for text in [
            "hip_9.9",
            "/x/libamdhip64.so.7: version `hip_9.9' not found (required by /x/_C.so)",
        ] {
            let asked = asked(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(asked.name, "hip_9.9");
            assert_eq!(asked.instead.first(), asked.newest.as_ref());
            assert!(asked.means.contains("newer runtime"), "{}", asked.means);
        }
        // Between two that exist.
        let between = asked("hip_4.9").unwrap();
        assert_eq!(between.instead.len(), 2, "{:?}", between.instead);
        assert!(between.means.contains("stub"), "{}", between.means);
    }
}
