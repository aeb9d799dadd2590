//! The compilers and build tools that consumers are built with, where they are there.

#![allow(unreachable_pub)]

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::fetch;

use crate::common::{clean, root, run, skip};

/// A C and C++ compiler.
#[derive(Clone)]
pub struct Compiler {
    pub name: &'static str,
    pub cc: PathBuf,
    pub cxx: PathBuf,
}

/// The two that the headers are made for.
#[derive(Clone, Copy)]
pub enum Kind {
    Gcc,
    Clang,
}

impl Kind {
    /// The compiler, or a visible skip of `what`.
    pub fn there(self, what: &str) -> Option<Compiler> {
        let (name, cxx) = match self {
            Kind::Gcc => ("gcc", "g++"),
            Kind::Clang => ("clang", "clang++"),
        };
        let what = format!("{what} with {name}");
        Some(Compiler {
            name,
            cc: tool(name, &what)?,
            cxx: tool(cxx, &what)?,
        })
    }
}

/// The path of a build tool, or a visible skip of `what`.
pub fn tool(program: &str, what: &str) -> Option<PathBuf> {
    fetch::tool(program)
        .map_err(|missing| skip(what, &missing.to_string()))
        .ok()
}

/// The folder of a consumer's project.
pub fn project_folder(project: &str) -> PathBuf {
    root().join("tests/consumers").join(project)
}

/// Configures and builds a CMake project in `build`, which is made, with
/// `definitions` as `NAME=VALUE` or `NAME:TYPE=VALUE`. Gives the library of `target`.
#[track_caller]
pub fn cmake(
    project: &str,
    target: &str,
    compiler: &Compiler,
    build: &Path,
    definitions: &[String],
) -> PathBuf {
    let mut configure = clean(Path::new("cmake"));
    configure.arg("-S").arg(project_folder(project));
    configure.arg("-B").arg(build);
    for (name, path) in [
        ("CMAKE_C_COMPILER", &compiler.cc),
        ("CMAKE_CXX_COMPILER", &compiler.cxx),
    ] {
        configure.arg(format!("-D{name}={}", path.display()));
    }
    // A language that the project does not use is no reason for a warning.
    configure.args(["--no-warn-unused-cli", "-DCMAKE_BUILD_TYPE=Release"]);
    configure.args(
        definitions
            .iter()
            .map(|definition| format!("-D{definition}")),
    );
    run(&mut configure);
    run(clean(Path::new("cmake")).arg("--build").arg(build));
    build.join(format!("lib{target}.so"))
}

/// Compiles a C file of the consumers, with warnings as errors.
#[track_caller]
pub fn cc(compiler: &Compiler, source: &str, output: &Path, arguments: &[String]) {
    let mut command = Command::new(&compiler.cc);
    command.args(["-O2", "-g", "-Wall", "-Wextra", "-Werror"]);
    command.arg(project_folder("source").join(source));
    command.arg("-o").arg(output).args(arguments);
    run(&mut command);
}
