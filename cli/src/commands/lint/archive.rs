//! Wheels and other zip files, read in place: only members that begin like an ELF file
//! are inflated, each on a processor of its own; and wheels within a zip file.

use std::io::{self, BufWriter, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use zip::ZipArchive;
use zip::result::ZipError;

use super::{Looked, look_at, packed, place::Place, progress::Progress};
use crate::contents::Contents;
use crate::names::Names;
use crate::report::Unreadable;

/// What is inflated at most. A hostile file of a few megabytes can say that it holds
/// terabytes; the largest wheels of ROCm hold some ten gigabytes.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Of one member.
    pub(super) member: u64,
    /// Of a file given to look at, with all that is in it.
    pub(super) whole: u64,
    /// In memory at one time, on all processors. Larger members go through a file.
    pub(super) memory: u64,
}

impl Limits {
    pub(super) const USUAL: Limits = Limits {
        member: 8 << 30,
        whole: 32 << 30,
        memory: 512 << 20,
    };
}

/// How much is written to a file at a time.
const BUFFER: usize = 1 << 20;

/// No deflated byte stands for more than these.
const DEFLATE: u64 = 1032;

/// A zip file, and how deep it lies in others.
pub(super) struct Archive<'a> {
    limits: Limits,
    /// What has been inflated of the file that was given.
    inflated: AtomicU64,
    names: &'a Names,
    progress: &'a Progress,
}

/// Whether a file is a wheel, by name and contents.
pub(super) fn is_archive(path: &Path, data: &[u8]) -> bool {
    if packed::kind(&path.to_string_lossy(), data).is_some() {
        return false;
    }
    let named = path.extension().is_some_and(|ending| {
        ending.eq_ignore_ascii_case("whl") || ending.eq_ignore_ascii_case("zip")
    });
    named || data.starts_with(b"PK\x03\x04") || is_program(data)
}

/// Whether this is a program of Python's zipapp: a first line for the shell, then a zip
/// file, whose directory is at the end, before a comment of 64 KiB at most.
fn is_program(data: &[u8]) -> bool {
    let end = &data[data.len().saturating_sub((64 << 10) + 22)..];
    data.starts_with(b"#!") && memchr::memmem::find(end, b"PK\x05\x06").is_some()
}

fn ends_with(path: &str, ending: &str) -> bool {
    path.to_lowercase().ends_with(ending)
}

