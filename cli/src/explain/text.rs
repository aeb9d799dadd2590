//! An explanation for people.

use std::fmt::Write;

use super::{
    Enum, EnumConstant, Explanation, FunctionFacts, LibraryFacts, NodeFacts, Record, Translation,
};
use crate::finding::Rule;
use crate::report::Styles;

/// How many changes of a struct, and functions, are listed without `--verbose`.
const SHOWN: usize = 8;

pub(super) fn render(explanation: &Explanation, verbose: bool, color: bool) -> String {
    let mut page = Page {
        text: String::new(),
        styles: Styles::new(color),
        verbose,
    };
    page.explanation(explanation);
    page.text
}

struct Page {
    text: String,
    styles: Styles,
    verbose: bool,
}

impl Page {
    fn explanation(&mut self, of: &Explanation) {
        if let Some(symptom) = &of.symptom {
            self.heading(symptom.text, "a message that is not HIP's");
            self.field("meaning", symptom.means);
            self.field("see", symptom.section);
            for rule in &symptom.rules {
                self.rule(rule);
            }
        }
        if let Some(asked) = &of.asked {
            self.heading(&asked.name, "exported by no runtime that hiplazy knows");
            self.fields("there is", &[asked.instead.join(", ")]);
            if let Some(newest) = &asked.newest {
                self.field("newest node", newest);
            }
            self.field("meaning", &asked.means);
        }
        if let Some(entry) = &of.entry {
            self.heading(&entry.name, "an entry of hiplazy");
            let of = format!("callers of {} with headers of HIP {}", of.name, entry.since);
            self.field("for", &format!("{of} and newer, up to the next entry"));
        }
        if let Some(renamed) = &of.renamed {
            let since = match &renamed.since {
                Some(since) => format!("since {since} "),
                None => String::new(),
            };
            self.heading(&of.name, "a macro");
            self.field(
                "stands for",
                &format!("{} {since}({})", renamed.replacement, renamed.header),
            );
        }
        for error in &of.errors {
            self.heading(&format!("{} {}", error.code, error.name), error.domain);
            self.field("text", &format!("\"{}\"", error.text));
            if error.names.len() > 1 {
                let names = error.names.iter();
                let names = names.map(|it| format!("{} in {}", it.name, it.headers));
                self.fields("constants", &names.collect::<Vec<_>>());
            }
            if let Some(answer) = &error.answered {
                let why = "the runtime has no name for this number";
                self.field("name told", &format!("{answer} by hipGetErrorName: {why}"));
            }
        }
        for function in &of.functions {
            self.function(function);
        }
        if let Some(record) = &of.record {
            self.heading(&record.name, "a struct");
            self.record(record, "");
        }
        if let Some(enumeration) = &of.enumeration {
            self.heading(&enumeration.name, "an enum");
            self.enumeration(enumeration);
        }
        if let Some(constant) = &of.constant {
            let kind = match constant.domain.as_str() {
                "macro" => "a macro for a number".to_string(),
                "unnamed" => "a constant of an enum without a name".to_string(),
                name => format!("a constant of {name}"),
            };
            self.heading(&constant.name, &kind);
            self.field("value", &values(constant));
        }
        if of.named_type {
            self.heading(
                &of.name,
                "a type of HIP's headers: a handle, or another name of a type",
            );
        }
        self.used_by(&of.used_by);
        // Nodes are in the tables of exports as well.
        let is_other = of.node.is_none();
        if is_other && (!of.exported_by.is_empty() || of.not_wrapped.is_some()) {
            self.heading(&of.name, "exported by runtimes, without a wrapper");
            self.fields("exported by", &[of.exported_by.join(", ")]);
            let why = of.not_wrapped.as_deref().unwrap_or("not in the manifest");
            self.field("why", why);
        }
        if let Some(node) = &of.node {
            self.node(node);
        }
        if let Some(library) = &of.library {
            self.library(library);
        }
        if let Some(rule) = of.rule {
            self.rule(rule);
        }
    }

    fn function(&mut self, function: &FunctionFacts) {
        let link = match &function.node {
            Some(node) => format!("{}@{node}", function.name),
            None => function.name.clone(),
        };
        self.heading(&link, &format!("a function of {}", function.library));
        let declared = match &function.header {
            Some(header) => format!("{header}, in {}", function.headers),
            None => "in no public header: compilers emit calls of it".to_string(),
        };
        self.field("declared", &declared);
        for (index, prototype) in function.prototypes.iter().enumerate() {
            let label = if index == 0 { "prototype" } else { "" };
            self.field(label, &prototype.text);
            if function.prototypes.len() > 1 && !prototype.headers.is_empty() {
                let why = prototype.why.as_ref();
                let why = why.map_or(String::new(), |why| format!(": {why}"));
                self.field("", &format!("  in {}{why}", prototype.headers));
            } else if let Some(why) = &prototype.why {
                self.field("", &format!("  {why}"));
            }
        }
        self.fields("C++ defaults", &[function.defaults.join(", ")]);
        let spellings: Vec<String> = function
            .spellings
            .iter()
            .map(|it| format!("{} ({})", it.source, it.how))
            .collect();
        self.fields("also written", &spellings);
        self.fields("see also", &[function.related.join(", ")]);
        self.fields("exported by", &[function.exported_by.join(", ")]);
        self.fields("not in", &[function.absent_from.join(", ")]);
        self.field("in hiplazy", &function.wrapper);
        let entries: Vec<String> = function
            .entries
            .iter()
            .map(|it| format!("{} for headers since {}", it.name, it.since))
            .collect();
        self.fields("entries", &entries);
        for record in &function.structs {
            self.record(record, &record.name);
        }
        self.fields(
            "renumbered",
            &function
                .renumbered
                .iter()
                .map(|it| format!("{} {}", it.name, values(it)))
                .collect::<Vec<_>>(),
        );
        self.translation(&function.translation);
    }

