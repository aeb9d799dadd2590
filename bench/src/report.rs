//! The tables for people and the same as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::instructions::Instructions;
use crate::judge::{median, ratio};
use crate::samples::Rounds;
use crate::sizes::Sizes;
use crate::startup::Startup;
use crate::{Function, Variant};

/// Everything that was measured.
pub struct Report {
    /// Times of the run that decides.
    pub rounds: Rounds,
    /// Instructions per call, or why there are none.
    pub instructions: Result<Instructions, String>,
    /// Loading and first calls.
    pub startup: Vec<Startup>,
    /// Sizes.
    pub sizes: Sizes,
}

const FIRST: usize = 30;
const OTHER: usize = 17;

impl Report {
    fn variants(&self) -> Vec<Variant> {
        let measured =
            |variant: &Variant| self.rounds.contains_key(&(Function::GetDevice, *variant));
        Variant::ALL.into_iter().filter(measured).collect()
    }

    /// The typical undisturbed time of a call, in nanoseconds.
    fn time(&self, function: Function, variant: Variant) -> Option<f64> {
        median(&mut self.rounds.get(&(function, variant))?.clone())
    }

    /// The tables.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let variants = self.variants();
        let _ = writeln!(
            text,
            "One call on the fake HIP 7 runtime, the runtime's own work included.\n\
             Nanoseconds, and in brackets the ratio to a directly linked call:\n"
        );
        header(&mut text, &variants);
        for function in Function::ALL {
            let _ = write!(text, "{:<FIRST$}", title(function));
            for variant in &variants {
                let time = self.time(function, *variant);
                let ratio = ratio(&self.rounds, function, *variant, Variant::Direct);
                let both = time.zip(ratio);
                let both = both.map(|(time, ratio)| format!("{time:.2} ({ratio:.2})"));
                let _ = write!(text, "{:>OTHER$}", both.unwrap_or("-".to_string()));
            }
            text.push('\n');
        }
        match &self.instructions {
            Ok(instructions) => {
                text.push_str("\nInstructions, the loop around the call included (valgrind):\n\n");
                header(&mut text, &variants);
                for function in Function::ALL {
                    let _ = write!(text, "{:<FIRST$}", title(function));
                    for variant in &variants {
                        let count = instructions.get(&(function, *variant));
                        let count = count.map_or("-".to_string(), u64::to_string);
                        let _ = write!(text, "{count:>OTHER$}");
                    }
                    text.push('\n');
                }
            }
            Err(why) => {
                let _ = writeln!(text, "\nSKIPPED instructions per call: {why}");
            }
        }
        text.push_str("\nLoading and first calls, microseconds (median of fresh processes):\n\n");
        for startup in &self.startup {
            let microseconds = startup.nanoseconds / 1000.0;
            let _ = writeln!(text, "{microseconds:>9.1}  {}", startup.what);
        }
        let sizes = &self.sizes;
        let _ = writeln!(text, "\nSizes, bytes ({} entries):\n", sizes.entries);
        for (bytes, what) in [
            (sizes.shared, "libhiplazy.so as built"),
            (sizes.shared_stripped, "libhiplazy.so stripped"),
            (
                sizes.growth_all,
                "growth of a stripped extension by libhiplazy.a, every entry",
            ),
            (
                sizes.growth_one,
                "growth of a stripped extension by libhiplazy.a, one entry",
            ),
            (
                sizes.growth_one_collected,
                "the same, both linked with --gc-sections",
            ),
        ] {
            let _ = writeln!(text, "{bytes:>9}  {what}");
        }
        text
    }

    /// The same, for programs.
    pub fn json(&self) -> Value {
        let mut calls = Vec::new();
        for ((function, variant), rounds) in &self.rounds {
            let instructions = self.instructions.as_ref().ok();
            calls.push(json!({
                "function": function.name(),
                "variant": variant.name(),
                "nanoseconds": self.time(*function, *variant),
                "nanoseconds_by_round": rounds,
                "ratio_to_direct": ratio(&self.rounds, *function, *variant, Variant::Direct),
                "instructions_with_loop":
                    instructions.and_then(|all| all.get(&(*function, *variant))),
            }));
        }
        json!({
            "calls": calls,
            "startup": self.startup,
            "sizes_bytes": self.sizes,
        })
    }
}

fn title(function: Function) -> String {
    match function {
        Function::Malloc => format!("{} + hipFree", function.name()),
        Function::PointerGetAttributes => format!("{}, HIP 5", function.name()),
        _ => function.name().to_string(),
    }
}

fn header(text: &mut String, variants: &[Variant]) {
    let _ = write!(text, "{:<FIRST$}", "");
    for variant in variants {
        let _ = write!(text, "{variant:>OTHER$}");
    }
    text.push('\n');
}
