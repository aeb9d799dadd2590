//! One call: what is passed, what the runtime is to be given, and what the caller is to get.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use hiplazy_abi::Version;

use crate::child::Answer;
use crate::oracle::{Expected, Refusal, Wanted};
use crate::tables::tables;

/// An argument, as the caller program reads it.
#[derive(Clone)]
pub(crate) enum Passed {
    /// A number.
    Value(u64),
    /// A pointer to bytes, of which some are pointers to bytes.
    Bytes(Vec<u8>, Vec<(usize, Vec<u8>)>),
    /// A pointer to room for so many bytes.
    Room(usize),
    /// An array of such pointers.
    Places(Vec<usize>),
    /// Memory of the device.
    Memory,
    /// A struct of 64 bytes by value.
    Handle(Vec<u8>),
}

/// Where something is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// What the runtime was given as this argument.
    Given(usize),
    /// The caller's buffer of this argument.
    Buffer(usize),
}

/// What is to be in one place.
#[derive(Clone)]
pub(crate) struct Check {
    pub(crate) place: Place,
    pub(crate) size: usize,
    pub(crate) expected: Vec<Expected>,
}

/// A call and what the oracle says of it.
#[derive(Clone)]
pub(crate) struct Cell {
    pub(crate) function: String,
    pub(crate) headers: Version,
    pub(crate) runtime: Version,
    /// What is varied in it.
    pub(crate) variant: String,
    /// The name that hiplazy exports, or how its address is asked for.
    pub(crate) entry: String,
    /// The runtime's function that the call is to reach.
    pub(crate) watched: String,
    pub(crate) passed: Vec<Passed>,
    /// Further lines for the caller program, before the call.
    pub(crate) before: Vec<String>,
    /// What the runtime is to answer, by its argument.
    pub(crate) answers: Vec<(usize, Vec<u8>)>,
    pub(crate) checks: Vec<Check>,
    pub(crate) refusal: Refusal,
    /// Bytes of a passed buffer that the function is to write.
    pub(crate) written: Option<(usize, Range<usize>)>,
    /// Nothing is wrong with what is passed: the runtime is to succeed.
    pub(crate) is_plain: bool,
}

/// How a call ended that is as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Equal,
    Refused,
}

/// What the caller program fills room with.
pub(crate) const UNTOUCHED: u8 = 0xee;

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

impl Passed {
    fn line(&self) -> String {
        match self {
            Passed::Value(value) => format!("v{value:x}"),
            Passed::Bytes(bytes, inner) => {
                let inner = inner
                    .iter()
                    .map(|(offset, bytes)| format!("+{offset}={}", hex(bytes)));
                format!("b{}{}", hex(bytes), inner.collect::<String>())
            }
            Passed::Room(size) => format!("u{size}"),
            Passed::Places(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
                format!("l{}", sizes.join(","))
            }
            Passed::Memory => "m".to_string(),
            Passed::Handle(bytes) => format!("h{}", hex(bytes)),
        }
    }

    /// What is in its buffer before the call, and where pointers are in that.
    fn buffer(&self) -> Option<(Vec<u8>, Vec<Range<usize>>)> {
        match self {
            Passed::Bytes(bytes, inner) => {
                let pointers = inner.iter().map(|(offset, _)| *offset..*offset + 8);
                Some((bytes.clone(), pointers.collect()))
            }
            Passed::Room(size) => Some((vec![UNTOUCHED; *size], Vec::new())),
            Passed::Places(sizes) => Some((vec![UNTOUCHED; sizes.iter().sum()], Vec::new())),
            _ => None,
        }
    }
}

impl Cell {
    /// The lines that have the caller program make the call.
    pub(crate) fn lines(&self) -> String {
        let mut lines = String::new();
        for (argument, bytes) in &self.answers {
            writeln!(lines, "answer {} {argument} {}", self.watched, hex(bytes)).unwrap();
        }
        for line in &self.before {
            writeln!(lines, "{line}").unwrap();
        }
        let passed: Vec<String> = self.passed.iter().map(Passed::line).collect();
        let passed = passed.join(" ");
        writeln!(lines, "call {} {} {passed}", self.entry, self.watched).unwrap();
        lines
    }

    /// Which call it is, for messages.
    pub(crate) fn title(&self) -> String {
        let (function, headers, runtime) = (&self.function, self.headers, self.runtime);
        let variant = &self.variant;
        format!("{function}, headers {headers}, runtime {runtime}, {variant}")
    }

