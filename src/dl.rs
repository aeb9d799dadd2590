//! The dynamic linker, as much of it as the loader needs.
//!
//! Nothing here holds a lock of ours, and nothing is ever closed: unloading
//! `libamdhip64` crashes (rocm-systems #4442), and bound slots point into it.
//!
//! Opening goes through `dlopen` itself and hands the handle to [`libloading`],
//! whose `Library` is what the rest of this crate holds. Its own `open` copies the
//! error to the heap and aborts where there is no memory for that; this library
//! must not.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use libloading::os::unix::Library;

use crate::buffer::Buffer;
use crate::text::Text;
use crate::{errno, shortage};

/// A library that stays open for the life of the process.
pub(crate) struct Handle(ManuallyDrop<Library>);

impl Handle {
    fn raw(&self) -> *mut c_void {
        // SAFETY: the copy is turned back into the raw handle at once, so that the
        // library is neither closed here nor there.
        unsafe { ptr::read(&*self.0) }.into_raw()
    }

    /// The address of `name` in this library or its dependencies: first on the
    /// version node `node`, then on any, because nodes move between releases.
    pub(crate) fn symbol(&self, name: &CStr, node: Option<&CStr>) -> Option<*mut c_void> {
        lookup(self.raw(), name, node)
    }

    /// The link map of the library itself.
    pub(crate) fn object(&self) -> Option<Object> {
        let mut map: *const LinkMap = ptr::null();
        // SAFETY: RTLD_DI_LINKMAP writes one pointer.
        unsafe { self.info(libc::RTLD_DI_LINKMAP, ptr::addr_of_mut!(map).cast()) }?;
        (!map.is_null()).then_some(Object(map))
    }

    /// `dlinfo`; `None` if it fails.
    ///
    /// # Safety
    ///
    /// `place` is writable for what `request` writes.
    pub(crate) unsafe fn info(&self, request: c_int, place: *mut c_void) -> Option<()> {
        // SAFETY: the handle is open; the place is the caller's promise.
        (unsafe { libc::dlinfo(self.raw(), request, place) } == 0).then_some(())
    }
}

/// Looks `name` up in the global scope, in its load order.
pub(crate) fn global_symbol(name: &CStr, node: Option<&CStr>) -> Option<*mut c_void> {
    lookup(libc::RTLD_DEFAULT, name, node)
}

