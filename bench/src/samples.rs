//! Criterion's own output, read back.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::{Folder, Function, Variant};

/// Nanoseconds per call (of `hipMalloc`: per call with its `hipFree`), each the low
/// quantile of one round.
pub type Rounds = BTreeMap<(Function, Variant), Vec<f64>>;

/// How much of a round's samples counts as undisturbed.
const QUANTILE: f64 = 0.1;

/// The name under which criterion keeps a round.
pub fn baseline(round: usize) -> String {
    format!("round-{round}")
}

/// Reads what criterion has kept of these rounds.
///
/// # Errors
///
/// A file is missing or is not what criterion writes.
pub fn read(folder: &Folder, rounds: usize) -> Result<Rounds> {
    let mut all = Rounds::new();
    for variant in folder.variants() {
        for function in variant.functions() {
            let times = (0..rounds)
                .map(|round| {
                    let file = folder
                        .criterion()
                        .join(function.name())
                        .join(variant.name())
                        .join(baseline(round))
                        .join("sample.json");
                    let text = fs::read_to_string(&file)
                        .with_context(|| format!("criterion left no {}", file.display()))?;
                    low_quantile(&text).with_context(|| format!("in {}", file.display()))
                })
                .collect::<Result<Vec<f64>>>()?;
            all.insert((*function, variant), times);
        }
    }
    Ok(all)
}

/// The low quantile of the times per call in a `sample.json`.
///
/// Whatever else runs on the machine can only make a sample slower, so that the
/// fastest samples are the ones that tell about the code; not the very fastest one,
/// which is also the one with the luckiest reading of the clock.
fn low_quantile(text: &str) -> Result<f64> {
    #[derive(Deserialize)]
    struct Sample {
        iters: Vec<f64>,
        times: Vec<f64>,
    }
    let sample: Sample = serde_json::from_str(text)?;
    ensure!(
        !sample.times.is_empty() && sample.times.len() == sample.iters.len(),
        "{} times for {} counts",
        sample.times.len(),
        sample.iters.len()
    );
    let mut per_call: Vec<f64> = sample
        .times
        .iter()
        .zip(&sample.iters)
        .map(|(time, count)| time / count)
        .collect();
    per_call.sort_by(f64::total_cmp);
    let index = (per_call.len() as f64 * QUANTILE) as usize;
    Ok(per_call[index])
}

/// Removes what criterion has kept, so that nothing old can be read.
///
/// # Errors
///
/// The file system's.
pub fn clear(folder: &Folder) -> Result<()> {
    let criterion = folder.criterion();
    if criterion.exists() {
        fs::remove_dir_all(&criterion)
            .with_context(|| format!("cannot empty {}", criterion.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_samples_do_not_count() {
        let disturbed = r#"{"sampling_mode":"Flat",
            "iters":[10,10,10,10,10,10,10,10,10,10],
            "times":[900,21,20,500,22,800,900,900,700,900]}"#;
        assert_eq!(low_quantile(disturbed).unwrap(), 2.1);
    }

    #[test]
    fn times_are_per_call() {
        let linear = r#"{"sampling_mode":"Linear","iters":[10,20],"times":[30,60]}"#;
        assert_eq!(low_quantile(linear).unwrap(), 3.0);
    }

    #[test]
    fn an_empty_or_foreign_file_is_an_error() {
        assert!(low_quantile(r#"{"iters":[],"times":[]}"#).is_err());
        assert!(low_quantile(r#"{"iters":[1],"times":[]}"#).is_err());
        assert!(low_quantile(r#"{"mean":1}"#).is_err());
    }
}
