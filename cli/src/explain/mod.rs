//! What the manifest knows about a name: a function, a struct, an enum, a constant, an
//! error code, a version node, a library of the runtime, or a rule of the reports.

mod asked;
mod errors;
mod function;
mod library;
mod near;
mod query;
mod symptoms;
mod tables;
mod text;
mod types;
mod versions;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::finding::Rule;
use crate::rules;
use tables::Tables;

pub use asked::Asked;
pub use errors::{ErrorFacts, ErrorName};
pub use function::{
    EntryFacts, FunctionFacts, PrototypeFacts, Reason, Spelling, Translation, TranslationRow,
};
pub use library::{LibraryFacts, MeasuredFacts, NodeFacts};
pub use near::near;
pub use symptoms::Symptom;
pub use types::{Enum, EnumConstant, Record, RecordField, RecordLayout, Value};

/// Everything about a name.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Explanation {
    /// The schema of this and of reports.
    pub schema: u32,
    /// `hiplazy 0.1.0`.
    pub tool: String,
    /// `explain`.
    pub command: &'static str,
    /// What was asked for.
    pub name: String,
    /// The version node that was asked for, if no known runtime has that.
    pub asked: Option<Asked>,
    /// The message that is not HIP's, and what finds its cause.
    pub symptom: Option<Symptom>,
    /// The entry of hiplazy's that the name is, for callers with some headers.
    pub entry: Option<EntryFacts>,
    /// What headers turn the name into, where it is a macro.
    pub renamed: Option<Renamed>,
    /// The function of that name, and those that sources mean by it.
    pub functions: Vec<FunctionFacts>,
    /// The struct.
    pub record: Option<Record>,
    /// The enum.
    #[serde(rename = "enum")]
    pub enumeration: Option<Enum>,
    /// The constant.
    pub constant: Option<EnumConstant>,
    /// The error codes with that number, name or text.
    pub errors: Vec<ErrorFacts>,
    /// The type, if hiplazy knows nothing of it but the functions that take it: a handle,
    /// or another name of a type.
    pub named_type: bool,
    /// The functions that the struct, enum or type matters to.
    pub used_by: Vec<String>,
    /// Why hiplazy has no wrapper, for a name that runtimes export.
    pub not_wrapped: Option<String>,
    /// The runtimes that export a name which is no function of the manifest.
    pub exported_by: Vec<String>,
    /// The version node of that name.
    pub node: Option<NodeFacts>,
    /// The library of the runtime of that name.
    pub library: Option<LibraryFacts>,
    /// The rule of that id.
    pub rule: Option<&'static Rule>,
}

/// A macro of the headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Renamed {
    /// What it stands for.
    pub replacement: String,
    /// The header.
    pub header: String,
    /// Since which headers, where that can be told.
    pub since: Option<String>,
}

/// Everything about what `text` means: a name, or a message with one in it, or the text
/// of an error. `None` if nothing is known.
pub fn look_up(text: &str) -> Option<Explanation> {
    let tables = Tables::get();
    if let Some(symptom) = symptoms::of(text) {
        return Some(Explanation {
            symptom: Some(symptom),
            ..Explanation::new(text.trim())
        });
    }
    let readings = query::readings(text);
    // A library that lacks a node stands in the same message.
    if let Some(asked) = asked::of_node(tables, text) {
        return Some(Explanation {
            asked: Some(asked),
            ..Explanation::new(text.trim())
        });
    }
    for name in &readings {
        if let Some(mut found) = known(tables, name) {
            let enumeration = query::error_enum(text);
            let is_of_it = |error: &ErrorFacts| Some(error.domain) == enumeration;
            if found.errors.iter().any(is_of_it) {
                found.errors.retain(is_of_it);
            }
            let function = found.functions.first();
            found.asked =
                function.and_then(|function| asked::of_function(tables, &function.name, text));
            return Some(found);
        }
    }
    by_text(tables, text)
}

/// The name in `text` that nothing is known of, for a message.
pub fn unknown(text: &str) -> String {
    let readings = query::readings(text);
    readings
        .into_iter()
        .next()
        .unwrap_or_else(|| text.trim().to_string())
}