impl<'a> Archive<'a> {
    pub(super) fn new(limits: Limits, names: &'a Names, progress: &'a Progress) -> Archive<'a> {
        Archive {
            limits,
            inflated: AtomicU64::new(0),
            names,
            progress,
        }
    }

    /// Looks at the members of the zip file in `data`.
    pub(super) fn look(&self, path: &str, place: &Place, data: &[u8]) -> Vec<Looked> {
        self.look_into(path, place, data, true)
    }

    fn look_into(&self, path: &str, place: &Place, data: &[u8], outer: bool) -> Vec<Looked> {
        let archive = match ZipArchive::new(Cursor::new(data)) {
            Ok(archive) => archive,
            // Data that packages carry for their tests, for example.
            Err(_) if !outer && !ends_with(path, ".whl") => {
                return vec![Looked::Passed("other files")];
            }
            Err(error) => {
                let why = format!("is no wheel that can be read: {}", reason(&error));
                return unreadable(path, why);
            }
        };
        self.progress.more(archive.len());
        (0..archive.len())
            .into_par_iter()
            // The largest member decides how long it takes, so every member is a task.
            .with_max_len(1)
            .flat_map_iter(|index| {
                let looked = self.member(archive.clone(), index, path, place, outer);
                self.progress.step();
                looked
            })
            .collect()
    }

    /// Looks at one member; nothing for a folder.
    fn member(
        &self,
        mut archive: ZipArchive<Cursor<&[u8]>>,
        index: usize,
        wheel: &str,
        place: &Place,
        outer: bool,
    ) -> Vec<Looked> {
        let mut path = format!("{wheel}!member {index}");
        let mut file = match archive.by_index(index) {
            Ok(file) => file,
            Err(error) => {
                return unreadable(&path, format!("cannot be read: {}", reason(&error)));
            }
        };
        if let Ok(name) = file.name() {
            path = format!("{wheel}!{name}");
        }
        if file.is_dir() {
            return Vec::new();
        }
        let mut magic = [0; 8];
        let start = match read_start(&mut file, &mut magic) {
            Ok(start) => start,
            Err(error) => return unreadable(&path, format!("cannot be inflated: {error}")),
        };
        let place = place.inside(wheel, &path[wheel.len() + 1..]);
        let is_zip = start.starts_with(b"PK\x03\x04");
        let is_wheel = is_zip && (ends_with(&path, ".whl") || ends_with(&path, ".zip"));
        if let Some(packed) = packed::kind(&path, start) {
            return vec![packed.looked(&path, false)];
        } else if start == b"!<arch>\n" {
            return vec![Looked::Passed("static libraries")];
        } else if is_wheel && !outer && ends_with(&path, ".zip") {
            return vec![Looked::Passed(packed::NOT_LOOKED_INTO)];
        } else if is_wheel && !outer {
            let why =
                "is a wheel within a wheel within a zip file; unpack the outer one to look at it";
            return unreadable(&path, why.into());
        } else if !is_wheel && !start.starts_with(b"\x7fELF") {
            return vec![Looked::Passed("other files")];
        }
        let (size, packed) = (file.size(), file.compressed_size());
        if let Err(why) = self.allow(size, packed) {
            return unreadable(&path, why);
        }
        let inflated = self.inflate(start, &mut file, size, is_wheel);
        drop(file);
        match inflated {
            Ok(inflated) if is_wheel => self.look_into(&path, &place, inflated.bytes(), false),
            Ok(inflated) => {
                let looked = look_at(&path, inflated.bytes(), place, self.names);
                match inflated.cut() {
                    Some(why) => unreadable(&path, why.into()),
                    None => vec![looked],
                }
            }
            Err(error) => unreadable(&path, format!("cannot be inflated: {error}")),
        }
    }

    /// Whether a member of this size is inflated, or why not.
    fn allow(&self, size: u64, packed: u64) -> Result<(), String> {
        let says = format!("says that it holds {size} bytes");
        if size / DEFLATE > packed {
            return Err(format!("{says}, which its {packed} cannot inflate to"));
        }
        let Limits { member, whole, .. } = self.limits;
        if size > member {
            return Err(format!("{says}; more than {member} are not inflated"));
        }
        let before = self.inflated.fetch_add(size, Ordering::Relaxed);
        if before.saturating_add(size) > whole {
            return Err(format!(
                "{says}; more than {whole} of one file are not inflated, unpack it to look at all of it"
            ));
        }
        Ok(())
    }

    /// Inflates a member that begins with `start`.
    fn inflate(
        &self,
        start: &[u8],
        rest: &mut impl Read,
        size: u64,
        into_file: bool,
    ) -> io::Result<Inflated> {
        let threads = rayon::current_num_threads().max(1) as u64;
        // One more than it says, to find out.
        let mut member = start.chain(rest).take(size.saturating_add(1));
        let (inflated, length) = if into_file || size > self.limits.memory / threads {
            let mut file = BufWriter::with_capacity(BUFFER, tempfile::tempfile()?);
            let length = io::copy(&mut member, &mut file)?;
            let file = file.into_inner().map_err(|error| error.into_error())?;
            (Inflated::File(Contents::of(&file)?), length)
        } else {
            let mut data = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
            let length = member.read_to_end(&mut data)? as u64;
            (Inflated::Memory(data), length)
        };
        if length > size {
            return Err(io::Error::other("it holds more than it says"));
        }
        Ok(inflated)
    }
}

/// A member, inflated.
enum Inflated {
    Memory(Vec<u8>),
    /// In a file without a name, which ends with this.
    File(Contents),
}

impl Inflated {
    fn bytes(&self) -> &[u8] {
        match self {
            Inflated::Memory(data) => data,
            Inflated::File(contents) => contents,
        }
    }

