//! `hiplazy explain`.

use std::io;
use std::process::ExitCode;

use super::{Failure, write_out};
use crate::cli::{Common, Explain, colored};
use crate::explain::{look_up, near};

/// Prints what is known.
pub(super) fn run(explain: &Explain, common: &Common) -> Result<ExitCode, Failure> {
    let name = explain.name.trim();
    let explanation = look_up(name).ok_or_else(|| unknown(name))?;
    let text = if common.json {
        explanation.json()
    } else {
        explanation.text(common.verbose > 0, colored(common.color, &io::stdout()))
    };
    write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(name: &str) -> String {
    let suggestions = near(name);
    let help = match suggestions.as_slice() {
        [] if name.starts_with("hsa_") => {
            "of the HSA interface, hiplazy knows hsa_init and hsa_shut_down only".to_string()
        }
        [] => "give a function, struct, enum or constant of HIP or hiprtc, the number of an \
               error, or a rule of a report"
            .to_string(),
        [one] => format!("did you mean {one}?"),
        [most @ .., last] => format!("did you mean {} or {last}?", most.join(", ")),
    };
    format!("{name:?} is not in HIP 5.0 to 7.14 as far as hiplazy knows it, and no rule: {help}")
}
