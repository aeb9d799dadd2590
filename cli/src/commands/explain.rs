//! `hiplazy explain`.

use std::io;
use std::process::ExitCode;

use super::{Failure, write_out};
use crate::cli::{Common, Explain, colored};
use crate::explain::{look_up, near, unknown as unknown_name};

/// Prints what is known.
pub(super) fn run(explain: &Explain, common: &Common) -> Result<ExitCode, Failure> {
    let name = explain.name.join(" ");
    let explanation = look_up(&name).ok_or_else(|| unknown(&name))?;
    let text = if common.json {
        explanation.json()
    } else {
        explanation.text(common.verbose > 0, colored(common.color, &io::stdout()))
    };
    write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(text: &str) -> String {
    let suggestions = near(text);
    let name = unknown_name(text);
    let help = match suggestions.as_slice() {
        [] if name.starts_with("hsa_") => {
            "of the HSA interface, hiplazy knows hsa_init and hsa_shut_down only".to_string()
        }
        [] if name.starts_with("hiplazy_") => {
            "hiplazy's own functions are in hiplazy.h; of HIP's it has those that `hiplazy explain hipMalloc` and the like name".to_string()
        }
        [] => "give a function, struct, enum or constant of HIP or hiprtc, the number or text \
               of an error, a version node (hip_6.0), a library (libamdhip64.so.6), or a rule \
               of a report"
            .to_string(),
        [one] => format!("did you mean {one}?"),
        [most @ .., last] => format!("did you mean {} or {last}?", most.join(", ")),
    };
    format!(
        "{name:?} is no function, struct, enum, constant or error of HIP 5.0 to 7.14 that hiplazy knows, and no rule (it knows no templates and no macros with arguments): {help}"
    )
}
