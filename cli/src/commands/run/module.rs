//! The auditing module, which ld.so loads into the command and its children.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, Permissions};
use std::io;
use std::mem::{MaybeUninit, offset_of};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use memchr::memmem;
use tempfile::TempDir;

use super::wire::{MAGIC, PREFIXES, Settings};
use crate::names::Names;

/// Made by the build script from `audit/`.
static MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/audit_module.so"));

/// Where there is room for it if TMPDIR cannot have it.
const OTHER_PLACES: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// To whom the module tells what happens.
pub(super) struct Listener {
    pub(super) token: [u8; 16],
    pub(super) address: [u8; 32],
}

impl Listener {
    /// One that nobody can guess.
    pub(super) fn new() -> io::Result<Listener> {
        let mut listener = Listener {
            token: [0; 16],
            address: [0; 32],
        };
        random(&mut listener.token)?;
        let mut name = [0; 16];
        random(&mut name)?;
        for (at, byte) in name.iter().enumerate() {
            let digits = format!("{byte:02x}");
            listener.address[2 * at..2 * at + 2].copy_from_slice(digits.as_bytes());
        }
        Ok(listener)
    }
}

fn random(bytes: &mut [u8]) -> io::Result<()> {
    // SAFETY: the buffer has the length that is given.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    // Up to 256 bytes come at once or not at all.
    if usize::try_from(got) != Ok(bytes.len()) {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The module as a file.
pub(super) struct Module {
    folder: TempDir,
    path: PathBuf,
}

impl Module {
    /// Puts it into a folder of its own, which every user may enter who knows its name:
    /// what the command starts may be another one.
    pub(super) fn place(listener: &Listener, names: &Names) -> Result<Module, String> {
        if MODULE.is_empty() {
            return Err("there is no auditing module for this architecture; `hiplazy log` reads what LD_DEBUG=bindings writes".into());
        }
        let bytes = with_settings(listener, names)?;
        let mut tried = Vec::new();
        let places = OTHER_PLACES.iter().map(PathBuf::from);
        for place in [std::env::temp_dir()].into_iter().chain(places) {
            match put(&place, &bytes) {
                Ok(module) => return Ok(module),
                Err(why) => tried.push(format!("{}: {why}", place.display())),
            }
        }
        Err(format!(
            "cannot put the auditing module anywhere ({}); TMPDIR names another place",
            tried.join("; ")
        ))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What `LD_AUDIT` is to be: the user's own modules come first, as if this one were
    /// not there.
    pub(super) fn variable(&self) -> OsString {
        let mut variable = std::env::var_os("LD_AUDIT").unwrap_or_default();
        if !variable.is_empty() {
            variable.push(":");
        }
        variable.push(&self.path);
        variable
    }

    /// Removes it.
    pub(super) fn remove(self) -> io::Result<()> {
        let there = self.folder.path().exists();
        self.folder.close().or_else(|error| match there {
            true => Err(error),
            // Somebody has done so.
            false => Ok(()),
        })
    }

    /// Leaves it for those that still start programs.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

fn put(place: &Path, bytes: &[u8]) -> Result<Module, String> {
    let failed = |error: io::Error| error.to_string();
    // ld.so searches the current folder of each program for a relative one.
    let place = fs::canonicalize(place).map_err(failed)?;
    let is_plain = |byte: &u8| !b":$".contains(byte);
    if !place.as_os_str().as_bytes().iter().all(is_plain) {
        return Err("LD_AUDIT cannot have a path with a colon or a dollar".into());
    }
    if may_not_execute(&place).map_err(failed)? {
        return Err("it is mounted with noexec".into());
    }
    let folder = tempfile::Builder::new()
        .prefix("hiplazy-run-")
        .rand_bytes(22)
        .tempdir_in(&place)
        .map_err(failed)?;
    let path = folder.path().join("audit.so");
    // Modes that are given when they are made would be cut by the umask.
    fs::write(&path, bytes)
        .and_then(|()| fs::set_permissions(&path, Permissions::from_mode(0o555)))
        .and_then(|()| fs::set_permissions(folder.path(), Permissions::from_mode(0o711)))
        .map_err(failed)?;
    Ok(Module { folder, path })
}

fn may_not_execute(place: &Path) -> io::Result<bool> {
    let place = CString::new(place.as_os_str().as_bytes())?;
    let mut about = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the string ends with a zero, and `about` has room for the answer.
    unsafe {
        if libc::statvfs(place.as_ptr(), about.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(about.assume_init().f_flag & libc::ST_NOEXEC != 0)
    }
}

/// The module's file, with what it has to know.
fn with_settings(listener: &Listener, names: &Names) -> Result<Vec<u8>, String> {
    let mut prefixes = Vec::new();
    for prefix in names.beginnings() {
        prefixes.extend(prefix.bytes());
        prefixes.push(0);
    }
    if prefixes.len() >= PREFIXES {
        return Err(format!("--prefix: all together may have {PREFIXES} bytes"));
    }
    let mut bytes = MODULE.to_vec();
    let at = memmem::find(&bytes, &MAGIC).ok_or("the auditing module has no settings")?;
    let mut write = |field: usize, value: &[u8]| {
        bytes[at + field..][..value.len()].copy_from_slice(value);
    };
    write(offset_of!(Settings, token), &listener.token);
    write(offset_of!(Settings, address), &listener.address);
    let mangled = u64::from(names.are_hip());
    write(offset_of!(Settings, mangled), &mangled.to_ne_bytes());
    write(offset_of!(Settings, prefixes), &prefixes);
    Ok(bytes)
}

/// Whether a value of `LD_AUDIT` has this module.
pub(super) fn is_in(variable: &[u8], module: &Path) -> bool {
    let mut all = variable.split(|byte| *byte == b':');
    all.any(|one| OsStr::from_bytes(one) == module.as_os_str())
}