    fn translation(&mut self, table: &Translation) {
        if table.rows.is_empty() {
            self.field("translation", "none: the same for all headers and runtimes");
            return;
        }
        self.field("translation", "by the caller's headers and the runtime:");
        let mut cells = vec![Vec::from(["headers".to_string()])];
        cells[0].extend(table.runtimes.iter().map(|it| format!("runtime {it}")));
        for row in &table.rows {
            let mut line = Vec::from([row.headers.clone()]);
            line.extend(row.cells.iter().map(|cell| cell.to_string()));
            cells.push(line);
        }
        self.table(&cells);
        let mut said = Vec::new();
        for reason in &table.reasons {
            let line = format!("{}: {}", reason.action, reason.what);
            if !said.contains(&line) {
                said.push(line);
            }
        }
        if table.rows.iter().any(|row| row.cells.contains(&"absent")) {
            said.push("absent: the runtime lacks it, and the call returns 302 hipErrorSharedObjectSymbolNotFound".to_string());
        }
        for line in said {
            self.field("", &line);
        }
    }

    /// A struct under a label, or as a section of its own.
    fn record(&mut self, record: &Record, label: &str) {
        let is_section = label.is_empty();
        for (index, layout) in record.layouts.iter().enumerate() {
            let name = if is_section {
                String::new()
            } else {
                format!("{label}: ")
            };
            let line = format!(
                "{name}{} bytes, aligned to {}, in headers {}",
                layout.size, layout.align, layout.headers
            );
            let label = match (is_section, index) {
                (true, 0) => "layout",
                (false, 0) => "struct",
                _ => "",
            };
            self.field(label, &line);
            let shown = if self.verbose {
                layout.changes.len()
            } else {
                SHOWN
            };
            for change in layout.changes.iter().take(shown) {
                self.field("", &format!("  {change}"));
            }
            if let Some(more) = layout.changes.len().checked_sub(shown).filter(|it| *it > 0) {
                self.field("", &format!("  and {more} more changes (-v)"));
            }
            // All of them only where a struct was asked for, or with -v.
            if self.verbose || (is_section && index + 1 == record.layouts.len()) {
                let fields = layout.fields.iter().map(|it| {
                    let offset = it.offset.to_string();
                    Vec::from([offset, it.size.to_string(), it.name.clone(), it.ty.clone()])
                });
                let head = ["offset", "bytes", "field", "type"].map(str::to_string);
                let table: Vec<Vec<String>> =
                    std::iter::once(head.to_vec()).chain(fields).collect();
                self.table(&table);
            }
        }
    }

    fn enumeration(&mut self, enumeration: &Enum) {
        let spans = enumeration.spans();
        let mut table = vec![Vec::from(["constant".to_string()])];
        table[0].extend(spans.iter().map(|span| span.headers()));
        for (index, constant) in enumeration.constants.iter().enumerate() {
            let mut row = Vec::from([constant.name.clone()]);
            row.extend(spans.iter().map(|span| match span.values[index] {
                Some(value) => value.to_string(),
                None => "-".to_string(),
            }));
            table.push(row);
        }
        self.table(&table);
    }

    fn node(&mut self, node: &NodeFacts) {
        self.heading(&node.name, "a version node");
        self.fields("exported by", &[node.exported_by.join(", ")]);
        self.fields("not in", &[node.absent_from.join(", ")]);
        self.some("functions", &node.functions);
    }

    fn library(&mut self, library: &LibraryFacts) {
        self.heading(
            &library.name,
            &format!("a library of the runtime ({})", library.kind),
        );
        let major = match library.major {
            Some(major) => format!(
                "{major}: programs that need another number load another library, with other structs"
            ),
            None => "none: the name for linking; what it is a link to decides".to_string(),
        };
        self.field("major", &major);
        if let Some(hash) = &library.wheel_hash {
            let copy = format!(
                "of a wheel, with {hash} in its name: next to any other runtime it is a second one"
            );
            self.field("copy", &copy);
        }
        let measured = library.measured.iter();
        let measured: Vec<String> = measured
            .map(|it| format!("{}, {} functions", it.name, it.functions))
            .collect();
        self.fields("measured", &measured);
        if measured.is_empty() {
            self.field("measured", "none of that name");
        }
        self.fields("nodes", &[library.nodes.join(", ")]);
    }

