//! What was loaded before everything else because `LD_PRELOAD` or `/etc/ld.so.preload`
//! say so.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::contents;
use crate::process::proc_folder::ProcFolder;
use crate::process::{Capture, World};

/// More of `/etc/ld.so.preload` is not read: the file is the process's own, in a
/// container that may be hostile.
const LONGEST: u64 = 64 << 10;

/// The places of the objects that are preloaded.
pub(super) fn objects(capture: &Capture, world: &World<'_>) -> BTreeSet<usize> {
    let folder = capture.folder();
    let secure = capture.auxiliary.get(libc::AT_SECURE) == Some(1);
    let variable = capture.environment.get("LD_PRELOAD");
    let system = system(&folder);
    let entries = of_variable(variable.map_or("", String::as_str))
        // With more rights than its caller's, only names are looked up, in trusted folders.
        .filter(|entry| !secure || !entry.contains('/'))
        .chain(of_file(&system));
    entries
        .filter_map(|entry| place_of(entry, &folder, world))
        .collect()
}

/// The places of the objects that are preloaded into what starts with the environment,
/// folder and root of this process, as a log names them.
pub(in crate::commands) fn of_own_environment(world: &World<'_>) -> BTreeSet<usize> {
    let own = ProcFolder::of(std::process::id());
    let variable = std::env::var_os("LD_PRELOAD").unwrap_or_default();
    let (variable, system) = (variable.to_string_lossy(), system(&own));
    let entries = of_variable(&variable).chain(of_file(&system));
    entries
        .filter_map(|entry| place_of(entry, &own, world))
        .collect()
}

/// The text of `/etc/ld.so.preload`, in the root of the process.
fn system(folder: &ProcFolder) -> String {
    let mut text = Vec::new();
    if let Ok(file) = folder.open(Path::new("/etc/ld.so.preload")) {
        // What was read before an error is there.
        let _ = file.take(LONGEST).read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn of_variable(value: &str) -> impl Iterator<Item = &str> {
    value.split([':', ' ']).filter(|entry| !entry.is_empty())
}

fn of_file(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines();
    lines
        .map(|line| line.split_once('#').map_or(line, |(before, _)| before))
        .flat_map(|line| line.split([':', ' ', '\t']))
        .filter(|entry| !entry.is_empty())
}

/// The object that an entry names.
fn place_of(entry: &str, folder: &ProcFolder, world: &World<'_>) -> Option<usize> {
    let mut places = 0..world.objects.len();
    let object = |place: usize| &world.objects[place].object;
    // Searched for by name; whatever has the same name elsewhere was loaded later. Where
    // `$LIB` and the like lead is not known here, except for the last part.
    if !entry.contains('/') || entry.contains('$') {
        let name = entry.rsplit('/').next().unwrap_or(entry);
        return places
            .find(|place| object(*place).called() == name || object(*place).file_name() == name);
    }
    let path = folder.current().join(entry);
    let resolved = contents::resolve(&folder.path("root"), &path).unwrap_or_else(|_| path.clone());
    let inode = folder
        .open(&path)
        .and_then(|file| file.metadata())
        .map(|metadata| metadata.ino())
        .ok();
    // `maps` has the real path, or the inode, or both: see `chroot` and layered file
    // systems. A log has the entry as it is.
    places.find(|place| {
        let path = Path::new(&object(*place).path);
        path == resolved || path == Path::new(entry) || inode == Some(world.objects[*place].inode)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_told_apart_as_the_dynamic_linker_does() {
        let of = |text| of_variable(text).collect::<Vec<_>>();
        assert_eq!(of("/a.so:b.so  c.so:"), ["/a.so", "b.so", "c.so"]);
        let text = "# all of it\n/a.so /b.so # not /c.so\n\td.so:e.so\n";
        let found: Vec<_> = of_file(text).collect();
        assert_eq!(found, ["/a.so", "/b.so", "d.so", "e.so"]);
    }
}
