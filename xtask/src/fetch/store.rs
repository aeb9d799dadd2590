//! The cache folder and how a thing gets into it.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::fetch::Missing;

/// The cache folder; it may not exist yet.
///
/// # Errors
///
/// None of `HIPLAZY_CACHE`, `XDG_CACHE_HOME` and `HOME` is set.
pub fn cache() -> Result<PathBuf, Missing> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    if let Some(path) = variable("HIPLAZY_CACHE") {
        return Ok(PathBuf::from(path));
    }
    if let Some(path) = variable("XDG_CACHE_HOME") {
        return Ok(PathBuf::from(path).join("hiplazy"));
    }
    match variable("HOME") {
        Some(home) => Ok(PathBuf::from(home).join(".cache/hiplazy")),
        None => Err(Missing::new(
            "the cache folder",
            "none of HIPLAZY_CACHE, XDG_CACHE_HOME and HOME is set; set HIPLAZY_CACHE",
        )),
    }
}

/// The folder `name` of the cache, filled by `fill` if it is not there yet.
///
/// `fill` gets an empty folder beside the final one; only when it succeeds does
/// the folder get its name. Other processes that want the same thing wait.
pub(crate) fn folder(
    name: &str,
    fill: impl FnOnce(&Path) -> Result<(), Missing>,
) -> Result<PathBuf, Missing> {
    let cache = cache()?;
    let place = cache.join(name);
    if place.is_dir() {
        return Ok(place);
    }
    let failed = |what: &str, path: &Path, error: std::io::Error| {
        Missing::new(name, format!("{what} {}: {error}", path.display()))
    };
    let _lock = lock(name)?;
    if place.is_dir() {
        return Ok(place);
    }

    eprintln!("fetch: {name} ...");
    let filling = tempfile::Builder::new()
        .prefix(&format!(".{name}-"))
        .tempdir_in(&cache)
        .map_err(|error| failed("cannot create a folder in", &cache, error))?;
    let content = filling.path().join("content");
    fs::create_dir(&content).map_err(|error| failed("cannot create", &content, error))?;
    fill(&content)?;
    fs::rename(&content, &place).map_err(|error| failed("cannot create", &place, error))?;
    eprintln!("fetch: {name} is in {}", place.display());
    Ok(place)
}

/// Waits until no other process is fetching `name`. Dropping the file unlocks it, also
/// when this process dies.
pub(crate) fn lock(name: &str) -> Result<File, Missing> {
    let cache = cache()?;
    let path = cache.join(format!(".{name}.lock"));
    let locked = || {
        fs::create_dir_all(&cache)?;
        let file = File::create(&path)?;
        file.lock()?;
        Ok(file)
    };
    locked().map_err(|error: std::io::Error| {
        Missing::new(name, format!("cannot lock {}: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since the cache folder comes from the environment.
    #[test]
    fn a_thing_is_complete_or_not_there() {
        let cache = tempfile::tempdir().unwrap();
        // SAFETY: no other test of this crate reads or writes the environment.
        unsafe { env::set_var("HIPLAZY_CACHE", cache.path()) };

        let failed = folder("thing", |content| {
            fs::write(content.join("half"), "").unwrap();
            Err(Missing::new("thing", "the network is down"))
        });
        assert!(failed.is_err());
        assert!(!cache.path().join("thing").exists());

        let fill = |content: &Path| {
            fs::write(content.join("whole"), "").unwrap();
            Ok(())
        };
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(move || folder("thing", fill)))
            .collect();
        for thread in threads {
            let place = thread.join().unwrap().unwrap();
            assert!(place.join("whole").is_file());
        }
        let again = folder("thing", |_| Err(Missing::new("thing", "asked twice")));
        assert_eq!(again.unwrap(), cache.path().join("thing"));
    }
}
