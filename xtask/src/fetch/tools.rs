//! Programs that tests build other people's projects with.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::fetch::{Missing, debian};

/// A program that is used where it is there.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The name of the program.
    pub program: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
}

/// What the tests of the installed packages and of the command's pages are better with.
pub const TOOLS: &[Tool] = &[
    Tool {
        program: "cmake",
        package: "cmake",
    },
    Tool {
        program: "pkg-config",
        package: "pkg-config",
    },
    Tool {
        program: "make",
        package: "make",
    },
    Tool {
        program: "clang",
        package: "clang",
    },
    Tool {
        program: "clang++",
        package: "clang",
    },
    Tool {
        program: "chromium",
        package: "chromium",
    },
    Tool {
        program: "dot",
        package: "graphviz",
    },
    Tool {
        program: "jq",
        package: "jq",
    },
    Tool {
        program: "mandoc",
        package: "mandoc",
    },
    Tool {
        program: "zsh",
        package: "zsh",
    },
    Tool {
        program: "fish",
        package: "fish",
    },
];

/// Has all of [`TOOLS`], installing what is missing where this process is root on a
/// system with apt. Gives those that are still missing, with the reason.
pub fn tools() -> Vec<Missing> {
    let mut packages: Vec<&str> = TOOLS
        .iter()
        .filter(|tool| find(tool.program).is_none())
        .map(|tool| tool.package)
        .collect();
    packages.dedup();
    let why = match packages.as_slice() {
        [] => return Vec::new(),
        _ if find("apt-get").is_none() => "not installed, and there is no apt-get".to_string(),
        packages => match debian::install(packages) {
            Ok(()) => "installed, and not in PATH".to_string(),
            Err(why) => why,
        },
    };
    let missing = TOOLS.iter().filter(|tool| find(tool.program).is_none());
    missing
        .map(|tool| Missing::new(tool.program, why.clone()))
        .collect()
}

/// The path of a program in `PATH`.
///
/// # Errors
///
/// It is not there; the error names the package that has it, if it is in [`TOOLS`].
pub fn tool(program: &str) -> Result<PathBuf, Missing> {
    find(program).ok_or_else(|| {
        let known = TOOLS.iter().find(|tool| tool.program == program);
        let package = known.map_or(String::new(), |tool| {
            format!("; on Debian the package {} has it", tool.package)
        });
        Missing::new(program, format!("not in PATH{package}"))
    })
}

fn find(program: &str) -> Option<PathBuf> {
    find_in(program, &env::var_os("PATH")?)
}

fn find_in(program: &str, folders: &OsStr) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        path.metadata()
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(folders)
        .map(|folder| folder.join(program))
        .find(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_program_is_an_executable_file_in_the_first_folder_that_has_one() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        place("text/cmake", 0o644);
        fs::create_dir_all(folder.path().join("folder/cmake")).unwrap();
        let program = place("program/cmake", 0o755);
        place("later/cmake", 0o755);
        let folders = ["text", "folder", "program", "later"].map(|name| folder.path().join(name));
        let folders = env::join_paths(folders).unwrap();
        assert_eq!(find_in("cmake", &folders), Some(program));
        assert_eq!(find_in("make", &folders), None);
    }

    #[test]
    fn a_missing_tool_names_its_package() {
        let missing = tool("no-such-program").unwrap_err();
        assert_eq!(
            missing.to_string(),
            "no-such-program is missing: not in PATH"
        );
        assert!(TOOLS.iter().all(|tool| !tool.package.is_empty()));
    }
}
