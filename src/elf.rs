//! Whether `dlopen` would survive a file, and what the file calls itself.
//!
//! ld.so maps a file that was cut short and then dies of SIGBUS while relocating
//! it, and it runs the constructors of whatever it is given. So a path is looked at
//! first: a readable regular file, an ELF shared object of this machine, whole. Its
//! `DT_SONAME` tells a stub before any of its code has run.

use core::ffi::{CStr, c_int};
use core::mem::{MaybeUninit, size_of};

use libc::{Elf64_Ehdr, Elf64_Phdr};

use crate::dl::{self, Dyn};
use crate::errno;
use crate::shortage;
use crate::text::Text;

#[cfg(target_arch = "x86_64")]
const MACHINE: u16 = libc::EM_X86_64;
#[cfg(target_arch = "aarch64")]
const MACHINE: u16 = libc::EM_AARCH64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const MACHINE: u16 = libc::EM_NONE;

/// Why a file is not tried. [`Self::Absent`] is the ordinary case of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unfit {
    Absent,
    Error(c_int),
    NotAFile,
    NotElf,
    WrongClass,
    WrongMachine,
    NotShared,
    Truncated,
}

impl Unfit {
    pub(crate) fn describe(self, text: &mut Text) {
        match self {
            Unfit::Absent => text.str("no such file"),
            Unfit::Error(libc::EACCES) => text.str("not readable: permission denied"),
            Unfit::Error(libc::EMFILE | libc::ENFILE) => {
                text.str("cannot be read: no file descriptors left")
            }
            Unfit::Error(errno) => text.str("cannot be read: errno ").number(errno as u64),
            Unfit::NotAFile => text.str("not a regular file"),
            Unfit::NotElf => text.str("not an ELF file"),
            Unfit::WrongClass => text.str("a 32-bit library; this process is 64-bit"),
            Unfit::WrongMachine => text.str("a library for another processor"),
            Unfit::NotShared => text.str("an ELF file but not a shared object"),
            Unfit::Truncated => {
                text.str("truncated: a segment lies past the end of the file; reinstall it")
            }
        };
    }
}

/// A file's `DT_SONAME`; empty if it has none. Cut at [`SONAME_SIZE`] bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Soname {
    bytes: [u8; SONAME_SIZE],
    len: usize,
}

const SONAME_SIZE: usize = 128;

impl Soname {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(b"")
    }
}

/// Checks the file at `path`.
pub(crate) fn check(path: &CStr) -> Result<Soname, Unfit> {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: a C string and flags; no memory is passed.
    let file = unsafe { libc::open(path.as_ptr(), flags) };
    if file < 0 {
        return Err(match errno::get() {
            libc::ENOENT | libc::ENOTDIR => Unfit::Absent,
            other => {
                shortage::by_errno(other);
                Unfit::Error(other)
            }
        });
    }
    let result = check_file(file);
    // SAFETY: the descriptor was opened above and is used by nobody else.
    unsafe { libc::close(file) };
    result
}

fn check_file(file: c_int) -> Result<Soname, Unfit> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: `status` is writable; it is read only after success.
    let status = unsafe {
        if libc::fstat(file, status.as_mut_ptr()) != 0 {
            return Err(Unfit::Error(errno::get()));
        }
        status.assume_init()
    };
    if status.st_mode & libc::S_IFMT != libc::S_IFREG {
        return Err(Unfit::NotAFile);
    }
    let size = u64::try_from(status.st_size).unwrap_or(0);

    let mut ident = [0u8; 5];
    read_at(file, 0, &mut ident).map_err(|_| Unfit::NotElf)?;
    let [magic @ .., class] = ident;
    if magic != *b"\x7fELF" {
        return Err(Unfit::NotElf);
    }
    if class != 2 {
        return Err(Unfit::WrongClass);
    }
    let header: Elf64_Ehdr = read_record(file, 0)?;
    if MACHINE != libc::EM_NONE && header.e_machine != MACHINE {
        return Err(Unfit::WrongMachine);
    }
    if header.e_type != libc::ET_DYN {
        return Err(Unfit::NotShared);
    }
    if header.e_phentsize as usize != size_of::<Elf64_Phdr>() {
        return Err(Unfit::NotElf);
    }
    let mut dynamic = None;
    for segment in segments(file, &header) {
        let segment = segment?;
        let end = segment.p_offset.saturating_add(segment.p_filesz);
        match segment.p_type {
            libc::PT_LOAD if end > size => return Err(Unfit::Truncated),
            libc::PT_DYNAMIC => dynamic = Some(segment),
            _ => {}
        }
    }
    Ok(dynamic.map_or(NO_SONAME, |dynamic| soname(file, &header, &dynamic)))
}

const NO_SONAME: Soname = Soname {
    bytes: [0; SONAME_SIZE],
    len: 0,
};

fn segments(file: c_int, header: &Elf64_Ehdr) -> impl Iterator<Item = Result<Elf64_Phdr, Unfit>> {
    let start = header.e_phoff;
    (0..u64::from(header.e_phnum)).map(move |index| {
        read_record(
            file,
            start.saturating_add(index * size_of::<Elf64_Phdr>() as u64),
        )
    })
}