    /// How the call ended; an error says what is wrong with that.
    pub(crate) fn judge(&self, answer: &Answer) -> Result<Outcome, String> {
        if answer.broken != 0 {
            let broken = answer.broken;
            return Err(format!("{broken} bytes around the buffers were written"));
        }
        if !answer.is_reached() || (answer.succeeded && answer.status != 0) {
            self.judge_refusal(answer)?;
            return Ok(Outcome::Refused);
        }
        if self.refusal == Refusal::Must {
            return Err("passed on although something is lost".to_string());
        }
        if answer.succeeded != (answer.status == 0) {
            let status = answer.status;
            return Err(format!("the runtime failed, the caller got {status}"));
        }
        if self.is_plain && answer.status != 0 {
            return Err(format!("failed with {}", answer.status));
        }
        for check in &self.checks {
            match check.place {
                Place::Given(argument) => check.compare(&answer.given, argument, answer)?,
                Place::Buffer(_) if answer.status != 0 => {}
                Place::Buffer(argument) => check.compare(&answer.buffers, argument, answer)?,
            }
        }
        self.check_untouched(answer)?;
        Ok(Outcome::Equal)
    }

    fn judge_refusal(&self, answer: &Answer) -> Result<(), String> {
        let status = answer.status;
        let error = &answer.error;
        if self.refusal == Refusal::Never {
            return Err(format!(
                "refused with {status} although all has a counterpart: {error}"
            ));
        }
        if ![1, 801].contains(&status) {
            return Err(format!("refused with {status}, no typed refusal: {error}"));
        }
        let reason = error.strip_prefix(&format!("{}: ", self.function));
        if reason.is_none_or(|reason| reason.len() < 20) {
            return Err(format!("refused without a reason: \"{error}\""));
        }
        self.check_untouched(answer)
    }

    /// What the function does not write has not changed.
    pub(crate) fn check_untouched(&self, answer: &Answer) -> Result<(), String> {
        for (argument, passed) in self.passed.iter().enumerate() {
            let Some((before, pointers)) = passed.buffer() else {
                continue;
            };
            let is_result = self
                .checks
                .iter()
                .any(|check| check.place == Place::Buffer(argument));
            if answer.status == 0 && is_result {
                continue;
            }
            let written = self
                .written
                .clone()
                .filter(|(which, _)| answer.status == 0 && *which == argument);
            let after = &answer.buffers[&argument];
            let changed = (0..before.len()).find(|byte| {
                let may_change = pointers.iter().any(|range| range.contains(byte))
                    || written
                        .as_ref()
                        .is_some_and(|(_, range)| range.contains(byte));
                !may_change && before[*byte] != after[*byte]
            });
            if let Some(byte) = changed {
                return Err(format!(
                    "byte {byte} of argument {argument} changed, status {}",
                    answer.status
                ));
            }
            if let Some((_, range)) = written
                && before[range.clone()] == after[range.clone()]
            {
                return Err(format!("bytes {range:?} were not written"));
            }
        }
        Ok(())
    }
}

impl Check {
    /// As a size: whatever it is.
    pub(crate) const ANY: usize = usize::MAX;

    fn compare(
        &self,
        found: &BTreeMap<usize, Vec<u8>>,
        argument: usize,
        answer: &Answer,
    ) -> Result<(), String> {
        let whose = match self.place {
            Place::Given(_) => "given to the runtime",
            Place::Buffer(_) => "got by the caller",
        };
        let Some(found) = found.get(&argument) else {
            return Err(format!("argument {argument} was not {whose}"));
        };
        if self.size != Check::ANY && found.len() != self.size {
            let (is, was) = (found.len(), self.size);
            return Err(format!(
                "argument {argument}, {whose}, has {is} bytes, not {was}"
            ));
        }
        for Expected {
            field,
            bytes,
            wanted,
        } in &self.expected
        {
            let value = &found[bytes.clone()];
            let (is_right, wanted) = match wanted {
                Wanted::OneOf(values) => {
                    let all: Vec<String> = values.iter().map(|value| hex(value)).collect();
                    (
                        values.iter().any(|wanted| wanted == value),
                        all.join(" or "),
                    )
                }
                Wanted::Unnamed(domain, version, also) => {
                    let mut wide = [0; 8];
                    wide[..value.len()].copy_from_slice(value);
                    let names = tables().names_of(domain, u64::from_le_bytes(wide), *version);
                    (
                        names.is_empty() || also.iter().any(|wanted| wanted == value),
                        format!("no {domain} of {version}: {names:?}"),
                    )
                }
                Wanted::Passed(argument, offset) => {
                    let passed = &answer.buffers[argument][*offset..*offset + value.len()];
                    (passed == value, hex(passed))
                }
            };
            if !is_right {
                let value = hex(value);
                return Err(format!(
                    "argument {argument}, {field}: {value} was {whose}, expected {wanted}"
                ));
            }
        }
        Ok(())
    }
}
