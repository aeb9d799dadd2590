//! The folders in which ld.so looks for a name that this code asks for: RPATH,
//! `LD_LIBRARY_PATH` as it was at program start, RUNPATH, in ld.so's own order.
//!
//! ld.so maps the first file of the name without a look at it. One that was cut short
//! ends the process, and a stub is loaded in place of the runtime behind it. So these
//! folders are gone through here, and the right file is opened by its path. ld.so's
//! cache and its default folders are the system's, and left to ld.so.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::mem::{offset_of, size_of};
use core::ptr;

use crate::buffer::Buffer;
use crate::dl::{self, Object};

/// `Dl_serpath` (`<dlfcn.h>`).
#[repr(C)]
#[derive(Clone, Copy)]
struct SerPath {
    name: *const c_char,
    flags: c_uint,
}

/// The head of `Dl_serinfo`; more paths follow.
#[repr(C)]
struct SerInfo {
    size: usize,
    count: c_uint,
    paths: [SerPath; 1],
}

/// The folders, as ld.so answered once.
pub(crate) struct LibraryPath {
    /// A `SerInfo` with its paths and their strings.
    answer: Buffer,
}

impl LibraryPath {
    /// Asks ld.so about the object that holds `here`.
    pub(crate) fn of(here: *const c_void) -> Option<LibraryPath> {
        let handle = dl::open_mapped(Object::containing(here)?.name())?;
        let mut head = SerInfo {
            size: 0,
            count: 0,
            paths: [SerPath {
                name: ptr::null(),
                flags: 0,
            }],
        };
        ask(&handle, libc::RTLD_DI_SERINFOSIZE, ptr::from_mut(&mut head))?;
        let mut answer = Buffer::new(head.size.max(size_of::<SerInfo>()))?;
        let place = answer.as_mut_ptr().cast::<SerInfo>();
        // It wants the sizes in the record that it fills.
        ask(&handle, libc::RTLD_DI_SERINFOSIZE, place)?;
        ask(&handle, libc::RTLD_DI_SERINFO, place)?;
        Some(LibraryPath { answer })
    }

    /// The folders in their order, without the system's.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &CStr> {
        let info = self.answer.as_ptr();
        // SAFETY: `of` made ld.so fill the buffer with a `SerInfo`, whose `count` paths
        // lie behind one another at `paths`; calloc aligned it.
        let count = unsafe { (*info.cast::<SerInfo>()).count } as usize;
        (0..count)
            .filter_map(move |index| {
                // SAFETY: as above, and `index` is below the count; the names point into
                // the buffer itself.
                unsafe {
                    let first = info.byte_add(offset_of!(SerInfo, paths)).cast::<SerPath>();
                    let SerPath { name, .. } = *first.add(index);
                    (!name.is_null()).then(|| CStr::from_ptr(name))
                }
            })
            .filter(|folder| !is_default(folder.to_bytes()))
    }
}

/// Whether it is one of ld.so's default folders, which its answer ends with and, in
/// glibc, does not mark: `/lib`, `/usr/lib64`, `/lib/x86_64-linux-gnu` and so on.
fn is_default(folder: &[u8]) -> bool {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    let folder = folder.strip_prefix(b"/usr").unwrap_or(folder);
    match folder.strip_prefix(b"/lib") {
        Some(b"" | b"64") => true,
        Some(rest) => rest.starts_with(b"/") && rest.ends_with(b"-linux-gnu"),
        None => false,
    }
}

fn ask(handle: &dl::Handle, request: c_int, place: *mut SerInfo) -> Option<()> {
    // SAFETY: the record is writable: for the size request its head, for the paths the
    // size that ld.so itself asked for.
    unsafe { handle.info(request, place.cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_folders_are_told_from_others() {
        for folder in ["/lib", "/usr/lib/", "/lib64", "/usr/lib/x86_64-linux-gnu"] {
            assert!(is_default(folder.as_bytes()), "{folder}");
        }
        for folder in [
            "/opt/rocm/lib",
            "/usr/lib/rocm",
            "/usr/local/lib",
            "/libs",
            "lib",
            "",
        ] {
            assert!(!is_default(folder.as_bytes()), "{folder}");
        }
    }

    #[test]
    fn ld_so_tells_the_folders_of_this_program() {
        static HERE: u8 = 0;
        let path = LibraryPath::of((&raw const HERE).cast()).expect("ld.so answers");
        // cargo runs test programs with an LD_LIBRARY_PATH of its own.
        assert!(path.folders().all(|folder| !folder.is_empty()));
    }
}
