//! The cells of the matrix: every call of `calls.rs`, for every headers on every runtime, in
//! every variant of what is passed or answered.

use hiplazy_abi::{Action, Version, break_of};

use crate::calls::{CALLS, FIXED, POINTED_TO};
use crate::cell::{Cell, Check, Passed, Place, UNTOUCHED};
use crate::child::Runtime;
use crate::oracle::{Conversion, Expected, Filled, Refusal, Variant, Wanted, counterparts, number};
use crate::tables::{HEADERS, canonical, range, tables};

/// All cells of one runtime.
pub(crate) fn cells_of(runtime: &Runtime) -> Vec<Cell> {
    let mut cells = Vec::new();
    for headers in HEADERS {
        for (function, arguments) in CALLS {
            if runtime.has(function) && tables().declares(headers, function) {
                let builder = Builder::new(function, headers, runtime.version);
                cells.extend(builder.cells(arguments));
            }
        }
    }
    cells
}

/// What a cell has of one argument.
struct Part {
    passed: Passed,
    checks: Vec<Check>,
    answers: Vec<(usize, Vec<u8>)>,
    refusal: Refusal,
    written: Option<std::ops::Range<usize>>,
}

impl Part {
    fn of(passed: Passed) -> Part {
        Part {
            passed,
            checks: Vec::new(),
            answers: Vec::new(),
            refusal: Refusal::Never,
            written: None,
        }
    }

    fn check(mut self, place: Place, size: usize, expected: Vec<Expected>) -> Part {
        self.checks.push(Check {
            place,
            size,
            expected,
        });
        self
    }
}

/// All of `bytes`.
fn exactly(bytes: &[u8]) -> Vec<Expected> {
    vec![Expected {
        field: "all of it".to_string(),
        bytes: 0..bytes.len(),
        wanted: Wanted::OneOf(vec![bytes.to_vec()]),
    }]
}

fn distinct(size: usize) -> Vec<u8> {
    (0..size).map(|byte| 0x41 + (byte % 0x80) as u8).collect()
}

const LMEM: &str = "hipDeviceLmemResizeToMax";
const SCHEDULES: [&str; 4] = [
    "hipDeviceScheduleAuto",
    "hipDeviceScheduleSpin",
    "hipDeviceScheduleYield",
    "hipDeviceScheduleBlockingSync",
];

/// Every combination of a device's flags.
fn flag_sets() -> Vec<Vec<&'static str>> {
    let plain = SCHEDULES.iter().map(|schedule| vec![*schedule]);
    let resized = SCHEDULES.iter().map(|schedule| vec![*schedule, LMEM]);
    plain.chain(resized).collect()
}

fn flags(set: &[&str], version: Version) -> u64 {
    let values = set
        .iter()
        .map(|name| tables().value(name, version).unwrap());
    values.fold(0, |all, value| all | value)
}