/// Everything about a name, also one that was made from another.
fn known(tables: &Tables, name: &str) -> Option<Explanation> {
    // Logs write the node behind the name.
    let bare = name.split('@').next().unwrap_or(name);
    if let Some(found) = exactly(tables, bare) {
        return Some(found);
    }
    // What a vendor's prefix or hiplazy's is followed by, or what an entry is made of.
    let made: Vec<&str> = query::without_prefix(bare).chain([bare]).collect();
    if let Some((function, entry)) = made.iter().find_map(|name| entry(tables, name)) {
        let mut found = exactly(tables, function)?;
        found.entry = Some(entry);
        return Some(found);
    }
    // C++ calls an overload, which calls the function of that name.
    let called = query::identifiers(bare).into_iter();
    let mut candidates = made.into_iter().chain(called);
    let is_function = |name: &&str| tables.function(name).is_some();
    candidates
        .find(is_function)
        .and_then(|name| exactly(tables, name))
}

/// The function of an entry for callers with some headers: `hipMemCreate_h53`.
fn entry<'a>(tables: &'a Tables, name: &str) -> Option<(&'a str, EntryFacts)> {
    let entry = tables.entries.iter().find(|it| it.name == name)?;
    let function = tables.functions.get(entry.function)?;
    let facts = EntryFacts {
        name: entry.name.clone(),
        since: entry.since?.to_string(),
    };
    Some((&function.name, facts))
}

/// The errors whose text this is, or is in it, or has it.
fn by_text(tables: &Tables, text: &str) -> Option<Explanation> {
    let wanted = query::spaced(text).to_lowercase();
    let mut all = errors::all(tables);
    // What it says of a number that it does not know is no text of that number.
    all.retain(|error| !error.is_unknown);
    let that = |fits: &dyn Fn(&str) -> bool| -> Vec<ErrorFacts> {
        let fitting = all.iter().filter(|error| fits(&error.text.to_lowercase()));
        fitting.cloned().collect()
    };
    let mut found = that(&|text| text == wanted);
    if found.is_empty() {
        // A message with the text in it: the longest, for one text may contain another.
        found = that(&|text| text.contains(' ') && wanted.contains(text));
        let longest = found.iter().map(|error| error.text.len()).max();
        found.retain(|error| Some(error.text.len()) == longest);
    }
    if found.is_empty() && wanted.chars().filter(|c| c.is_alphabetic()).count() >= 4 {
        found = that(&|text| text.contains(&wanted));
    }
    match found.as_slice() {
        [] => None,
        [one] => exactly(tables, &one.name),
        _ => Some(Explanation {
            errors: found,
            ..Explanation::new(text.trim())
        }),
    }
}

/// Everything about exactly this name.
fn exactly(tables: &Tables, bare: &str) -> Option<Explanation> {
    let renamed = renamed(tables, bare);
    let target = renamed.as_ref().map(|it| it.replacement.as_str());
    let mut links: Vec<&str> = Vec::from([bare]);
    links.extend(target);
    links.extend(overloaded(tables, bare));
    let mut seen = BTreeSet::new();
    links.retain(|link| seen.insert(*link));
    let explanation = Explanation {
        functions: links
            .iter()
            .filter_map(|link| tables.function(link))
            .map(|function| FunctionFacts::of(tables, function))
            .collect(),
        record: either(bare, target, |name| Record::of(tables, name)),
        enumeration: either(bare, target, |name| Enum::of(tables, name)),
        constant: either(bare, target, |name| constant(tables, name)),
        errors: errors::find(tables, bare),
        named_type: types::is_only_named(tables, bare),
        used_by: either(bare, target, |name| types::users(tables).remove(name)).unwrap_or_default(),
        not_wrapped: tables
            .not_wrapped
            .iter()
            .find(|it| it.name == bare)
            .map(|it| it.reason.clone()),
        exported_by: match tables.function(bare) {
            Some(_) => Vec::new(),
            None => exported_by(tables, bare),
        },
        node: NodeFacts::of(tables, bare),
        library: LibraryFacts::of(tables, bare),
        rule: rules::by_id(bare),
        renamed,
        ..Explanation::new(bare)
    };
    explanation.says_something().then_some(explanation)
}

impl Explanation {
    /// One that says nothing yet.
    fn new(name: &str) -> Explanation {
        Explanation {
            schema: crate::report::SCHEMA,
            tool: concat!("hiplazy ", env!("CARGO_PKG_VERSION")).to_string(),
            command: "explain",
            name: name.to_string(),
            ..Explanation::default()
        }
    }

    fn says_something(&self) -> bool {
        !self.functions.is_empty()
            || self.record.is_some()
            || self.enumeration.is_some()
            || self.constant.is_some()
            || !self.errors.is_empty()
            || self.renamed.is_some()
            || self.named_type
            || self.not_wrapped.is_some()
            || !self.exported_by.is_empty()
            || self.node.is_some()
            || self.library.is_some()
            || self.rule.is_some()
    }

