//! Hears what the auditing module tells, from all processes.

use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use super::module::Listener;
use super::record::Record;
use super::wire::{Header, Kind};

/// No message is longer: a header, and the current folder and a path.
const LONGEST: usize = 16 << 10;
/// How much may wait to be heard.
const ROOM: libc::c_int = 8 << 20;

/// Listens in a thread of its own.
pub(super) struct Receiver {
    address: (libc::sockaddr_un, libc::socklen_t),
    token: [u8; 16],
    record: Arc<Mutex<Record>>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    pub(super) fn listen(listener: &Listener, record: Record) -> io::Result<Receiver> {
        let address = address(listener);
        let socket = socket()?;
        let number = socket.as_raw_fd();
        let set = |option, value: libc::c_int| {
            // SAFETY: the value is an int, as these options have it.
            unsafe {
                libc::setsockopt(
                    number,
                    libc::SOL_SOCKET,
                    option,
                    (&raw const value).cast(),
                    size_of_val(&value) as libc::socklen_t,
                )
            }
        };
        // Root may have more than others; what is granted will do.
        if set(libc::SO_RCVBUFFORCE, ROOM) != 0 {
            set(libc::SO_RCVBUF, ROOM);
        }
        // SAFETY: an address with its length.
        let bound = unsafe { libc::bind(number, (&raw const address.0).cast(), address.1) };
        if set(libc::SO_PASSCRED, 1) != 0 || bound != 0 {
            return Err(io::Error::last_os_error());
        }
        let record = Arc::new(Mutex::new(record));
        let (token, heard) = (listener.token, Arc::clone(&record));
        let thread = thread::Builder::new()
            .name("listener".into())
            .spawn(move || hear(&socket, token, &heard))?;
        Ok(Receiver {
            address,
            token,
            record,
            thread: Some(thread),
        })
    }

    /// What was heard so far.
    pub(super) fn record(&self) -> MutexGuard<'_, Record> {
        lock(&self.record)
    }

    /// Hears what is still there, and no more.
    pub(super) fn finish(&mut self) {
        let header = Header {
            token: self.token,
            kind: Kind::Over as u64,
            ..Header::default()
        };
        let sent = socket().is_ok_and(|socket| {
            // SAFETY: a header and an address with their lengths.
            let sent = unsafe {
                libc::sendto(
                    socket.as_raw_fd(),
                    (&raw const header).cast(),
                    size_of_val(&header),
                    0,
                    (&raw const self.address.0).cast(),
                    self.address.1,
                )
            };
            sent >= 0
        });
        // Without descriptors it is left behind.
        if let Some(thread) = self.thread.take().filter(|_| sent) {
            let _ = thread.join();
        }
    }
}

fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}

fn socket() -> io::Result<OwnedFd> {
    // SAFETY: takes numbers only; the descriptor is new and nobody else's.
    unsafe {
        match libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) {
            -1 => Err(io::Error::last_os_error()),
            socket => Ok(OwnedFd::from_raw_fd(socket)),
        }
    }
}

/// In the abstract namespace: no file, and the same for all users and after `chroot`.
fn address(listener: &Listener) -> (libc::sockaddr_un, libc::socklen_t) {
    // SAFETY: zeroes are a valid value.
    let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path[1..].iter_mut().zip(listener.address) {
        *to = from as libc::c_char;
    }
    let length = mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + listener.address.len();
    (address, length as libc::socklen_t)
}

fn hear(socket: &OwnedFd, token: [u8; 16], record: &Mutex<Record>) {
    let mut bytes = vec![0_u8; LONGEST];
    loop {
        let (length, pid) = match receive(socket, &mut bytes) {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                lock(record).fail(format!("cannot be heard any more: {error}"));
                return;
            }
        };
        let Some((header, text)) = bytes[..length].split_at_checked(size_of::<Header>()) else {
            continue;
        };
        // SAFETY: as many bytes as it has, and all of its fields are numbers.
        let header: Header = unsafe { ptr::read_unaligned(header.as_ptr().cast()) };
        if header.token != token {
            continue;
        }
        match Kind::of(header.kind) {
            Some(Kind::Over) => return,
            Some(kind) => lock(record).add(pid, &header, kind, text),
            None => {}
        }
    }
}

/// A message, and who has sent it: the kernel says so.
fn receive(socket: &OwnedFd, bytes: &mut [u8]) -> io::Result<(usize, u32)> {
    let mut control = [0_u64; 16];
    let mut piece = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: zeroes are a valid value.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: all buffers have the lengths that are given.
    let length =
        unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    let Ok(length) = usize::try_from(length) else {
        return Err(io::Error::last_os_error());
    };
    let mut pid = 0;
    // SAFETY: walks what the kernel has written.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(&raw const message);
        while !at.is_null() {
            let data = libc::CMSG_DATA(at);
            if (*at).cmsg_level == libc::SOL_SOCKET && (*at).cmsg_type == libc::SCM_CREDENTIALS {
                let who: libc::ucred = ptr::read_unaligned(data.cast());
                pid = who.pid as u32;
            } else if (*at).cmsg_level == libc::SOL_SOCKET && (*at).cmsg_type == libc::SCM_RIGHTS {
                // Nobody is asked to send descriptors.
                let bytes = (*at).cmsg_len as usize - (data as usize - at as usize);
                for number in 0..bytes / size_of::<libc::c_int>() {
                    libc::close(ptr::read_unaligned(data.cast::<libc::c_int>().add(number)));
                }
            }
            at = libc::CMSG_NXTHDR(&raw const message, at);
        }
    }
    Ok((length, pid))
}
