//! The gate: which ratios within one run are allowed.

use std::fmt;

use crate::instructions::Instructions;
use crate::samples::Rounds;
use crate::sizes::Sizes;
use crate::{Function, Variant};

/// A limit on how much one variant may cost in units of another.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    function: Function,
    variant: Variant,
    unit: Variant,
    limit: Limit,
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

/// The limits. The last two keep the reason for hiplazy's one jump visible: the stub
/// that it replaces pays for two guarded statics and calls on every call.
pub const RULES: &[Rule] = &[
    Rule::at_most(Function::GetDevice, Variant::Static, 1.15),
    Rule::at_most(Function::Malloc, Variant::Static, 1.15),
    Rule::at_most(Function::ModuleLaunchKernel, Variant::Static, 1.15),
    Rule::at_most(Function::Malloc, Variant::Shared, 1.6),
    Rule::at_most(Function::ModuleLaunchKernel, Variant::Shared, 1.15),
    Rule::stub_at_least(Variant::Shared, 2.0),
    Rule::stub_at_least(Variant::Static, 2.0),
];

/// Bytes that a stripped `libhiplazy.so` may have.
pub const STRIPPED_SHARED_LIBRARY: u64 = 200 * 1000;
/// Bytes by which an extension may grow that links `libhiplazy.a` with everything.
pub const WHOLE_STATIC_LIBRARY: u64 = 128 * 1000;

impl Rule {
    const fn at_most(function: Function, variant: Variant, limit: f64) -> Rule {
        Rule {
            function,
            variant,
            unit: Variant::Direct,
            limit: Limit::AtMost(limit),
        }
    }

    const fn stub_at_least(unit: Variant, limit: f64) -> Rule {
        Rule {
            function: Function::ModuleLaunchKernel,
            variant: Variant::Tilelang,
            unit,
            limit: Limit::AtLeast(limit),
        }
    }
}

/// What became of one limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The limit and the measured value, for people.
    pub text: String,
    /// Whether it held.
    pub outcome: Outcome,
}

/// See [`Verdict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It held.
    Held,
    /// It did not.
    Broken,
    /// A side of it could not be measured.
    Skipped,
}

impl Outcome {
    fn of(held: bool) -> Outcome {
        if held { Outcome::Held } else { Outcome::Broken }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Outcome::Held => "ok     ",
            Outcome::Broken => "BROKEN ",
            Outcome::Skipped => "SKIPPED",
        };
        write!(f, "{outcome} {}", self.text)
    }
}

/// The cost of a variant in units of another: the median over the rounds of the ratio
/// within a round.
///
/// A round takes a second or two; a machine that is slow for longer is slow for both
/// sides of the ratio, one that is slow for shorter spoils few rounds, which the
/// median drops.
pub fn ratio(rounds: &Rounds, function: Function, variant: Variant, unit: Variant) -> Option<f64> {
    let times = rounds.get(&(function, variant))?;
    let units = rounds.get(&(function, unit))?;
    let mut ratios: Vec<f64> = times.iter().zip(units).map(|(a, b)| a / b).collect();
    median(&mut ratios)
}

/// The middle value; of an even number, the lower of the two.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

/// Applies [`RULES`] to one run.
pub fn times(rounds: &Rounds) -> Vec<Verdict> {
    RULES.iter().map(|rule| time(rounds, rule)).collect()
}

fn time(rounds: &Rounds, rule: &Rule) -> Verdict {
    let (comparison, limit) = match rule.limit {
        Limit::AtMost(limit) => ("at most", limit),
        Limit::AtLeast(limit) => ("at least", limit),
    };
    let text = format!(
        "{}: {} costs {comparison} {limit} times {}",
        rule.function, rule.variant, rule.unit
    );
    match ratio(rounds, rule.function, rule.variant, rule.unit) {
        None => Verdict {
            text: format!("{text}: not measured"),
            outcome: Outcome::Skipped,
        },
        Some(ratio) => Verdict {
            text: format!("{text}: {ratio:.2}"),
            outcome: Outcome::of(match rule.limit {
                Limit::AtMost(limit) => ratio <= limit,
                Limit::AtLeast(limit) => ratio >= limit,
            }),
        },
    }
}

