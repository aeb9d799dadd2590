//! What a struct of one version is in another: a field is the field of the same name, a
//! constant the constant of the same name, and nothing else is there.

use hiplazy_abi::{Field, Layout, Version};

use crate::constants::{by_name, counterpart, numbers};
use crate::oracle::{Expected, Refusal, Wanted, number};
use crate::random::Random;
use crate::tables::{canonical, is_reserved, range, tables};

/// One way of filling a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Every field distinct, of the members of a union the first.
    Plain,
    /// With this member of a union, or this field that the other version does not have.
    With(usize),
    /// This enum field, by this number of it.
    Constant(usize, usize),
    /// This field with a number that needs more than 32 bits.
    Large(usize),
    /// Reserved bytes that are not zero.
    Reserved,
    /// Any numbers, and any members of unions.
    Random(u64),
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

impl Filled {
    /// Puts another struct behind this one, on the other side after `size` bytes.
    pub(crate) fn append(&mut self, other: Filled, size: usize) {
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

impl Conversion<'_> {
    fn field(&self, index: usize) -> &Field {
        &self.from.0.fields[index]
    }

    fn fields(&self) -> std::ops::Range<usize> {
        0..self.from.0.fields.len()
    }

    fn counterpart(&self, index: usize) -> Option<&Field> {
        let name = canonical(&self.field(index).name);
        let mut there = self.to.0.fields.iter();
        there.find(|other| canonical(&other.name) == name)
    }

    /// The other members of the union that a field is in.
    fn alternatives(&self, index: usize) -> impl Iterator<Item = usize> {
        self.fields().filter(move |other| {
            *other != index
                && !is_reserved(self.field(*other))
                && overlaps(self.field(*other), self.field(index))
        })
    }

    /// Whether a field is a member of a union that the other version's does not have, while
    /// it has others. A constant chooses it that is not there either.
    fn is_unknown_member(&self, index: usize) -> bool {
        let mut others = self.alternatives(index);
        self.counterpart(index).is_none() && others.any(|other| self.counterpart(other).is_some())
    }

    /// Every way of filling that shows something of its own.
    pub(crate) fn variants(&self) -> Vec<Variant> {
        let mut variants = vec![Variant::Plain];
        for index in self.fields() {
            let field = self.field(index);
            if is_reserved(field) || self.is_unknown_member(index) {
                continue;
            }
            let counterpart = self.counterpart(index);
            let in_union = self.alternatives(index).any(|other| other < index);
            if in_union || counterpart.is_none() {
                variants.push(Variant::With(index));
            }
            if tables().is_enum(&field.ty) {
                let count = numbers(&field.ty, self.from.1).len();
                variants.extend((0..count).map(|place| Variant::Constant(index, place)));
            }
            if counterpart.is_some_and(|there| field.size == 8 && there.size == 4) {
                variants.push(Variant::Large(index));
            }
        }
        if self.fields().any(|index| is_reserved(self.field(index))) {
            variants.push(Variant::Reserved);
        }
        variants
    }

    /// What a variant is called in messages.
    pub(crate) fn name(&self, variant: Variant) -> String {
        match variant {
            Variant::Plain => "Plain".to_string(),
            Variant::With(index) => format!("with {}", self.field(index).name),
            Variant::Constant(index, place) => {
                let Field { name, ty, .. } = self.field(index);
                format!("{name} {}", numbers(ty, self.from.1)[place].0)
            }
            Variant::Large(index) => format!("large {}", self.field(index).name),
            Variant::Reserved => "reserved bytes set".to_string(),
            Variant::Random(seed) => format!("random contents {seed}"),
        }
    }

    /// The fields that are set: none that overlap, the wanted one first.
    fn chosen(&self, variant: Variant) -> Vec<usize> {
        let mut order: Vec<usize> = self.fields().collect();
        let mut chosen = Vec::new();
        match variant {
            Variant::With(index) | Variant::Constant(index, _) | Variant::Large(index) => {
                chosen.push(index);
            }
            Variant::Random(seed) => Random::new(!seed).shuffle(&mut order),
            Variant::Plain | Variant::Reserved => {}
        }
        let is_random = matches!(variant, Variant::Random(_));
        for index in order {
            let field = self.field(index);
            let is_free = chosen
                .iter()
                .all(|other| !overlaps(self.field(*other), field));
            let is_wanted =
                self.counterpart(index).is_some() || (is_random && !self.is_unknown_member(index));
            if is_free && is_wanted && !is_reserved(field) {
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
            .filter(|value| by_name(domain, *value, self.from.1, self.to.1).is_some())
            .collect();
        let not_zero = known.iter().copied().find(|value| *value != 0);
        not_zero.or(known.first().copied()).unwrap_or(0)
    }

    /// What a field is set to.
    fn value(&self, index: usize, variant: Variant, random: &mut Random) -> Vec<u8> {
        let field = self.field(index);
        let size = field.size as usize;
        let is_random = matches!(variant, Variant::Random(_));
        if tables().is_enum(&field.ty) {
            let value = match variant {
                Variant::Constant(which, place) if which == index => {
                    numbers(&field.ty, self.from.1)[place].1
                }
                Variant::Random(_) => {
                    let all = numbers(&field.ty, self.from.1);
                    all[random.below(all.len())].1
                }
                _ => self.usual(&field.ty),
            };
            return number(value, size);
        }
        // Zero is a value of its own where the other side does not have the field.
        if is_random && random.below(4) == 0 {
            return vec![0; size];
        }
        let mut value = pattern(index + self.salt, size);
        if is_random {
            let is_small = size == 8 && random.below(8) != 0;
            let end = if is_small { 4 } else { size };
            value.fill(0);
            value[..end].fill_with(|| random.byte());
        } else if size == 8 && is_pointer(field) {
            value[6..].copy_from_slice(&[0x4e, 0xfa]);
        }
        if variant == Variant::Large(index) {
            value[4] = 1;
        }
        value
    }

    /// The struct, filled in one way.
    pub(crate) fn fill(&self, variant: Variant) -> Filled {
        let mut filled = Filled {
            bytes: vec![0; self.from.0.size as usize],
            expected: Vec::new(),
            refusal: Refusal::Never,
        };
        let mut random = Random::new(match variant {
            Variant::Random(seed) => seed + self.salt as u64,
            _ => 0,
        });
        // Which bytes of the other side are spoken for.
        let mut covered = vec![false; self.to.0.size as usize];
        let chosen = self.chosen(variant);
        for index in chosen.iter().copied() {
            let field = self.field(index);
            let value = self.value(index, variant, &mut random);
            filled.bytes[range(field)].copy_from_slice(&value);
            let Some(there) = self.counterpart(index) else {
                if !self.is_lossy && value.iter().any(|byte| *byte != 0) {
                    filled.refusal = Refusal::Must;
                }
                continue;
            };
            covered[range(there)].fill(true);
            let (wanted, refusal) = self.converted(field, value, there);
            filled.refusal = filled.refusal.max(refusal);
            filled.expected.push(Expected {
                field: field.name.clone(),
                bytes: range(there),
                wanted,
            });
        }
        if variant == Variant::Reserved {
            for index in self
                .fields()
                .filter(|index| is_reserved(self.field(*index)))
            {
                let field = self.field(index);
                let is_free = |other: &usize| !overlaps(self.field(*other), field);
                if chosen.iter().all(is_free) {
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

    /// What a value is to be in the other version's field.
    fn converted(&self, field: &Field, mut value: Vec<u8>, there: &Field) -> (Wanted, Refusal) {
        let room = there.size as usize;
        if tables().is_enum(&field.ty) {
            let mut wide = [0; 8];
            wide[..value.len()].copy_from_slice(&value);
            let value = u64::from_le_bytes(wide);
            return counterpart(&field.ty, value, self.from.1, self.to.1, room);
        }
        if value.iter().skip(room).any(|byte| *byte != 0) {
            return (Wanted::OneOf(Vec::new()), Refusal::Must);
        }
        value.resize(room, 0);
        (Wanted::OneOf(vec![value]), Refusal::Never)
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
