//! Objects and what they are bound to, as a graph: what the page and Graphviz draw.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{Bound, Report, Scope};
use crate::finding::Severity;

/// A graph of objects.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Picture {
    /// Scopes, or one group for files that nobody has loaded.
    pub groups: Vec<String>,
    /// The objects.
    pub nodes: Vec<Node>,
    /// What refers to what; none from an object to itself.
    pub edges: Vec<Edge>,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Node {
    /// The file; for a library that was not seen, its SONAME.
    pub path: String,
    /// `DT_SONAME`.
    pub soname: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// Its place in [`Picture::groups`].
    pub group: usize,
    /// A few words: the version of a runtime, the number of names of an exporter.
    pub caption: String,
    /// The worst finding about it.
    pub severity: Option<Severity>,
    /// How many of its references are bound to itself.
    pub own: usize,
}

/// What an object is to the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A runtime.
    Runtime,
    /// Defines names of a runtime and is none.
    Exporter,
    /// Refers to names of a runtime, or is just there.
    Client,
    /// Needed, or asked for, and not there.
    Missing,
}

/// All references of one object that lead to another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Edge {
    /// The place of the object that refers in [`Picture::nodes`].
    pub from: usize,
    /// The place of the one that answers.
    pub to: usize,
    /// The names; a SONAME where an object only needs the other.
    pub names: Vec<String>,
    /// How many of them should lead elsewhere.
    pub wrong: usize,
    /// How many are not bound yet.
    pub lazy: usize,
    /// Whether it stands for a need (`DT_NEEDED`), not for bound names.
    pub need: bool,
}

/// The node for names that nobody has.
const NOBODY: &str = "nobody has the name";

/// The name of the node for whoever answers behind what could not be read.
const NOT_KNOWN: &str = "not known";

/// The nodes for words that point to no library.
const NO_LIBRARY: &str = "memory of no library";
const UNMAPPED: &str = "memory that is no longer mapped";

const NOT_THERE: &str = "Not there";

impl Picture {
    /// The graph of a report.
    pub fn of(report: &Report) -> Picture {
        let mut builder = Builder::default();
        builder.objects(report);
        if report.bindings.is_empty() {
            builder.needs(report);
            builder.chains(report);
        } else {
            builder.bindings(report);
        }
        builder.severities(report);
        builder.picture
    }
}

#[derive(Default)]
struct Builder {
    picture: Picture,
    nodes: HashMap<String, usize>,
    edges: HashMap<(usize, usize), usize>,
}

impl Builder {
    fn objects(&mut self, report: &Report) {
        // In the order of the search: global first, by position.
        let mut scopes: HashMap<&str, &Scope> = HashMap::new();
        for loaded in &report.loaded {
            scopes.insert(&loaded.path, &loaded.scope);
        }
        for runtime in &report.runtimes {
            scopes.extend(
                runtime
                    .scope
                    .as_ref()
                    .map(|scope| (runtime.path.as_str(), scope)),
            );
        }
        for exporter in &report.exporters {
            scopes.extend(
                exporter
                    .scope
                    .as_ref()
                    .map(|scope| (exporter.path.as_str(), scope)),
            );
        }
        let mut titles: BTreeMap<(usize, usize), String> = BTreeMap::new();
        for scope in scopes.values() {
            let (rank, title) = group_of(Some(scope));
            titles.insert(rank, title);
        }
        if scopes.is_empty() {
            titles.insert((0, 0), "Files".to_string());
        }
        let rank_of = |path: &str| match scopes.is_empty() {
            true => (0, 0),
            false => group_of(scopes.get(path).copied()).0,
        };
        let others = report.bindings.iter().flat_map(|binding| {
            std::iter::once(binding.object.as_str()).chain(binding.provider.as_deref())
        });
        let clients = report.clients.iter().map(|client| client.path.as_str());
        let mut others: Vec<&str> = others.chain(clients).collect();
        if report.bindings.is_empty() {
            others.extend(
                chains(report)
                    .flat_map(|(_, _, chain)| chain)
                    .map(String::as_str),
            );
        }
        if others.iter().any(|path| rank_of(path) == UNKNOWN) {
            titles.insert(UNKNOWN, group_of(None).1);
        }
        let places: HashMap<(usize, usize), usize> = titles
            .keys()
            .enumerate()
            .map(|(place, rank)| (*rank, place))
            .collect();
        self.picture.groups = titles.into_values().collect();
        let group = |path: &str| places.get(&rank_of(path)).copied().unwrap_or(0);

        for runtime in &report.runtimes {
            let version = runtime.version.as_deref();
            let major = runtime.major.map(|major| format!("major {major}"));
            let least = runtime.at_least.as_ref();
            let least = least.map(|least| format!("at least {least}"));
            let version = version.filter(|version| version.contains('.') || least.is_none());
            let version = version.map(str::to_string).or(least).or(major);
            let version = version.unwrap_or_default();
            let caption = format!("{} {version}", runtime.kind);
            let at = self.node(&runtime.path, Kind::Runtime, group(&runtime.path));
            self.picture.nodes[at].soname = runtime.soname.clone();
            self.caption(
                at,
                caption.trim(),
                scopes.get(runtime.path.as_str()).copied(),
            );
        }
        for exporter in &report.exporters {
            let at = self.node(&exporter.path, Kind::Exporter, group(&exporter.path));
            self.picture.nodes[at].soname = exporter.soname.clone();
            let caption = count(exporter.exported.len(), "name");
            let scope = scopes.get(exporter.path.as_str()).copied();
            self.caption(at, &format!("exports {caption}"), scope);
        }
        for client in &report.clients {
            let at = self.node(&client.path, Kind::Client, group(&client.path));
            let node = &mut self.picture.nodes[at];
            node.soname = node.soname.take().or_else(|| client.soname.clone());
            if node.caption.is_empty() {
                let references = count(client.references, "reference");
                self.caption(at, &references, scopes.get(client.path.as_str()).copied());
            }
        }
        for path in others {
            self.node(path, Kind::Client, group(path));
        }
    }