    fn used_by(&mut self, functions: &[String]) {
        self.some("matters to", functions);
    }

    /// All of them with `-v`.
    fn some(&mut self, label: &str, functions: &[String]) {
        let shown = if self.verbose { functions.len() } else { SHOWN };
        let mut lines: Vec<String> = functions.iter().take(shown).cloned().collect();
        if let Some(more) = functions.len().checked_sub(shown).filter(|it| *it > 0) {
            lines.push(format!("and {more} more (-v)"));
        }
        self.fields(label, &lines);
    }

    fn rule(&mut self, rule: &Rule) {
        self.heading(
            rule.id,
            &format!("a {}: {}", rule.severity.as_str(), rule.title),
        );
        self.field("meaning", rule.meaning);
        self.field("now", rule.now);
        self.field("owner", rule.owner);
        let threads: Vec<String> = rule.threads.iter().map(|it| it.to_string()).collect();
        self.fields("threads", &threads);
    }

    fn heading(&mut self, name: &str, kind: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let name = self.styles.paint(self.styles.heading, name);
        let kind = self.styles.paint(self.styles.dim, kind);
        let _ = writeln!(self.text, "{name}  {kind}");
    }

    fn fields(&mut self, label: &str, lines: &[String]) {
        let lines = lines.iter().filter(|line| !line.is_empty());
        for (index, line) in lines.enumerate() {
            self.field(if index == 0 { label } else { "" }, line);
        }
    }

    fn field(&mut self, label: &str, line: &str) {
        let label = self.styles.paint(self.styles.dim, &format!("{label:<13}"));
        let _ = writeln!(self.text, "  {label} {line}");
    }

    /// Columns as wide as they need, numbers and words alike to the left.
    fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (index, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            let line = cells.join("  ");
            let line = line.trim_end();
            let line = match index {
                0 => self.styles.paint(self.styles.dim, line),
                _ => line.to_string(),
            };
            let _ = writeln!(self.text, "    {line}");
        }
    }
}

fn values(constant: &EnumConstant) -> String {
    let values = constant.values.iter();
    let values = values.map(|it| format!("{} in {}", it.value, it.headers));
    values.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::look_up;

    fn text(name: &str) -> String {
        look_up(name).unwrap().text(false, false)
    }

    #[test]
    fn a_renamed_function_shows_both_structs_and_what_is_done() {
        let text = text("hipGetDeviceProperties");
        for part in [
            "stands for    hipGetDevicePropertiesR0600 since 6.0",
            "hipGetDevicePropertiesR0600@hip_6.0  a function of libamdhip64",
            "792 bytes, aligned to 8, in headers 5.0 to 5.7",
            "1472 bytes, aligned to 8, in headers 6.0 and newer",
            "runtime 5.0 to 5.7",
            "replaced: runtimes before HIP 6.0 have the older struct only",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_number_that_the_runtime_has_no_name_for_says_so() {
        let text = text("1054");
        for part in [
            "1054 hipErrorInvalidClusterSize",
            "hipErrorTbd in 5.0 to 7.2",
            "hipErrorUnknown by hipGetErrorName",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!self::text("709").contains("hipGetErrorName"));
    }

    #[test]
    fn what_was_asked_comes_before_what_there_is() {
        let text = text("hipMalloc@hip_9.9");
        let first = "hipMalloc@hip_9.9  exported by no runtime that hiplazy knows\n";
        assert!(text.starts_with(first), "{text}");
        assert!(text.contains("\nhipMalloc@hip_4.2  a function"), "{text}");
    }

    #[test]
    fn a_symptom_is_shown_with_its_rules() {
        let text = text("double free or corruption (out)");
        for part in [
            "docs/doctor.md#free-invalid-size",
            "taken-symbols  a warning",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_node_is_shown_as_one() {
        let text = text("hip_6.0");
        assert!(text.starts_with("hip_6.0  a version node\n"), "{text}");
        assert!(text.contains("hipGetDevicePropertiesR0600"), "{text}");
    }

    #[test]
    fn an_enum_is_a_table_by_headers() {
        let text = text("hipMemoryType");
        let host = text.lines().find(|line| line.contains("hipMemoryTypeHost"));
        let cells: Vec<&str> = host.unwrap().split_whitespace().collect();
        assert_eq!(cells, ["hipMemoryTypeHost", "0", "0", "1"]);
    }

    #[test]
    fn nothing_is_coloured_unless_asked_for() {
        assert!(!text("hipMemcpy3D").contains('\u{1b}'));
        let colored = look_up("hipMemcpy3D").unwrap().text(false, true);
        assert!(colored.contains('\u{1b}'));
    }
}