/// That nothing but its jump stands before an unaffected function: through the archive a
/// call takes as many instructions as a directly linked one, through the shared library one
/// more. These are exact as well, and of x86-64, where a wrapper is one instruction.
pub fn instructions(counted: Result<&Instructions, &str>) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for function in Function::UNAFFECTED {
        for (variant, more) in [(Variant::Static, 0), (Variant::Shared, function.calls())] {
            let text = format!("{function}: {variant} takes at most {more} more instructions");
            let count = |variant| counted.ok()?.get(&(function, variant)).copied();
            verdicts.push(match count(variant).zip(count(Variant::Direct)) {
                Some((count, direct)) => Verdict {
                    text: format!("{text} than {direct}: {count}"),
                    outcome: Outcome::of(count <= direct + more),
                },
                None => Verdict {
                    text: format!("{text}: not counted"),
                    outcome: Outcome::Skipped,
                },
            });
        }
    }
    verdicts
}

/// Applies the limits on sizes. These are exact: repeating them changes nothing.
pub fn sizes(sizes: &Sizes) -> Vec<Verdict> {
    let size = |what: &str, bytes: u64, limit: u64| Verdict {
        text: format!("{what} is at most {limit} bytes: {bytes}"),
        outcome: Outcome::of(bytes <= limit),
    };
    vec![
        size(
            "libhiplazy.so, stripped,",
            sizes.shared_stripped,
            STRIPPED_SHARED_LIBRARY,
        ),
        size(
            "the growth of an extension by libhiplazy.a with every function",
            sizes.growth_all,
            WHOLE_STATIC_LIBRARY,
        ),
    ]
}