    fn caption(&mut self, at: usize, text: &str, scope: Option<&Scope>) {
        let position = match scope {
            Some(Scope::Global { position }) => format!(", place {position}"),
            _ => String::new(),
        };
        self.picture.nodes[at].caption = format!("{text}{position}");
    }

    fn node(&mut self, path: &str, kind: Kind, group: usize) -> usize {
        if let Some(at) = self.nodes.get(path) {
            return *at;
        }
        let at = self.picture.nodes.len();
        self.picture.nodes.push(Node {
            path: path.to_string(),
            soname: None,
            kind,
            group,
            caption: String::new(),
            severity: None,
            own: 0,
        });
        self.nodes.insert(path.to_string(), at);
        at
    }

    fn missing(&mut self, name: &str) -> usize {
        if let Some(at) = self.nodes.get(name) {
            return *at;
        }
        let groups = &mut self.picture.groups;
        if groups.last().is_none_or(|last| last != NOT_THERE) {
            groups.push(NOT_THERE.to_string());
        }
        let group = groups.len() - 1;
        self.node(name, Kind::Missing, group)
    }

    fn edge(&mut self, from: usize, to: usize, need: bool) -> &mut Edge {
        let edges = &mut self.picture.edges;
        let at = *self.edges.entry((from, to)).or_insert_with(|| {
            edges.push(Edge {
                from,
                to,
                names: Vec::new(),
                wrong: 0,
                lazy: 0,
                need,
            });
            edges.len() - 1
        });
        &mut edges[at]
    }

    fn bindings(&mut self, report: &Report) {
        for binding in &report.bindings {
            // Objects of bindings are nodes already.
            let from = self.node(&binding.object, Kind::Client, 0);
            let to = match (&binding.provider, binding.state) {
                (Some(provider), _) => self.node(provider, Kind::Client, 0),
                (None, Bound::NoLibrary) => self.missing(NO_LIBRARY),
                (None, Bound::Unmapped) => self.missing(UNMAPPED),
                (None, Bound::Lazy) => self.missing(NOT_KNOWN),
                (None, _) => self.missing(NOBODY),
            };
            if from == to {
                self.picture.nodes[from].own += 1;
                continue;
            }
            let edge = self.edge(from, to, false);
            edge.names.push(binding.name.clone());
            edge.wrong += usize::from(binding.wrong.is_some());
            edge.lazy += usize::from(binding.state == Bound::Lazy);
        }
    }

    /// Files that were not loaded are bound to nothing: who needs which runtime.
    fn needs(&mut self, report: &Report) {
        for client in &report.clients {
            let from = self.node(&client.path, Kind::Client, 0);
            for need in &client.needs {
                let named = |runtime: &&super::Runtime| runtime.soname.as_deref() == Some(need);
                let runtimes: Vec<String> = report
                    .runtimes
                    .iter()
                    .filter(named)
                    .map(|it| it.path.clone())
                    .collect();
                let mut places: Vec<usize> = runtimes
                    .iter()
                    .map(|path| self.node(path, Kind::Runtime, 0))
                    .collect();
                if places.is_empty() {
                    places.push(self.missing(need));
                }
                for to in places.into_iter().filter(|to| *to != from) {
                    self.edge(from, to, true).names.push(need.clone());
                }
            }
        }
    }

    /// Who needs runtimes and exporters, as far as it was found.
    fn chains(&mut self, report: &Report) {
        for (path, soname, chain) in chains(report) {
            for (from, to) in chain.iter().zip(chain.iter().skip(1).chain([path])) {
                // Objects of chains are nodes already.
                let from = self.node(from, Kind::Client, 0);
                let at = self.node(to, Kind::Client, 0);
                if from != at && !self.edges.contains_key(&(from, at)) {
                    let name = soname.filter(|_| to == path).unwrap_or(to);
                    self.edge(from, at, true).names.push(name.clone());
                }
            }
        }
    }

    fn severities(&mut self, report: &Report) {
        for finding in &report.findings {
            if let Some(at) = self.nodes.get(&finding.object) {
                let node = &mut self.picture.nodes[*at];
                node.severity = node.severity.max(Some(finding.rule.severity));
            }
        }
    }
}

/// The chains of objects that need a runtime or an exporter, with its path and SONAME.
fn chains(report: &Report) -> impl Iterator<Item = (&String, Option<&String>, &Vec<String>)> {
    let runtimes = report.runtimes.iter();
    let runtimes = runtimes.map(|it| (&it.path, it.soname.as_ref(), &it.needed_by));
    let exporters = report.exporters.iter();
    let exporters = exporters.map(|it| (&it.path, it.soname.as_ref(), &it.needed_by));
    let all = runtimes.chain(exporters);
    all.flat_map(|(path, soname, chains)| chains.iter().map(move |chain| (path, soname, chain)))
}

const UNKNOWN: (usize, usize) = (3, 0);

fn group_of(scope: Option<&Scope>) -> ((usize, usize), String) {
    match scope {
        Some(Scope::Global { .. }) => ((0, 0), "Global scope".to_string()),
        Some(Scope::Local) => ((1, 0), "Local scopes".to_string()),
        Some(Scope::Namespace { number }) => ((2, *number), format!("Namespace {number}")),
        Some(Scope::Unknown) | None => (UNKNOWN, "Scope not known".to_string()),
    }
}

fn count(number: usize, of: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {of}{plural}")
}
