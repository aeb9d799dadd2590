//! Another process's memory, read without stopping it.

use std::io;

/// The memory of a process.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    pid: u32,
}

/// As many pieces as one system call takes.
const PIECES: usize = 1024;

/// Longer texts are no file names.
const LONGEST_TEXT: usize = 4096;

impl Memory {
    /// The memory of process `pid`.
    pub fn of(pid: u32) -> Memory {
        Memory { pid }
    }

    /// The number of the process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Fills `buffer` from `address`; how many bytes are there before memory ends.
    ///
    /// # Errors
    ///
    /// `EPERM` if the process may not be read, `ESRCH` if it is gone, `EFAULT` if nothing
    /// is mapped at the address.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let remote = piece(address, buffer.len());
        let local = libc::iovec {
            iov_base: buffer.as_mut_ptr().cast(),
            iov_len: buffer.len(),
        };
        self.transfer(&local, &[remote])
    }

    /// The word at an address.
    ///
    /// # Errors
    ///
    /// As [`Memory::read`].
    pub fn word(&self, address: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        match self.read(address, &mut bytes)? {
            8 => Ok(u64::from_ne_bytes(bytes)),
            _ => Err(io::Error::from_raw_os_error(libc::EFAULT)),
        }
    }

    /// The words at many addresses; `None` where nothing is mapped.
    ///
    /// # Errors
    ///
    /// If the process may not be read, or is gone.
    pub fn words(&self, addresses: &[u64]) -> io::Result<Vec<Option<u64>>> {
        let mut words = Vec::with_capacity(addresses.len());
        while words.len() < addresses.len() {
            let left = &addresses[words.len()..];
            let left = &left[..left.len().min(PIECES)];
            let mut bytes = vec![0u8; left.len() * 8];
            let local = libc::iovec {
                iov_base: bytes.as_mut_ptr().cast(),
                iov_len: bytes.len(),
            };
            let remote: Vec<libc::iovec> = left.iter().map(|at| piece(*at, 8)).collect();
            let read = match self.transfer(&local, &remote) {
                Ok(read) => read,
                Err(error) if error.raw_os_error() == Some(libc::EFAULT) => 0,
                Err(error) => return Err(error),
            };
            let (whole, _) = bytes[..read].as_chunks::<8>();
            words.extend(whole.iter().map(|word| Some(u64::from_ne_bytes(*word))));
            if whole.len() < left.len() {
                // The call stops at the first piece that is not mapped.
                words.push(None);
            }
        }
        Ok(words)
    }

    /// As many words as there are from an address on, up to `most`.
    ///
    /// # Errors
    ///
    /// As [`Memory::read`].
    pub fn array(&self, address: u64, most: usize) -> io::Result<Vec<u64>> {
        let mut bytes = vec![0; most * 8];
        let read = self.read(address, &mut bytes)?;
        let (words, _) = bytes[..read].as_chunks::<8>();
        Ok(words.iter().map(|word| u64::from_ne_bytes(*word)).collect())
    }

    /// The text at an address, up to its zero.
    ///
    /// # Errors
    ///
    /// As [`Memory::read`].
    pub fn text(&self, address: u64) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        while text.len() < LONGEST_TEXT {
            // Up to the end of a page at a time: the next one may not be mapped.
            let at = address.wrapping_add(text.len() as u64);
            let mut part = [0; 256];
            let page = 4096 - (at % 4096) as usize;
            let wanted = page.min(part.len());
            let read = self.read(at, &mut part[..wanted])?;
            if let Some(end) = part[..read].iter().position(|byte| *byte == 0) {
                text.extend(&part[..end]);
                return Ok(text);
            }
            text.extend(&part[..read]);
            if read < wanted {
                break;
            }
        }
        Err(io::Error::from_raw_os_error(libc::EFAULT))
    }

    fn transfer(&self, local: &libc::iovec, remote: &[libc::iovec]) -> io::Result<usize> {
        // SAFETY: `local` describes a buffer that its caller owns and may write to; the
        // kernel checks the remote pieces, and no memory of this process is behind them.
        let read = unsafe {
            libc::process_vm_readv(
                self.pid as libc::pid_t,
                local,
                1,
                remote.as_ptr(),
                remote.len() as libc::c_ulong,
                0,
            )
        };
        usize::try_from(read).map_err(|_| io::Error::last_os_error())
    }
}

fn piece(address: u64, length: usize) -> libc::iovec {
    libc::iovec {
        iov_base: address as usize as *mut libc::c_void,
        iov_len: length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_beside_unmapped_ones_are_read() {
        let here = [1u64, 2, 3];
        let memory = Memory::of(std::process::id());
        let at = |index: usize| &raw const here[index] as u64;
        let words = memory.words(&[at(2), 8, at(0), 16, at(1)]).unwrap();
        assert_eq!(words, [Some(3), None, Some(1), None, Some(2)]);
        assert_eq!(memory.array(at(0), 3).unwrap(), here);
        assert!(memory.word(8).is_err());
    }

    #[test]
    fn texts_end_at_their_zero() {
        let text = c"a text";
        let memory = Memory::of(std::process::id());
        assert_eq!(memory.text(text.as_ptr() as u64).unwrap(), b"a text");
    }
}