    /// A full disk shows when the file's pages are read.
    fn cut(&self) -> Option<&'static str> {
        match self {
            Inflated::Memory(_) => None,
            Inflated::File(contents) => contents.cut(),
        }
    }
}

fn unreadable(path: &str, why: String) -> Vec<Looked> {
    vec![Looked::Unreadable(Unreadable {
        path: path.into(),
        why,
    })]
}

/// Reads up to eight bytes.
fn read_start<'a>(file: &mut impl Read, start: &'a mut [u8; 8]) -> io::Result<&'a [u8]> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const MEGABYTE: usize = 1 << 20;

    /// A zip file with this program as both members, and how many bytes that is.
    fn zipped() -> (Vec<u8>, u64) {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        for name in ["a/one", "a/two"] {
            archive.start_file(name, options).unwrap();
            archive.write_all(&program).unwrap();
        }
        let data = archive.finish().unwrap().into_inner();
        (data, program.len() as u64)
    }

    /// How many objects were looked at, and why others were not.
    fn looked(data: &[u8], limits: Limits) -> (usize, Vec<String>) {
        let names = Names::default();
        let progress = Progress::hidden();
        let looked = Archive::new(limits, &names, &progress).look("x.whl", &Place::default(), data);
        let objects = looked
            .iter()
            .filter(|one| matches!(one, Looked::Object { .. }));
        let objects = objects.count();
        let why = looked.into_iter().filter_map(|one| match one {
            Looked::Unreadable(unreadable) => Some(unreadable.why),
            _ => None,
        });
        (objects, why.collect())
    }

    #[test]
    fn members_and_whole_files_have_limits() {
        let (data, size) = zipped();
        let usual = Limits::USUAL;
        assert_eq!(looked(&data, usual), (2, vec![]));
        let (objects, why) = looked(
            &data,
            Limits {
                member: size - 1,
                ..usual
            },
        );
        assert_eq!((objects, why.len()), (0, 2));
        assert!(why[0].contains("are not inflated"), "{}", why[0]);
        let (objects, why) = looked(
            &data,
            Limits {
                whole: 2 * size - 1,
                ..usual
            },
        );
        assert_eq!((objects, why.len()), (1, 1));
        assert!(
            why[0].contains("of one file are not inflated"),
            "{}",
            why[0]
        );
    }

    #[test]
    fn what_is_too_large_for_memory_is_looked_at_in_a_file() {
        let (data, size) = zipped();
        let limits = Limits {
            memory: 1,
            ..Limits::USUAL
        };
        assert_eq!(looked(&data, limits), (2, vec![]));
        let (names, progress) = (Names::default(), Progress::hidden());
        let archive = Archive::new(limits, &names, &progress);
        let inflate = |memory: u64| {
            let archive = Archive {
                limits: Limits { memory, ..limits },
                inflated: AtomicU64::new(0),
                ..archive
            };
            archive.inflate(b"start", &mut io::repeat(1).take(95), 100, false)
        };
        let expected = [b"start".to_vec(), vec![1; 95]].concat();
        let in_file = inflate(1).unwrap();
        assert!(matches!(in_file, Inflated::File(..)));
        assert_eq!(in_file.bytes(), expected);
        let in_memory = inflate(size).unwrap();
        assert!(matches!(in_memory, Inflated::Memory(_)));
        assert_eq!(in_memory.bytes(), expected);
    }

    #[test]
    fn a_member_that_lies_about_its_size_is_refused() {
        let (names, progress) = (Names::default(), Progress::hidden());
        let archive = Archive::new(Limits::USUAL, &names, &progress);
        // Endless: it would never return if it read on.
        let endless = archive.inflate(b"", &mut io::repeat(0), MEGABYTE as u64, false);
        let why = endless.err().unwrap().to_string();
        assert_eq!(why, "it holds more than it says");
        let why = archive.allow(1 << 30, 1 << 10).unwrap_err();
        assert!(why.contains("which its 1024 cannot inflate to"), "{why}");
        assert_eq!(archive.allow(1032 << 10, 1 << 10), Ok(()));
    }
}
