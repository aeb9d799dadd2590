//! Where a file lies, and what is installed together with it.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The package of files that were named one by one and lie in no folder that was named.
const LOOSE: &str = "the files named";

/// Where a file lies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// What it belongs to, however the command line spells it: within `site-packages` the
    /// distribution (its folder, together with the `.libs` folder beside it), in an archive
    /// the archive, elsewhere the folder that was named. Files that were named belong
    /// together.
    pub(super) package: PathBuf,
    /// What reports call the package.
    pub(super) package_name: String,
    /// The absolute path, without links to folders; in an archive
    /// `/absolute/wheel.whl!/path inside`.
    pub(super) location: PathBuf,
    /// Other names of the same file.
    pub(super) aliases: Vec<PathBuf>,
    /// The user named this very file.
    pub(super) named: bool,
}

impl Place {
    /// The place of a member of the archive that lies here and is called `archive`.
    pub(super) fn inside(&self, archive: &str, member: &str) -> Place {
        let mut package = self.location.clone().into_os_string();
        package.push("!");
        let package = PathBuf::from(package);
        Place {
            location: normal(&package.join(member.trim_start_matches('/'))),
            package,
            package_name: archive.to_string(),
            aliases: Vec::new(),
            named: false,
        }
    }
}

/// The path without `.` and `..`, by its spelling.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if normal.parent().is_some() => {
                normal.pop();
            }
            // Nothing is above the root.
            Component::ParentDir if normal.has_root() => {}
            other => normal.push(other),
        }
    }
    normal
}

/// Finds places.
pub(super) struct Places {
    /// The folders that were named: where they are, and how they were named.
    roots: Vec<(PathBuf, String)>,
    /// Folders without links, by path: most files share theirs.
    folders: HashMap<PathBuf, PathBuf>,
}

impl Places {
    pub(super) fn new(paths: &[PathBuf]) -> Places {
        let folders = paths.iter().filter(|path| path.is_dir());
        let roots = folders.filter_map(|path| {
            let root = fs::canonicalize(path).ok()?;
            Some((root, path.display().to_string()))
        });
        Places {
            roots: roots.collect(),
            folders: HashMap::new(),
        }
    }

    /// The place of a file that was named itself.
    pub(super) fn of_named(&mut self, path: &Path) -> Place {
        let folder = path.parent().unwrap_or(Path::new(""));
        let folder = self.real(if folder == Path::new("") {
            Path::new(".")
        } else {
            folder
        });
        let whole = folder.join(path.file_name().unwrap_or_default());
        let mut place = self.place(&whole, path, path.components().count());
        place.named = true;
        place
    }

    /// The place of a file that was found below a folder that was named.
    pub(super) fn of_found(&mut self, root: &Path, path: &Path) -> Place {
        let below = path.strip_prefix(root).unwrap_or(path);
        let whole = self.real(root).join(below);
        self.place(&whole, path, below.components().count())
    }

    /// `whole` is the absolute path; `below` tells how many parts at the end of `path`, the
    /// path in reports, may be cut off for the package's name.
    fn place(&mut self, whole: &Path, path: &Path, below: usize) -> Place {
        let folder = self.real(whole.parent().unwrap_or(Path::new("/")));
        let location = folder.join(whole.file_name().unwrap_or_default());
        let (package, package_name) = match self.distribution(whole, path, below) {
            Some(found) => found,
            None => self.root(whole, &location),
        };
        Place {
            package,
            package_name,
            location,
            aliases: Vec::new(),
            named: false,
        }
    }

    fn distribution(
        &mut self,
        whole: &Path,
        path: &Path,
        below: usize,
    ) -> Option<(PathBuf, String)> {
        let parts: Vec<Component<'_>> = whole.components().collect();
        // The innermost: environments lie within environments.
        let site = parts.iter().rposition(|part| {
            matches!(part, Component::Normal(name) if *name == "site-packages" || *name == "dist-packages")
        })?;
        let Component::Normal(name) = parts.get(site + 1)? else {
            return None;
        };
        let name = name.to_string_lossy();
        let name = name.strip_suffix(".libs").unwrap_or(&name);
        let folder: PathBuf = parts[..=site].iter().collect();
        let inside = parts.len() - (site + 2);
        let shown = if inside < below {
            let shown: Vec<Component<'_>> = path.components().collect();
            let shown: PathBuf = shown[..shown.len() - inside].iter().collect();
            shown.with_file_name(name)
        } else {
            folder.join(name)
        };
        Some((self.real(&folder).join(name), shown.display().to_string()))
    }

    /// The outermost of the folders that were named and hold the file.
    fn root(&self, whole: &Path, location: &Path) -> (PathBuf, String) {
        let holds = |root: &Path| whole.starts_with(root) || location.starts_with(root);
        let roots = self.roots.iter().filter(|(root, _)| holds(root));
        roots
            .min_by_key(|(root, _)| root.components().count())
            .cloned()
            .unwrap_or_else(|| (PathBuf::new(), LOOSE.to_string()))
    }

    fn real(&mut self, folder: &Path) -> PathBuf {
        if let Some(known) = self.folders.get(folder) {
            return known.clone();
        }
        // What is gone meanwhile is told of when it is opened.
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        self.folders.insert(folder.to_path_buf(), real.clone());
        real
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(root: &str, path: &str) -> (String, String) {
        let mut places = Places::new(&[]);
        places.roots = vec![(root.into(), root.into())];
        let place = places.of_found(Path::new(root), Path::new(path));
        (place.package.display().to_string(), place.package_name)
    }

    #[test]
    fn distributions_in_site_packages_are_packages() {
        for (path, package) in [
            (
                "/venv/lib/site-packages/tvm/lib/a.so",
                "/venv/lib/site-packages/tvm",
            ),
            (
                "/venv/lib/site-packages/tvm.libs/b.so",
                "/venv/lib/site-packages/tvm",
            ),
            (
                "/venv/site-packages/a/site-packages/b/c.so",
                "/venv/site-packages/a/site-packages/b",
            ),
            ("/venv/lib/c.so", "/venv"),
        ] {
            assert_eq!(found("/venv", path), (package.into(), package.into()));
        }
        // Also where the folder that was named lies within the distribution.
        let within = found(
            "/venv/site-packages/tvm/lib",
            "/venv/site-packages/tvm/lib/a.so",
        );
        assert_eq!(within.0, "/venv/site-packages/tvm");
    }

    #[test]
    fn members_of_archives_lie_in_the_archive() {
        let wheel = Place {
            location: "/dist/x.whl".into(),
            ..Place::default()
        };
        let member = wheel.inside("x.whl", "pkg/lib/../a.so");
        assert_eq!(member.location, Path::new("/dist/x.whl!/pkg/a.so"));
        assert_eq!(member.package, Path::new("/dist/x.whl!"));
        assert_eq!(normal(Path::new("/a/../../b/./c")), Path::new("/b/c"));
    }
}