    /// For people; `verbose` lists every field and every function.
    pub fn text(&self, verbose: bool, color: bool) -> String {
        text::render(self, verbose, color)
    }

    /// For machines.
    pub fn json(&self) -> String {
        // Strings, numbers and lists only: nothing here can fail to be written.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn either<T>(name: &str, target: Option<&str>, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    find(name).or_else(|| target.and_then(&find))
}

fn renamed(tables: &Tables, name: &str) -> Option<Renamed> {
    let found = tables.macro_of(name)?;
    let function = tables.function(&found.replacement);
    let record = tables.layouts_of(&found.replacement);
    // The macro came with what it stands for.
    let since = match (function, record.first()) {
        (Some(function), _) => function.first,
        (None, Some(layout)) => Some(layout.versions.first),
        (None, None) => None,
    };
    Some(Renamed {
        replacement: found.replacement.clone(),
        header: found.header.clone(),
        since: since.map(|since| since.to_string()),
    })
}

/// The functions that C++ overloads of a name call.
fn overloaded<'a>(tables: &'a Tables, name: &str) -> Vec<&'a str> {
    let overloads = tables.overloads.iter().filter(|it| it.name() == name);
    overloads
        .filter_map(|it| it.call.split('(').next())
        .collect()
}

fn constant(tables: &Tables, name: &str) -> Option<EnumConstant> {
    let lines = tables.constants.iter().filter(|it| it.name == name);
    let lines: Vec<_> = lines.collect();
    (!lines.is_empty()).then(|| EnumConstant::of(name, &lines))
}

