//! `cargo xtask abi`: the ABI manifest and the Rust types, from real headers.
//!
//! The pinned HIP 7.1 headers and `abi/supplement/` give the newest prototypes
//! and the types; `abi/history.txt` gives the header ranges; `abi/exports/` the
//! version nodes; `abi/slots.txt` is appended to. Every other header set is compared,
//! never written from.

mod check;
mod interface_check;
mod libclang;
mod manifest;
mod slots;
mod supplement;
mod types_file;

use std::fs;
use std::path::{Path, PathBuf};

use hiplazy_abi::Version;

pub use check::{Difference, Manifest, compare};
pub use hiplazy_headers::{
    Contents, Error, HeaderSet, Interface, Source, parse_bindings, parse_interface,
};
pub use interface_check::{InterfaceDifference, compare_interface};
pub use libclang::provide as provide_libclang;

use crate::abi::supplement::Supplement;
use crate::fetch;

/// The version of the headers that manifest and types are written from.
pub const PINNED: Version = Version::new(7, 1);

impl From<fetch::Missing> for Error {
    fn from(missing: fetch::Missing) -> Error {
        Error::new(missing.to_string())
    }
}

/// What `cargo xtask abi` was asked to do.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Compare instead of writing.
    pub check: bool,
    /// Compare with every header set that can be had, not only with 5.2.3 and 7.1.
    pub all: bool,
    /// Header folders given by the user, instead of fetched ones of their version.
    pub headers: Vec<(Version, PathBuf)>,
}

/// What a run found.
#[derive(Debug, Default)]
pub struct Report {
    /// Differences that nothing explains, one line each.
    pub differences: Vec<String>,
    /// Header sets that were compared.
    pub compared: Vec<String>,
    /// Header sets that could not be had, with the reason.
    pub skipped: Vec<String>,
    /// Files that were written.
    pub written: Vec<PathBuf>,
}

/// Rebuilds the manifest and the types of the workspace at `root`, then compares
/// the header sets with it.
///
/// # Errors
///
/// libclang or the pinned headers are missing, or headers cannot be read. A
/// difference is no error here: it is in the report.
pub fn run(root: &Path, options: &Options) -> Result<Report, Error> {
    libclang::provide()?;
    let mut report = Report::default();
    let (sets, skipped) = header_sets(options);
    report.skipped = skipped;
    let pinned = sets
        .iter()
        .find(|set| set.version == PINNED && matches!(set.source, Source::Headers(_)))
        .ok_or_else(|| {
            let reasons = report.skipped.join("; ");
            Error::new(format!("the HIP {PINNED} headers are needed: {reasons}"))
        })?;

    let supplement = Supplement::of(root);
    let tables = manifest::Tables::read(root)?;
    let functions = manifest::build(&supplement.declarations(pinned.path())?, &tables)?;
    let slots = slots::update(root, &functions)?;
    report.differences.extend(slots.wrong);
    if options.check {
        report.differences.extend(slots.appended.iter().map(|name| {
            format!(
                "abi/slots.txt has no place for {name}; run `cargo xtask abi`, which appends it"
            )
        }));
    } else if !slots.appended.is_empty() {
        let path = root.join("abi/slots.txt");
        fs::write(&path, &slots.text)
            .map_err(|error| Error::new(format!("{}: {error}", path.display())))?;
        report.written.push(path);
    }
    let outputs = [
        (
            root.join("abi/functions.txt"),
            manifest::text(&functions),
            (|left: &str, right: &str| left == right) as fn(&str, &str) -> bool,
        ),
        (
            root.join("src/sys/types.rs"),
            types_file::text(pinned.path(), &supplement)?,
            hiplazy_headers::same,
        ),
    ];
    for (path, text, same) in outputs {
        let committed = fs::read_to_string(&path).unwrap_or_default();
        if same(&committed, &text) {
            continue;
        }
        if options.check {
            report
                .differences
                .push(first_difference(&path, root, &committed, &text));
            continue;
        }
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(root))?;
            fs::write(&path, &text)
        };
        write().map_err(|error| Error::new(format!("{}: {error}", path.display())))?;
        report.written.push(path);
    }

    let manifest = Manifest {
        functions,
        history: tables.history,
        prototypes: tables.prototypes,
        not_wrapped: tables.not_wrapped,
    };
    for set in &sets {
        let contents = set.read()?;
        let name = format!("HIP {} ({})", set.version, set.path().display());
        let differences = compare(set.version, &contents, &manifest);
        report.differences.extend(
            differences
                .iter()
                .map(|difference| format!("{name}: {difference}")),
        );
        let interface = set
            .interface()
            .map_err(|error| Error::new(format!("{name}: {error}")))?;
        let of_interface = compare_interface(
            set.version,
            &interface,
            &contents.headers,
            &tables.layouts,
            &tables.constants,
        );
        report.differences.extend(
            of_interface
                .iter()
                .map(|difference| format!("{name}: {difference}")),
        );
        report.compared.push(format!(
            "{name}: {} functions, {} records, {} constants, {} differences",
            contents.declarations.len(),
            interface.records.len(),
            interface.constants.len(),
            differences.len() + of_interface.len()
        ));
    }
    Ok(report)
}

/// The header sets to compare with, and those that could not be had.
fn header_sets(options: &Options) -> (Vec<HeaderSet>, Vec<String>) {
    let mut sets: Vec<HeaderSet> = options
        .headers
        .iter()
        .map(|(version, include)| HeaderSet {
            version: *version,
            source: Source::Headers(include.clone()),
        })
        .collect();
    let mut skipped = Vec::new();
    for (version, thing, needs_all) in fetch::HEADERS {
        let version = Version::new(version.0, version.1);
        let wanted = options.all || !needs_all;
        if !wanted || sets.iter().any(|set| set.version == version) {
            continue;
        }
        match fetch::fetch(thing) {
            Ok(include) => sets.push(HeaderSet {
                version,
                source: Source::Headers(include),
            }),
            Err(missing) => skipped.push(format!("HIP {version} headers: {missing}")),
        }
    }
    if options.all {
        match fetch::rust_declarations() {
            Ok(files) => sets.extend(files.into_iter().map(|declarations| HeaderSet {
                version: Version::new(declarations.version.0, declarations.version.1),
                source: Source::Bindings(declarations.file),
            })),
            Err(missing) => skipped.push(format!("Rust declarations: {missing}")),
        }
    }
    (sets, skipped)
}

fn first_difference(path: &Path, root: &Path, committed: &str, rebuilt: &str) -> String {
    let name = path.strip_prefix(root).unwrap_or(path).display();
    let lines = committed.lines().zip(rebuilt.lines()).enumerate();
    let place = lines
        .filter(|(_, (old, new))| old != new)
        .map(|(index, (old, new))| format!("line {}: \"{old}\" became \"{new}\"", index + 1))
        .next()
        .unwrap_or_else(|| {
            format!(
                "{} lines became {}",
                committed.lines().count(),
                rebuilt.lines().count()
            )
        });
    format!("{name} is not what the headers give; run `cargo xtask abi` and review: {place}")
}
