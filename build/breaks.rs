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

    /// `RULES` and the sentences with which calls are refused.
    pub(crate) fn rules(&self) -> String {
        let mut what = Strings::default();
        let mut rules = String::new();
        for line in &self.rules {
            let action = match line.action {
                Action::Translate => {
                    let path = line.translator.as_deref().unwrap_or_default();
                    format!("Translate({})", self.translator(path))
                }
                Action::Refuse => format!("Refuse({})", what.start(&line.what)),
                Action::Direct | Action::Substitute => "Direct".to_string(),
            };
            let (headers, runtimes) = (numbers(line.headers), numbers(line.runtimes));
            let _ = writeln!(
                rules,
                "    Rule {{ headers: [{}, {}], runtimes: [{}, {}], action: Action::{action} }},",
                headers.0, headers.1, runtimes.0, runtimes.1
            );
        }
        format!(
            "static RULES: [Rule; {}] = [\n{rules}];\n{}",
            self.rules.len(),
            what.table("WHAT")
        )
    }

    /// The function from numbers to addresses.
    ///
    /// They are kept as distances: addresses would be relocated whenever the library is
    /// loaded, at 32 bytes each in the file.
    pub(crate) fn translators(&self) -> String {
        let (mut distances, mut hidden, mut names) = (String::new(), String::new(), String::new());
        for (number, path) in self.translators.iter().enumerate() {
            let _ = writeln!(distances, "        \".long {{t{number}}} - 2b\",");
            let _ = writeln!(hidden, "    \".hidden {{t{number}}}\",");
            let _ = writeln!(names, "    t{number} = sym {path},");
        }
        let count = self.translators.len();
        format!(
            "/// How far each translator is from here, in 32 bits.\n\
             #[unsafe(naked)]\nunsafe extern \"C\" fn distances() {{\n    \
             core::arch::naked_asm!(\n        \"2:\",\n{distances}{names}    )\n}}\n\
             // Assembly makes them global; they are nobody else's.\n\
             core::arch::global_asm!(\n{hidden}    \".hidden {{distances}}\",\n{names}    \
             distances = sym distances,\n);\n\
             /// The address of translator `number`; null for none.\n\
             pub(crate) fn address(number: u8) -> *const c_void {{\n    \
             if usize::from(number) >= {count} {{\n        return core::ptr::null();\n    }}\n    \
             let here = distances as *const i32;\n    \
             // SAFETY: there are {count} numbers, and `number` is below.\n    \
             let distance = unsafe {{ here.add(number.into()).read_unaligned() }};\n    \
             here.wrapping_byte_offset(distance as isize).cast()\n}}\n"
        )
    }
}
