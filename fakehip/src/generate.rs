//! The C that differs between libraries: export list, functions that are not
//! modelled, error table, version script.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use hiplazy_abi::{Class, Code, Domain, Export};

use crate::sources::{Part, modelled};

/// What `version.c` describes.
pub(crate) struct Model<'a> {
    pub(crate) major: u32,
    pub(crate) is_rtc: bool,
    pub(crate) version: i32,
    pub(crate) runtime_version: i32,
    /// Functions of the modelled library, without those that are withheld.
    pub(crate) exports: &'a [Export],
    pub(crate) parts: &'a [Part],
    pub(crate) classes: &'a HashMap<String, Class>,
}

/// How a function that is not modelled answers.
fn not_modelled(name: &str, class: Option<Class>) -> String {
    // Compiler runtime functions; weak in the real runtime as well.
    if name.starts_with("__gnu_") {
        return format!("NOT_MODELLED_WEAK({name}, FUNCTION_VALUE, 0)");
    }
    let class = class.unwrap_or(match name {
        "amd_dbgapi_get_build_name" | "amd_dbgapi_get_git_hash" => Class::String,
        _ if name.starts_with("hip") || name.starts_with("_Z2") => Class::Error,
        _ => Class::Void,
    });
    match class {
        Class::Error => {
            format!("NOT_MODELLED({name}, FUNCTION_NEEDS_DEVICE, hipErrorNotSupported)")
        }
        Class::Rtc => format!("NOT_MODELLED({name}, FUNCTION_RTC, HIPRTC_ERROR_INTERNAL_ERROR)"),
        Class::String => format!("NOT_MODELLED_POINTER({name}, \"\")"),
        Class::Pointer => format!("NOT_MODELLED_POINTER({name}, NULL)"),
        _ => format!("NOT_MODELLED({name}, FUNCTION_VALUE, 0)"),
    }
}

/// `version.c`: the model and every export that no source file defines.
pub(crate) fn version_source(model: &Model<'_>) -> String {
    let defined: HashSet<String> = model
        .parts
        .iter()
        .flat_map(|&part| modelled(part))
        .collect();
    let mut names: Vec<&str> = model
        .exports
        .iter()
        .map(|export| export.name.as_str())
        .collect();
    names.sort_unstable();
    let mut text = String::from("#include \"call.h\"\n\n");
    for name in names.iter().filter(|name| !defined.contains(**name)) {
        let _ = writeln!(
            text,
            "{}",
            not_modelled(name, model.classes.get(*name).copied())
        );
    }
    text.push_str("\nstatic const char *const exported[] = {\n");
    for name in &names {
        let _ = writeln!(text, "  \"{name}\",");
    }
    let _ = write!(
        text,
        "  NULL,\n}};\n\nconst struct model fake_model = {{\n  .major = {},\n  .is_rtc = {},\n  \
         .version = {},\n  .runtime_version = {},\n  .exported_count = {},\n  .exported = exported,\n}};\n",
        model.major,
        model.is_rtc,
        model.version,
        model.runtime_version,
        names.len(),
    );
    text
}

fn c_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `error_table.c`, the same for every version.
pub(crate) fn error_source() -> Result<String, hiplazy_abi::ParseError> {
    let errors = hiplazy_abi::parse_errors(hiplazy_abi::ERRORS_TXT)?;
    let mut text = String::from("#include \"error_table.h\"\n");
    for (domain, table) in [(Domain::Hip, "hip"), (Domain::Rtc, "rtc")] {
        let _ = writeln!(text, "\nconst struct error_entry {table}_errors[] = {{");
        for error in errors.iter().filter(|error| error.domain == domain) {
            if let Code::Known(code) = error.code {
                let (name, words) = (c_string(&error.name), c_string(&error.text));
                let _ = writeln!(text, "  {{{code}, {name}, {words}}},");
            }
        }
        let _ = writeln!(
            text,
            "}};\nconst unsigned {table}_error_count = sizeof {table}_errors / sizeof *{table}_errors;"
        );
    }
    let (name, words) = errors
        .iter()
        .find(|error| error.domain == Domain::Hip && error.code == Code::Other)
        .map_or(("hipErrorUnknown", "unknown error"), |other| {
            (&other.name, &other.text)
        });
    let _ = writeln!(
        text,
        "\nconst struct error_entry hip_error_unknown = {{999, {}, {}}};",
        c_string(name),
        c_string(words)
    );
    Ok(text)
}

/// Sorts `hip_4.2`, `hip_5.1`, `hip_7.14` by number and other nodes behind them.
fn node_order(node: &str) -> (u32, u32, &str) {
    node.strip_prefix("hip_")
        .and_then(|number| number.split_once('.'))
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?, "")))
        .unwrap_or((u32::MAX, 0, node))
}

/// A version script with every export on its node, the controls on `controls`,
/// and everything else hidden.
///
/// A library without nodes (`libhiprtc`) keeps its functions unversioned: a
/// script cannot name unversioned and versioned symbols at once, so there the
/// default is to export what the compiler made visible, minus `withheld`.
pub(crate) fn version_script(
    exports: &[Export],
    unversioned: bool,
    withheld: &[String],
    controls: &str,
) -> String {
    let mut nodes: BTreeMap<(u32, u32, &str), (&str, Vec<&str>)> = BTreeMap::new();
    for export in exports {
        if let Some(node) = &export.node {
            let entry = nodes
                .entry(node_order(node))
                .or_insert_with(|| (node, Vec::new()));
            entry.1.push(&export.name);
        }
    }
    let mut text = String::new();
    let mut local = if unversioned {
        withheld.join("; ")
    } else {
        "*".to_owned()
    };
    for (node, names) in nodes.values() {
        let _ = writeln!(text, "{node} {{\n global:");
        for name in names {
            let _ = writeln!(text, "  {name};");
        }
        if !local.is_empty() {
            let _ = writeln!(text, " local: {local};");
            local.clear();
        }
        text.push_str("};\n");
    }
    let _ = writeln!(text, "{controls} {{\n global: fakehip_*;");
    if !local.is_empty() {
        let _ = writeln!(text, " local: {local};");
    }
    text.push_str("};\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(name: &str, node: Option<&str>) -> Export {
        Export {
            name: name.into(),
            node: node.map(Into::into),
            is_function: true,
        }
    }

    #[test]
    fn nodes_come_in_numeric_order_and_everything_else_is_local() {
        let exports = [
            export("c", Some("hip_profiler_ext")),
            export("b", Some("hip_7.14")),
            export("a", Some("hip_7.2")),
        ];
        let script = version_script(&exports, false, &[], "FAKEHIP_1");
        let positions: Vec<usize> = ["hip_7.2 ", "hip_7.14 ", "hip_profiler_ext ", "FAKEHIP_1 "]
            .map(|node| script.find(node).unwrap())
            .into();
        assert!(positions.is_sorted());
        assert_eq!(script.matches("local: *;").count(), 1);
    }

    #[test]
    fn a_library_without_nodes_hides_only_what_is_withheld() {
        let script = version_script(&[export("a", None)], true, &["b".into()], "FAKEHIPRTC_1");
        assert!(script.contains("local: b;"));
        assert!(!script.contains("local: *"));
    }
}
