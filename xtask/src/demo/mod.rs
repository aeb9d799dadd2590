//! `cargo xtask demo`: hiplazy at work on this machine, in one report.

mod found;
mod probe;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hiplazy_abi::{FUNCTIONS_TXT, Library, parse_functions};

use probe::{Answers, Probe};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A libamdhip64 to show as well; may be repeated
    #[arg(long, value_name = "PATH")]
    runtime: Vec<PathBuf>,
}

/// What answers must be: the part behind the call's name, and the value.
type Expected<'a> = [(&'a str, &'a str)];

/// The report's own account of itself.
struct Report {
    failed: usize,
}

impl Report {
    fn title(&self, text: &str) {
        println!("\n{text}");
    }

    /// A line that says something; `held` decides the exit code.
    fn line(&mut self, held: bool, what: &str, answer: &str) {
        let mark = if held { "ok  " } else { "FAIL" };
        println!("  {mark}  {what:<46} {answer}");
        if !held {
            self.failed += 1;
        }
    }

    /// A call's answer, and others that belong to it, each of which must be as
    /// expected; `also` says in words what the others mean.
    fn answer(&mut self, answers: &Answers, call: &str, expected: &Expected, also: &str) {
        let name = |part: &str| format!("{call}{part}");
        let wrong = expected
            .iter()
            .find(|(part, value)| answers.get(&name(part)) != *value);
        let got = expected
            .first()
            .map_or("", |(part, _)| answers.get(&name(part)));
        self.line(wrong.is_none(), call, &format!("{got}{also}"));
        if let Some((part, value)) = wrong {
            println!(
                "        {} is {}, expected {value}",
                name(part),
                answers.get(&name(part))
            );
        }
    }
}

