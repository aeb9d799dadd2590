//! The parts of the `hiplazy` command: reading ELF objects, the rules, the reports and
//! the commands themselves. A library so that its tests can use them; its interface is
//! the command line.

pub mod binding_log;
pub mod classify;
pub mod cli;
pub mod commands;
pub mod contents;
pub mod elf;
pub mod explain;
pub mod finding;
pub mod names;
pub mod process;
pub mod report;
pub mod rules;
pub mod standard_names;
