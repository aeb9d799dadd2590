//! `hiplazy log`.

use super::Failure;
use crate::cli::{Common, Log};
use crate::names::Names;
use crate::report::Report;

/// Makes the report.
pub(super) fn run(_: &Log, _: &Common, _: &Names) -> Result<Report, Failure> {
    Err("this command is not built yet".into())
}
