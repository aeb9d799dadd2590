//! The three libraries that functions live in, and what makes an opened file one
//! of them.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicI32, Ordering};

use crate::dl::{self, Handle, Object};
use crate::intern::intern;
use crate::text::Text;
use crate::{errno, maps, shortage, thread};

/// A library of the manifest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Library {
    /// `libamdhip64`.
    Hip,
    /// `libhiprtc`; up to HIP 6 its functions are in `libamdhip64` too.
    Hiprtc,
    /// `libhsa-runtime64`.
    Hsa,
}

/// How many there are.
pub(crate) const LIBRARY_COUNT: usize = 3;

impl Library {
    /// What a message calls it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Library::Hip => "HIP runtime (libamdhip64)",
            Library::Hiprtc => "HIP run-time compiler (libhiprtc)",
            Library::Hsa => "HSA runtime (libhsa-runtime64)",
        }
    }

    /// What its file name and `DT_SONAME` begin with.
    pub(crate) fn stem(self) -> &'static str {
        match self {
            Library::Hip => "libamdhip64",
            Library::Hiprtc => "libhiprtc",
            Library::Hsa => "libhsa-runtime64",
        }
    }

    /// A function that every version exports.
    fn anchor(self) -> &'static CStr {
        match self {
            Library::Hip => c"hipRuntimeGetVersion",
            Library::Hiprtc => c"hiprtcVersion",
            Library::Hsa => c"hsa_init",
        }
    }

    /// Whether a file of base name `name` can be it: `stem.so*`, or the name that
    /// auditwheel gives a copy, `stem-<hash>.so*`.
    pub(crate) fn named(self, name: &[u8]) -> bool {
        let Some(rest) = name.strip_prefix(self.stem().as_bytes()) else {
            return false;
        };
        let rest = match rest.strip_prefix(b"-") {
            Some(rest) => {
                let digits = rest
                    .iter()
                    .take_while(|byte| byte.is_ascii_hexdigit())
                    .count();
                match rest.get(digits..) {
                    Some(rest) if digits >= 8 => rest,
                    _ => return false,
                }
            }
            None => rest,
        };
        rest == b".so" || rest.starts_with(b".so.")
    }

    /// [`Self::named`] as a plain function, for the listing of mapped objects.
    pub(crate) fn filter(self) -> fn(&[u8]) -> bool {
        match self {
            Library::Hip => |name| Library::Hip.named(name),
            Library::Hiprtc => |name| Library::Hiprtc.named(name),
            Library::Hsa => |name| Library::Hsa.named(name),
        }
    }
}

/// The number after `.so.` in a file name or SONAME.
pub(crate) fn so_number(name: &[u8]) -> Option<u32> {
    let at = name.windows(4).position(|four| four == b".so.")?;
    let digits = name.get(at + 4..)?;
    let count = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if count == 0 || count > 4 {
        return None;
    }
    Some(
        digits
            .iter()
            .take(count)
            .fold(0, |number, digit| number * 10 + u32::from(digit - b'0')),
    )
}

/// The ABI majors of `libamdhip64` that are known, newest first. A later one is
/// not opened by guess: its structs may differ behind the same names.
pub(crate) const MAJORS: [u32; 3] = [7, 6, 5];

/// No version of a runtime.
const NOT_ASKED: c_int = c_int::MIN;

/// A library that passed [`accept`], open for good.
pub(crate) struct Loaded {
    pub(crate) handle: Handle,
    pub(crate) library: Library,
    /// Its real path, or what the dynamic linker calls it if that file is gone.
    pub(crate) path: &'static CStr,
    pub(crate) soname: &'static CStr,
    /// ABI major of the HIP runtime; 0 for the other libraries.
    pub(crate) major: u32,
    /// `hipRuntimeGetVersion`'s answer, or [`NOT_ASKED`].
    version: AtomicI32,
}

