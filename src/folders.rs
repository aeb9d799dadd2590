//! The folders that ROCm is installed in.

use core::ffi::{CStr, c_int};

use crate::buffer::Buffer;
use crate::dl;
use crate::env;
use crate::text::Text;

/// The folders to look into, in their order.
///
/// `$ROCM_PATH` and `$HIP_PATH` with `lib` and `lib64`, `/opt/rocm/lib`,
/// `/opt/rocm/core-*/lib`, `/opt/rocm-*/lib` newest first.
pub(crate) struct Folders {
    step: usize,
    /// Version and name of the last numbered folder that was given, no name before.
    below: Option<([u32; 3], Buffer)>,
}

/// What the first steps look into, each in two folders.
const VARIABLES: [(&str, &CStr); 2] = [("ROCM_PATH", c"ROCM_PATH"), ("HIP_PATH", c"HIP_PATH")];

/// Folders whose entries of a prefix carry a version.
const NUMBERED: [(&str, &str); 2] = [("/opt/rocm/", "core-"), ("/opt/", "rocm-")];

impl Folders {
    pub(crate) fn new() -> Self {
        Folders {
            step: 0,
            below: None,
        }
    }

    /// Writes the next folder, without a final slash, and says where it is from.
    pub(crate) fn next(&mut self, path: &mut Text) -> Option<&'static str> {
        loop {
            path.truncate(0);
            let step = self.step;
            if let Some((how, variable)) = VARIABLES.get(step / 2) {
                self.step += 1;
                if let Some(value) = env::system(variable) {
                    path.c_str(value).str("/lib");
                    if step % 2 == 1 {
                        path.str("64");
                    }
                    return Some(how);
                }
                continue;
            }
            let step = step - 2 * VARIABLES.len();
            if step == 0 {
                self.step += 1;
                path.str("/opt/rocm/lib");
                return Some("usual folders");
            }
            let (parent, prefix) = NUMBERED.get(step - 1)?;
            path.str(parent);
            match self.next_numbered(path, prefix.as_bytes()) {
                Some(()) => {
                    path.str("/lib");
                    return Some("usual folders");
                }
                None => {
                    self.step += 1;
                    self.below = None;
                }
            }
        }
    }

    /// Appends the entry with the highest version below the last one; of equal versions,
    /// such as `7.1` and `7.1.0`, the later name comes first.
    fn next_numbered(&mut self, path: &mut Text, prefix: &[u8]) -> Option<()> {
        let parent = path.len();
        let mut best: Option<[u32; 3]> = None;
        let mut buffer = Buffer::new(NAME_SIZE)?;
        let mut name = Text::new(&mut buffer);
        entries(path.path()?, |entry| {
            let Some(version) = entry.strip_prefix(prefix).and_then(version) else {
                return false;
            };
            let fits = self
                .below
                .as_ref()
                .is_none_or(|(below, last)| (version, entry) < (*below, until_nul(last)));
            if fits && best.is_none_or(|best| (version, entry) > (best, name.bytes())) {
                best = Some(version);
                name.truncate(0);
                name.push(entry);
            }
            false
        });
        let best = best?;
        path.truncate(parent);
        path.push(name.bytes());
        self.below = Some((best, buffer));
        Some(())
    }
}

/// Longest name of a folder's entry, with its NUL and room for the mark of a cut.
const NAME_SIZE: usize = 264;

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or(b"")
}

/// `7.1.0` and `7.1` of `rocm-7.1.0` and `core-7.1`; what follows a number that is
/// not one is not looked at (`6.4.0-rc1`).
fn version(text: &[u8]) -> Option<[u32; 3]> {
    let mut version = [0u32; 3];
    let mut parts = text.split(|byte| *byte == b'.');
    for (index, place) in version.iter_mut().enumerate() {
        let part = parts.next().unwrap_or(b"");
        let digits = part.iter().take_while(|byte| byte.is_ascii_digit());
        let mut count = 0;
        for digit in digits {
            count += 1;
            *place = place.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
        }
        if count == 0 {
            if index == 0 {
                return None;
            }
            break;
        }
    }
    Some(version)
}

