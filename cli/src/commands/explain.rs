//! `hiplazy explain`.

use std::process::ExitCode;

use super::Failure;
use crate::cli::{Common, Explain};

/// Prints what is known.
pub(super) fn run(_: &Explain, _: &Common) -> Result<ExitCode, Failure> {
    Err("this command is not built yet".into())
}
