//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ColorChoice, Parser, Subcommand};

/// The exit status when nothing could be looked at.
pub const COULD_NOT_LOOK: u8 = 3;

const EXIT_STATUS: &str = "\
Exit status:
  0  clean, or notes only
  1  warnings, or something beside what was looked at could not be read
  2  a conflict
  3  nothing could be looked at; also a wrong command line";

const EXAMPLES: &str = "\
Examples:
  hiplazy lint dist/*.whl            before a release, in CI
  hiplazy lint -v venv/lib           what is installed, with what to do about it
  hiplazy doctor                     which runtime this machine would use, and why
  hiplazy doctor --pid 4711          who bound to whom in a running process
  hiplazy run -- python train.py     the same for a command, at its exit
  hiplazy explain hipMemcpy3D        what changed about a function, and when";

/// Who binds to whom in programs that use AMD's HIP, and what to do about it.
#[derive(Debug, Parser)]
#[command(name = "hiplazy", version, after_help = format!("{EXAMPLES}\n\n{EXIT_STATUS}"))]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How to report.
    #[command(flatten)]
    pub common: Common,
}

/// What every command understands.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Print the report as JSON (schema 1)
    #[arg(long, global = true)]
    pub json: bool,
    /// Report about names that begin with PREFIX instead of HIP's; may be repeated
    #[arg(long, global = true, value_name = "PREFIX", value_parser = prefix)]
    pub prefix: Vec<String>,
    /// Print nothing if there is nothing to do, and no progress
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// More details: evidence and advice; twice for everything
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// When to use colours; NO_COLOR is honoured
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

/// A prefix, also as reports write it: `cuda*`.
fn prefix(text: &str) -> Result<String, String> {
    match text.trim_end_matches('*') {
        "" => Err("a prefix has one letter at least: all names are too many".into()),
        prefix => Ok(prefix.to_string()),
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// This machine, or a running process: which runtime, who binds to whom
    Doctor(Doctor),
    /// Start a command and report what bound to what
    Run(Run),
    /// Check files, folders and wheels, without running anything
    Lint(Lint),
    /// The same report from a log of LD_DEBUG=bindings
    Log(Log),
    /// What is known about a HIP function, type, constant, error or message, or a rule
    Explain(Explain),
    /// Print the manual page
    Man,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// `hiplazy doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --pid, hiplazy loads the runtime in a process of its own, as a program that uses
it would, and tells every place that was tried. With --pid, the process is read from
outside: nothing is loaded into it, and it goes on. The process must belong to the same
user, or the user must be root.

Examples:
  hiplazy doctor
  HIPLAZY_RUNTIME=/opt/rocm/lib/libamdhip64.so.7 hiplazy doctor
  hiplazy doctor -v --pid 4711
  hiplazy doctor --pid 4711 --html report.html")]
pub struct Doctor {
    /// A running process, of the same user; it is not stopped
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,
    /// How long loading the runtime may take; then it is killed, and the report names the
    /// library that hangs
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        conflicts_with = "pid"
    )]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// The process in which the runtime is loaded for a report on this machine, with the
    /// descriptor of its line to the doctor
    #[arg(long, hide = true, value_name = "FD", conflicts_with = "pid")]
    pub probe: Option<i32>,
    /// What pages and pictures to write
    #[command(flatten)]
    pub pictures: Pictures,
}

/// `hiplazy run`.
#[derive(Debug, Args)]
#[command(after_help = "\
The command and its children load a small module by ld.so's auditing interface (LD_AUDIT,
glibc 2.35 or newer); modules of your own stay in front of it. It tells which objects come
and go, and what is bound, and has no part in calls: a Python program that loads a real HIP
7.14 runtime (27,000 bindings) took 0.16 s instead of 0.15 s. No descriptor stays open.
What was never called is counted only; --at-symbol and `doctor --pid` tell what it would be
bound to. A look-up by dlsym is no reference, and is named apart.

LD_AUDIT is inherited with the environment. Processes that are seen without it (env -i,
sudo, set-user-ID programs), or that tell nothing for another reason (musl, a network of
their own), are named as not looked at, and the report is no clean one; very short ones
between two looks (20 ms) may be missed. Nothing is bound in statically linked ones. ld.so
itself says so where it cannot load the module (chroot, containers, 32-bit programs): \"cannot
be loaded as audit interface\". Those that outlive the command are named too, and the folder
of the module stays for them: below TMPDIR, or where programs may be executed.

The report goes to standard error, at the exit or when NAME is first bound; then it is
that of `doctor --pid`, and has scopes and what is still lazy. If the rest of the run has
more to say, its report follows, and takes the place of the first in a FILE. The exit status
is the command's own (128 and more: ended by that signal); with --fail it is 2 if there is a
conflict, and 1 if the command succeeded and not all could be looked at; 3 if the command
could not be started, or succeeded and the report could not be written.

Signals that ask to end (TERM, HUP, INT, QUIT) and USR1, USR2, CONT, ALRM and WINCH are passed
on to the command. Half a second after the first that asks to end, another one ends hiplazy
at once, without a report. Those of the terminal go to the command alone. If hiplazy is
killed, the command goes on and the folder stays; if it is stopped, the command waits for it
at most 10 seconds, once, and what it could not tell then is missed when it tells more.

Examples:
  hiplazy run -- python train.py
  hiplazy run --fail --json -o report.json -- pytest
  hiplazy run --at-symbol hipMalloc -- python serve.py")]
pub struct Run {
    /// Report when this function (NAME or NAME@NODE) is first bound, not at the exit; the
    /// command goes on
    #[arg(long, value_name = "NAME")]
    pub at_symbol: Option<String>,
    /// Exit with 2 if there is a conflict, whatever the command's own status, and with 1
    /// if it succeeded and not all could be looked at
    #[arg(long)]
    pub fail: bool,
    /// Write the report to FILE instead of to standard error
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What pages and pictures to write
    #[command(flatten)]
    pub pictures: Pictures,
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// `hiplazy lint`.
#[derive(Debug, Args)]
#[command(after_help = "\
Looks at every ELF program and shared library: files named, files in folders named, and
members of wheels and other zip files (.whl, .zip, .pyz), which are read in place, as are
those within a zip file. Members too large for memory go through a file in TMPDIR. Links
to folders are followed once. Static libraries and object files are no objects that a
process loads: they are counted and passed over, as are packages of other kinds (.deb,
.rpm, .conda, .tar.*), which have to be unpacked. A corrupt file is reported and the scan
goes on.

What is installed together is judged together: a wheel, a folder, a distribution within
site-packages, and the files that are named one by one. Needs are followed as ld.so would,
also to other distributions; where several files may be meant, nothing is claimed.

With --prefix it says who defines and uses the names; a conflict is only a name that two
libraries define in reach of one another.

Examples:
  hiplazy lint dist/*.whl
  hiplazy lint --json build/lib > report.json
  hiplazy lint --allow bundled-runtime dist/")]
pub struct Lint {
    /// Files, folders and wheels
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Do not report this rule; may be repeated
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// What pages and pictures to write
    #[command(flatten)]
    pub pictures: Pictures,
}

/// `hiplazy log`.
#[derive(Debug, Args)]
#[command(after_help = "\
ld.so writes such a log where hiplazy itself cannot be, in a container for example; it
appends the number of each process to the name. The log may be of several processes, and
have other output between its lines. It is judged by the files that are here under the names
in it: take it where it was made. What is not here is judged by its name, and named as not
looked at.

One program after another in a process, and what was closed before something else was
opened, are looked at apart. A fork goes on in the log of its parent, under its own number;
where that parent cannot be told, it is named. What was never called is in no log: who would
answer it, `hiplazy doctor --pid` says.

Examples:
  LD_DEBUG=bindings LD_DEBUG_OUTPUT=/tmp/bindings python train.py
  hiplazy log /tmp/bindings.4711
  cat /tmp/bindings.* | hiplazy log -")]
pub struct Log {
    /// The log, a file or a pipe; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What pages and pictures to write
    #[command(flatten)]
    pub pictures: Pictures,
}

/// `hiplazy explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
A name may stand as a log has it: with its node, mangled, with hiplazy's prefix or a
vendor's. What was found in a message is explained, the function rather than the library.

Examples:
  hiplazy explain hipGetDeviceProperties
  hiplazy explain -v hipDeviceProp_tR0600
  hiplazy explain 709
  hiplazy explain invalid configuration argument
  hiplazy explain 'undefined symbol: hipMemAdvise_v2, version hip_7.1'")]
pub struct Explain {
    /// A function, struct, enum or constant (hipMemcpy3D), the number or text of an error
    /// (709), a version node (hip_6.0), a library (libamdhip64.so.6), a rule (bare-export),
    /// or a whole message, in quotes if it has any
    #[arg(required = true, value_name = "NAME")]
    pub name: Vec<String>,
}

/// Pages and pictures.
#[derive(Debug, Clone, Default, Args)]
pub struct Pictures {
    /// Also write one self-contained page; `-` is standard output, in place of the report
    /// (not with `run`, whose command writes there)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write a graph for Graphviz; `-` as with --html
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
}

/// Whether output to `stream` has colours.
pub fn colored(choice: ColorChoice, stream: &impl anstream::stream::RawStream) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never,
    }
}