fn lookup(scope: *mut c_void, name: &CStr, node: Option<&CStr>) -> Option<*mut c_void> {
    if let Some(node) = node {
        // SAFETY: both are C strings; the scope is an open handle or RTLD_DEFAULT.
        let address = unsafe { libc::dlvsym(scope, name.as_ptr(), node.as_ptr()) };
        if !address.is_null() {
            return Some(address);
        }
    }
    // SAFETY: as above.
    let address = unsafe { libc::dlsym(scope, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// Opens `file`, a path or, without a slash, a name that ld.so searches for,
/// `RTLD_LAZY | RTLD_LOCAL`; with `mapped_only` not unless it is mapped already.
///
/// On failure the dynamic linker's message is appended to `why`.
pub(crate) fn open(file: &CStr, mapped_only: bool, why: &mut Text) -> Option<Handle> {
    let mut flags = libc::RTLD_LAZY | libc::RTLD_LOCAL;
    if mapped_only {
        flags |= libc::RTLD_NOLOAD;
    }
    // SAFETY: a C string. Constructors of what is loaded run here: the caller has
    // checked that it is what it expects as far as that can be known before, and
    // holds no lock.
    let handle = unsafe { libc::dlopen(file.as_ptr(), flags) };
    if handle.is_null() {
        describe_error(why);
        note_shortage(why);
        return None;
    }
    // SAFETY: a fresh handle from dlopen.
    Some(Handle(ManuallyDrop::new(unsafe {
        Library::from_raw(handle)
    })))
}

/// A handle of a mapped object by its link map name; empty names the program itself.
pub(crate) fn open_mapped(name: &CStr) -> Option<Handle> {
    let file = if name.is_empty() {
        ptr::null()
    } else {
        name.as_ptr()
    };
    // SAFETY: null or a C string; nothing is loaded, so that no constructor runs.
    let handle = unsafe { libc::dlopen(file, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: a fresh handle from dlopen.
    Some(Handle(ManuallyDrop::new(unsafe {
        Library::from_raw(handle)
    })))
}

/// Makes `object` stay for the life of the process.
pub(crate) fn pin(object: Object) {
    let name = object.name();
    if !name.is_empty() {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
        // SAFETY: a C string; it is mapped, so that no constructor runs. The handle is
        // not needed: the flag is the object's from here on.
        unsafe { libc::dlopen(name.as_ptr(), flags) };
    }
}

/// Appends the dynamic linker's last message, in English: it is compared with, and
/// reports are searched for on the web.
fn describe_error(why: &mut Text) {
    // SAFETY: "C" is glibc's own static locale; it needs no memory and no freeing.
    // The thread's locale is put back.
    let message = unsafe {
        let english = libc::newlocale(libc::LC_ALL_MASK, c"C".as_ptr(), ptr::null_mut());
        let own = libc::uselocale(english);
        let message = libc::dlerror();
        libc::uselocale(own);
        message
    };
    if message.is_null() {
        why.str("not mapped, or dlopen failed without a message");
        return;
    }
    // SAFETY: dlerror returned a C string, this thread's until its next dl call.
    why.c_str(unsafe { CStr::from_ptr(message) });
}

/// Notes if what failed, failed for want of memory or of descriptors.
fn note_shortage(why: &Text) {
    let texts: [&[u8]; 2] = [b"out of memory", b"Cannot allocate memory"];
    if texts.iter().any(|text| why.bytes().ends_with(text)) {
        shortage::of_memory();
    }
    // ld.so says just that it found no file; asking costs one more failed call.
    // SAFETY: a C string and flags.
    let root = unsafe { libc::open(c"/".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if root < 0 {
        shortage::by_errno(errno::get());
        return;
    }
    // SAFETY: opened above, used by nobody else.
    unsafe { libc::close(root) };
}

/// The head of glibc's `struct link_map` (`<link.h>`), its public part.
#[repr(C)]
pub(crate) struct LinkMap {
    addr: usize,
    name: *const c_char,
    dynamic: *const Dyn,
}

/// `Elf64_Dyn` and `Elf32_Dyn`: a tag and a value, each of a word.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Dyn {
    pub(crate) tag: isize,
    pub(crate) value: usize,
}

pub(crate) const DT_NULL: isize = 0;
pub(crate) const DT_STRTAB: isize = 5;
pub(crate) const DT_SONAME: isize = 14;

/// glibc's `struct dl_find_object` (`<dlfcn.h>`), with the words that it keeps free.
#[repr(C)]
struct FoundObject {
    flags: u64,
    map_start: *const c_void,
    map_end: *const c_void,
    link_map: *const LinkMap,
    others: [u64; 12],
}

/// `_dl_find_object`: 0 if the address lies in an object.
type FindObject = unsafe extern "C" fn(*mut c_void, *mut FoundObject) -> c_int;

/// By name: a reference would keep this library from being loaded by an older glibc.
fn find_object() -> Option<FindObject> {
    /// Null until it was looked for, then its address or that of this variable.
    static FIND: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let none = FIND.as_ptr().cast::<c_void>();
    let mut address = FIND.load(Ordering::Relaxed);
    if address.is_null() {
        // SAFETY: both are C strings.
        address = unsafe {
            let (name, node) = (c"_dl_find_object", c"GLIBC_2.35");
            libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), node.as_ptr())
        };
        if address.is_null() {
            address = none;
        }
        FIND.store(address, Ordering::Relaxed);
    }
    // SAFETY: on this node that name is glibc's function of this type.
    (address != none).then(|| unsafe { core::mem::transmute::<*mut c_void, FindObject>(address) })
}

/// A mapped object, known by its link map. Two are the same object if and only if
/// they are equal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Object(*const LinkMap);

impl Object {
    /// The object that `address` lies in.
    ///
    /// `dladdr` looks for a symbol as well, and for that through all that the object
    /// exports: in a large one that takes longer than binding. glibc 2.35 and newer can do
    /// without.
    #[inline(never)]
    pub(crate) fn containing(address: *const c_void) -> Option<Object> {
        match find_object() {
            Some(find) => Object::by_find_object(find, address),
            None => Object::by_dladdr(address),
        }
    }

    fn by_find_object(find: FindObject, address: *const c_void) -> Option<Object> {
        let mut found = MaybeUninit::<FoundObject>::zeroed();
        // SAFETY: it looks at no memory of `address`, and fills in the record, which is
        // zeroed, so that all of it is initialised.
        let (status, found) = unsafe {
            let status = find(address.cast_mut(), found.as_mut_ptr());
            (status, found.assume_init())
        };
        (status == 0 && !found.link_map.is_null()).then_some(Object(found.link_map))
    }

    fn by_dladdr(address: *const c_void) -> Option<Object> {
        let mut info = MaybeUninit::<libc::Dl_info>::uninit();
        let mut map: *mut c_void = ptr::null_mut();
        const RTLD_DL_LINKMAP: c_int = 2;
        // SAFETY: both out-pointers are writable; with this flag glibc writes a
        // link map pointer to the second.
        let found = unsafe { libc::dladdr1(address, info.as_mut_ptr(), &mut map, RTLD_DL_LINKMAP) };
        (found != 0 && !map.is_null()).then_some(Object(map.cast()))
    }

    /// The name it was loaded by, usually its path; empty for the program itself.
    pub(crate) fn name(&self) -> &CStr {
        // SAFETY: link maps that reach this type belong to objects that are held
        // open or that hold this code, and ld.so keeps a name for each.
        unsafe {
            let name = (*self.0).name;
            if name.is_null() {
                c""
            } else {
                CStr::from_ptr(name)
            }
        }
    }

    /// Its `DT_SONAME`.
    pub(crate) fn soname(&self) -> Option<&CStr> {
        // SAFETY: as in `name`; the dynamic section of a mapped object ends with
        // DT_NULL and its string table is mapped.
        unsafe {
            let mut entry = (*self.0).dynamic;
            if entry.is_null() {
                return None;
            }
            let (mut strings, mut soname) = (0usize, None);
            while (*entry).tag != DT_NULL {
                match (*entry).tag {
                    DT_STRTAB => strings = (*entry).value,
                    DT_SONAME => soname = Some((*entry).value),
                    _ => {}
                }
                entry = entry.add(1);
            }
            // glibc relocates this entry in place, except in a read-only dynamic
            // section, where it is still an offset.
            if strings < (*self.0).addr {
                strings += (*self.0).addr;
            }
            let soname = soname?;
            (strings != 0).then(|| CStr::from_ptr((strings + soname) as *const c_char))
        }
    }
}

/// How many objects were ever added to this process's link map.
///
/// It moves when something is loaded, and only then.
pub(crate) fn objects_added() -> u64 {
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        added: *mut c_void,
    ) -> c_int {
        // SAFETY: `dl_iterate_phdr` passes a valid record and our own pointer.
        unsafe { *added.cast::<u64>() = (*info).dlpi_adds };
        1
    }
    let mut added = 0u64;
    // SAFETY: the callback writes to `added` only, and does so before the return.
    unsafe { libc::dl_iterate_phdr(Some(first), ptr::addr_of_mut!(added).cast()) };
    added
}

/// How many mapped copies of one library are told apart.
const MAPPED_COUNT: usize = 16;

/// The mapped objects whose file name passes a filter, in load order.
pub(crate) struct Mapped {
    names: Buffer,
    ends: [u16; MAPPED_COUNT],
    count: usize,
    filter: fn(&[u8]) -> bool,
}

impl Mapped {
    /// Lists the objects of this namespace whose base name passes `filter`; `None`
    /// without memory.
    pub(crate) fn list(filter: fn(&[u8]) -> bool) -> Option<Self> {
        let mut mapped = Mapped {
            names: Buffer::new(8192)?,
            ends: [0; MAPPED_COUNT],
            count: 0,
            filter,
        };
        // SAFETY: the callback is given a `Mapped` that outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(Self::add), ptr::addr_of_mut!(mapped).cast()) };
        Some(mapped)
    }

    /// Copies a name only: the dynamic linker holds its lock here.
    unsafe extern "C" fn add(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        mapped: *mut c_void,
    ) -> c_int {
        // SAFETY: `dl_iterate_phdr` passes a valid record and our own pointer; the
        // name, where there is one, is a C string for the time of the call.
        let (mapped, name) = unsafe {
            let name = (*info).dlpi_name;
            if name.is_null() {
                return 0;
            }
            (
                &mut *mapped.cast::<Mapped>(),
                CStr::from_ptr(name).to_bytes_with_nul(),
            )
        };
        if (mapped.filter)(base_name(name.strip_suffix(b"\0").unwrap_or(name))) {
            mapped.push(name);
        }
        0
    }

    fn push(&mut self, name: &[u8]) {
        let start = self.start(self.count);
        let end = start + name.len();
        let (Some(place), Some(slot)) = (
            self.names.get_mut(start..end),
            self.ends.get_mut(self.count),
        ) else {
            return;
        };
        place.copy_from_slice(name);
        *slot = end as u16;
        self.count += 1;
    }

    fn start(&self, index: usize) -> usize {
        match index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
        {
            Some(end) => *end as usize,
            None => 0,
        }
    }

    /// Their names as the dynamic linker keeps them, usually paths.
    pub(crate) fn names(&self) -> impl Iterator<Item = &CStr> {
        (0..self.count).filter_map(|index| {
            let end = *self.ends.get(index)? as usize;
            CStr::from_bytes_until_nul(self.names.get(self.start(index)..end)?).ok()
        })
    }
}

/// The part of `path` after its last slash.
pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    fn libc_itself(name: &[u8]) -> bool {
        name.starts_with(b"libc.so")
    }

    #[test]
    fn a_mapped_library_is_found_opened_and_named() {
        let mapped = Mapped::list(libc_itself).unwrap();
        let name = mapped.names().next().expect("a test program has a libc");
        let mut buffer = [0; 256];
        let mut why = Text::new(&mut buffer);
        let handle = open(name, true, &mut why).expect("it is mapped");
        let address = handle.symbol(c"malloc", None).expect("libc has malloc");
        let object = Object::containing(address).expect("an address in a mapped object");
        assert!(Some(object) == handle.object());
        assert_eq!(object.soname(), Some(c"libc.so.6"));
        assert!(handle.symbol(c"malloc", Some(c"GLIBC_2.2.5")).is_some());
        assert!(handle.symbol(c"malloc", Some(c"no_such_node")).is_some());
        assert!(handle.symbol(c"no_such_function", None).is_none());
    }

    #[test]
    fn both_ways_find_the_same_object() {
        let find = find_object();
        // SAFETY: no conditions; a C string of glibc's own.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
        let minor = version.to_str().unwrap().strip_prefix("2.").unwrap();
        let minor: u32 = minor.split('.').next().unwrap().parse().unwrap();
        assert_eq!(find.is_some(), minor >= 35, "{version:?}");
        let local = 0u8;
        let heap = std::boxed::Box::new(0u8);
        let places: [(*const c_void, bool); 5] = [
            (libc::malloc as *const c_void, true),
            (find_object as *const c_void, true),
            ((&raw const local).cast(), false),
            ((&raw const *heap).cast(), false),
            (ptr::null(), false),
        ];
        for (place, lies_in_one) in places {
            let object = Object::by_dladdr(place);
            assert_eq!(object.is_some(), lies_in_one);
            assert!(find.is_none_or(|find| Object::by_find_object(find, place) == object));
            assert!(Object::containing(place) == object);
        }
    }

    #[test]
    fn a_failed_open_says_why() {
        let mut buffer = [0; 256];
        let mut why = Text::new(&mut buffer);
        assert!(open(c"/no/such/library.so", false, &mut why).is_none());
        let text = std::string::String::from_utf8_lossy(why.bytes()).into_owned();
        assert!(text.contains("No such file"), "{text}");
    }

    #[test]
    fn a_process_has_added_objects() {
        assert!(objects_added() > 0);
    }
}
