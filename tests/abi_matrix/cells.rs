//! The cells of the matrix: every call of `calls.rs`, for every headers on every runtime, in
//! every variant of what is passed or answered.

use std::cell::OnceCell;

use hiplazy_abi::{Action, Version, break_of};

use crate::calls::CALLS;
use crate::cell::Cell;
use crate::child::Runtime;
use crate::constants::numbers;
use crate::conversion::Variant;
use crate::flags::flag_sets;
use crate::oracle::Refusal;
use crate::tables::{HEADERS, tables};

/// All cells of one runtime.
pub(crate) fn cells_of(runtime: &Runtime) -> Vec<Cell> {
    let mut cells = Vec::new();
    each_call(runtime, |builder, arguments| {
        cells.extend(builder.cells(arguments));
    });
    cells
}

/// Cells of the calls that take a struct, with any contents.
pub(crate) fn random_cells_of(runtime: &Runtime) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    each_call(runtime, |builder, arguments| {
        let mut kinds = arguments.split(", ").map(|it| it.split(' ').next());
        if kinds.any(|kind| kind.is_some_and(|kind| STRUCTS.contains(&kind))) {
            let seed = 1000 * cells.len() as u64;
            cells.extend(builder.random(seed).cells(arguments));
        }
    });
    cells
}

/// The first `count` cells of each call that is translated and of which nothing is lost, with
/// its line of arguments.
pub(crate) fn translated_cells_of(runtime: &Runtime, count: usize) -> Vec<(Cell, &'static str)> {
    let mut cells = Vec::new();
    each_call(runtime, |builder, arguments| {
        if builder.action == Some(Action::Translate) {
            let all = builder.cells(arguments).into_iter();
            let passed_on = all.filter(|cell| cell.refusal == Refusal::Never);
            cells.extend(passed_on.take(count).map(|cell| (cell, arguments)));
        }
    });
    cells
}

/// The arguments that are structs.
const STRUCTS: [&str; 4] = ["in", "array", "fill", "both"];

fn each_call(runtime: &Runtime, mut visit: impl FnMut(Builder<'static>, &'static str)) {
    for headers in HEADERS {
        for (function, arguments) in CALLS {
            if runtime.has(function) && tables().declares(headers, function) {
                visit(Builder::new(function, headers, runtime.version), arguments);
            }
        }
    }
}

/// The cells of one function for headers and a runtime.
pub(crate) struct Builder<'a> {
    pub(crate) function: &'a str,
    pub(crate) headers: Version,
    pub(crate) runtime: Version,
    /// What the table of breaks says.
    pub(crate) action: Option<Action>,
    /// Structs are filled at random, from this number on.
    pub(crate) seed: Option<u64>,
    /// The ways to fill the struct of the line.
    pub(crate) ways: OnceCell<Vec<Variant>>,
}

/// How many random structs there are of a call.
const RANDOM: u64 = 8;

impl<'a> Builder<'a> {
    pub(crate) fn new(function: &'a str, headers: Version, runtime: Version) -> Builder<'a> {
        let line = break_of(&tables().breaks, function, headers, runtime);
        Builder {
            function,
            headers,
            runtime,
            action: line.map(|line| line.action),
            seed: None,
            ways: OnceCell::new(),
        }
    }

    /// The same with random structs.
    fn random(self, seed: u64) -> Builder<'a> {
        Builder {
            seed: Some(seed),
            ..self
        }
    }

    /// The cells for one line of arguments, of which one may be a struct.
    pub(crate) fn cells(self, arguments: &str) -> Vec<Cell> {
        let arguments: Vec<Vec<&str>> = arguments
            .split(", ")
            .map(|argument| argument.split_whitespace().collect())
            .collect();
        let variants: Vec<Vec<String>> = arguments
            .iter()
            .map(|argument| self.variants(argument))
            .collect();
        // One argument is varied.
        let count = variants.iter().map(Vec::len).max().unwrap();
        let varied = variants
            .iter()
            .position(|names| names.len() == count)
            .unwrap();
        // No runtime finds fault with what it answers itself, or with flags.
        let kind = arguments[varied][0];
        let is_plain = !["in", "array", "both", "enum", "lazy"].contains(&kind);
        let cell = |number: usize| {
            let numbers = variants.iter().map(|names| number % names.len());
            let parts = arguments.iter().map(Vec::as_slice).zip(numbers);
            self.cell(parts, &variants[varied][number], is_plain)
        };
        (0..count).map(cell).collect()
    }

    /// The cell for the arguments, each in the variant of this number.
    fn cell<'b>(
        &self,
        arguments: impl Iterator<Item = (&'b [&'b str], usize)>,
        name: &str,
        is_plain: bool,
    ) -> Cell {
        let mut cell = Cell {
            function: self.function.to_string(),
            headers: self.headers,
            runtime: self.runtime,
            variant: name.to_string(),
            entry: tables().entry(self.function, self.headers),
            watched: self.function.to_string(),
            passed: Vec::new(),
            before: Vec::new(),
            answers: Vec::new(),
            checks: Vec::new(),
            refusal: Refusal::Never,
            written: None,
            is_plain: is_plain || name == "Plain",
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
        let names = |domain: &str, version| {
            let numbers = numbers(domain, version);
            numbers.iter().map(|(name, _)| name.clone()).collect()
        };
        match argument {
            [kind, record] if STRUCTS.contains(kind) => {
                let conversion = self.conversion(record, *kind != "fill");
                let variants = self.ways.get_or_init(|| match self.seed {
                    Some(seed) => (0..RANDOM).map(|it| Variant::Random(seed + it)).collect(),
                    None => conversion.variants(),
                });
                let name = |variant: &Variant| conversion.name(*variant);
                variants.iter().map(name).collect()
            }
            ["flags"] | ["out", "flags"] => {
                let sets = flag_sets();
                sets.iter().map(|set| set.join(" ")).collect()
            }
            ["lazy"] => vec!["Plain".to_string(), "another flag".to_string()],
            ["enum", domain] => names(domain, self.headers),
            ["out" | "data" | "places", domain, ..] if tables().is_enum(domain) => {
                names(domain, self.runtime)
            }
            _ => vec!["Plain".to_string()],
        }
    }
}
