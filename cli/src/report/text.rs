//! The report for people: a summary of three lines, then a tree.

use std::fmt::Write;

use super::plain::plain as shown;
use super::tree::{Node, draw};
use super::{Binding, Bound, Printing, Report, Scope, Styles};
use crate::finding::{Finding, Rule, Severity};
use crate::rules;

/// How many lines of evidence are shown without `-vv`.
const EVIDENCE: usize = 12;

/// How many needs of a library are shown without `-vv`.
const NEEDS: usize = 5;

pub(super) fn render(report: &Report, printing: Printing) -> String {
    let view = View {
        report,
        printing,
        styles: Styles::new(printing.color),
    };
    let nothing = report.worst() <= Some(Severity::Note) && report.unreadable.is_empty();
    if printing.quiet && nothing {
        return String::new();
    }
    let mut text = String::new();
    if !printing.quiet {
        for line in &report.preface {
            let _ = writeln!(text, "{}", plain(line));
        }
    }
    view.summary(&mut text);
    draw(&mut text, &view.sections());
    text
}

struct View<'a> {
    report: &'a Report,
    printing: Printing,
    styles: Styles,
}

impl View<'_> {
    /// The verdict, what was looked at, and what to do first.
    fn summary(&self, text: &mut String) {
        let report = self.report;
        let verdict = match report.worst() {
            Some(severity) => self
                .styles
                .paint(self.styles.of(severity), severity.as_str()),
            None if report.objects == 0 && !report.unreadable.is_empty() => {
                let style = self.styles.of(Severity::Conflict);
                self.styles.paint(style, "nothing could be looked at")
            }
            None if !report.unreadable.is_empty() => {
                let style = self.styles.of(Severity::Warning);
                self.styles.paint(style, "clean as far as it could be read")
            }
            // Nothing was looked at, so nothing is vouched for.
            None if report.objects == 0 && report.command == "lint" => {
                "no ELF object here".to_string()
            }
            None => self.styles.paint(self.styles.good, "clean"),
        };
        let subject = self.heading(&plain(&report.subject));
        let counts = [
            (Severity::Conflict, "conflict"),
            (Severity::Warning, "warning"),
            (Severity::Note, "note"),
        ];
        let counts: Vec<String> = counts
            .into_iter()
            .map(|(severity, word)| (report.count(severity), word))
            .filter(|(number, _)| *number > 0)
            .map(|(number, word)| counted(number, word))
            .collect();
        let counts = if counts.is_empty() {
            String::new()
        } else {
            format!(" ({})", counts.join(", "))
        };
        let _ = writeln!(text, "{subject}: {verdict}{counts}");
        let mut looked = vec![
            counted(report.exporters.len(), "exporter"),
            counted(report.clients.len(), "client"),
        ];
        if report.is_about_hip() {
            looked.insert(0, counted(report.runtimes.len(), "runtime library"));
        }
        let passed: usize = report.passed_over.values().sum();
        if passed > 0 {
            looked.push(format!("{} passed over", counted(passed, "file")));
        }
        if !report.unreadable.is_empty() {
            looked.push(format!("{} could not be read", report.unreadable.len()));
        }
        let objects = counted(report.objects, "object");
        let names = plain(&report.names);
        let _ = writeln!(
            text,
            "Looked at {objects} for {names}: {}",
            looked.join(", ")
        );
        let first = report
            .findings
            .iter()
            .find(|finding| finding.rule.severity > Severity::Note);
        let advice = match first {
            Some(finding) => format!("First: {}", self.advice(finding.rule)),
            None if report.unreadable.is_empty() => "Nothing to do".to_string(),
            None => "See what could not be read".to_string(),
        };
        let more = match (first, self.printing.verbose) {
            (Some(_), 0) => self.dim("  (-v: what it means, and more)"),
            _ => String::new(),
        };
        let _ = writeln!(text, "{advice}{more}");
    }

    /// To who reads it: the owner of the files looks at them with `lint`, and who runs
    /// the program looks at a process, and cannot change the library.
    fn advice(&self, rule: &Rule) -> String {
        if self.report.command == "lint" {
            rule.owner.to_string()
        } else if rule.now == rules::NOTHING {
            format!("tell the owner: {}", rule.owner)
        } else {
            rule.now.to_string()
        }
    }

    fn sections(&self) -> Vec<Node> {
        let mut sections = vec![self.findings()];
        if !self.printing.quiet {
            sections.extend([
                self.runtimes(),
                self.exporters(),
                self.clients(),
                self.bindings(),
                self.forecast(),
                self.hazards(),
            ]);
        }
        sections.push(self.unreadable());
        if self.printing.verbose > 0 {
            sections.push(self.passed_over());
        }
        sections.into_iter().flatten().collect()
    }

    /// By rule, and below it by object.
    fn findings(&self) -> Option<Node> {
        let findings = &self.report.findings;
        let mut rules: Vec<&Rule> = Vec::new();
        for finding in findings {
            if !rules.iter().any(|rule| rule.id == finding.rule.id) {
                rules.push(finding.rule);
            }
        }
        let nodes = rules.into_iter().map(|rule| {
            let severity = self
                .styles
                .paint(self.styles.of(rule.severity), rule.severity.as_str());
            let mut node = Node::new(format!("{severity} {}: {}", rule.id, rule.title));
            if self.printing.verbose > 0 {
                for (word, text) in [
                    ("means", rule.meaning),
                    ("now", rule.now),
                    ("owner", rule.owner),
                ] {
                    node.push(Node::new(format!(
                        "{} {text}",
                        self.dim(&format!("{word}:"))
                    )));
                }
                for thread in rule.threads {
                    node.push(Node::new(format!("{} {thread}", self.dim("see:"))));
                }
            }
            let of_rule = findings.iter().filter(|found| found.rule.id == rule.id);
            node.with(of_rule.map(|finding| self.finding(finding)))
        });
        section(self.heading("Findings"), nodes.collect())
    }

    fn finding(&self, finding: &Finding) -> Node {
        let object = self.heading(&self.path(&finding.object));
        let mut node = Node::new(format!("{object}: {}", plain(&finding.detail)));
        if self.printing.verbose > 0 {
            let all = finding.evidence.len();
            let shown = if self.printing.verbose > 1 {
                all
            } else {
                all.min(EVIDENCE)
            };
            for line in &finding.evidence[..shown] {
                node.push(Node::new(self.dim(&plain(line))));
            }
            if shown < all {
                let more = format!("{} more (-vv)", all - shown);
                node.push(Node::new(self.dim(&more)));
            }
        }
        node
    }

    fn runtimes(&self) -> Option<Node> {
        let nodes = self.report.runtimes.iter().map(|runtime| {
            let mut line = format!("{} {}", runtime.kind, self.path(&runtime.path));
            for (word, value) in [
                ("SONAME", &runtime.soname),
                ("version", &runtime.version),
                ("build id", &runtime.build_id),
            ] {
                if let (Some(value), true) =
                    (value, word != "build id" || self.printing.verbose > 0)
                {
                    let _ = write!(line, ", {word} {}", plain(value));
                }
            }
            if let Some(version) = &runtime.at_least {
                let _ = write!(line, ", at least {version} by its exports");
            }
            if let Some(scope) = &runtime.scope {
                let _ = write!(line, ", {}", of_scope(scope));
            }
            Node::new(line).with(self.chains(&runtime.needed_by))
        });
        section(self.heading("Runtimes"), nodes.collect())
    }

    fn exporters(&self) -> Option<Node> {
        let nodes = self.report.exporters.iter().map(|exporter| {
            let mut line = format!(
                "{}: {}, {} without a node",
                self.path(&exporter.path),
                counted(exporter.exported.len(), "name"),
                exporter.unversioned
            );
            if let Some(scope) = &exporter.scope {
                let _ = write!(line, ", {}", of_scope(scope));
            }
            Node::new(line).with(self.chains(&exporter.needed_by))
        });
        section(self.heading("Exporters"), nodes.collect())
    }

    fn clients(&self) -> Option<Node> {
        let nodes = self.report.clients.iter().map(|client| {
            let mut parts = vec![counted(client.references, "name")];
            if client.unversioned > 0 {
                parts.push(format!("{} without a node", client.unversioned));
            }
            if !client.needs.is_empty() {
                parts.push(format!("needs {}", plain(&client.needs.join(", "))));
            } else if client.references > 0 && self.report.is_about_hip() {
                parts.push("needs no runtime library by name".to_string());
            }
            if !client.structs.is_empty() {
                parts.push(format!("structs {}", client.structs.join(", ")));
            }
            let node = Node::new(format!("{}: {}", self.path(&client.path), parts.join(", ")));
            let names: &[String] = match self.printing.verbose > 1 {
                true => &client.names,
                false => &[],
            };
            let names = names.iter().map(|name| Node::new(self.dim(&plain(name))));
            node.with(client.breaks.iter().map(|line| Node::new(plain(line))))
                .with(names)
        });
        section(self.heading("Clients"), nodes.collect())
    }

    /// Wrong ones always, the others with `-vv`.
    fn bindings(&self) -> Option<Node> {
        let all = &self.report.bindings;
        let shown = all
            .iter()
            .filter(|binding| binding.wrong.is_some() || self.printing.verbose > 1)
            .map(|binding| Node::new(bound(binding)));
        let mut nodes: Vec<Node> = shown.collect();
        if nodes.len() < all.len() {
            let rest = counted(all.len() - nodes.len(), "binding");
            nodes.push(Node::new(
                self.dim(&format!("{rest} not known to be wrong (-vv)")),
            ));
        }
        section(self.heading("Bindings"), nodes)
    }

    fn forecast(&self) -> Option<Node> {
        let nodes = self.report.forecast.iter().map(|forecast| {
            let node = forecast.node.as_deref();
            let name = plain(&match node {
                Some(_) => at(&forecast.name, node),
                None => format!("{} without a node", forecast.name),
            });
            let gets = match (&forecast.provider, forecast.known) {
                (Some(provider), _) => format!("{name} gets {}", plain(provider)),
                (None, true) => format!("{name} gets what it brings itself"),
                (None, false) => format!("what {name} gets is not known"),
            };
            Node::new(gets).with([Node::new(self.dim(&plain(&forecast.why)))])
        });
        section(self.heading("The next library"), nodes.collect())
    }

    fn hazards(&self) -> Option<Node> {
        let nodes = self.report.hazards.iter();
        let nodes = nodes.map(|hazard| {
            Node::new(format!(
                "{}: {}",
                plain(&hazard.what),
                plain(&hazard.detail)
            ))
        });
        section(self.heading("Circumstances"), nodes.collect())
    }

    fn unreadable(&self) -> Option<Node> {
        let nodes = self.report.unreadable.iter();
        let nodes =
            nodes.map(|one| Node::new(format!("{} {}", self.path(&one.path), plain(&one.why))));
        section(self.heading("Not looked at"), nodes.collect())
    }

    fn passed_over(&self) -> Option<Node> {
        let nodes = self.report.passed_over.iter();
        let nodes = nodes.map(|(what, number)| Node::new(format!("{number} {what}")));
        section(self.heading("Passed over"), nodes.collect())
    }

    fn chains(&self, chains: &[Vec<String>]) -> Vec<Node> {
        let most = match self.printing.verbose > 1 || chains.len() == NEEDS + 1 {
            true => chains.len(),
            false => NEEDS,
        };
        let lines = chains.iter().take(most).map(|chain| {
            let chain: Vec<String> = chain.iter().map(|path| self.path(path)).collect();
            format!("needed by {}", chain.join(" > "))
        });
        let more = chains.len().saturating_sub(most);
        let more = (more > 0).then(|| format!("and by {more} more (-vv)"));
        lines
            .chain(more)
            .map(|line| Node::new(self.dim(&line)))
            .collect()
    }

    /// A path, without the wheel's if the report is about that wheel alone.
    fn path(&self, path: &str) -> String {
        let inside = path.strip_prefix(&self.report.subject);
        plain(
            inside
                .and_then(|inside| inside.strip_prefix('!'))
                .unwrap_or(path),
        )
    }

    fn heading(&self, text: &str) -> String {
        self.styles.paint(self.styles.heading, text)
    }

    fn dim(&self, text: &str) -> String {
        self.styles.paint(self.styles.dim, text)
    }
}

