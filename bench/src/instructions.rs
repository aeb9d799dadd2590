//! Instructions per call, counted by valgrind: the same on every machine, however
//! busy it is.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use anyhow::{Context, Result, ensure};

use crate::build::run;
use crate::calls::{Calls, FakeRuntime};
use crate::prepare::measuring_command;
use crate::{Folder, Function, Variant};

/// Instructions per call, with the loop around it (which all variants share).
pub type Instructions = BTreeMap<(Function, Variant), u64>;

/// Calls per count.
const CALLS: u64 = 1000;

/// The argument that makes the `hiplazy-bench` program [`run_counted`].
pub const COUNTED: &str = "run-counted";

/// Counts.
///
/// # Errors
///
/// There is no valgrind, or it does not know this processor or its output has changed.
/// None of this need stop a benchmark.
pub fn count(folder: &Folder) -> Result<Instructions> {
    let valgrind = Path::new("valgrind");
    let place = folder.path().join("callgrind");
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    let mut all = Instructions::new();
    for variant in folder.variants() {
        let output = place.join(variant.name());
        let mut command = measuring_command(folder, valgrind);
        command
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={}", output.display()));
        for function in variant.functions() {
            // Counts from the function's beginning, and writes a file of its own when
            // it returns: the first ones from the check, the others from the counted calls.
            let name = format!("run_{}", function.name());
            command.arg(format!("--zero-before={name}"));
            command.arg(format!("--dump-after={name}"));
        }
        command
            .arg(env::current_exe()?)
            .arg(COUNTED)
            .arg(variant.name());
        run(&mut command, "valgrind is needed to count")?;
        for (index, function) in variant.functions().iter().enumerate() {
            let part = index + 1 + variant.functions().len();
            let file = format!("{}.{part}", output.display());
            let text =
                fs::read_to_string(&file).with_context(|| format!("valgrind left no {file}"))?;
            let total = totals(&text).with_context(|| format!("{file} has no totals"))?;
            ensure!(
                total >= CALLS,
                "valgrind counted {total} instructions in {CALLS} calls of {function} through {variant}"
            );
            all.insert((*function, variant), total / CALLS);
        }
    }
    Ok(all)
}

/// Makes the calls that are counted.
///
/// # Errors
///
/// As [`Calls::open`].
pub fn run_counted(folder: &Folder, variant: Variant) -> Result<()> {
    let runtime = FakeRuntime::open(folder)?;
    let calls = Calls::open(&runtime, folder, variant)?;
    for function in variant.functions() {
        calls.run(*function, CALLS);
    }
    Ok(())
}

/// The sum of a callgrind file.
fn totals(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| {
        line.strip_prefix("totals:")
            .or_else(|| line.strip_prefix("summary:"))
    })?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read() {
        assert_eq!(
            totals("events: Ir\nfn=(1)\n3 4\n\ntotals: 42017\n"),
            Some(42017)
        );
        assert_eq!(totals("events: Ir\n"), None);
    }
}