/// The cells of one function for headers and a runtime.
pub(crate) struct Builder<'a> {
    function: &'a str,
    headers: Version,
    runtime: Version,
    action: Option<Action>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(function: &'a str, headers: Version, runtime: Version) -> Builder<'a> {
        let line = break_of(&tables().breaks, function, headers, runtime);
        Builder {
            function,
            headers,
            runtime,
            action: line.map(|line| line.action),
        }
    }

    fn conversion(&self, record: &str, is_in: bool) -> Conversion<'static> {
        let header = (tables().layout(record, self.headers), self.headers);
        let runtime = (tables().layout(record, self.runtime), self.runtime);
        let (from, to) = if is_in {
            (header, runtime)
        } else {
            (runtime, header)
        };
        Conversion {
            from,
            to,
            is_lossy: self.action != Some(Action::Translate),
            untouched: (!is_in).then_some(UNTOUCHED),
            salt: 0,
        }
    }

    /// The cells for one line of arguments.
    pub(crate) fn cells(&self, arguments: &str) -> Vec<Cell> {
        let arguments: Vec<Vec<&str>> = arguments
            .split(", ")
            .map(|argument| argument.split_whitespace().collect())
            .collect();
        let variants: Vec<Vec<String>> = arguments
            .iter()
            .map(|argument| self.variants(argument))
            .collect();
        // One argument is varied.
        let names = variants.iter().max_by_key(|names| names.len()).unwrap();
        let varied = arguments
            .iter()
            .zip(&variants)
            .find(|(_, of)| of.len() == names.len());
        // What is answered, and flags, no runtime finds fault with.
        let is_plain = varied
            .is_some_and(|(argument, _)| !["in", "array", "both", "enum"].contains(&argument[0]));
        let cell = |number: usize| {
            let varied = variants.iter().map(|names| number % names.len());
            let arguments = arguments.iter().map(Vec::as_slice).zip(varied);
            let mut cell = self.cell(arguments, &names[number]);
            cell.is_plain |= is_plain;
            cell
        };
        (0..names.len()).map(cell).collect()
    }

    /// The cell for the arguments, each in the variant of this number.
    fn cell<'b>(
        &self,
        arguments: impl Iterator<Item = (&'b [&'b str], usize)>,
        name: &str,
    ) -> Cell {
        let mut cell = Cell {
            function: self.function.to_string(),
            headers: self.headers,
            runtime: self.runtime,
            variant: name.to_string(),
            entry: tables().entry(self.function, self.headers),
            watched: self.function.to_string(),
            passed: Vec::new(),
            answers: Vec::new(),
            checks: Vec::new(),
            refusal: Refusal::Never,
            written: None,
            is_plain: name == "Plain",
        };
        for (place, (argument, variant)) in arguments.enumerate() {
            let part = self.part(place, argument, variant);
            cell.passed.push(part.passed);
            cell.checks.extend(part.checks);
            cell.answers.extend(part.answers);
            cell.refusal = cell.refusal.max(part.refusal);
            cell.written = cell
                .written
                .or(part.written.map(|written| (place, written)));
        }
        if self.action == Some(Action::Refuse) {
            cell.refusal = Refusal::Must;
        }
        cell
    }

    /// The names of an argument's variants.
    fn variants(&self, argument: &[&str]) -> Vec<String> {
        match argument {
            [kind @ ("in" | "array" | "fill" | "both"), record] => {
                let conversion = self.conversion(record, *kind != "fill");
                let variants = conversion.variants();
                let name = |variant: &Variant| conversion.name(*variant);
                variants.iter().map(name).collect()
            }
            ["flags"] | ["out", "flags"] => {
                let sets = flag_sets();
                sets.iter().map(|set| set.join(" ")).collect()
            }
            ["enum", domain] => self
                .constants(domain, self.headers)
                .map(|it| it.0)
                .collect(),
            ["out" | "data" | "places", domain, ..] if tables().is_enum(domain) => self
                .constants(domain, self.runtime)
                .map(|it| it.0)
                .collect(),
            _ => vec!["Plain".to_string()],
        }
    }

    fn constants(&self, domain: &str, version: Version) -> impl Iterator<Item = (String, u64)> {
        let constants = tables().constants(domain, version);
        constants.map(|constant| (constant.name.clone(), constant.value as u64))
    }

    fn part(&self, place: usize, argument: &[&str], variant: usize) -> Part {
        match argument {
            ["value", value] => {
                let value: u64 = value.parse().unwrap();
                let expected = Expected {
                    field: "the value".to_string(),
                    bytes: 0..4,
                    wanted: Wanted::OneOf(vec![number(value, 4)]),
                };
                let mut part = Part::of(Passed::Value(value));
                part.checks.push(Check {
                    place: Place::Given(place),
                    size: Check::ANY,
                    expected: vec![expected],
                });
                part
            }
            ["memory"] => Part::of(Passed::Memory),
            [kind @ ("in" | "array" | "fill" | "both"), record] => {
                self.record(place, kind, record, variant)
            }
            ["enum", domain] => {
                let (_, value) = self.constants(domain, self.headers).nth(variant).unwrap();
                let (wanted, refusal) = self.constant(domain, value, self.headers, self.runtime);
                let mut part = Part::of(Passed::Value(value));
                part.refusal = refusal;
                part.check(Place::Given(place), 4, one("the constant", 0..4, wanted))
            }
            ["flags"] => {
                let sets = flag_sets();
                let value = flags(&sets[variant], self.headers);
                let mut allowed = same_flags(value, self.headers, self.runtime);
                if self.action == Some(Action::Direct) {
                    // The line says that the runtime understands this number as well.
                    allowed.push(number(value, 4));
                }
                let wanted = one("the flags", 0..4, Wanted::OneOf(allowed));
                Part::of(Passed::Value(value)).check(Place::Given(place), 4, wanted)
            }
            ["out", "flags"] => {
                let sets = flag_sets();
                let value = flags(&sets[variant], self.runtime);
                let allowed = same_flags(value, self.runtime, self.headers);
                let mut part = Part::of(Passed::Room(4));
                part.answers.push((place, number(value, 4)));
                let wanted = one("the flags", 0..4, Wanted::OneOf(allowed));
                part.check(Place::Buffer(place), 4, wanted)
            }
            ["out" | "data", what] => {
                let (answer, wanted, refusal) = self.result(what, variant);
                let size = answer.len();
                let mut part = Part::of(Passed::Room(size));
                part.answers.push((place, answer));
                part.refusal = refusal;
                part.check(Place::Buffer(place), size, one("it", 0..size, wanted))
            }
            ["places", all @ ..] => {
                let mut part = Part::of(Passed::Memory);
                let (mut sizes, mut expected) = (Vec::new(), Vec::new());
                for (number, what) in all.iter().enumerate() {
                    let (answer, wanted, refusal) = self.result(what, variant);
                    let start = sizes.iter().sum();
                    let bytes = start..start + answer.len();
                    sizes.push(answer.len());
                    part.answers.push((100 + number, answer));
                    part.refusal = part.refusal.max(refusal);
                    expected.extend(one(&format!("attribute {number}"), bytes, wanted));
                }
                part.passed = Passed::Places(sizes.clone());
                part.check(Place::Buffer(place), sizes.iter().sum(), expected)
            }
            ["lazy"] => {
                let value = |version| tables().value("hipIpcMemLazyEnablePeerAccess", version);
                let wanted = Wanted::OneOf(vec![number(value(self.runtime).unwrap(), 4)]);
                let part = Part::of(Passed::Value(value(self.headers).unwrap()));
                part.check(Place::Given(place), 4, one("the flag", 0..4, wanted))
            }
            ["handle"] => {
                let bytes = distinct(64);
                let part = Part::of(Passed::Handle(bytes.clone()));
                part.check(Place::Given(place), 64, exactly(&bytes))
            }
            ["bytes", size] => {
                let bytes = distinct(size.parse().unwrap());
                let part = Part::of(Passed::Bytes(bytes.clone(), Vec::new()));
                part.check(Place::Given(place), bytes.len(), exactly(&bytes))
            }
            ["ints", all @ ..] => {
                let bytes = all.iter().flat_map(|text| number(text.parse().unwrap(), 4));
                let bytes: Vec<u8> = bytes.collect();
                let part = Part::of(Passed::Bytes(bytes.clone(), Vec::new()));
                part.check(Place::Given(place), bytes.len(), exactly(&bytes))
            }
            ["blob", size] => {
                let mut bytes = distinct(size.parse().unwrap());
                bytes.pop();
                bytes.push(0);
                Part::of(Passed::Bytes(bytes, Vec::new()))
            }
            ["options"] => self.options(place),
            _ => panic!("{argument:?} is no argument"),
        }
    }

    /// Two options. The prototype of the snapshot of 7.1 has pointers to them.
    fn options(&self, place: usize) -> Part {
        let options = [number(3, 4), number(7, 4)];
        let all: Vec<u8> = options.concat();
        let passed = if self.headers == Version::new(7, 1) {
            let inner = options.into_iter().zip([0, 8]);
            Passed::Bytes(
                vec![0; 16],
                inner.map(|(bytes, offset)| (offset, bytes)).collect(),
            )
        } else {
            Passed::Bytes(all.clone(), Vec::new())
        };
        let mut part = Part::of(passed);
        if self.action == Some(Action::Translate) {
            part.refusal = Refusal::Must;
        }
        part.check(Place::Given(place), all.len(), exactly(&all))
    }

    /// A constant on the other side.
    fn constant(&self, domain: &str, value: u64, from: Version, to: Version) -> (Wanted, Refusal) {
        match counterparts(domain, value, from, to) {
            Some(values) => {
                let values = values.iter().map(|value| number(*value, 4));
                (Wanted::OneOf(values.collect()), Refusal::Never)
            }
            None => (Wanted::Unnamed(domain.to_string(), to), Refusal::May),
        }
    }

    /// What the runtime answers for `what`, and what the caller is to get.
    fn result(&self, what: &str, variant: usize) -> (Vec<u8>, Wanted, Refusal) {
        if tables().is_enum(what) {
            let (_, value) = self.constants(what, self.runtime).nth(variant).unwrap();
            let (wanted, refusal) = self.constant(what, value, self.runtime, self.headers);
            return (number(value, 4), wanted, refusal);
        }
        let bytes = distinct(what.parse().unwrap());
        (bytes.clone(), Wanted::OneOf(vec![bytes]), Refusal::Never)
    }

    fn record(&self, place: usize, kind: &str, record: &str, variant: usize) -> Part {
        let is_in = kind != "fill";
        let mut conversion = self.conversion(record, is_in);
        let chosen = conversion.variants()[variant];
        let mut filled = conversion.fill(chosen);
        let layout = conversion.from.0;
        let size = conversion.to.0.size as usize;
        if !is_in {
            let mut part = Part::of(Passed::Room(size));
            part.answers.push((place, filled.bytes));
            part.refusal = filled.refusal;
            return part.check(Place::Buffer(place), size, filled.expected);
        }
        if kind == "array" {
            conversion.salt = layout.fields.len();
            let second = conversion.fill(chosen);
            filled.append(second, size);
            let part = Part {
                refusal: filled.refusal,
                ..Part::of(Passed::Bytes(filled.bytes, Vec::new()))
            };
            return part.check(Place::Given(place), 2 * size, filled.expected);
        }
        let inner = point(place, layout, &mut filled);
        let mut part = Part::of(Passed::Bytes(filled.bytes, inner));
        part.refusal = filled.refusal;
        if kind == "both" {
            part.written = layout.field("dptr").map(range);
        }
        part.check(Place::Given(place), size, filled.expected)
    }
}