fn section(heading: String, nodes: Vec<Node>) -> Option<Node> {
    (!nodes.is_empty()).then(|| Node::new(heading).with(nodes))
}

/// What a reference is bound to, and what is wrong with that.
fn bound(binding: &Binding) -> String {
    let provider = binding.provider.as_deref();
    let provider = provider.unwrap_or("what could not be read, or the next that has it");
    let to = match binding.state {
        Bound::Bound => format!("bound to {provider}"),
        Bound::Lazy => format!("not bound yet, would get {provider}"),
        Bound::Unresolved => "resolved by nobody".to_string(),
        Bound::NoLibrary => "bound to memory of no library".to_string(),
        Bound::Unmapped => "bound to memory that is no longer mapped".to_string(),
    };
    let wrong = match (binding.wrong, &binding.expected) {
        (None, _) => String::new(),
        (Some(why), None) => format!(", {}", why.means()),
        (Some(why), Some(expected)) => format!(", {}; should be {expected}", why.means()),
    };
    let name = at(&binding.name, binding.node.as_deref());
    plain(&format!("{} {name} {to}{wrong}", binding.object))
}

fn of_scope(scope: &Scope) -> String {
    match scope {
        Scope::Global { position } => format!("global scope, place {position}"),
        Scope::Local => "local scope".to_string(),
        Scope::Namespace { number } => format!("namespace {number}"),
        Scope::Unknown => "scope unknown".to_string(),
    }
}

