//! `cargo xtask fetch`.

use std::process::ExitCode;

use xtask::fetch::{THINGS, cache, fetch};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to fetch, by the names of --list; everything if none is given
    names: Vec<String>,

    /// List what can be fetched and where it comes from
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    if arguments.list {
        match cache() {
            Ok(folder) => println!("cache: {}", folder.display()),
            Err(missing) => println!("cache: {missing}"),
        }
        for thing in THINGS {
            println!("{:<18} {} ({})", thing.name, thing.what, thing.from);
        }
        return ExitCode::SUCCESS;
    }
    let names: Vec<&str> = if arguments.names.is_empty() {
        THINGS.iter().map(|thing| thing.name).collect()
    } else {
        arguments.names.iter().map(String::as_str).collect()
    };
    let mut missing = 0;
    for name in &names {
        match fetch(name) {
            Ok(path) => println!("{name}: {}", path.display()),
            Err(error) => {
                missing += 1;
                println!("SKIPPED {error}");
            }
        }
    }
    println!("fetch: {} here, {missing} missing", names.len() - missing);
    if missing == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
