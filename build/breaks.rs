//! The tables of `src/breaks.rs` and `src/translate/`, from `abi/breaks.txt`.

use std::collections::BTreeMap;
use std::fmt::Write;

use hiplazy_abi::{Action, Break, HEADER_VERSIONS, Version, VersionRange};

use super::Strings;

/// What substitutes call beside the functions of `abi/breaks.txt`.
const MADE_OF: [&str; 6] = [
    "hipChooseDevice",
    "hipChooseDevice_v2",
    "hipGetDeviceProperties",
    "hipGetDeviceProperties_v2",
    "hipMemAdvise",
    "hipMemPrefetchAsync",
];

/// A version as the library keeps it.
pub(crate) fn number(version: Version) -> u16 {
    u16::try_from(version.major * 100 + version.minor.min(99)).unwrap_or(u16::MAX)
}

/// First and last version. A range from the first known version on begins at 0, one that
/// ends with the last known version of a major ends with that major.
fn numbers(range: VersionRange) -> (u16, u16) {
    let first = match HEADER_VERSIONS.first() {
        Some(first) if range.first <= *first => 0,
        _ => number(range.first),
    };
    let last = range.last.map_or(u16::MAX, |last| {
        let in_major = HEADER_VERSIONS
            .iter()
            .filter(|known| known.major == last.major);
        match in_major.max() {
            Some(newest) if *newest == last => number(Version::new(last.major, 99)),
            _ => number(last),
        }
    });
    (first, last)
}

/// The lines of `abi/breaks.txt`, by function.
pub(crate) struct Tables<'a> {
    /// Each function's lines but substitutes, one function behind the other.
    rules: Vec<&'a Break>,
    /// Where each function's begin, and how many there are.
    of: BTreeMap<&'a str, (usize, usize)>,
    substitutes: BTreeMap<&'a str, &'a str>,
    /// All functions of the lines and of [`MADE_OF`]; the place is the number.
    changed: Vec<&'a str>,
    /// All translators; the place is the number.
    translators: Vec<&'a str>,
}

impl<'a> Tables<'a> {
    pub(crate) fn new(breaks: &'a [Break]) -> Tables<'a> {
        let (substitutes, mut rules): (Vec<_>, Vec<_>) = breaks
            .iter()
            .partition(|line| line.action == Action::Substitute);
        rules.sort_by_key(|line| line.function.as_str());
        let mut of = BTreeMap::new();
        for (place, line) in rules.iter().enumerate() {
            of.entry(line.function.as_str()).or_insert((place, 0)).1 += 1;
        }
        let mut translators: Vec<&str> = breaks
            .iter()
            .filter_map(|line| line.translator.as_deref())
            .collect();
        translators.sort_unstable();
        translators.dedup();
        let mut changed: Vec<&str> = breaks.iter().map(|line| line.function.as_str()).collect();
        changed.extend(MADE_OF);
        changed.sort_unstable();
        changed.dedup();
        let substitutes = substitutes.into_iter().filter_map(|line| {
            let translator = line.translator.as_deref()?;
            Some((line.function.as_str(), translator))
        });
        Tables {
            rules,
            of,
            substitutes: substitutes.collect(),
            changed,
            translators,
        }
    }

    fn translator(&self, path: &str) -> usize {
        self.translators
            .iter()
            .position(|known| *known == path)
            .unwrap_or_default()
    }

    /// The number of a function, or one that is none.
    pub(crate) fn number_of(&self, function: &str) -> usize {
        let place = self.changed.binary_search(&function);
        place.unwrap_or(usize::from(u8::MAX))
    }

    /// `CHANGED`: what is done about each function. `number_of` tells a function's number
    /// in the library's tables, if it is one that has an entry.
    pub(crate) fn changed(
        &self,
        names: &mut Strings,
        number_of: impl Fn(&str) -> Option<usize>,
    ) -> String {
        let mut rows = String::new();
        for name in &self.changed {
            let (rules, count) = self.of.get(name).copied().unwrap_or_default();
            let substitute = self.substitutes.get(name);
            let substitute = substitute.map_or(usize::from(u8::MAX), |path| self.translator(path));
            let _ = writeln!(
                rows,
                "    Changed {{ name: {}, function: {}, rules: {rules}, rule_count: {count}, \
                 substitute: {substitute} }},",
                names.start(name),
                number_of(name).unwrap_or(usize::from(u16::MAX)),
            );
        }
        format!("static CHANGED: &[Changed] = &[\n{rows}];\n")
    }

    /// The type of the numbers.
    pub(crate) fn real(&self) -> String {
        let names = self.changed.join(",\n    ");
        let count = self.changed.len();
        format!(
            "/// A function of the runtime that `abi/breaks.txt` names, or that a substitute \
             calls. The number is its place in `CHANGED`.\n\
             #[allow(non_camel_case_types, dead_code)]\n\
             #[derive(Clone, Copy, PartialEq, Eq)]\n#[repr(u8)]\n\
             pub(crate) enum Real {{\n    {names},\n}}\n\
             /// How many there are.\npub(crate) const REAL_COUNT: usize = {count};\n"
        )
    }

    /// `RULES` and the sentences that they lead to.
    pub(crate) fn rules(&self) -> String {
        let mut what = String::new();
        let mut starts = BTreeMap::new();
        let mut rules = String::new();
        for line in &self.rules {
            let start = *starts.entry(line.what.as_str()).or_insert_with(|| {
                let start = what.len();
                what.push_str(&line.what);
                what.push('\0');
                start
            });
            let action = match line.action {
                Action::Translate => {
                    let path = line.translator.as_deref().unwrap_or_default();
                    format!("Translate({})", self.translator(path))
                }
                Action::Refuse => "Refuse".to_string(),
                Action::Direct | Action::Substitute => "Direct".to_string(),
            };
            let (headers, runtimes) = (numbers(line.headers), numbers(line.runtimes));
            let _ = writeln!(
                rules,
                "    Rule {{ headers: [{}, {}], runtimes: [{}, {}], action: Action::{action}, \
                 what: {start} }},",
                headers.0, headers.1, runtimes.0, runtimes.1
            );
        }
        format!(
            "static RULES: [Rule; {}] = [\n{rules}];\nstatic WHAT: &[u8; {}] = b{what:?};\n",
            self.rules.len(),
            what.len()
        )
    }

    /// The function from numbers to addresses.
    pub(crate) fn translators(&self) -> String {
        let mut arms = String::new();
        for (number, path) in self.translators.iter().enumerate() {
            let _ = writeln!(arms, "        {number} => {path} as *const c_void,");
        }
        format!(
            "/// The address of translator `number`.\n\
             pub(crate) fn address(number: u8) -> *const c_void {{\n    match number {{\n{arms}        \
             _ => core::ptr::null(),\n    }}\n}}\n"
        )
    }
}
