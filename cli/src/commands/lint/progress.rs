//! Progress on standard error, where that is a terminal and the scan takes long.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::Common;

/// How far the scan is.
pub(super) struct Progress {
    /// `None` where nobody would see it.
    bar: Option<ProgressBar>,
    start: Instant,
}

/// Scans that are over sooner show nothing.
const PATIENCE: Duration = Duration::from_millis(500);

impl Progress {
    pub(super) fn new(common: &Common, files: usize) -> Progress {
        let seen = !common.quiet && io::stderr().is_terminal();
        let bar = seen.then(|| {
            let hidden = ProgressDrawTarget::hidden();
            let bar = ProgressBar::with_draw_target(Some(files as u64), hidden);
            match ProgressStyle::with_template("{pos}/{len} files {wide_bar} {eta}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        Progress {
            bar,
            start: Instant::now(),
        }
    }

    /// For tests.
    #[cfg(test)]
    pub(super) fn hidden() -> Progress {
        Progress {
            bar: None,
            start: Instant::now(),
        }
    }

    /// A wheel has turned out to hold `files` files.
    pub(super) fn more(&self, files: usize) {
        if let Some(bar) = &self.bar {
            bar.inc_length(files as u64);
        }
    }

    /// One file is done.
    pub(super) fn step(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
            if bar.is_hidden() && self.start.elapsed() > PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
    }

    /// All are done.
    pub(super) fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