/// Whether the gate lets this pass. A limit that could not be measured does, unless
/// `strict` (in CI).
pub fn passes(verdicts: &[Verdict], strict: bool) -> bool {
    verdicts.iter().all(|verdict| match verdict.outcome {
        Outcome::Held => true,
        Outcome::Broken => false,
        Outcome::Skipped => !strict,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Vec<String> = Vec::new();

    /// Times as on an undisturbed machine, three rounds.
    fn good() -> Rounds {
        let mut rounds = Rounds::new();
        for (function, times) in [
            (Function::GetDevice, [1.6, 1.6, 2.0, 1.7, 6.0]),
            (Function::Malloc, [9.0, 9.0, 10.0, 9.2, 20.0]),
            (Function::ModuleLaunchKernel, [3.0, 3.0, 3.2, 3.1, 9.0]),
            (Function::PointerGetAttributes, [9.0, 9.0, 14.0, 14.0, 0.0]),
        ] {
            for (variant, time) in Variant::ALL.into_iter().zip(times) {
                if variant.functions().contains(&function) {
                    rounds.insert((function, variant), vec![time; 3]);
                }
            }
        }
        rounds
    }

    fn slowed(function: Function, variant: Variant, factor: f64) -> Rounds {
        let mut rounds = good();
        for time in rounds.get_mut(&(function, variant)).unwrap() {
            *time *= factor;
        }
        rounds
    }

    #[track_caller]
    fn broken(rounds: &Rounds) -> Vec<String> {
        times(rounds)
            .into_iter()
            .filter(|verdict| verdict.outcome == Outcome::Broken)
            .map(|verdict| verdict.text)
            .collect()
    }

    #[test]
    fn good_times_pass() {
        assert_eq!(broken(&good()), NONE);
        assert!(passes(&times(&good()), true));
    }

    #[test]
    fn a_slow_static_library_fails_for_each_unaffected_function() {
        for function in Function::UNAFFECTED {
            let broken = broken(&slowed(function, Variant::Static, 1.2));
            assert_eq!(broken.len(), 1, "{function}: {broken:?}");
            assert!(broken[0].starts_with(function.name()), "{broken:?}");
        }
    }

    #[test]
    fn a_slow_shared_library_fails() {
        let malloc = broken(&slowed(Function::Malloc, Variant::Shared, 1.5));
        assert_eq!(malloc.len(), 1, "{malloc:?}");
        let launch = broken(&slowed(Function::ModuleLaunchKernel, Variant::Shared, 1.1));
        assert_eq!(launch.len(), 1, "{launch:?}");
    }

    #[test]
    fn the_shared_library_may_cost_a_second_jump() {
        assert_eq!(
            broken(&slowed(Function::Malloc, Variant::Shared, 1.4)),
            NONE
        );
        assert_eq!(
            broken(&slowed(Function::GetDevice, Variant::Shared, 1.4)),
            NONE
        );
    }

    #[test]
    fn a_stub_that_is_less_than_twice_as_slow_fails() {
        let broken = broken(&slowed(
            Function::ModuleLaunchKernel,
            Variant::Tilelang,
            0.6,
        ));
        assert_eq!(broken.len(), 2, "{broken:?}");
    }

    #[test]
    fn one_disturbed_round_does_not_decide() {
        let mut rounds = good();
        rounds
            .get_mut(&(Function::Malloc, Variant::Static))
            .unwrap()[1] *= 5.0;
        assert_eq!(broken(&rounds), NONE);
    }

    #[test]
    fn a_slow_machine_does_not_decide() {
        let mut rounds = good();
        for times in rounds.values_mut() {
            times[0] *= 3.0;
            times[2] *= 2.0;
        }
        assert_eq!(broken(&rounds), NONE);
    }

    #[test]
    fn a_missing_stub_is_skipped_visibly_and_fails_in_ci() {
        let mut rounds = good();
        rounds.retain(|(_, variant), _| *variant != Variant::Tilelang);
        let verdicts = times(&rounds);
        let skipped = verdicts
            .iter()
            .filter(|verdict| verdict.to_string().starts_with("SKIPPED"));
        assert_eq!(skipped.count(), 2);
        assert!(passes(&verdicts, false));
        assert!(!passes(&verdicts, true));
    }

    #[test]
    fn an_instruction_too_many_before_an_unaffected_function_fails() {
        let mut counted = Instructions::new();
        for function in Function::ALL {
            for variant in Variant::ALL {
                let more = match (function, variant) {
                    (Function::PointerGetAttributes, Variant::Shared | Variant::Static) => 40,
                    (_, Variant::Shared) => function.calls(),
                    _ => 0,
                };
                counted.insert((function, variant), 23 + more);
            }
        }
        let good = instructions(Ok(&counted));
        assert_eq!(good.len(), 6);
        assert!(passes(&good, true), "{good:?}");
        for function in Function::UNAFFECTED {
            for variant in [Variant::Shared, Variant::Static] {
                let mut one_more = counted.clone();
                *one_more.get_mut(&(function, variant)).unwrap() += 1;
                let verdicts = instructions(Ok(&one_more)).into_iter();
                let broken: Vec<_> = verdicts
                    .filter(|verdict| verdict.outcome == Outcome::Broken)
                    .collect();
                assert_eq!(broken.len(), 1, "{function} {variant}");
                assert!(broken[0].text.starts_with(function.name()));
            }
        }
        let skipped = instructions(Err("no valgrind"));
        assert!(passes(&skipped, false) && !passes(&skipped, true));
    }

    #[test]
    fn a_library_over_its_size_fails() {
        let fits = Sizes {
            shared_stripped: STRIPPED_SHARED_LIBRARY,
            growth_all: WHOLE_STATIC_LIBRARY,
            ..Sizes::default()
        };
        assert!(passes(&sizes(&fits), true));
        let shared = Sizes {
            shared_stripped: STRIPPED_SHARED_LIBRARY + 1,
            ..fits
        };
        assert!(!passes(&sizes(&shared), true));
        let growth = Sizes {
            growth_all: WHOLE_STATIC_LIBRARY + 1,
            ..fits
        };
        assert!(!passes(&sizes(&growth), true));
    }
}