impl Loaded {
    /// The runtime's own version number, `major * 10000000 + minor * 100000 +
    /// patch`; 0 for other libraries or if the runtime will not say. `None` while this
    /// thread is asking for it, or without memory to note that it is.
    ///
    /// It is asked when somebody wants it and not at binding, since any call may
    /// make the runtime start up. A profiler that sees the call may come back here, and
    /// would have the runtime asked again.
    pub(crate) fn version(&self) -> Option<c_int> {
        let known = self.version.load(Ordering::Relaxed);
        if known != NOT_ASKED {
            return Some(known);
        }
        let version = match self.library {
            Library::Hip => thread::while_asking(|| ask_version(&self.handle))?,
            Library::Hiprtc | Library::Hsa => 0,
        };
        self.version.store(version, Ordering::Relaxed);
        Some(version)
    }

    pub(crate) fn describe_version(&self, text: &mut Text) {
        let version = self.version().unwrap_or(0);
        if let Ok(version @ 1..) = u32::try_from(version) {
            text.str("HIP ").number((version / 10_000_000).into());
            text.str(".").number((version / 100_000 % 100).into());
            text.str(".").number((version % 100_000).into());
            text.str(", ");
        }
        text.str("SONAME ").c_str(self.soname);
    }
}

fn ask_version(handle: &Handle) -> c_int {
    let Some(address) = handle.symbol(Library::Hip.anchor(), None) else {
        return 0;
    };
    let mut version = 0;
    // SAFETY: `hipError_t hipRuntimeGetVersion(int *)` in every HIP version, in an
    // object whose identity was checked and which is never closed.
    let status = unsafe {
        core::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_int) -> c_int>(address)(
            &mut version,
        )
    };
    if status == 0 { version } else { 0 }
}

/// How [`accept`] refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is something else, or cannot be used.
    NotIt,
    /// It is a HIP runtime, of an ABI that is not known.
    UnknownMajor,
}

/// Whether something that calls itself `soname` can be `library`, of an ABI that is
/// known or that the user asked for.
pub(crate) fn check_soname(
    soname: &[u8],
    library: Library,
    explicit: bool,
    why: &mut Text,
) -> Result<(), Refused> {
    if !library.named(dl::base_name(soname)) {
        why.str("a stub in disguise: its SONAME is '")
            .push(soname)
            .str("', not ");
        why.str(library.stem()).str(".so*");
        return Err(Refused::NotIt);
    }
    match so_number(soname) {
        Some(major) if library == Library::Hip => check_major(major, explicit, why),
        _ => Ok(()),
    }
}

fn check_major(major: u32, explicit: bool, why: &mut Text) -> Result<(), Refused> {
    if explicit || MAJORS.contains(&major) {
        return Ok(());
    }
    why.str("its ABI major, ").number(major.into());
    why.str(", is not one of 5, 6, 7 that this hiplazy knows; HIPLAZY_RUNTIME can name it");
    Err(Refused::UnknownMajor)
}

/// Checks by identity that `handle` leads to `library`, and not to something that
/// merely has its file name or its functions.
///
/// The object that defines the anchor function decides: `dladdr` names it, and its
/// `DT_SONAME` must be the library's. `explicit` is a runtime that the user named;
/// only such a one may have a major that is not known. On refusal `why` gets the
/// reason.
pub(crate) fn accept(
    handle: Handle,
    library: Library,
    explicit: bool,
    why: &mut Text,
) -> Result<Loaded, Refused> {
    let Some(address) = handle.symbol(library.anchor(), None) else {
        why.str("has no ")
            .c_str(library.anchor())
            .str(": not a ")
            .str(library.title());
        return Err(Refused::NotIt);
    };
    let Some(object) = Object::containing(address) else {
        why.str("its ")
            .c_str(library.anchor())
            .str(" lies in no mapped object");
        return Err(Refused::NotIt);
    };
    let soname = object.soname().unwrap_or(c"");
    if let Err(refused) = check_soname(soname.to_bytes(), library, explicit, why) {
        why.str("; that is ")
            .c_str(object.name())
            .str(", which its ");
        why.c_str(library.anchor()).str(" lies in");
        return Err(refused);
    }
    // A file may bring the runtime along as its dependency. Then the runtime's own
    // handle is the one to ask, not one that has other definitions in front of it.
    let handle = if handle.object() == Some(object) {
        handle
    } else {
        dl::open(object.name(), true, why).ok_or(Refused::NotIt)?
    };

    let mut major = 0;
    let mut version = NOT_ASKED;
    if library == Library::Hip {
        major = so_number(soname.to_bytes()).unwrap_or_else(|| {
            version = ask_version(&handle);
            u32::try_from(version / 10_000_000).unwrap_or(0)
        });
        check_major(major, explicit, why)?;
    }
    let (Some(path), Some(soname)) = (path_of(&object, address), intern(soname.to_bytes())) else {
        why.str("no memory to keep its name");
        return Err(Refused::NotIt);
    };
    Ok(Loaded {
        handle,
        library,
        path,
        soname,
        major,
        version: AtomicI32::new(version),
    })
}

