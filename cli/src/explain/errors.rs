//! Error codes: what the headers of each version call a number, and what the runtime
//! answers for it, which need not be the same.

use std::collections::BTreeMap;

use hiplazy_abi::{Code, Constant, Domain, ErrorCode, HEADER_VERSIONS};
use serde::Serialize;

use super::tables::Tables;
use super::versions::range;

/// An error code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorFacts {
    /// `hipError_t`, `hiprtcResult`.
    #[serde(rename = "enum")]
    pub domain: &'static str,
    /// The number.
    pub code: i32,
    /// The constant of the newest headers that have the number; of several, the one that
    /// `hipGetErrorName` answers.
    pub name: String,
    /// What `hipGetErrorString` or `hiprtcGetErrorString` answers.
    pub text: String,
    /// Every constant with that number.
    pub names: Vec<ErrorName>,
    /// What `hipGetErrorName` answers where that is none of the constants.
    pub answered: Option<String>,
    /// Whether the runtime answers what it does for any number.
    #[serde(skip)]
    pub(super) is_unknown: bool,
}

/// A constant with the number of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorName {
    /// Its name.
    pub name: String,
    /// The header versions in which it has the number.
    pub headers: String,
}

/// The enums of errors, as headers and as the table of answers call them.
const ENUMS: [(&str, Domain); 2] = [("hipError_t", Domain::Hip), ("hiprtcResult", Domain::Rtc)];

/// All of them, by enum and number.
pub(super) fn all(tables: &Tables) -> Vec<ErrorFacts> {
    let mut found = Vec::new();
    for (domain, answers) in ENUMS {
        let mut numbers: BTreeMap<i64, Vec<&Constant>> = BTreeMap::new();
        for constant in tables.constants.iter().filter(|it| it.domain == domain) {
            numbers.entry(constant.value).or_default().push(constant);
        }
        let facts = numbers.into_iter().filter_map(|(number, constants)| {
            let code = i32::try_from(number).ok()?;
            let answer_of = |code| answer(tables, answers, code);
            let (answer, other) = (answer_of(Code::Known(code)), answer_of(Code::Other)?);
            let mut facts = of(domain, code, &constants, answer.unwrap_or(other));
            let is_named = constants.iter().any(|it| it.name == other.name);
            facts.is_unknown = facts.text == other.text && !is_named;
            Some(facts)
        });
        found.extend(facts);
    }
    found
}

/// What the runtime answers for a code.
fn answer(tables: &Tables, domain: Domain, code: Code) -> Option<&ErrorCode> {
    let mut answers = tables.errors.iter();
    answers.find(|it| it.domain == domain && it.code == code)
}

fn of(domain: &'static str, code: i32, constants: &[&Constant], answer: &ErrorCode) -> ErrorFacts {
    let newest = HEADER_VERSIONS.last();
    let is_current = |it: &&&Constant| newest.is_some_and(|newest| it.versions.contains(*newest));
    let current = || constants.iter().filter(is_current);
    let best = current()
        .find(|it| it.name == answer.name)
        .or_else(|| current().next())
        .or(constants.last());
    ErrorFacts {
        domain,
        code,
        name: best.map_or_else(|| answer.name.clone(), |it| it.name.clone()),
        text: answer.text.clone(),
        names: constants
            .iter()
            .map(|it| ErrorName {
                name: it.name.clone(),
                headers: range(it.versions),
            })
            .collect(),
        is_unknown: false,
        answered: (!constants.iter().any(|it| it.name == answer.name)).then(|| answer.name.clone()),
    }
}

/// Those with a number, `709` or `0x2c5`, or a name.
pub(super) fn find(tables: &Tables, name: &str) -> Vec<ErrorFacts> {
    let number: Option<i32> = match name.strip_prefix("0x") {
        Some(digits) => i32::from_str_radix(digits, 16).ok(),
        None => name.parse().ok(),
    };
    let mut found = all(tables);
    found.retain(|error| match number {
        Some(number) => error.code == number,
        None => error.names.iter().any(|it| it.name == name),
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiplazy_abi::Version;

    /// Every constant of the table in every version, against what is said of its number.
    #[test]
    fn every_number_has_the_constants_of_every_version() {
        let tables = Tables::get();
        let mut seen = 0;
        for (domain, _) in ENUMS {
            for constant in tables.constants.iter().filter(|it| it.domain == domain) {
                let number = constant.value.to_string();
                let found = find(tables, &number);
                let found: Vec<_> = found.iter().filter(|it| it.domain == domain).collect();
                assert_eq!(found.len(), 1, "{domain} {number}");
                let name = ErrorName {
                    name: constant.name.clone(),
                    headers: range(constant.versions),
                };
                assert!(found[0].names.contains(&name), "{name:?}");
                if constant.versions.last.is_none() {
                    // Aliases aside, today's constant is the title.
                    let title = &found[0].name;
                    let is_current = tables.constants.iter().any(|it| {
                        let newest = *HEADER_VERSIONS.last().unwrap();
                        it.name == *title
                            && it.value == constant.value
                            && it.versions.contains(newest)
                    });
                    assert!(is_current, "{number}: {title}");
                }
                let by_name = find(tables, &constant.name);
                let codes: Vec<i64> = by_name.iter().map(|it| i64::from(it.code)).collect();
                assert!(codes.contains(&constant.value), "{}", constant.name);
                seen += 1;
            }
        }
        assert!(seen > 90, "{seen}");
    }

    #[test]
    fn a_constant_has_its_own_numbers_only() {
        let codes = |name: &str| -> Vec<i32> {
            let found = find(Tables::get(), name);
            found.iter().map(|it| it.code).collect()
        };
        assert_eq!(codes("hipErrorUnknown"), [999]);
        assert_eq!(codes("hipErrorTbd"), [1054, 1055]);
        assert_eq!(codes("hipErrorStreamDetached"), [916]);
    }

    #[test]
    fn a_number_that_moved_tells_both_constants_and_what_the_runtime_says() {
        let found = find(Tables::get(), "1054");
        assert_eq!(found[0].name, "hipErrorInvalidClusterSize");
        assert_eq!(found[0].answered.as_deref(), Some("hipErrorUnknown"));
        let old = found[0].names.iter().find(|it| it.name == "hipErrorTbd");
        assert_eq!(old.unwrap().headers, "5.0 to 7.2");
        let out_of_memory = &find(Tables::get(), "2")[0];
        assert_eq!(out_of_memory.name, "hipErrorOutOfMemory");
        assert_eq!(out_of_memory.answered, None);
        assert!(Version::new(7, 14) == *HEADER_VERSIONS.last().unwrap());
    }
}
