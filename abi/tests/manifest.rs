//! The manifest against the measured export tables and against itself.

use std::collections::{BTreeMap, BTreeSet};

use hiplazy_abi::{
    BREAKS_TXT, Code, Domain, ERRORS_TXT, EXPORTS, Export, FUNCTIONS_TXT, Function, HISTORY_TXT,
    Library, NOT_WRAPPED_TXT, PROTOTYPES_TXT, SLOTS_TXT, entries, parse_breaks, parse_errors,
    parse_exports, parse_functions, parse_history, parse_not_wrapped, parse_prototypes,
    parse_slots,
};

fn functions() -> Vec<Function> {
    parse_functions(FUNCTIONS_TXT).unwrap_or_else(|error| panic!("functions.txt: {error}"))
}

fn not_wrapped() -> BTreeSet<String> {
    parse_not_wrapped(NOT_WRAPPED_TXT)
        .unwrap_or_else(|error| panic!("not_wrapped.txt: {error}"))
        .into_iter()
        .map(|entry| entry.name)
        .collect()
}

fn exports() -> Vec<(&'static str, Vec<Export>)> {
    EXPORTS
        .iter()
        .map(|table| {
            let exports =
                parse_exports(table.text).unwrap_or_else(|error| panic!("{}: {error}", table.name));
            (table.name, exports)
        })
        .collect()
}

#[test]
fn every_line_is_written_as_it_is_read() {
    let data = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(str::to_string)
            .collect()
    };
    let written: Vec<String> = functions().iter().map(Function::line).collect();
    assert_eq!(data(FUNCTIONS_TXT), written);
}

#[test]
fn every_export_of_a_real_runtime_is_wrapped_or_excepted_by_name() {
    let wrapped: BTreeSet<String> = functions().into_iter().map(|f| f.name).collect();
    let excepted = not_wrapped();
    let mut open = BTreeMap::new();
    for (table, exports) in exports() {
        assert!(exports.len() >= 18, "{table} is cut short");
        for export in exports {
            if !wrapped.contains(&export.name) && !excepted.contains(&export.name) {
                open.insert(export.name, table);
            }
        }
    }
    assert!(open.is_empty(), "neither wrapped nor excepted: {open:?}");
}

#[test]
fn exceptions_are_exported_and_not_wrapped() {
    let wrapped: BTreeSet<String> = functions().into_iter().map(|f| f.name).collect();
    let exported: BTreeSet<String> = exports()
        .into_iter()
        .flat_map(|(_, exports)| exports)
        .map(|export| export.name)
        .collect();
    for name in not_wrapped() {
        assert!(!wrapped.contains(&name), "{name} is wrapped and excepted");
        assert!(
            exported.contains(&name),
            "{name} is an exception to nothing"
        );
    }
}

#[test]
fn no_c_function_under_hips_own_prefixes_is_excepted_but_the_profilers() {
    for (_, exports) in exports() {
        for export in exports.into_iter().filter(|export| export.is_function) {
            let name = &export.name;
            let own = name.starts_with("hip") || name.starts_with("__hip");
            let profiler = export.node.as_deref() == Some("hip_profiler_ext");
            if own && !profiler {
                assert!(!not_wrapped().contains(name), "{name}");
            }
        }
    }
}

#[test]
fn nodes_agree_with_the_exports() {
    let mut nodes: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
    for (table, exports) in exports() {
        for export in exports.into_iter().filter(|export| export.is_function) {
            let hiprtc_in_hip = export.name.starts_with("hiprtc") && table.contains("amdhip64");
            if !hiprtc_in_hip {
                nodes.entry(export.name).or_default().insert(export.node);
            }
        }
    }
    for function in functions() {
        if let Some(measured) = nodes.get(&function.name) {
            let stated = BTreeSet::from([function.node.clone()]);
            assert_eq!(&stated, measured, "{}", function.name);
        } else if function.library == Library::Hip {
            // Declared by some headers, exported by none of the measured runtimes;
            // one function was seen in a development snapshot alone.
            let known = function.first.is_some() || function.name == "hipExtHostAlloc";
            assert!(known, "{} comes from nowhere", function.name);
        }
    }
}

