//! Which file a need means: where the dynamic linker looks for it, as far as files alone
//! tell.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::package::Member;
use super::place::normal;
use crate::elf::Object;

/// What a need is answered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// A file that is looked at, by its number.
    Member(usize),
    /// A file that is there and is not looked at.
    Outside(PathBuf),
    /// Nothing that is known here: the system's, or one of several.
    Unknown,
}

/// The files that are looked at, by what they are found by.
pub(super) struct Search<'a> {
    members: &'a [Member],
    by_location: HashMap<&'a Path, usize>,
    by_name: HashMap<(&'a Path, &'a str), Vec<usize>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(members: &'a [Member]) -> Search<'a> {
        let mut by_location = HashMap::new();
        let mut by_name = HashMap::<_, Vec<usize>>::new();
        for (number, member) in members.iter().enumerate() {
            let place = &member.place;
            let locations = || place.aliases.iter().chain([&place.location]);
            for location in locations() {
                by_location.insert(location.as_path(), number);
            }
            let names = locations().filter_map(|location| location.file_name()?.to_str());
            for name in names.chain([member.object.called()]) {
                let numbers = by_name.entry((place.package.as_path(), name)).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
        }
        Search {
            members,
            by_location,
            by_name,
        }
    }

    /// What a member's need means.
    pub(super) fn answer(&self, member: &Member, needed: &str) -> Answer {
        let origin = member.place.location.parent().unwrap_or(Path::new("/"));
        let name = needed.rsplit('/').next().unwrap_or(needed);
        if needed.contains('/') {
            for path in expanded(needed, origin, member.object.machine) {
                if let Some(found) = self.at(member, &path, true) {
                    return found;
                }
                // Nobody else is asked where the place is said.
                if needed.starts_with('/') {
                    return Answer::Unknown;
                }
            }
        } else {
            for entry in search_path(&member.object) {
                let fixed = begins_with_token(entry, "ORIGIN");
                for folder in expanded(entry, origin, member.object.machine) {
                    if let Some(found) = self.at(member, &folder.join(name), fixed) {
                        return found;
                    }
                }
            }
        }
        self.nearest(member, origin, name)
    }

    /// The file of this path; those outside only if `outside` asks for them.
    fn at(&self, member: &Member, path: &Path, outside: bool) -> Option<Answer> {
        let fits = |number: &usize| self.members[*number].object.machine == member.object.machine;
        let known = |path: &Path| self.by_location.get(path).copied().filter(fits);
        if let Some(number) = known(&normal(path)) {
            return Some(Answer::Member(number));
        }
        // By way of links to folders, which the spelling does not show.
        let folder = fs::canonicalize(path.parent()?).ok()?;
        let path = folder.join(path.file_name()?);
        if let Some(number) = known(&path) {
            return Some(Answer::Member(number));
        }
        (outside && path.is_file() && !self.by_location.contains_key(path.as_path()))
            .then_some(Answer::Outside(path))
    }

    /// Where no search path tells, packages load their libraries in an order of their own:
    /// the one in the same folder, or the only one of the package.
    fn nearest(&self, member: &Member, origin: &Path, name: &str) -> Answer {
        if let Some(found) = self.at(member, &origin.join(name), false) {
            return found;
        }
        let package = member.place.package.as_path();
        let Some(all) = self.by_name.get(&(package, name)) else {
            return Answer::Unknown;
        };
        let fits = |number: &&usize| self.members[**number].object.machine == member.object.machine;
        let beside =
            |number: &&usize| self.members[**number].place.location.parent() == Some(origin);
        let all: Vec<&usize> = all.iter().filter(fits).collect();
        let near: Vec<&usize> = all.iter().copied().filter(beside).collect();
        match (&near[..], &all[..]) {
            ([only], _) | ([], [only]) => Answer::Member(**only),
            _ => Answer::Unknown,
        }
    }
}

/// The entries that the dynamic linker searches: `DT_RPATH` does not count beside
/// `DT_RUNPATH`, and one that is empty altogether is as none.
pub(super) fn search_path(object: &Object) -> &[String] {
    let entries = if object.runpath.is_empty() {
        &object.rpath
    } else {
        &object.runpath
    };
    if matches!(&entries[..], [only] if only.is_empty()) {
        return &[];
    }
    entries
}

/// Whether a text begins with a token of the dynamic linker's (`$ORIGIN`, `${ORIGIN}`);
/// a letter, digit or underscore behind it makes it another word.
pub(super) fn begins_with_token(text: &str, token: &str) -> bool {
    after_token(text, token).is_some()
}

fn after_token<'a>(text: &'a str, token: &str) -> Option<&'a str> {
    let text = text.strip_prefix('$')?;
    if let Some(braced) = text.strip_prefix('{') {
        return braced.strip_prefix(token)?.strip_prefix('}');
    }
    let rest = text.strip_prefix(token)?;
    let goes_on = rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_');
    (!goes_on).then_some(rest)
}

/// The absolute paths that an entry can mean: `$LIB` is another folder on each
/// distribution. None for relative ones, which depend on the current folder.
fn expanded(entry: &str, origin: &Path, machine: u16) -> Vec<PathBuf> {
    let platform = match object::elf::Machine(machine) {
        object::elf::EM_AARCH64 => "aarch64",
        _ => "x86_64",
    };
    let multiarch = format!("lib/{platform}-linux-gnu");
    let origin = origin.to_string_lossy();
    let tokens: [(&str, &[&str]); 3] = [
        ("ORIGIN", &[&origin]),
        ("LIB", &["lib64", "lib", &multiarch]),
        ("PLATFORM", &[platform]),
    ];
    let mut texts = vec![String::new()];
    let mut rest = entry;
    while let Some(first) = rest.chars().next() {
        let token = tokens
            .iter()
            .find_map(|(token, values)| Some((after_token(rest, token)?, *values)));
        let (values, left): (Vec<&str>, &str) = match token {
            Some((left, values)) => (values.to_vec(), left),
            None => {
                let (this, left) = rest.split_at(first.len_utf8());
                (vec![this], left)
            }
        };
        // Only a hostile entry has more than a few.
        if texts.len() * values.len() > 64 {
            return Vec::new();
        }
        texts = texts
            .iter()
            .flat_map(|text| values.iter().map(move |value| format!("{text}{value}")))
            .collect();
        rest = left;
    }
    let paths = texts.into_iter().map(PathBuf::from);
    paths.filter(|path| path.is_absolute()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_expanded_as_the_dynamic_linker_does() {
        let of = |entry: &str| {
            let paths = expanded(entry, Path::new("/site/pkg"), 62);
            let paths = paths.iter().map(|path| normal(path).display().to_string());
            paths.collect::<Vec<_>>()
        };
        assert_eq!(of("$ORIGIN/../lib"), ["/site/lib"]);
        assert_eq!(of("${ORIGIN}.libs"), ["/site/pkg.libs"]);
        assert_eq!(of("/opt/$PLATFORM"), ["/opt/x86_64"]);
        assert_eq!(
            of("/usr/$LIB/rocm"),
            [
                "/usr/lib64/rocm",
                "/usr/lib/rocm",
                "/usr/lib/x86_64-linux-gnu/rocm"
            ]
        );
        for relative in ["$LIB/x", "$FOO/y", "$ORIGINAL/x", "lib", "", "${ORIGIN/x"] {
            assert_eq!(of(relative), [""; 0], "{relative}");
        }
        assert_eq!(of(&"/$LIB".repeat(40)), [""; 0]);
    }
}