pub(crate) fn run(arguments: &Arguments, workspace: &Path) -> ExitCode {
    match demo(arguments, workspace) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            println!("\n{failed} of the lines above did not hold.");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cargo xtask demo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn demo(arguments: &Arguments, workspace: &Path) -> Result<usize, Box<dyn Error>> {
    let folder = workspace.join("target/demo");
    fs::create_dir_all(&folder)?;
    eprintln!("building hiplazy, three fake HIP runtimes and a client in C ...");
    let probe = Probe::build(workspace, &folder)?;
    let fakes = folder.join("fakehip");
    fakehip::build_all(&fakes)?;
    let mut report = Report { failed: 0 };

    println!(
        "hiplazy {}: HIP calls by a C client that links {}",
        env!("CARGO_PKG_VERSION"),
        probe.library().display()
    );
    headless(&mut report, &probe)?;
    for major in [5, 6, 7] {
        let runtime = fakes.join(format!("libamdhip64.so.{major}"));
        fake(&mut report, &probe, &runtime, major)?;
    }
    real(&mut report, &probe, &arguments.runtime, &folder)?;

    report.title("What next");
    println!(
        "  C and C++   link target/release/libhiplazy.so or libhiplazy.a, call hiplazy_hipMalloc and the like"
    );
    println!("  Rust        hiplazy = {{ path = {workspace:?} }}, hiplazy::sys::hipMalloc");
    println!("  see why     HIPLAZY_LOG=info YOUR-PROGRAM, hiplazy_last_error()");
    println!(
        "  your CI     the fake runtimes are in {}; fakehip/README.md",
        folder.join("fakehip").display()
    );
    println!("  the tests   cargo xtask test");
    Ok(report.failed)
}

fn headless(report: &mut Report, probe: &Probe) -> Result<(), Box<dyn Error>> {
    report.title("Without a runtime (HIPLAZY_DISABLE=1, as on a machine without ROCm)");
    let answers = probe.run(&["calls"], &[("HIPLAZY_DISABLE", "1".as_ref())])?;
    let no_device = ("", "100 hipErrorNoDevice");
    let failed = ("", "303 hipErrorSharedObjectInitFailed");
    let untouched = (".untouched", "1");
    let expected: [(&str, &Expected, &str); 10] = [
        ("hipInit", &[no_device], ""),
        (
            "hipGetDeviceCount",
            &[no_device, (".count", "0")],
            ", count 0",
        ),
        (
            "hipRuntimeGetVersion",
            &[failed, (".version", "0")],
            ", version 0",
        ),
        ("hipMalloc", &[failed, untouched], ", pointer untouched"),
        ("hipGetLastError", &[failed], ""),
        (
            "hipGetDevicePropertiesR0600",
            &[failed, untouched],
            ", struct untouched",
        ),
        ("hipModuleLoadData", &[failed], ""),
        (
            "hipGetErrorString",
            &[("", "shared object initialization failed")],
            "",
        ),
        (
            "hiprtcVersion",
            &[("", "11")],
            " HIPRTC_ERROR_INTERNAL_ERROR",
        ),
        ("hsa_init", &[("", "0x1000")], " HSA_STATUS_ERROR"),
    ];
    for (call, expected, also) in expected {
        report.answer(&answers, call, expected, also);
    }
    Ok(())
}

fn fake(
    report: &mut Report,
    probe: &Probe,
    runtime: &Path,
    major: u32,
) -> Result<(), Box<dyn Error>> {
    report.title(&format!("Fake HIP {major}: {}", runtime.display()));
    let answers = probe.run(
        &["work"],
        &[
            ("HIPLAZY_RUNTIME", runtime.as_os_str()),
            ("FAKEHIP_DEVICES", "2".as_ref()),
        ],
    )?;
    let success = ("", "0 hipSuccess");
    report.answer(&answers, "devices", &[("", "2")], "");
    // The fake's documented values: texts and launch limits are fixed, others are
    // computed from device, layout and offset (fakehip/README.md).
    let values = |layout: i32, offset: i32| {
        let bus = 1_000_000 + layout + offset;
        format!("fakehip device 0, gfx942, warp 64, 1024 threads, 304 units, bus {bus}")
    };
    let legacy = values(500_000, 316);
    // HIP 5 has no such function: hiplazy fills the struct from the older one.
    let (newer, also) = match major {
        6.. => (values(0, 612), ", 1472 bytes, all values right"),
        _ => (legacy.clone(), ", 1472 bytes, made of HIP 5's 792"),
    };
    let expected = [success, (".values", newer.as_str()), (".behind", "1")];
    report.answer(&answers, "hipGetDevicePropertiesR0600", &expected, also);
    let expected = [success, (".values", legacy.as_str()), (".behind", "1")];
    report.answer(
        &answers,
        "hipGetDeviceProperties",
        &expected,
        ", 792 bytes, all values right",
    );
    report.answer(&answers, "hipMalloc", &[success], "");
    report.answer(
        &answers,
        "hipMemcpy",
        &[
            (".to", "0 hipSuccess"),
            (".from", "0 hipSuccess"),
            (".equal", "1"),
        ],
        ", 1 MiB there and back, equal",
    );
    for call in [
        "hipModuleLoadData",
        "hipModuleGetFunction",
        "hipModuleLaunchKernel",
        "hipDeviceSynchronize",
        "hipModuleUnload",
        "hipFree",
    ] {
        report.answer(&answers, call, &[success], "");
    }
    Ok(())
}

fn real(
    report: &mut Report,
    probe: &Probe,
    named: &[PathBuf],
    folder: &Path,
) -> Result<(), Box<dyn Error>> {
    let names = folder.join("functions.txt");
    let functions = parse_functions(FUNCTIONS_TXT)?;
    let text: String = functions
        .iter()
        .filter(|function| function.library == Library::Hip)
        .map(|function| format!("{}\n", function.name))
        .collect();
    fs::write(&names, text)?;
    let names = names
        .to_str()
        .ok_or("the target folder's path is not UTF-8")?;

    report.title("Real runtimes");
    let own = probe.run(&["runtime", names], &[])?;
    match own.found("path") {
        Some(path) => println!("  left alone, hiplazy binds {path}\n        {}", own.how()),
        None => println!(
            "  left alone, hiplazy finds none on this machine:\n{}",
            own.get("last_error")
        ),
    }
    let found = found::runtimes();
    for runtime in named.iter().chain(&found) {
        println!("  {}", runtime.display());
        let answers = probe.run(
            &["runtime", names],
            &[("HIPLAZY_RUNTIME", runtime.as_os_str())],
        )?;
        let Some(version) = answers
            .found("version")
            .and_then(|text| text.parse::<i32>().ok())
        else {
            report.line(false, "bound", answers.get("last_error"));
            continue;
        };
        let (major, minor, patch) = (
            version / 10_000_000,
            version / 100_000 % 100,
            version % 100_000,
        );
        report.line(
            version > 0,
            "version",
            &format!("HIP {major}.{minor}.{patch}"),
        );
        let has = format!("{} of {}", answers.get("has"), answers.get("total"));
        report.line(answers.found("has") != Some("0"), "functions", &has);
        let count = format!(
            "{}, count {}",
            answers.get("hipGetDeviceCount"),
            answers.get("hipGetDeviceCount.count")
        );
        let answered = !answers.get("hipGetDeviceCount").starts_with("30");
        report.line(answered, "hipGetDeviceCount", &count);
    }
    if named.is_empty() && found.is_empty() {
        println!(
            "  none found; `cargo xtask fetch runtime-7.14` brings one, `--runtime PATH` names one"
        );
    }
    Ok(())
}
