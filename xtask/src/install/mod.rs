//! `cargo xtask install`: the tree that C and C++ projects build against.

mod archive;
mod build;
mod build_paths;
mod command;
mod headers;
mod licences;
mod names;
mod shared;
mod symbols;
mod templates;
mod tools;
mod tree;

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use names::Names;
use templates::Templates;
use tools::Tools;
use tree::Tree;

#[derive(clap::Args)]
#[command(after_help = "\
Writes include/, lib/ (shared library, static archive, drop-in archive, CMake package,
pkg-config files), share/ (licences too) and, if the checkout has the command and there is
no vendor prefix, bin/. No file knows the prefix: the tree may be moved, and two
runs write the same bytes.

DESTDIR, if it is set in the environment, is put in front of the prefix.
CC, OBJCOPY and AR name other tools than cc, objcopy and ar, with arguments if need be
(CC=\"ccache gcc\"); LLVM's do as well.")]
pub(crate) struct Arguments {
    /// Where to install, such as /usr/local
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,

    /// Call everything PREFIXhipMalloc and so on, in a library of its own name:
    /// tl_ gives libtl_hip.so.1, include/tl_hip and the CMake package tl_hip
    #[arg(long, value_name = "PREFIX", value_parser = Names::vendor)]
    vendor_prefix: Option<Names>,
}

pub(crate) fn run(arguments: &Arguments, workspace: &Path) -> ExitCode {
    match install(arguments, workspace) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask install: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds everything in a scratch folder, and copies it to its place when all of it
/// is there.
fn install(arguments: &Arguments, workspace: &Path) -> Result<(), Box<dyn Error>> {
    let names = arguments.vendor_prefix.clone().unwrap_or_default();
    let destination = destination(&arguments.prefix, env::var_os("DESTDIR").as_deref())?;
    let tools = Tools::from_environment();
    tools.check()?;

    println!("==> build (release)");
    let built = build::archives(workspace)?;
    let scratch = tempfile::Builder::new()
        .prefix("hiplazy-install-")
        .tempdir()
        .map_err(|error| format!("cannot create a scratch folder: {error}; TMPDIR chooses it"))?;
    let work = scratch.path().join("work");
    let mut tree = Tree::create(&scratch.path().join("tree"))?;
    fs::create_dir(&work)?;

    println!("==> libraries");
    let object = archive::object(&tools, &built.prefixed, &names, names.wrappers()?, &work)?;
    tree.folder("lib")?;
    archive::write(&tools, &object, &tree.path(&names.static_archive()))?;
    let dropin = archive::object(&tools, &built.dropin, &names, names.both()?, &work)?;
    archive::write(&tools, &dropin, &tree.path(&names.dropin_archive()))?;
    shared::link(
        &tools,
        &object,
        &names,
        &work,
        &tree.path(&names.shared_library()),
    )?;
    tree.link(&names.shared_link(), &names.soname())?;

    println!("==> headers, CMake and pkg-config files");
    let include = tree.folder("include")?;
    headers::write(&include, &names)?;
    let templates = Templates::new(workspace, &names);
    for (template, file) in templates.files() {
        tree.write(&file, &templates.filled(template)?)?;
    }
    let licences = format!("share/licenses/{}", names.name());
    let own = templates::read(&workspace.join("LICENSE"))?;
    tree.write(&format!("{licences}/LICENSE"), &own)?;
    // A vendor's tree has no file that another tree may have too.
    let with_command = command::exists(workspace) && arguments.vendor_prefix.is_none();
    let manifest = with_command.then(|| command::manifest(workspace));
    for (file, text) in licences::files(workspace, manifest.as_deref())? {
        tree.write(&format!("{licences}/{file}"), &text)?;
    }

    if with_command {
        println!("==> command");
        let target = built.folder.parent().unwrap_or(workspace);
        command::add(&tools, workspace, target, &mut tree)?;
    }

    let sources = build_paths::sources(workspace)?;
    let mut folders = vec![workspace, scratch.path(), &built.folder];
    folders.extend(sources.iter().map(PathBuf::as_path));
    tree.forbid_paths(&folders)?;
    println!("==> {}", destination.display());
    for file in tree.copy_to(&destination)? {
        println!("    {file}");
    }
    println!(
        "CMake: -DCMAKE_PREFIX_PATH={0}, target {1}::{1}, {1}::static or {1}::dropin",
        arguments.prefix.display(),
        names.name()
    );
    if !with_command {
        let why = if arguments.vendor_prefix.is_some() {
            "the command comes with the tree that has hiplazy's own names"
        } else {
            "this checkout has no command, no cli/Cargo.toml"
        };
        println!("bin/ is not there: {why}");
    }
    Ok(())
}

/// The folder to write to.
fn destination(prefix: &Path, destdir: Option<&OsStr>) -> Result<PathBuf, String> {
    let Some(destdir) = destdir.filter(|folder| !folder.is_empty()) else {
        return std::path::absolute(prefix)
            .map_err(|error| format!("--prefix {}: {error}", prefix.display()));
    };
    let inside = prefix.strip_prefix("/").map_err(|_| {
        format!(
            "--prefix {} is relative, and DESTDIR is set: give the path that the files will \
             have once installed",
            prefix.display()
        )
    })?;
    std::path::absolute(Path::new(destdir))
        .map(|folder| folder.join(inside))
        .map_err(|error| format!("DESTDIR: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destdir_comes_before_an_absolute_prefix() {
        let destdir = Some(OsStr::new("/stage"));
        let to = |prefix: &str| destination(Path::new(prefix), destdir);
        assert_eq!(to("/usr"), Ok(PathBuf::from("/stage/usr")));
        assert!(to("usr").unwrap_err().contains("DESTDIR"));
        let without = destination(Path::new("/usr"), Some(OsStr::new("")));
        assert_eq!(without, Ok(PathBuf::from("/usr")));
    }
}
