//! Running processes, each looked at from outside while it waits.

// The stubs, the real runtimes and the fake ones are of x86-64.
#![cfg(target_arch = "x86_64")]

#[path = "../common/mod.rs"]
mod common;

mod agreement;
mod auditing;
mod changing;
mod children;
mod commands;
mod evidence;
mod filters;
mod gone;
mod hazards;
mod hostile;
mod logged_images;
mod logged_objects;
mod logged_programs;
mod logs;
mod machine;
mod namespaces;
mod noisy;
mod outputs;
mod prefix;
mod processes;
mod real;
mod run_command;
mod running;
mod signals;
mod states;
mod words;