/// The name in the file's dynamic section; empty if it cannot be read.
fn soname(file: c_int, header: &Elf64_Ehdr, dynamic: &Elf64_Phdr) -> Soname {
    let (mut strings, mut name) = (None, None);
    for index in 0..dynamic.p_filesz / size_of::<Dyn>() as u64 {
        let offset = dynamic
            .p_offset
            .saturating_add(index * size_of::<Dyn>() as u64);
        let Ok(Dyn { tag, value }) = read_record(file, offset) else {
            break;
        };
        match tag {
            dl::DT_NULL => break,
            dl::DT_STRTAB => strings = Some(value as u64),
            dl::DT_SONAME => name = Some(value as u64),
            _ => {}
        }
    }
    let (Some(strings), Some(name)) = (strings, name) else {
        return NO_SONAME;
    };
    // The string table is named by its address, so it is looked for in what is loaded.
    let holder = segments(file, header).flatten().find(|segment| {
        let end = segment.p_vaddr.saturating_add(segment.p_filesz);
        segment.p_type == libc::PT_LOAD && (segment.p_vaddr..end).contains(&strings)
    });
    let Some(holder) = holder else {
        return NO_SONAME;
    };
    let offset = (strings - holder.p_vaddr)
        .saturating_add(holder.p_offset)
        .saturating_add(name);
    let mut bytes = [0; SONAME_SIZE];
    let count = read_some(file, offset, &mut bytes).unwrap_or(0);
    let read = bytes.get(..count).unwrap_or(b"");
    let len = read.iter().position(|byte| *byte == 0).unwrap_or(count);
    Soname { bytes, len }
}

/// A record of plain integers, as `Elf64_Ehdr` and `Elf64_Phdr` are.
///
/// # Safety
///
/// Every pattern of bytes is a value of the type.
unsafe trait Record: Copy {}
// SAFETY: integers and arrays of integers only.
unsafe impl Record for Elf64_Ehdr {}
// SAFETY: integers only.
unsafe impl Record for Elf64_Phdr {}
// SAFETY: integers only.
unsafe impl Record for Dyn {}

fn read_record<T: Record>(file: c_int, offset: u64) -> Result<T, Unfit> {
    let mut record = MaybeUninit::<T>::zeroed();
    // SAFETY: the record's own memory, zeroed, as bytes.
    let bytes = unsafe {
        core::slice::from_raw_parts_mut(record.as_mut_ptr().cast::<u8>(), size_of::<T>())
    };
    read_at(file, offset, bytes)?;
    // SAFETY: any bytes are a `Record`.
    Ok(unsafe { record.assume_init() })
}

fn read_at(file: c_int, offset: u64, bytes: &mut [u8]) -> Result<(), Unfit> {
    let wanted = bytes.len();
    match read_some(file, offset, bytes)? {
        count if count == wanted => Ok(()),
        _ => Err(Unfit::Truncated),
    }
}

/// Reads as much of `bytes` as the file has there.
fn read_some(file: c_int, offset: u64, bytes: &mut [u8]) -> Result<usize, Unfit> {
    let Ok(offset) = libc::off_t::try_from(offset) else {
        return Err(Unfit::Truncated);
    };
    // SAFETY: the buffer is writable for its length.
    let count = unsafe { libc::pread(file, bytes.as_mut_ptr().cast(), bytes.len(), offset) };
    usize::try_from(count).map_err(|_| Unfit::Error(errno::get()))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::ffi::CString;
    use std::format;
    use std::vec::Vec;

    fn checked(bytes: &[u8]) -> Result<Soname, Unfit> {
        let name = format!(
            "hiplazy-elf-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        let result = check(&CString::new(path.to_str().unwrap()).unwrap());
        std::fs::remove_file(&path).unwrap();
        result
    }

    fn a_library() -> Vec<u8> {
        let mapped = crate::dl::Mapped::list(|name| name.starts_with(b"libc.so")).unwrap();
        let name = mapped.names().next().unwrap().to_str().unwrap();
        std::fs::read(name).unwrap()
    }

    #[test]
    fn a_whole_library_passes() {
        assert_eq!(
            checked(&a_library()).map(|soname| soname.bytes().to_vec()),
            Ok(b"libc.so.6".to_vec())
        );
    }

    #[test]
    fn a_cut_library_is_seen_at_every_length() {
        let library = a_library();
        for length in [5, 63, 64, 100, 4096, library.len() / 2] {
            let result = checked(&library[..length]);
            assert_eq!(result, Err(Unfit::Truncated), "cut to {length}");
        }
        assert_eq!(checked(&[]), Err(Unfit::NotElf));
    }

    #[test]
    fn other_files_are_named() {
        assert_eq!(check(c"/no/such/file"), Err(Unfit::Absent));
        assert_eq!(check(c"/etc/passwd/file"), Err(Unfit::Absent));
        assert_eq!(check(c"/tmp"), Err(Unfit::NotAFile));
        assert_eq!(check(c"/dev/null"), Err(Unfit::NotAFile));
        assert_eq!(
            checked(b"/* GNU ld script */\nINPUT(libamdhip64.so.7)\n"),
            Err(Unfit::NotElf)
        );
        let mut library = a_library();
        library[4] = 1;
        assert_eq!(checked(&library), Err(Unfit::WrongClass));
        library[4] = 2;
        library[18] = 8;
        assert_eq!(checked(&library), Err(Unfit::WrongMachine));
        let mut library = a_library();
        library[16] = 2;
        assert_eq!(checked(&library), Err(Unfit::NotShared));
    }
}