fn exported_by(tables: &Tables, name: &str) -> Vec<String> {
    let have = tables.measured.iter().filter(|it| it.node(name).is_some());
    have.map(|it| it.title.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_function_leads_to_what_sources_mean_today() {
        let found = look_up("hipGetDeviceProperties").unwrap();
        let names: Vec<&str> = found.functions.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names,
            ["hipGetDeviceProperties", "hipGetDevicePropertiesR0600"]
        );
        let renamed = found.renamed.unwrap();
        assert_eq!(renamed.since.as_deref(), Some("6.0"));
    }

    #[test]
    fn numbers_and_names_of_errors_lead_to_their_texts() {
        for name in ["709", "0x2c5", "hipErrorContextIsDestroyed"] {
            let found = look_up(name).unwrap();
            assert_eq!(found.errors[0].text, "context is destroyed", "{name}");
        }
        let invalid = look_up("hipErrorInvalidConfiguration").unwrap();
        assert_eq!(invalid.errors[0].code, 9);
        assert_eq!(invalid.constant.unwrap().domain, "hipError_t");
    }

    #[test]
    fn an_enum_that_is_named_beside_a_number_decides_whose_it_is() {
        let first = |text: &str| {
            let errors = look_up(text).unwrap_or_else(|| panic!("{text}")).errors;
            assert_eq!(errors.len(), 1, "{text}");
            errors[0].name.clone()
        };
        assert_eq!(first("HIPRTC error 6"), "HIPRTC_ERROR_COMPILATION");
        assert_eq!(first("HIP error 6"), "hipErrorProfilerNotInitialized");
        assert_eq!(first("hipError_t(9)"), "hipErrorInvalidConfiguration");
        let text = "code=98(hipErrorInvalidDeviceFunction)";
        assert_eq!(first(text), "hipErrorInvalidDeviceFunction");
        assert_eq!(look_up("6").unwrap().errors.len(), 2);
    }

    #[test]
    fn handles_are_types_that_functions_take() {
        for name in ["hipStream_t", "hipCtx_t", "hipDeviceptr_t"] {
            let found = look_up(name).unwrap_or_else(|| panic!("{name}"));
            assert!(found.named_type && found.used_by.len() > 3, "{name}");
        }
        let found = look_up("hipMemoryType").unwrap();
        assert!(!found.named_type);
        assert!(look_up("hipNothing_t").is_none());
    }

    #[test]
    fn types_lead_to_the_functions_that_take_them() {
        let found = look_up("hipDeviceProp_tR0600").unwrap();
        assert_eq!(found.record.unwrap().layouts[0].size, 1472);
        assert!(
            found
                .used_by
                .contains(&"hipGetDevicePropertiesR0600".to_string())
        );
        let found = look_up("hipMemoryType").unwrap();
        assert!(found.enumeration.is_some() && !found.used_by.is_empty());
        // Two names of one thing: today's and that of HIP 5.
        let found = look_up("hipDeviceProp_t").unwrap();
        assert_eq!(found.record.unwrap().layouts[0].size, 792);
        assert_eq!(found.renamed.unwrap().replacement, "hipDeviceProp_tR0600");
    }

    #[test]
    fn names_as_they_stand_in_logs_are_understood() {
        for name in [
            "hipMalloc@hip_4.2",
            "hipMalloc@@hip_4.2",
            "hipMalloc()",
            "hiplazy_hipMalloc",
            "tl_hipMalloc",
            "_Z9hipMallocIfE10hipError_tPPT_m",
            "x.so: undefined symbol: hipMalloc, version hip_4.2",
        ] {
            let found = look_up(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(found.functions[0].name, "hipMalloc", "{name}");
        }
    }

    #[test]
    fn entries_for_headers_lead_to_their_function() {
        for name in [
            "hipMemCreate_h53",
            "hiplazy_hipMemCreate_h53",
            "tl_hipMemCreate_h53",
        ] {
            let found = look_up(name).unwrap();
            assert_eq!(found.functions[0].name, "hipMemCreate", "{name}");
            let entry = found.entry.unwrap();
            assert_eq!(
                (entry.name.as_str(), entry.since.as_str()),
                ("hipMemCreate_h53", "5.3")
            );
        }
        // A suffix of HIP's own is none.
        assert!(look_up("hipMemAdvise_v2").unwrap().entry.is_none());
        assert!(look_up("hipMemCreate_h99").is_none());
    }

    #[test]
    fn texts_of_errors_lead_to_their_names() {
        for text in [
            "invalid configuration argument",
            "Invalid Configuration Argument",
            "invalid  configuration\targument",
            "invalid configuration",
            "RuntimeError: HIP error: invalid configuration argument (at launch)",
        ] {
            let found = look_up(text).unwrap_or_else(|| panic!("{text}"));
            let names: Vec<&str> = found.errors.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, ["hipErrorInvalidConfiguration"], "{text}");
        }
        let code = |text: &str| {
            let codes = look_up(text).unwrap().errors;
            codes.iter().map(|it| it.code).collect::<Vec<_>>()
        };
        assert_eq!(code("due to cluster misconfiguration"), [1054]);
        assert_eq!(code("HIP error: unknown error"), [999]);
        let several = look_up("no longer a text, invalid resource handle");
        assert_eq!(several.unwrap().errors[0].code, 400);
        assert!(look_up("invalid").unwrap().errors.len() > 3);
    }

    #[test]
    fn nodes_lead_to_their_functions() {
        let found = look_up("version `hip_6.0' not found (required by x.so)").unwrap();
        let node = found.node.unwrap();
        assert!(
            node.functions
                .contains(&"hipGetDevicePropertiesR0600".to_string())
        );
        assert!(
            node.absent_from
                .contains(&"libamdhip64 5.7.1 (Debian)".to_string())
        );
        assert!(
            node.exported_by
                .contains(&"libamdhip64 6.4.3 (Debian)".to_string())
        );
    }

    #[test]
    fn libraries_lead_to_what_was_measured_of_them() {
        let library = |name| look_up(name).unwrap().library.unwrap();
        let six = library("libamdhip64.so.6");
        assert_eq!((six.kind, six.major), ("hip", Some(6)));
        assert_eq!(six.measured[0].name, "libamdhip64 6.4.3 (Debian)");
        assert!(six.measured.len() == 1 && six.nodes.contains(&"hip_6.0".to_string()));
        let copy = library("/x/libamdhip64-00ca863d.so.7.14.60850-0000000");
        assert_eq!(copy.wheel_hash.as_deref(), Some("00ca863d"));
        assert!(library("libamdhip64.so").measured.len() > 3);
    }

    #[test]
    fn names_without_a_wrapper_have_their_reason() {
        let found = look_up("hipProfilerEnableExt").unwrap();
        assert!(found.not_wrapped.unwrap().contains("profiler"));
        assert!(!found.exported_by.is_empty() && found.functions.is_empty());
    }

    #[test]
    fn rules_are_known_and_anything_else_is_not() {
        assert!(look_up("bare-export").unwrap().rule.is_some());
        for name in ["hipMaloc", "", "macro", "unnamed", "-1", "99999"] {
            assert!(look_up(name).is_none(), "{name}");
        }
    }
}
