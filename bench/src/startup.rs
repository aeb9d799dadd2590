//! What loading and the first call cost, each in fresh processes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::Folder;
use crate::build::run;
use crate::judge::median;

/// Fresh processes per measurement; the median is reported.
const PROCESSES: usize = 31;

/// One measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Startup {
    /// What is timed.
    pub what: String,
    /// Median over fresh processes, in nanoseconds.
    pub nanoseconds: f64,
}

/// Measures all that can be measured here; the second part says what was left out.
///
/// # Errors
///
/// A measuring process failed; with what it printed.
pub fn measure(folder: &Folder) -> Result<(Vec<Startup>, Vec<String>)> {
    let fake = folder.fake_runtime();
    let shared = folder.shared_library();
    let wrapper = "hiplazy_hipGetDevice";
    let mut cases = vec![
        Case::open("dlopen libhiplazy.so", &shared),
        Case::open("dlopen the fake runtime itself", &fake),
        Case::call(
            "first call through libhiplazy.so: find and open the runtime, bind all functions",
            &shared,
            wrapper,
        ),
        Case::call(
            "first call through libhiplazy.so, runtime mapped already: bind all functions",
            &shared,
            wrapper,
        )
        .after(&fake),
        Case::names(
            "of that, the look-up of all functions of libamdhip64 by name and node",
            &fake,
            &folder.names(),
        ),
    ];
    let mut skipped = Vec::new();
    match folder.tilelang() {
        None => {
            skipped.push("dlopen and first call of the TileLang stub: not measured".to_string())
        }
        Some(stub) => {
            let cplusplus = Path::new("libstdc++.so.6");
            cases.push(Case::open("dlopen TileLang's libhip_stub.so", &stub));
            cases.push(
                Case::open(
                    "dlopen TileLang's libhip_stub.so, C++ library mapped already",
                    &stub,
                )
                .after(cplusplus),
            );
            cases.push(Case::call(
                "first call through the TileLang stub: open the runtime, look up 30 functions",
                &stub,
                "hipGetDevice",
            ));
            cases.push(
                Case::call(
                    "first call through the TileLang stub, runtime mapped already",
                    &stub,
                    "hipGetDevice",
                )
                .after(&fake),
            );
        }
    }
    let times = measure_in_turn(folder, &cases)?;
    Ok((times, skipped))
}

struct Case {
    what: &'static str,
    library: PathBuf,
    call: Option<&'static str>,
    names: Option<PathBuf>,
    earlier: Option<PathBuf>,
}

impl Case {
    fn open(what: &'static str, library: &Path) -> Case {
        Case {
            what,
            library: library.to_path_buf(),
            call: None,
            names: None,
            earlier: None,
        }
    }

    fn names(what: &'static str, library: &Path, names: &Path) -> Case {
        Case {
            names: Some(names.to_path_buf()),
            ..Case::open(what, library)
        }
    }

    fn call(what: &'static str, library: &Path, function: &'static str) -> Case {
        Case {
            call: Some(function),
            ..Case::open(what, library)
        }
    }

    fn after(mut self, earlier: &Path) -> Case {
        self.earlier = Some(earlier.to_path_buf());
        self
    }

    fn once(&self, folder: &Folder) -> Result<f64> {
        let mut command = folder.command(&folder.probe());
        command.arg(match (&self.call, &self.names) {
            (Some(_), _) => "call",
            (None, Some(_)) => "names",
            (None, None) => "open",
        });
        command.arg(&self.library);
        command
            .args(self.call)
            .args(&self.names)
            .args(&self.earlier);
        let output = run(&mut command, "the probe was built and is gone")?;
        String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .with_context(|| format!("the probe printed no number for \"{}\"", self.what))
    }
}

/// One process of each case, then the next of each: a slow phase of the machine then
/// does not meet one case only.
fn measure_in_turn(folder: &Folder, cases: &[Case]) -> Result<Vec<Startup>> {
    let mut times = vec![Vec::with_capacity(PROCESSES); cases.len()];
    for _ in 0..PROCESSES {
        for (case, times) in cases.iter().zip(&mut times) {
            times.push(case.once(folder)?);
        }
    }
    let result = cases.iter().zip(&mut times).filter_map(|(case, times)| {
        Some(Startup {
            what: case.what.to_string(),
            nanoseconds: median(times)?,
        })
    });
    Ok(result.collect())
}
