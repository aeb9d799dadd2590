//! The prepared folder, by which the measuring processes find everything.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};

use crate::Variant;

/// Where [`Folder::from_env`] finds it.
const VARIABLE: &str = "HIPLAZY_BENCH";

/// A folder with the variants, the fake runtime and the probes.
///
/// | path | what |
/// | --- | --- |
/// | `fake/libamdhip64.so.7`, and without the number | the fake runtime, by the names that hiplazy and the TileLang stub look for |
/// | `variants/*.so` | the measured loops; a variant that cannot be had is not there |
/// | `lib/libhiplazy.so`, `lib/libhiplazy.a` | the measured build |
/// | `tilelang` | link to the folder of the TileLang stub, if there is one |
/// | `probe` | measures one thing in a fresh process |
/// | `criterion/` | criterion's output |
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder at `path`; what was there is removed.
    pub(crate) fn create(path: &Path) -> Result<Folder> {
        if path.exists() {
            fs::remove_dir_all(path).with_context(|| format!("cannot empty {}", path.display()))?;
        }
        let folder = Folder(path.to_path_buf());
        for inner in ["fake", "variants", "lib"] {
            let inner = path.join(inner);
            fs::create_dir_all(&inner)
                .with_context(|| format!("cannot create {}", inner.display()))?;
        }
        Ok(folder)
    }

    /// The folder that a process started by [`Folder::command`] works in; `None` in
    /// any other process.
    pub fn from_env() -> Option<Folder> {
        env::var_os(VARIABLE).map(|path| Folder(PathBuf::from(path)))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The fake runtime, whose SONAME is its file name.
    pub fn fake_runtime(&self) -> PathBuf {
        self.0.join("fake/libamdhip64.so.7")
    }

    /// The library of a variant.
    pub fn variant(&self, variant: Variant) -> PathBuf {
        self.0
            .join("variants")
            .join(format!("{}.so", variant.name()))
    }

    /// The variants that are there.
    pub fn variants(&self) -> Vec<Variant> {
        let there = |variant: &Variant| self.variant(*variant).exists();
        Variant::ALL.into_iter().filter(there).collect()
    }

    /// The measured `libhiplazy.so`.
    pub fn shared_library(&self) -> PathBuf {
        self.0.join("lib/libhiplazy.so")
    }

    /// The measured `libhiplazy.a`.
    pub fn static_library(&self) -> PathBuf {
        self.0.join("lib/libhiplazy.a")
    }

    /// The TileLang stub, if it could be had.
    pub fn tilelang(&self) -> Option<PathBuf> {
        Some(self.0.join("tilelang/libhip_stub.so")).filter(|stub| stub.exists())
    }

    pub(crate) fn tilelang_link(&self) -> PathBuf {
        self.0.join("tilelang")
    }

    pub(crate) fn probe(&self) -> PathBuf {
        self.0.join("probe")
    }

    /// The functions of libamdhip64 with their version nodes, a line each.
    pub(crate) fn names(&self) -> PathBuf {
        self.0.join("names.txt")
    }

    /// Criterion's output of all rounds.
    pub fn criterion(&self) -> PathBuf {
        self.0.join("criterion")
    }

    /// A process in which the fake runtime is what everybody finds.
    ///
    /// The TileLang stub opens `libamdhip64.so` by name, and ld.so reads
    /// `LD_LIBRARY_PATH` when a process starts: so this is always a new process.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("HIPLAZY_") || name_text.starts_with("FAKEHIP_") {
                command.env_remove(name);
            }
        }
        let mut libraries = vec![self.0.join("fake")];
        if let Some(earlier) = env::var_os("LD_LIBRARY_PATH") {
            libraries.extend(env::split_paths(&earlier));
        }
        if let Ok(libraries) = env::join_paths(libraries) {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command.env(VARIABLE, &self.0);
        command.env("CRITERION_HOME", self.criterion());
        command
    }
}