impl Filled {
    /// Puts another struct behind this one, on the other side after `size` bytes.
    fn append(&mut self, other: Filled, size: usize) {
        self.bytes.extend(other.bytes);
        let moved = other.expected.into_iter().map(|mut expected| {
            expected.bytes = expected.bytes.start + size..expected.bytes.end + size;
            expected.field = format!("second {}", expected.field);
            expected
        });
        self.expected.extend(moved);
        self.refusal = self.refusal.max(other.refusal);
    }
}

fn one(field: &str, bytes: std::ops::Range<usize>, wanted: Wanted) -> Vec<Expected> {
    vec![Expected {
        field: field.to_string(),
        bytes,
        wanted,
    }]
}

/// The numbers for all sets of flags that are this number in `from`.
fn same_flags(value: u64, from: Version, to: Version) -> Vec<Vec<u8>> {
    let sets = flag_sets();
    let same = sets.iter().filter(|set| flags(set, from) == value);
    same.map(|set| number(flags(set, to), 4)).collect()
}

/// Gives fields that point to something what they point to, and others the only numbers
/// that are allowed.
fn point(place: usize, layout: &hiplazy_abi::Layout, filled: &mut Filled) -> Vec<(usize, Vec<u8>)> {
    let mut inner = Vec::new();
    for field in &layout.fields {
        let name = canonical(&field.name);
        let offset = field.offset as usize;
        let fixed = FIXED.iter().find(|(fixed, _)| *fixed == name);
        let pointed = POINTED_TO.iter().find(|(pointer, _)| *pointer == name);
        let wanted = filled.expected.iter_mut().find(|it| it.field == field.name);
        let Some(wanted) = wanted else { continue };
        if let Some((_, value)) = fixed {
            let bytes = number(*value, field.size as usize);
            filled.bytes[range(field)].copy_from_slice(&bytes);
            wanted.wanted = Wanted::OneOf(vec![bytes]);
        } else if let Some((_, size)) = pointed {
            inner.push((offset, distinct(*size)));
            wanted.wanted = Wanted::Passed(place, offset);
        }
    }
    inner
}
