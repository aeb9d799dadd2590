//! The C headers that are installed: `redirect.h`, `dispatch.h` and HIP's own, for
//! machines without ROCm.
//!
//! Everything comes from committed tables: the manifest and the C and C++ tables of
//! `abi/`, and `src/sys/types.rs`, which `cargo xtask abi --check` compares with real
//! headers. The texts around the tables are in `templates/`.

mod declarator;
mod error;
mod functions;
mod records;
mod runtime_api;
mod size;
mod template;
mod types;
mod wrappers;

use std::fs;
use std::path::{Path, PathBuf};

use hiplazy_abi::{
    BREAKS_TXT, DEFAULTS_TXT, Declared, Defaults, Entry, FUNCTIONS_TXT, Function, HISTORY_TXT,
    MACROS_TXT, Macro, OVERLOADS_TXT, Overload, SLOTS_TXT, SlotOrder, entries, parse_breaks,
    parse_defaults, parse_functions, parse_history, parse_macros, parse_overloads, parse_slots,
};

pub use error::Error;

/// The names that the headers use.
#[derive(Debug, Clone)]
pub struct HeaderOptions {
    /// What the link names of wrappers and of the slot table begin with: `hiplazy_`.
    pub prefix: String,
    /// The folder below the include folder: `hiplazy`.
    pub folder: String,
}

/// The version whose interface the tables describe: that of the runtime and the
/// declarations they were last completed from (`abi/errors.txt`).
const HIP_VERSION: [u32; 3] = [7, 14, 60850];

const TYPES_RS: &str = include_str!("../../../src/sys/types.rs");

/// The committed tables, parsed.
struct Tables {
    functions: Vec<Function>,
    slots: SlotOrder,
    entries: Vec<Entry>,
    history: Vec<Declared>,
    macros: Vec<Macro>,
    defaults: Vec<Defaults>,
    overloads: Vec<Overload>,
    types: types::Types,
}

impl Tables {
    fn read() -> Result<Tables, Error> {
        let parsed = |name: &str, error| Error::new(format!("abi/{name}: {error}"));
        let functions =
            parse_functions(FUNCTIONS_TXT).map_err(|error| parsed("functions.txt", error))?;
        let breaks = parse_breaks(BREAKS_TXT).map_err(|error| parsed("breaks.txt", error))?;
        Ok(Tables {
            entries: entries(&functions, &breaks),
            functions,
            slots: parse_slots(SLOTS_TXT).map_err(|error| parsed("slots.txt", error))?,
            history: parse_history(HISTORY_TXT).map_err(|error| parsed("history.txt", error))?,
            macros: parse_macros(MACROS_TXT).map_err(|error| parsed("c_macros.txt", error))?,
            defaults: parse_defaults(DEFAULTS_TXT)
                .map_err(|error| parsed("cxx_defaults.txt", error))?,
            overloads: parse_overloads(OVERLOADS_TXT)
                .map_err(|error| parsed("cxx_overloads.txt", error))?,
            types: types::Types::parse(TYPES_RS)?,
        })
    }
}

/// Writes all headers below `include_dir` and returns their paths.
///
/// # Errors
///
/// The prefix or the folder is no name, the tables do not fit each other, or a file
/// cannot be written.
pub fn write(include_dir: &Path, options: &HeaderOptions) -> Result<Vec<PathBuf>, Error> {
    check(options)?;
    let tables = Tables::read()?;
    let mut headers = wrappers::headers(&tables, options);
    headers.extend(runtime_api::headers(&tables)?);
    let mut written = Vec::new();
    for (name, text) in headers {
        let path = include_dir.join(&options.folder).join(name);
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(include_dir))?;
            fs::write(&path, text)
        };
        write().map_err(|error| Error::new(format!("{}: {error}", path.display())))?;
        written.push(path);
    }
    Ok(written)
}

/// Both names become parts of C identifiers and of `#include` lines.
fn check(options: &HeaderOptions) -> Result<(), Error> {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if !is_name(&options.prefix) || !options.prefix.ends_with('_') {
        return Err(Error::new(format!(
            "\"{}\" is no prefix: letters, digits and underscores, with an underscore last, \
             such as hiplazy_",
            options.prefix
        )));
    }
    if !is_name(&options.folder) {
        return Err(Error::new(format!(
            "\"{}\" is no folder name: letters, digits and underscores, such as hiplazy",
            options.folder
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(prefix: &str, folder: &str) -> HeaderOptions {
        HeaderOptions {
            prefix: prefix.to_string(),
            folder: folder.to_string(),
        }
    }

    #[test]
    fn names_that_are_none_are_refused() {
        for (prefix, folder) in [
            ("", "hiplazy"),
            ("tl", "tl_hip"),
            ("t-l_", "tl_hip"),
            ("1_", "tl_hip"),
            ("tl_", "../tl"),
            ("tl_", ""),
        ] {
            let error = check(&options(prefix, folder)).unwrap_err().to_string();
            assert!(error.contains("such as hiplazy"), "{error}");
        }
        check(&options("hiplazy_", "hiplazy")).unwrap();
    }

    #[test]
    fn every_member_has_a_place_and_every_record_a_size() {
        let types = Tables::read().unwrap().types;
        let mut nested_without_size = 0;
        for (name, record) in &types.records {
            for at in 0..record.fields.len() {
                let is_bits = record.fields[at].bits.is_some();
                let offset = size::offset(&types, record, at);
                assert!(is_bits || offset.is_some(), "{name}, member {at}");
            }
            nested_without_size += usize::from(record.size.is_none());
        }
        assert_eq!(nested_without_size, 0);
        assert!(types.records.len() > 150);
    }

    #[test]
    fn overloads_call_functions_that_exist() {
        let tables = Tables::read().unwrap();
        for overload in &tables.overloads {
            let callee = overload.call.split('(').next().unwrap_or_default();
            let exists = tables
                .functions
                .iter()
                .any(|function| function.name == callee);
            assert!(exists, "{}", overload.call);
        }
    }

    #[test]
    fn two_runs_give_the_same_bytes_and_no_marker_is_left() {
        let headers = |options: &HeaderOptions| {
            let tables = Tables::read().unwrap();
            let mut headers = wrappers::headers(&tables, options);
            headers.extend(runtime_api::headers(&tables).unwrap());
            headers
        };
        let options = options("tl_", "tl_hip");
        let first = headers(&options);
        assert_eq!(first, headers(&options));
        for (name, text) in first {
            // The one other use of the sign is the assembler's.
            let text = text.replace("@GOTPCREL", "");
            assert!(!text.contains('@'), "{name} has a marker");
            assert!(text.ends_with('\n'), "{name} ends in a line");
        }
    }
}
