//! What `/proc/self/maps` says of an address, for objects that the dynamic linker
//! knows by a relative path only: the working directory may have changed since.

use core::ffi::CStr;

use crate::buffer::{Buffer, PATH_SIZE};
use crate::intern::intern;

/// The absolute path of the file that is mapped at `address`.
pub(crate) fn path_at(address: usize) -> Option<&'static CStr> {
    // A line is short but for its path.
    let mut buffer = Buffer::new(2 * PATH_SIZE)?;
    // SAFETY: a C string and flags.
    let file = unsafe {
        libc::open(
            c"/proc/self/maps".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        )
    };
    if file < 0 {
        return None;
    }
    let mut held = 0;
    let found = loop {
        let Some(free) = buffer.get_mut(held..) else {
            break None;
        };
        // SAFETY: writable for its length.
        let count = unsafe { libc::read(file, free.as_mut_ptr().cast(), free.len()) };
        let Ok(count @ 1..) = usize::try_from(count) else {
            break None;
        };
        held += count;
        let mut start = 0;
        let mut found = None;
        while let Some(rest) = buffer.get(start..held)
            && let Some(length) = rest.iter().position(|byte| *byte == b'\n')
        {
            if let Some(path) = rest.get(..length).and_then(|line| path_of(line, address)) {
                found = intern(path);
                break;
            }
            start += length + 1;
        }
        if found.is_some() {
            break found;
        }
        // The unfinished line goes to the front. `copy_within` could panic.
        for index in start..held {
            let byte = buffer.get(index).copied().unwrap_or(0);
            if let Some(place) = buffer.get_mut(index - start) {
                *place = byte;
            }
        }
        held -= start;
    };
    // SAFETY: opened above, used by nobody else.
    unsafe { libc::close(file) };
    found
}

/// The path in a line `start-end rights offset device inode   path`, if `address` lies
/// between start and end.
fn path_of(line: &[u8], address: usize) -> Option<&[u8]> {
    let dash = line.iter().position(|byte| *byte == b'-')?;
    let space = line.iter().position(|byte| *byte == b' ')?;
    let start = hexadecimal(line.get(..dash)?)?;
    let end = hexadecimal(line.get(dash + 1..space)?)?;
    if !(start..end).contains(&address) {
        return None;
    }
    let slash = line.iter().position(|byte| *byte == b'/')?;
    line.get(slash..)
}

fn hexadecimal(digits: &[u8]) -> Option<usize> {
    digits.iter().try_fold(0usize, |number, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(number.checked_mul(16)? + value as usize)
    })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn a_line_gives_its_path_for_addresses_inside() {
        let line = b"7f00-7f80 r-xp 00001000 fe:00 1234      /opt/my rocm/lib/libamdhip64.so.7";
        let path: &[u8] = b"/opt/my rocm/lib/libamdhip64.so.7";
        assert_eq!(path_of(line, 0x7f00), Some(path));
        assert_eq!(path_of(line, 0x7f7f), Some(path));
        assert_eq!(path_of(line, 0x7f80), None);
        assert_eq!(path_of(b"7f00-7f80 rw-p 00000000 00:00 0 ", 0x7f00), None);
        assert_eq!(path_of(b"", 0), None);
    }

    #[test]
    fn this_program_is_found_by_an_address_of_its_own() {
        static HERE: u8 = 0;
        let path = path_at((&raw const HERE).addr()).expect("it is mapped from a file");
        let program = std::env::current_exe().unwrap();
        assert_eq!(path.to_str().unwrap(), program.to_str().unwrap());
    }
}
