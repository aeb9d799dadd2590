//! `hiplazy run`.

use super::Failure;
use crate::cli::{Common, Run};
use crate::names::Names;
use crate::report::Report;

/// Makes the report.
pub(super) fn run(_: &Run, _: &Common, _: &Names) -> Result<Report, Failure> {
    Err("this command is not built yet".into())
}
