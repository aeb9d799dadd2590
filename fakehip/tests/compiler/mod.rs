//! The C compiler that builds test programs.

use std::env;
use std::process::Command;

/// `$CC`, which may carry arguments, or `cc`.
pub(crate) fn compiler() -> Command {
    let text = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = text.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words);
    command
}
