//! `hiplazy doctor --pid`: a running process, from outside.

use super::Failure;
use crate::cli::Common;
use crate::names::Names;
use crate::report::Report;

/// Makes the report.
pub(super) fn run(_: u32, _: &Common, _: &Names) -> Result<Report, Failure> {
    Err("this command is not built yet".into())
}
