//! `hiplazy lint`.

use super::Failure;
use crate::cli::{Common, Lint};
use crate::names::Names;
use crate::report::Report;

/// Makes the report.
pub(super) fn run(_: &Lint, _: &Common, _: &Names) -> Result<Report, Failure> {
    Err("this command is not built yet".into())
}