#[test]
fn every_entry_has_its_place_for_ever() {
    let slots = parse_slots(SLOTS_TXT).unwrap_or_else(|error| panic!("slots.txt: {error}"));
    assert_eq!(slots.released_difference(), None);
    let breaks = parse_breaks(BREAKS_TXT).unwrap_or_else(|error| panic!("breaks.txt: {error}"));
    let entries = entries(&functions(), &breaks);
    let names = || entries.iter().map(|entry| entry.name.as_str());
    let none: [&str; 0] = [];
    assert_eq!(
        slots.missing(names()),
        none,
        "without a place in slots.txt: run `cargo xtask abi`, which appends them"
    );
    assert_eq!(
        slots.unknown(names()),
        none,
        "in slots.txt and nowhere else"
    );
}

#[test]
fn header_ranges_follow_from_the_history() {
    let history = parse_history(HISTORY_TXT).unwrap_or_else(|e| panic!("history.txt: {e}"));
    let mut ranges: BTreeMap<_, _> = history
        .iter()
        .map(|entry| (entry.name.as_str(), entry.range()))
        .collect();
    for function in functions() {
        let stated = (function.first, function.last);
        let declared = ranges
            .remove(function.name.as_str())
            .unwrap_or((None, None));
        assert_eq!(stated, declared, "{}", function.name);
    }
    assert!(
        ranges.is_empty(),
        "declared by headers, not in the manifest: {ranges:?}"
    );
}

#[test]
fn other_prototypes_are_of_known_functions_and_differ() {
    let prototypes =
        parse_prototypes(PROTOTYPES_TXT).unwrap_or_else(|e| panic!("prototypes.txt: {e}"));
    let functions: BTreeMap<_, _> = functions()
        .into_iter()
        .map(|f| (f.name.clone(), f))
        .collect();
    for prototype in prototypes {
        let function = functions
            .get(&prototype.name)
            .unwrap_or_else(|| panic!("{} is not in the manifest", prototype.name));
        let types = |args: &[hiplazy_abi::Arg]| -> Vec<String> {
            args.iter().map(|arg| arg.ty.clone()).collect()
        };
        assert_ne!(
            (&prototype.ret, types(&prototype.args)),
            (&function.ret, types(&function.args)),
            "{} is the manifest's own prototype",
            prototype.name
        );
    }
}

#[test]
fn every_library_has_its_functions() {
    let count = |library| functions().iter().filter(|f| f.library == library).count();
    assert_eq!(count(Library::Hiprtc), 18);
    assert_eq!(count(Library::Hsa), 2);
    assert!(count(Library::Hip) > 550);
}

#[test]
fn every_error_domain_has_success_and_an_answer_for_the_unknown() {
    let codes = parse_errors(ERRORS_TXT).unwrap_or_else(|error| panic!("errors.txt: {error}"));
    for domain in [Domain::Hip, Domain::Rtc] {
        for code in [Code::Known(0), Code::Other] {
            assert!(
                codes
                    .iter()
                    .any(|c| c.domain == domain && c.code == code && !c.text.is_empty()),
                "{domain:?} {code:?}"
            );
        }
    }
    // The five codes that the library itself answers with.
    for (code, name) in [
        (0, "hipSuccess"),
        (100, "hipErrorNoDevice"),
        (302, "hipErrorSharedObjectSymbolNotFound"),
        (303, "hipErrorSharedObjectInitFailed"),
        (801, "hipErrorNotSupported"),
    ] {
        let entry = codes
            .iter()
            .find(|c| c.domain == Domain::Hip && c.code == Code::Known(code));
        assert_eq!(entry.map(|c| c.name.as_str()), Some(name));
    }
}
