//! What a cell has of one argument.

use std::ops::Range;

use hiplazy_abi::{Action, Layout, Version};

use crate::calls::{FIXED, POINTED_TO};
use crate::cell::{Check, Passed, Place, UNTOUCHED};
use crate::cells::Builder;
use crate::constants::{counterpart, numbers};
use crate::conversion::{Conversion, Filled};
use crate::flags::{flag_sets, flags, same_flags};
use crate::oracle::{Expected, Refusal, Wanted, exactly, number, one};
use crate::tables::{canonical, range, tables};

/// See [`Cell`](crate::cell::Cell).
pub(crate) struct Part {
    pub(crate) passed: Passed,
    pub(crate) checks: Vec<Check>,
    pub(crate) answers: Vec<(usize, Vec<u8>)>,
    pub(crate) refusal: Refusal,
    pub(crate) written: Option<Range<usize>>,
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

    fn or_refused(self, refusal: Refusal) -> Part {
        Part { refusal, ..self }
    }
}

fn distinct(size: usize) -> Vec<u8> {
    (0..size).map(|byte| 0x41 + (byte % 0x80) as u8).collect()
}

impl Builder<'_> {
    /// A struct between the caller and the runtime.
    pub(crate) fn conversion(&self, record: &str, is_in: bool) -> Conversion<'static> {
        let header = (tables().layout(record, self.headers), self.headers);
        let runtime = (tables().layout(record, self.runtime), self.runtime);
        let (from, to) = match is_in {
            true => (header, runtime),
            false => (runtime, header),
        };
        Conversion {
            from,
            to,
            is_lossy: self.action != Some(Action::Translate),
            untouched: (!is_in).then_some(UNTOUCHED),
            salt: 0,
        }
    }

    pub(crate) fn part(&self, place: usize, argument: &[&str], variant: usize) -> Part {
        let given = Place::Given(place);
        let got = Place::Buffer(place);
        match argument {
            ["value", value] => {
                let value: u64 = value.parse().unwrap();
                let wanted = Wanted::OneOf(vec![number(value, 4)]);
                let expected = one("the value", 0..4, wanted);
                Part::of(Passed::Value(value)).check(given, Check::ANY, expected)
            }
            ["memory"] => Part::of(Passed::Memory),
            [kind @ ("in" | "array" | "fill" | "both"), record] => {
                self.record(place, kind, record, variant)
            }
            ["enum", domain] => {
                let value = numbers(domain, self.headers)[variant].1;
                let (wanted, refusal) = counterpart(domain, value, self.headers, self.runtime, 4);
                let part = Part::of(Passed::Value(value)).or_refused(refusal);
                part.check(given, 4, one("the constant", 0..4, wanted))
            }
            ["flags"] => {
                let value = flags(&flag_sets()[variant], self.headers);
                let mut allowed = same_flags(value, self.headers, self.runtime);
                if self.action == Some(Action::Direct) {
                    // The line says that the runtime understands this number as well.
                    allowed.push(number(value, 4));
                }
                let wanted = one("the flags", 0..4, Wanted::OneOf(allowed));
                Part::of(Passed::Value(value)).check(given, 4, wanted)
            }
            ["out", "flags"] => {
                let value = flags(&flag_sets()[variant], self.runtime);
                let allowed = same_flags(value, self.runtime, self.headers);
                let mut part = Part::of(Passed::Room(4));
                part.answers.push((place, number(value, 4)));
                part.check(got, 4, one("the flags", 0..4, Wanted::OneOf(allowed)))
            }
            ["out" | "data", what] => {
                let (answer, wanted, refusal) = self.result(what, variant);
                let size = answer.len();
                let mut part = Part::of(Passed::Room(size)).or_refused(refusal);
                part.answers.push((place, answer));
                part.check(got, size, one("it", 0..size, wanted))
            }
            ["places", all @ ..] => self.places(got, all, variant),
            ["lazy"] => {
                let value = |version| tables().value("hipIpcMemLazyEnablePeerAccess", version);
                let (flag, there) = (value(self.headers), value(self.runtime));
                let (flag, there) = (flag.unwrap(), there.unwrap());
                let is_known = variant == 0;
                // There is no other flag: it is refused, by the runtime if all are the same.
                let (passed, refusal) = match is_known {
                    true => (flag, Refusal::Never),
                    false if flag == there => (flag ^ 1, Refusal::Never),
                    false => (flag ^ 1, Refusal::Must),
                };
                let wanted = if is_known { there } else { passed };
                let wanted = Wanted::OneOf(vec![number(wanted, 4)]);
                let part = Part::of(Passed::Value(passed)).or_refused(refusal);
                part.check(given, 4, one("the flag", 0..4, wanted))
            }
            ["handle"] => {
                let bytes = distinct(64);
                let part = Part::of(Passed::Handle(bytes.clone()));
                part.check(given, 64, exactly(&bytes))
            }
            ["bytes", size] => {
                let bytes = distinct(size.parse().unwrap());
                let part = Part::of(Passed::Bytes(bytes.clone(), Vec::new()));
                part.check(given, bytes.len(), exactly(&bytes))
            }
            ["ints", all @ ..] => {
                let bytes = all.iter().flat_map(|text| number(text.parse().unwrap(), 4));
                let bytes: Vec<u8> = bytes.collect();
                let part = Part::of(Passed::Bytes(bytes.clone(), Vec::new()));
                part.check(given, bytes.len(), exactly(&bytes))
            }
            ["blob", size] => {
                let mut bytes = distinct(size.parse().unwrap());
                bytes.pop();
                bytes.push(0);
                Part::of(Passed::Bytes(bytes, Vec::new()))
            }
            ["options"] => self.options(given),
            _ => panic!("{argument:?} is no argument"),
        }
    }

    /// An array of places, for the attributes that the function is asked for.
    fn places(&self, got: Place, all: &[&str], variant: usize) -> Part {
        let (mut sizes, mut expected) = (Vec::new(), Vec::new());
        let mut part = Part::of(Passed::Memory);
        for (attribute, what) in all.iter().enumerate() {
            let (answer, wanted, refusal) = self.result(what, variant);
            let start = sizes.iter().sum();
            let bytes = start..start + answer.len();
            sizes.push(answer.len());
            // FAKEHIP_POINTED_TO is 100.
            part.answers.push((100 + attribute, answer));
            part.refusal = part.refusal.max(refusal);
            expected.extend(one(&format!("attribute {attribute}"), bytes, wanted));
        }
        let size = sizes.iter().sum();
        part.passed = Passed::Places(sizes);
        part.check(got, size, expected)
    }

    /// Two options. The prototype of the snapshot of 7.1 has pointers to them.
    fn options(&self, given: Place) -> Part {
        let options = [number(3, 4), number(7, 4)];
        let all: Vec<u8> = options.concat();
        let passed = if self.headers == Version::new(7, 1) {
            let inner = [0, 8].into_iter().zip(options);
            Passed::Bytes(vec![0; 16], inner.collect())
        } else {
            Passed::Bytes(all.clone(), Vec::new())
        };
        let refusal = match self.action {
            Some(Action::Translate) => Refusal::Must,
            _ => Refusal::Never,
        };
        let part = Part::of(passed).or_refused(refusal);
        part.check(given, all.len(), exactly(&all))
    }

    /// What the runtime answers for `what`, and what the caller is to get.
    fn result(&self, what: &str, variant: usize) -> (Vec<u8>, Wanted, Refusal) {
        if tables().is_enum(what) {
            let value = numbers(what, self.runtime)[variant].1;
            let (wanted, refusal) = counterpart(what, value, self.runtime, self.headers, 4);
            return (number(value, 4), wanted, refusal);
        }
        let bytes = distinct(what.parse().unwrap());
        (bytes.clone(), Wanted::OneOf(vec![bytes]), Refusal::Never)
    }

    fn record(&self, place: usize, kind: &str, record: &str, variant: usize) -> Part {
        let mut conversion = self.conversion(record, kind != "fill");
        let ways = self.ways.get().expect("the line has one struct");
        let chosen = ways[variant];
        let mut filled = conversion.fill(chosen);
        let layout = conversion.from.0;
        let size = conversion.to.0.size as usize;
        let refusal = filled.refusal;
        if kind == "fill" {
            let mut part = Part::of(Passed::Room(size)).or_refused(refusal);
            part.answers.push((place, filled.bytes));
            return part.check(Place::Buffer(place), size, filled.expected);
        }
        if kind == "array" {
            conversion.salt = layout.fields.len();
            filled.append(conversion.fill(chosen), size);
            let part = Part::of(Passed::Bytes(filled.bytes, Vec::new()));
            let part = part.or_refused(filled.refusal);
            return part.check(Place::Given(place), 2 * size, filled.expected);
        }
        let inner = point(place, layout, &mut filled);
        let mut part = Part::of(Passed::Bytes(filled.bytes, inner)).or_refused(refusal);
        if kind == "both" {
            part.written = layout.field("dptr").map(range);
        }
        part.check(Place::Given(place), size, filled.expected)
    }
}

/// Gives fields that point to something what they point to, and others the only numbers
/// that are allowed.
fn point(place: usize, layout: &Layout, filled: &mut Filled) -> Vec<(usize, Vec<u8>)> {
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
