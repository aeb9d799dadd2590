//! What a struct of one version is in another, by the tables alone: a field is the field of
//! the same name, a constant the constant of the same name. No translator is asked.

use hiplazy_abi::{Field, Layout, Version};

use crate::tables::{canonical, is_reserved, range, tables};

/// Whether hiplazy may answer with an error in place of passing a call on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Refusal {
    /// Everything has a counterpart.
    Never,
    /// A constant has none: its number may also be passed on if it means nothing there.
    May,
    /// Something would be lost.
    Must,
}

/// What some bytes are to be.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// One of these.
    OneOf(Vec<Vec<u8>>),
    /// A number without a name in this enum and version.
    Unnamed(String, Version),
    /// What is in the passed buffer of this argument from this offset on: an address.
    Passed(usize, usize),
}

/// A field and what it is to be.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub(crate) field: String,
    pub(crate) bytes: std::ops::Range<usize>,
    pub(crate) wanted: Wanted,
}

/// One way of filling a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Every field distinct, of the members of a union the first.
    Plain,
    /// With this member of a union, or this field that the other version does not have.
    With(usize),
    /// This enum field, by this constant of it.
    Constant(usize, usize),
    /// This field with a number that needs more than 32 bits.
    Large(usize),
    /// Reserved bytes that are not zero.
    Reserved,
}

