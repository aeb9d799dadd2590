//! What a command found out: the same for a machine, a process, a log and files.

mod dot;
mod html;
mod json;
mod picture;
mod plain;
mod style;
mod text;
mod tree;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::finding::{Finding, Severity};
use crate::names::Api;

pub use picture::{Edge, Kind, Node, Picture};
pub use style::Styles;

/// The version of the JSON schema. It grows by one when a field changes its meaning or
/// goes; new fields do not count.
pub const SCHEMA: u32 = 1;

/// Everything that a command found out.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `hiplazy 0.1.0`.
    pub tool: String,
    /// `lint`, `doctor`, `run`, `log`.
    pub command: String,
    /// What was looked at: `process 4711 (python3)`, `tilelang-0.1.10.whl`.
    pub subject: String,
    /// The names that the report is about, `hip*, hiprtc*, hsa_*, __hip*`.
    pub names: String,
    /// How many objects were read.
    pub objects: usize,
    /// Files that no process maps, by what they are.
    pub passed_over: BTreeMap<String, usize>,
    /// Every object of a live process and where it is visible; of files, none.
    pub loaded: Vec<Loaded>,
    /// Section 1: the runtimes.
    pub runtimes: Vec<Runtime>,
    /// Section 2: every other object that defines such names.
    pub exporters: Vec<Exporter>,
    /// Section 3: what is bound to what.
    pub bindings: Vec<Binding>,
    /// Section 4: what the next library gets.
    pub forecast: Vec<Forecast>,
    /// Section 5: what the clients were built for.
    pub clients: Vec<Client>,
    /// Section 6: circumstances that change how names bind.
    pub hazards: Vec<Hazard>,
    /// Section 7: what was found, the worst first.
    pub findings: Vec<Finding>,
    /// What could not be looked at, and why.
    pub unreadable: Vec<Unreadable>,
    /// Lines of a command's own, before the summary (the search of `doctor`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preface: Vec<String>,
}

/// An object of a live process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loaded {
    /// The file.
    pub path: String,
    /// In which scope it is.
    pub scope: Scope,
}

/// A HIP, hiprtc, HSA or comgr library.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Runtime {
    /// The file.
    pub path: String,
    /// `hip`, `hiprtc`, `hsa`, `comgr`.
    pub kind: String,
    /// `DT_SONAME`.
    pub soname: Option<String>,
    /// The version as far as the file name or the library tells, `7.14.60850`.
    pub version: Option<String>,
    /// The oldest version whose runtimes export all that it exports, where nothing tells
    /// the version itself and that is not against the major.
    pub at_least: Option<String>,
    /// The ABI major, the number after `.so.`.
    pub major: Option<u32>,
    /// The GNU build id.
    pub build_id: Option<String>,
    /// The inode, of a live process.
    pub inode: Option<u64>,
    /// In which scope it is, of a live process.
    pub scope: Option<Scope>,
    /// Who needs it: chains of objects, outermost first.
    pub needed_by: Vec<Vec<String>>,
}

/// Where an object is visible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// In the global scope, at this place (the program is 0).
    Global {
        /// The place.
        position: usize,
    },
    /// Only for those that opened or need it.
    Local,
    /// In a namespace of its own (`dlmopen`).
    Namespace {
        /// The number of the namespace.
        number: usize,
    },
    /// Not known from what was looked at.
    Unknown,
}

/// An object that is no runtime and defines names of one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Exporter {
    /// The file.
    pub path: String,
    /// `DT_SONAME`.
    pub soname: Option<String>,
    /// The names, sorted.
    pub exported: Vec<String>,
    /// How many of them have no version node.
    pub unversioned: usize,
    /// In which scope it is, of a live process.
    pub scope: Option<Scope>,
    /// How it got there: chains of objects that need it, outermost first.
    pub needed_by: Vec<Vec<String>>,
}

/// One reference and what it is bound to.
#[derive(Debug, Clone, Serialize)]
pub struct Binding {
    /// The object that refers.
    pub object: String,
    /// The link name.
    pub name: String,
    /// The node it asks for.
    pub node: Option<String>,
    /// Whether the word is filled already.
    pub state: Bound,
    /// The object it is bound to, or would be now; `None` if nobody has the name, or if
    /// that is not known because a library could not be read.
    pub provider: Option<String>,
    /// The object it should be bound to, where that is known and another.
    pub expected: Option<String>,
    /// Why it is wrong; `None` if nothing is known against it. Something may be wrong
    /// while the object that is meant is not known: it need not be loaded.
    pub wrong: Option<Wrong>,
}

/// Why a binding is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrong {
    /// The provider is no runtime.
    NoRuntime,
    /// The provider is another copy of the runtime than the object needs.
    OtherCopy,
    /// The provider is not what the object needs (names that are not HIP's).
    OtherLibrary,
    /// There is nothing at the address any more.
    Unmapped,
}