fn at(name: &str, node: Option<&str>) -> String {
    node.map_or_else(|| name.to_string(), |node| format!("{name}@{node}"))
}

fn plain(text: &str) -> String {
    shown(text).into_owned()
}

fn counted(number: usize, word: &str) -> String {
    match (number, word.strip_suffix('y')) {
        (1, _) => format!("1 {word}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_advice_is_for_who_reads_it() {
        let first = |command: &str, rule: &'static Rule| {
            let mut report = Report::new(command, "it", &crate::names::Names::default());
            report
                .findings
                .push(Finding::new(rule, "/lib/a.so", "here"));
            let text = render(&report, Printing::default());
            let line = text.lines().find_map(|line| line.strip_prefix("First: "));
            line.unwrap().to_string()
        };
        let rule = &rules::WRONG_PROVIDER;
        assert!(first("lint", rule).starts_with(rule.owner));
        for command in ["doctor", "run", "log"] {
            assert!(first(command, rule).starts_with(rule.now), "{command}");
        }
        let rule = &rules::MIXED_STRUCTS;
        assert!(first("lint", rule).starts_with(rule.owner));
        let help = format!("tell the owner: {}", rule.owner);
        assert!(first("doctor", rule).starts_with(&help));
    }

    #[test]
    fn of_many_needs_the_first_are_shown() {
        let needs = |number: usize, verbose: u8| {
            let chains = (0..number).map(|at| vec![format!("/lib/{at}.so")]);
            let mut report = Report::new("lint", "it", &crate::names::Names::default());
            report.runtimes.push(crate::report::Runtime {
                needed_by: chains.collect(),
                ..Default::default()
            });
            let printing = Printing {
                verbose,
                ..Printing::default()
            };
            let text = render(&report, printing);
            let lines = text.lines().filter(|line| line.contains("needed by "));
            (lines.count(), text.contains("and by 295 more (-vv)"))
        };
        assert_eq!(needs(300, 0), (5, true));
        assert_eq!(needs(300, 2), (300, false));
        // "1 more" takes no less room than the one.
        assert_eq!(needs(6, 0), (6, false));
    }

    #[test]
    fn the_names_of_a_client_are_listed_on_request() {
        let mut report = Report::new("lint", "it", &crate::names::Names::default());
        report.clients.push(crate::report::Client {
            names: vec!["hipMalloc@hip_4.2".into()],
            ..Default::default()
        });
        let printed = |verbose: u8| {
            let printing = Printing {
                verbose,
                ..Printing::default()
            };
            render(&report, printing).contains("hipMalloc@hip_4.2")
        };
        assert!(printed(2) && !printed(1));
    }

    #[test]
    fn numbers_and_words_agree() {
        assert_eq!(counted(1, "runtime library"), "1 runtime library");
        assert_eq!(counted(2, "runtime library"), "2 runtime libraries");
        assert_eq!(counted(0, "object"), "0 objects");
    }
}