/// Calls `entry` with each name in `folder` until it answers true.
fn entries(folder: &CStr, mut entry: impl FnMut(&[u8]) -> bool) {
    // SAFETY: a C string.
    let directory = unsafe { libc::opendir(folder.as_ptr()) };
    if directory.is_null() {
        return;
    }
    loop {
        // SAFETY: the stream is open and used by this thread alone.
        let record = unsafe { libc::readdir64(directory) };
        if record.is_null() {
            break;
        }
        // SAFETY: readdir's record holds a C string until the next call.
        let name = unsafe { CStr::from_ptr((*record).d_name.as_ptr()) };
        if entry(name.to_bytes()) {
            break;
        }
    }
    // SAFETY: opened above.
    let _: c_int = unsafe { libc::closedir(directory) };
}

/// Appends to `folder`, which ends with a slash, its first entry that `wanted`
/// accepts, by name; says whether there is one.
pub(crate) fn first_entry(folder: &mut Text, wanted: impl Fn(&[u8]) -> bool) -> bool {
    let mut buffer = [0u8; NAME_SIZE];
    let mut first = Text::new(&mut buffer);
    let Some(path) = folder.path() else {
        return false;
    };
    entries(path, |entry| {
        // The order of a folder is arbitrary; the smallest name is always the same.
        if wanted(entry) && (first.len() == 0 || entry < first.bytes()) {
            first.truncate(0);
            first.push(entry);
        }
        false
    });
    folder.push(first.bytes());
    first.len() > 0
}

/// Writes the `site-packages` or `dist-packages` folder that `file` lies under;
/// false if there is none.
pub(crate) fn packages_of(file: &[u8], path: &mut Text) -> bool {
    path.truncate(0);
    let mut end = 0;
    let mut found = None;
    for component in file.split(|byte| *byte == b'/') {
        end += component.len();
        if component == b"site-packages" || component == b"dist-packages" {
            found = file.get(..end);
        }
        end += 1;
    }
    match found {
        Some(folder) => {
            path.push(folder);
            true
        }
        None => false,
    }
}

/// The folder part of a path, with its slash; empty if there is none.
pub(crate) fn folder_of(path: &[u8]) -> &[u8] {
    let name = dl::base_name(path);
    path.get(..path.len() - name.len()).unwrap_or(b"")
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(version(b"7.1.0"), Some([7, 1, 0]));
        assert_eq!(version(b"10.0"), Some([10, 0, 0]));
        assert_eq!(version(b"6.4.0-rc1"), Some([6, 4, 0]));
        assert_eq!(version(b"6"), Some([6, 0, 0]));
        assert_eq!(version(b"latest"), None);
        assert_eq!(version(b""), None);
        assert!(version(b"10.0.0") > version(b"7.14.0"));
    }

    #[test]
    fn numbered_folders_come_newest_first() {
        let root =
            std::env::temp_dir().join(std::format!("hiplazy-folders-{}", std::process::id()));
        for name in [
            "rocm-6.4.0",
            "rocm-7.1",
            "rocm-7.10.0",
            "rocm-7.1.0",
            "rocm-7.9.1",
            "rocm-old",
            "other-9.0",
        ] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        let mut folders = Folders::new();
        let mut seen = std::vec::Vec::new();
        let mut buffer = [0; 512];
        let mut path = Text::new(&mut buffer);
        loop {
            path.truncate(0);
            path.str(root.to_str().unwrap()).str("/");
            if folders.next_numbered(&mut path, b"rocm-").is_none() {
                break;
            }
            let bytes = path.bytes().to_vec();
            let text = std::string::String::from_utf8(bytes).unwrap();
            seen.push(text.rsplit('/').next().unwrap().to_owned());
        }
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(
            seen,
            [
                "rocm-7.10.0",
                "rocm-7.9.1",
                "rocm-7.1.0",
                "rocm-7.1",
                "rocm-6.4.0"
            ]
        );
    }

    use std::borrow::ToOwned;

    #[test]
    fn the_packages_folder_is_the_innermost() {
        let mut buffer = [0; 256];
        let mut path = Text::new(&mut buffer);
        assert!(packages_of(
            b"/v/lib/python3.12/site-packages/tvm/lib/x.so",
            &mut path
        ));
        assert_eq!(path.bytes(), b"/v/lib/python3.12/site-packages");
        assert!(packages_of(
            b"/usr/lib/python3/dist-packages/x.so",
            &mut path
        ));
        assert_eq!(path.bytes(), b"/usr/lib/python3/dist-packages");
        assert!(packages_of(
            b"/a/site-packages/b/site-packages/c.so",
            &mut path
        ));
        assert_eq!(path.bytes(), b"/a/site-packages/b/site-packages");
        assert!(!packages_of(b"/usr/lib/my-site-packages/x.so", &mut path));
        assert!(!packages_of(b"", &mut path));
    }
}