impl Wrong {
    /// What it means, after the provider's name.
    pub fn means(self) -> &'static str {
        match self {
            Wrong::NoRuntime => "which is no HIP runtime",
            Wrong::OtherCopy => "which is another copy of the runtime than it needs",
            Wrong::OtherLibrary => "which is not the library that it needs",
            Wrong::Unmapped => "where a call ends the program",
        }
    }
}

/// Whether a reference is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The word holds an address of the provider.
    Bound,
    /// At the first call; the provider is who would get it now, where that is known.
    Lazy,
    /// Nobody has the name.
    Unresolved,
    /// The word holds an address in memory of no library, such as a trampoline that a
    /// tool or a compiler at run time made.
    NoLibrary,
    /// The word holds an address at which nothing is mapped any more.
    Unmapped,
}

/// What the next library that needs `name@node` gets.
#[derive(Debug, Clone, Serialize)]
pub struct Forecast {
    /// The link name.
    pub name: String,
    /// The node, `None` for a reference without one.
    pub node: Option<String>,
    /// Who answers, `None` if the library must bring its own, or if that is not known.
    pub provider: Option<String>,
    /// Whether it is known who answers.
    pub known: bool,
    /// Why.
    pub why: String,
}

/// An object that refers to names of the report, and what it was built for.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Client {
    /// The file.
    pub path: String,
    /// `DT_SONAME`.
    pub soname: Option<String>,
    /// How many names it refers to.
    pub references: usize,
    /// The names, with their nodes, `hipMalloc@hip_4.2`.
    pub names: Vec<String>,
    /// How many of them without a node that real runtimes have.
    pub unversioned: usize,
    /// The runtime libraries among its needs.
    pub needs: Vec<String>,
    /// The ABI majors that these name.
    pub majors: Vec<u32>,
    /// Which properties functions it refers to: `R0600`, `R0000`, `legacy`.
    pub structs: Vec<String>,
    /// The interfaces it refers to.
    pub interfaces: Vec<Api>,
    /// Functions whose struct, constant or prototype differs between its headers and the runtime.
    pub breaks: Vec<String>,
}

/// A circumstance that changes how names bind.
#[derive(Debug, Clone, Serialize)]
pub struct Hazard {
    /// `LD_PRELOAD`, `RTLD_DEEPBIND`, `sanitizer` and so on.
    pub what: String,
    /// What it is here.
    pub detail: String,
}

/// Something that could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unreadable {
    /// The file, folder, member or process.
    pub path: String,
    /// Why.
    pub why: String,
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Printing {
    /// JSON instead of text.
    pub json: bool,
    /// Findings and the summary only.
    pub quiet: bool,
    /// Details: 1 for evidence and what to do, 2 for every binding.
    pub verbose: u8,
    /// With colours.
    pub color: bool,
}

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Nothing, or notes only.
    Clean = 0,
    /// Warnings.
    Warnings = 1,
    /// A conflict.
    Conflict = 2,
    /// Nothing could be looked at.
    CouldNotLook = 3,
}

impl Report {
    /// An empty report of a command.
    pub fn new(command: &str, subject: impl Into<String>, names: &crate::names::Names) -> Report {
        Report {
            schema: SCHEMA,
            tool: concat!("hiplazy ", env!("CARGO_PKG_VERSION")).to_string(),
            command: command.to_string(),
            subject: subject.into(),
            names: names.pattern(),
            ..Report::default()
        }
    }

    /// Whether it is about HIP, and not about the names of `--prefix`.
    pub fn is_about_hip(&self) -> bool {
        self.names == crate::names::Names::default().pattern()
    }

    /// The worst severity, if anything was found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings
            .iter()
            .map(|finding| finding.rule.severity)
            .max()
    }

    /// How many findings have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.rule.severity == severity)
            .count()
    }

    /// The exit status. Something unreadable beside what was read is a warning.
    pub fn exit(&self) -> Exit {
        match self.worst() {
            Some(Severity::Conflict) => Exit::Conflict,
            Some(Severity::Warning) => Exit::Warnings,
            _ if self.unreadable.is_empty() => Exit::Clean,
            _ if self.objects == 0 => Exit::CouldNotLook,
            _ => Exit::Warnings,
        }
    }

    /// Puts everything in an order that does not depend on how it was found.
    pub fn sort(&mut self) {
        self.runtimes.sort_by(|a, b| a.path.cmp(&b.path));
        self.exporters.sort_by(|a, b| a.path.cmp(&b.path));
        self.clients.sort_by(|a, b| a.path.cmp(&b.path));
        self.unreadable.sort();
        self.findings.sort_by(|a, b| {
            (b.rule.severity, a.rule.id, &a.object, &a.detail).cmp(&(
                a.rule.severity,
                b.rule.id,
                &b.object,
                &b.detail,
            ))
        });
    }

    /// One self-contained page.
    pub fn html(&self) -> String {
        html::render(self)
    }

    /// A graph for Graphviz.
    pub fn dot(&self) -> String {
        dot::render(self)
    }

    /// The report as the user asked for it.
    pub fn print(&self, printing: Printing) -> String {
        if printing.json {
            json::render(self)
        } else {
            text::render(self, printing)
        }
    }
}
