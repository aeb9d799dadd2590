//! `hipGetDevice`, `hipMalloc`, `hipModuleLaunchKernel` and a translated
//! `hipPointerGetAttributes`, five ways.
//!
//! `cargo xtask bench` runs this several times and compares. On its own
//! (`cargo bench -p hiplazy-bench`) it builds what it measures first.

use std::time::{Duration, Instant};
use std::{env, process};

use anyhow::{Context, Result};
use criterion::{BenchmarkId, Criterion, SamplingMode};
use hiplazy_bench::calls::{Calls, FakeRuntime};
use hiplazy_bench::{Folder, Function, prepare};

fn main() -> Result<()> {
    match Folder::from_env() {
        Some(folder) => measure(&folder),
        None => in_prepared_folder(),
    }
}

/// This program again, where the dynamic linker finds what is measured.
fn in_prepared_folder() -> Result<()> {
    let prepared = prepare::prepare(None)?;
    if let Some(why) = &prepared.without_tilelang {
        eprintln!("SKIPPED the TileLang stub: {why}");
    }
    let status = prepare::measuring_command(&prepared.folder, &env::current_exe()?)
        .args(env::args_os().skip(1))
        .status()
        .context("cannot start this program again")?;
    process::exit(status.code().unwrap_or(1));
}

fn measure(folder: &Folder) -> Result<()> {
    let runtime = FakeRuntime::open(folder)?;
    let variants = folder.variants();
    let mut opened = Vec::new();
    for variant in variants {
        opened.push((variant, Calls::open(&runtime, folder, variant)?));
    }
    // Short, since what counts is the fastest samples of several rounds; the
    // variants of one function follow each other closely, so that a slow phase of
    // the machine meets all of them.
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(20))
        .measurement_time(Duration::from_millis(100))
        .sample_size(50)
        .nresamples(2_000)
        .without_plots()
        .configure_from_args();
    for function in Function::ALL {
        let mut group = criterion.benchmark_group(function.name());
        group.sampling_mode(SamplingMode::Flat);
        let opened = opened.iter();
        for (variant, calls) in
            opened.filter(|(variant, _)| variant.functions().contains(&function))
        {
            group.bench_function(BenchmarkId::from_parameter(variant.name()), |bencher| {
                bencher.iter_custom(|count| {
                    let start = Instant::now();
                    calls.run(function, count);
                    start.elapsed()
                });
            });
        }
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}
