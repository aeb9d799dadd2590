//! Wheels, read in place: only members that begin like an ELF file are inflated, each on
//! a processor of its own.

use std::io::{Cursor, Read};
use std::path::Path;

use rayon::prelude::*;
use zip::ZipArchive;
use zip::result::ZipError;

use super::{Looked, look_at, progress::Progress};
use crate::names::Names;
use crate::report::Unreadable;

/// The largest member that is inflated. A hostile file of a few megabytes can say that
/// it holds terabytes.
const LARGEST: u64 = 8 << 30;

/// Whether a file is a wheel, by name and contents.
pub(super) fn is_wheel(path: &Path, data: &[u8]) -> bool {
    let named = path.extension().is_some_and(|ending| {
        ending.eq_ignore_ascii_case("whl") || ending.eq_ignore_ascii_case("zip")
    });
    named || data.starts_with(b"PK\x03\x04")
}

/// Looks at the members of the wheel in `data`.
pub(super) fn look(path: &str, data: &[u8], names: &Names, progress: &Progress) -> Vec<Looked> {
    let archive = match ZipArchive::new(Cursor::new(data)) {
        Ok(archive) => archive,
        Err(error) => {
            return vec![Looked::Unreadable(Unreadable {
                path: path.into(),
                why: format!("is no wheel that can be read: {}", reason(&error)),
            })];
        }
    };
    progress.more(archive.len());
    (0..archive.len())
        .into_par_iter()
        // The largest member decides how long it takes, so every member is a task.
        .with_max_len(1)
        .filter_map(|index| {
            let looked = member(archive.clone(), index, path, names);
            progress.step();
            looked
        })
        .collect()
}

/// Looks at one member; `None` for a folder.
fn member(
    mut archive: ZipArchive<Cursor<&[u8]>>,
    index: usize,
    wheel: &str,
    names: &Names,
) -> Option<Looked> {
    let mut path = format!("{wheel}!member {index}");
    let unreadable = |path: &str, why: String| {
        Some(Looked::Unreadable(Unreadable {
            path: path.into(),
            why,
        }))
    };
    let mut file = match archive.by_index(index) {
        Ok(file) => file,
        Err(error) => return unreadable(&path, format!("cannot be read: {}", reason(&error))),
    };
    if let Ok(name) = file.name() {
        path = format!("{wheel}!{name}");
    }
    if file.is_dir() {
        return None;
    }
    let mut magic = [0; 8];
    let mut data = match read_start(&mut file, &mut magic) {
        Ok(start) if start.starts_with(b"\x7fELF") => start.to_vec(),
        Ok(start) if start == b"!<arch>\n" => return Some(Looked::Passed("static libraries")),
        Ok(_) => return Some(Looked::Passed("other files")),
        Err(error) => return unreadable(&path, format!("cannot be inflated: {error}")),
    };
    if file.size() > LARGEST {
        let why = format!(
            "says that it holds {} bytes; more than {LARGEST} are not inflated",
            file.size()
        );
        return unreadable(&path, why);
    }
    // What a member says about its size is only a hint.
    let hint = usize::try_from(file.size().min(64 << 20)).unwrap_or(0);
    data.reserve_exact(hint.saturating_sub(data.len()));
    match file.take(LARGEST).read_to_end(&mut data) {
        Ok(_) => Some(look_at(&path, &data, wheel, false, names)),
        Err(error) => unreadable(&path, format!("cannot be inflated: {error}")),
    }
}

/// Reads up to eight bytes.
fn read_start<'a>(file: &mut impl Read, start: &'a mut [u8; 8]) -> std::io::Result<&'a [u8]> {
    let mut length = 0;
    while length < start.len() {
        match file.read(&mut start[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(&start[..length])
}

fn reason(error: &ZipError) -> String {
    match error {
        ZipError::UnsupportedArchive(what) => {
            format!("{what} (wheels are stored or deflated, without a password)")
        }
        other => other.to_string(),
    }
}