/// A struct from one version's side to the other's.
pub(crate) struct Conversion<'a> {
    pub(crate) from: (&'a Layout, Version),
    pub(crate) to: (&'a Layout, Version),
    /// What the other version does not have is dropped: it does not know it.
    pub(crate) is_lossy: bool,
    /// What bytes without a counterpart may be instead of zero.
    pub(crate) untouched: Option<u8>,
    /// Makes the values others than those of another struct.
    pub(crate) salt: usize,
}

/// A filled struct and what it is on the other side.
pub(crate) struct Filled {
    pub(crate) bytes: Vec<u8>,
    pub(crate) expected: Vec<Expected>,
    pub(crate) refusal: Refusal,
}

/// Bytes that are different for every field, and in every array element.
fn pattern(index: usize, size: usize) -> Vec<u8> {
    (0..size)
        .map(|byte| match (size, byte) {
            // Numbers below 2^31.
            (4 | 8, 0) => (index * 7 + 1) as u8,
            (4 | 8, 1) => (index + 0x40) as u8,
            (4 | 8, 2) => 0x33,
            (4 | 8, 3) => 0x12,
            (4 | 8, _) => 0,
            _ => (index * 7 + byte + 1) as u8,
        })
        .collect()
}

fn is_pointer(field: &Field) -> bool {
    field.ty.contains('*') || field.ty == "hipDeviceptr_t" || field.ty == "hipArray_t"
}

fn overlaps(one: &Field, other: &Field) -> bool {
    range(one).start < range(other).end && range(other).start < range(one).end
}

/// Little-endian bytes of a number.
pub(crate) fn number(value: u64, size: usize) -> Vec<u8> {
    value.to_le_bytes()[..size].to_vec()
}

/// What a number of an enum is in another version: `None` if it has no name there.
pub(crate) fn counterparts(
    domain: &str,
    value: u64,
    from: Version,
    to: Version,
) -> Option<Vec<u64>> {
    let names = tables().names_of(domain, value, from);
    let values = names.iter().filter_map(|name| {
        let there = tables().constants(domain, to);
        let mut same = there.filter(|constant| constant.name == *name);
        same.next().map(|constant| constant.value as u64)
    });
    let values: Vec<u64> = values.collect();
    (!values.is_empty()).then_some(values)
}

impl Conversion<'_> {
    fn counterpart(&self, field: &Field) -> Option<&Field> {
        let name = canonical(&field.name);
        let mut there = self.to.0.fields.iter();
        there.find(|other| canonical(&other.name) == name)
    }

    /// Every way of filling that shows something of its own.
    pub(crate) fn variants(&self) -> Vec<Variant> {
        let fields = &self.from.0.fields;
        let mut variants = vec![Variant::Plain];
        for (index, field) in fields.iter().enumerate() {
            if is_reserved(field) {
                continue;
            }
            let counterpart = self.counterpart(field);
            let others = || {
                fields
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != index)
            };
            let mut alternatives =
                others().filter(|(_, other)| !is_reserved(other) && overlaps(other, field));
            // A member that the other version's union does not have is chosen by a constant
            // that it does not have either.
            if counterpart.is_none()
                && alternatives
                    .clone()
                    .any(|(_, other)| self.counterpart(other).is_some())
            {
                continue;
            }
            let in_union = alternatives.any(|(other, _)| other < index);
            if in_union || counterpart.is_none() {
                variants.push(Variant::With(index));
            }
            if tables().is_enum(&field.ty) {
                let constants = tables().constants(&field.ty, self.from.1).count();
                variants.extend((0..constants).map(|place| Variant::Constant(index, place)));
            }
            if counterpart.is_some_and(|there| field.size == 8 && there.size == 4) {
                variants.push(Variant::Large(index));
            }
        }
        if fields.iter().any(is_reserved) {
            variants.push(Variant::Reserved);
        }
        variants
    }

    /// What a variant is called in messages.
    pub(crate) fn name(&self, variant: Variant) -> String {
        let name = |index: usize| &self.from.0.fields[index].name;
        match variant {
            Variant::Plain => "Plain".to_string(),
            Variant::With(index) => format!("with {}", name(index)),
            Variant::Constant(index, place) => {
                let mut all = tables().constants(&self.from.0.fields[index].ty, self.from.1);
                format!("{} {}", name(index), all.nth(place).unwrap().name)
            }
            Variant::Large(index) => format!("large {}", name(index)),
            Variant::Reserved => "reserved bytes set".to_string(),
        }
    }

    /// The fields that are set: none that overlap, the wanted one first.
    fn chosen(&self, variant: Variant) -> Vec<usize> {
        let fields = &self.from.0.fields;
        let first = match variant {
            Variant::With(index) | Variant::Constant(index, _) | Variant::Large(index) => {
                Some(index)
            }
            _ => None,
        };
        let mut chosen: Vec<usize> = first.into_iter().collect();
        for (index, field) in fields.iter().enumerate() {
            let is_free = chosen.iter().all(|other| !overlaps(&fields[*other], field));
            if is_free && !is_reserved(field) && self.counterpart(field).is_some() {
                chosen.push(index);
            }
        }
        chosen
    }

    /// The number that an enum field has if nothing is said: one that both sides have.
    fn usual(&self, domain: &str) -> u64 {
        let constants = tables().constants(domain, self.from.1);
        let known: Vec<u64> = constants
            .map(|constant| constant.value as u64)
            .filter(|value| counterparts(domain, *value, self.from.1, self.to.1).is_some())
            .collect();
        let not_zero = known.iter().copied().find(|value| *value != 0);
        not_zero.or(known.first().copied()).unwrap_or(0)
    }

    /// The struct, filled in one way.
    pub(crate) fn fill(&self, variant: Variant) -> Filled {
        let fields = &self.from.0.fields;
        let mut filled = Filled {
            bytes: vec![0; self.from.0.size as usize],
            expected: Vec::new(),
            refusal: Refusal::Never,
        };
        // Which bytes of the other side are spoken for.
        let mut covered = vec![false; self.to.0.size as usize];
        for index in self.chosen(variant) {
            let field = &fields[index];
            let counterpart = self.counterpart(field);
            let size = field.size as usize;
            let value = if tables().is_enum(&field.ty) {
                let value = match variant {
                    Variant::Constant(which, place) if which == index => {
                        let mut all = tables().constants(&field.ty, self.from.1);
                        all.nth(place).unwrap().value as u64
                    }
                    _ => self.usual(&field.ty),
                };
                number(value, size)
            } else {
                let mut value = pattern(index + self.salt, size);
                if size == 8 && is_pointer(field) {
                    value[6..].copy_from_slice(&[0x4e, 0xfa]);
                }
                if variant == Variant::Large(index) {
                    value[4] = 1;
                }
                value
            };
            filled.bytes[range(field)].copy_from_slice(&value);
            let Some(there) = counterpart else {
                if !self.is_lossy {
                    filled.refusal = Refusal::Must;
                }
                continue;
            };
            covered[range(there)].fill(true);
            let wanted = if tables().is_enum(&field.ty) {
                let mut wide = [0; 8];
                wide[..size].copy_from_slice(&value);
                let value = u64::from_le_bytes(wide);
                match counterparts(&field.ty, value, self.from.1, self.to.1) {
                    Some(values) => {
                        let size = there.size as usize;
                        let values = values.iter().map(|value| number(*value, size));
                        Wanted::OneOf(values.collect())
                    }
                    None => {
                        filled.refusal = filled.refusal.max(Refusal::May);
                        Wanted::Unnamed(field.ty.clone(), self.to.1)
                    }
                }
            } else {
                if variant == Variant::Large(index) {
                    filled.refusal = Refusal::Must;
                }
                let mut value = value;
                value.resize(there.size as usize, 0);
                Wanted::OneOf(vec![value])
            };
            filled.expected.push(Expected {
                field: field.name.clone(),
                bytes: range(there),
                wanted,
            });
        }
        if variant == Variant::Reserved {
            for field in fields.iter().filter(|field| is_reserved(field)) {
                let chosen = self.chosen(variant);
                if !chosen.iter().any(|other| overlaps(&fields[*other], field)) {
                    filled.bytes[range(field)].fill(0xab);
                }
            }
            let reserved = self.to.0.fields.iter().filter(|field| is_reserved(field));
            for field in reserved {
                covered[range(field)].fill(true);
            }
        }
        self.expect_nothing_else(&covered, &mut filled.expected);
        filled
    }

    /// What has no counterpart on the first side is zero on the other.
    fn expect_nothing_else(&self, covered: &[bool], expected: &mut Vec<Expected>) {
        // Where a call goes through as it is, reserved bytes get what the other side has there.
        let is_passed_through = self.is_lossy && self.untouched.is_some();
        for field in &self.to.0.fields {
            if is_passed_through && is_reserved(field) {
                continue;
            }
            for byte in range(field).filter(|byte| !covered[*byte]) {
                let mut allowed = vec![vec![0]];
                allowed.extend(self.untouched.map(|byte| vec![byte]));
                expected.push(Expected {
                    field: format!("{} (without a counterpart)", field.name),
                    bytes: byte..byte + 1,
                    wanted: Wanted::OneOf(allowed),
                });
            }
        }
    }
}