/// `library` as a part of the bound runtime `hip`, as hiprtc is up to HIP 6.
pub(crate) fn inside(hip: &Loaded, library: Library) -> Option<Loaded> {
    let address = hip.handle.symbol(library.anchor(), None)?;
    let object = Object::containing(address)?;
    if Some(object) != hip.handle.object() {
        return None;
    }
    let mut unread = [0; 64];
    Some(Loaded {
        handle: dl::open(object.name(), true, &mut Text::new(&mut unread))?,
        library,
        path: hip.path,
        soname: hip.soname,
        major: hip.major,
        version: AtomicI32::new(NOT_ASKED),
    })
}

/// The canonical absolute form of `path`, or `path` itself if there is no such file.
pub(crate) fn real_path(path: &CStr) -> Option<&'static CStr> {
    // SAFETY: a C string; with null the result is allocated.
    let real = unsafe { libc::realpath(path.as_ptr(), core::ptr::null_mut()) };
    if real.is_null() {
        shortage::by_errno(errno::get());
        return intern(path.to_bytes());
    }
    // SAFETY: realpath returned a C string, which is freed after it was copied.
    unsafe {
        let kept = intern(CStr::from_ptr(real).to_bytes());
        libc::free(real.cast());
        kept
    }
}

/// The real path of a mapped object that `address` lies in.
fn path_of(object: &Object, address: *const c_void) -> Option<&'static CStr> {
    let name = object.name();
    if name.to_bytes().starts_with(b"/") {
        return real_path(name);
    }
    // Relative to a working directory that may be another by now.
    maps::path_at(address.addr()).or_else(|| intern(name.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_names_are_told_from_others() {
        for name in [
            "libamdhip64.so",
            "libamdhip64.so.7",
            "libamdhip64.so.5.2.21153-0",
            "libamdhip64-00ca863d.so.7.14.60850-0000000",
        ] {
            assert!(Library::Hip.named(name.as_bytes()), "{name}");
        }
        for name in [
            "libamdhip64",
            "libamdhip64.sox",
            "libamdhip64_stub.so",
            "libamdhip64-stub.so",
            "libamdhip64-dead.so.7",
            "libamdhip64-.so.7",
            "xlibamdhip64.so.7",
            "libhip_stub.so",
            "",
        ] {
            assert!(!Library::Hip.named(name.as_bytes()), "{name}");
        }
        assert!(Library::Hiprtc.named(b"libhiprtc.so.7"));
        assert!(!Library::Hiprtc.named(b"libhiprtc-builtins.so.7"));
        assert!(Library::Hsa.named(b"libhsa-runtime64-0ba78719.so.1.21.0"));
    }

    #[test]
    fn the_major_is_the_number_after_so() {
        assert_eq!(so_number(b"libamdhip64.so.7"), Some(7));
        assert_eq!(
            so_number(b"libamdhip64-00ca863d.so.7.14.60850-0000000"),
            Some(7)
        );
        assert_eq!(so_number(b"libamdhip64.so.10"), Some(10));
        assert_eq!(so_number(b"libamdhip64.so"), None);
        assert_eq!(so_number(b"libamdhip64.so.x"), None);
        assert_eq!(so_number(b"libamdhip64.so.99999999999"), None);
    }
}
