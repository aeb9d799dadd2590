//! System calls, without a C library: this module has none, and `errno` is the
//! program's.

use core::arch::asm;
use core::ptr;

use crate::wire::Header;

#[cfg(target_arch = "x86_64")]
mod number {
    pub(super) const CLOSE: usize = 3;
    pub(super) const MMAP: usize = 9;
    pub(super) const GETPID: usize = 39;
    pub(super) const SOCKET: usize = 41;
    pub(super) const SENDMSG: usize = 46;
    pub(super) const SETSOCKOPT: usize = 54;
    pub(super) const GETCWD: usize = 79;
    pub(super) const CLOCK_GETTIME: usize = 228;
    pub(super) const READLINKAT: usize = 267;
    pub(super) const GETRANDOM: usize = 318;
    pub(super) const STATX: usize = 332;
}

#[cfg(target_arch = "aarch64")]
mod number {
    pub(super) const GETCWD: usize = 17;
    pub(super) const CLOSE: usize = 57;
    pub(super) const READLINKAT: usize = 78;
    pub(super) const CLOCK_GETTIME: usize = 113;
    pub(super) const GETPID: usize = 172;
    pub(super) const SOCKET: usize = 198;
    pub(super) const SETSOCKOPT: usize = 208;
    pub(super) const SENDMSG: usize = 211;
    pub(super) const MMAP: usize = 222;
    pub(super) const GETRANDOM: usize = 278;
    pub(super) const STATX: usize = 291;
}

/// # Safety
///
/// The arguments are what the call asks for.
#[cfg(target_arch = "x86_64")]
unsafe fn call(number: usize, words: [usize; 6]) -> isize {
    let result: isize;
    let [a, b, c, d, e, f] = words;
    // SAFETY: the kernel changes rcx and r11, and what the caller has passed.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// # Safety
///
/// The arguments are what the call asks for.
#[cfg(target_arch = "aarch64")]
unsafe fn call(number: usize, words: [usize; 6]) -> isize {
    let result: isize;
    let [a, b, c, d, e, f] = words;
    // SAFETY: the kernel changes what the caller has passed.
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") a as isize => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f, options(nostack));
    }
    result
}

const INTERRUPTED: isize = -4;
const WOULD_BLOCK: isize = -11;
const REFUSED: isize = -111;

/// The longest path, with its zero.
pub(crate) const PATH: usize = 4096;
/// `AT_FDCWD`.
const HERE: usize = -100_isize as usize;

/// What became of a message.
pub(crate) enum Sent {
    /// It arrived.
    Yes,
    /// It did not, for a reason that may go away.
    No,
    /// There was no room for it.
    Late,
    /// Nobody has the address.
    NobodyThere,
}

/// `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Piece {
    place: *const u8,
    length: usize,
}

/// `struct sockaddr_un`, of an abstract address.
#[repr(C)]
struct Address {
    family: u16,
    zero: u8,
    name: [u8; 32],
}

/// `struct msghdr`.
#[repr(C)]
struct Message {
    address: *const Address,
    address_length: u32,
    pieces: *const Piece,
    count: usize,
    control: *const u8,
    control_length: usize,
    flags: i32,
}

/// How often a message that a signal interrupts is sent again.
const AGAIN: usize = 100;
/// How long there may be no room for a message, in seconds.
const PATIENCE: i64 = 10;

/// Sends a message.
pub(crate) fn send(name: &[u8; 32], header: &Header, text: &[&[u8]], wait: bool) -> Sent {
    const UNIX: usize = 1;
    const DATAGRAM: usize = 2;
    const CLOSE_ON_EXEC: usize = 0o2_000_000;
    const SOCKET_LEVEL: usize = 1;
    const SEND_TIMEOUT: usize = 21;
    const NO_SIGNAL: usize = 0x4000;
    const DO_NOT_WAIT: usize = 0x40;
    let mut pieces = [Piece {
        place: ptr::null(),
        length: 0,
    }; 4];
    let header = Piece {
        place: ptr::from_ref(header).cast(),
        length: size_of::<Header>(),
    };
    let text = text.iter().map(|text| Piece {
        place: text.as_ptr(),
        length: text.len(),
    });
    for (piece, given) in pieces.iter_mut().zip([header].into_iter().chain(text)) {
        *piece = given;
    }
    let address = Address {
        family: UNIX as u16,
        zero: 0,
        name: *name,
    };
    let message = Message {
        address: &raw const address,
        address_length: 2 + 1 + 32,
        pieces: pieces.as_ptr(),
        count: pieces.len(),
        control: ptr::null(),
        control_length: 0,
        flags: 0,
    };
    let patience = [PATIENCE, 0];
    let flags = match wait {
        true => NO_SIGNAL,
        false => NO_SIGNAL | DO_NOT_WAIT,
    };
    // SAFETY: all structures are the kernel's, and outlive the calls; the descriptor is
    // this function's.
    unsafe {
        let socket = call(number::SOCKET, [UNIX, DATAGRAM | CLOSE_ON_EXEC, 0, 0, 0, 0]);
        let Ok(socket) = usize::try_from(socket) else {
            return Sent::No;
        };
        let time = patience.as_ptr() as usize;
        let length = size_of_val(&patience);
        call(
            number::SETSOCKOPT,
            [socket, SOCKET_LEVEL, SEND_TIMEOUT, time, length, 0],
        );
        let mut sent = INTERRUPTED;
        for _ in 0..AGAIN {
            sent = call(
                number::SENDMSG,
                [socket, &raw const message as usize, flags, 0, 0, 0],
            );
            if sent != INTERRUPTED {
                break;
            }
        }
        call(number::CLOSE, [socket, 0, 0, 0, 0, 0]);
        match sent {
            0.. => Sent::Yes,
            WOULD_BLOCK | INTERRUPTED => Sent::Late,
            REFUSED => Sent::NobodyThere,
            _ => Sent::No,
        }
    }
}

/// The number of this process.
pub(crate) fn process() -> i32 {
    // SAFETY: takes nothing.
    unsafe { call(number::GETPID, [0; 6]) as i32 }
}

/// A number that no other process has.
pub(crate) fn random(process: i32) -> u64 {
    const DO_NOT_WAIT: usize = 1;
    const MONOTONIC: usize = 1;
    let mut number = [0_u64; 1];
    let mut time = [0_u64; 2];
    // SAFETY: the buffers have the lengths that are given, or that the call asks for.
    let got = unsafe {
        let place = number.as_mut_ptr() as usize;
        call(number::GETRANDOM, [place, 8, DO_NOT_WAIT, 0, 0, 0])
    };
    if got == 8 {
        return number[0] | 1;
    }
    // SAFETY: as above. Very early after the machine's start there may be none.
    unsafe {
        let place = time.as_mut_ptr() as usize;
        call(number::CLOCK_GETTIME, [MONOTONIC, place, 0, 0, 0, 0]);
    }
    (time[0] << 32 ^ time[1] ^ (process as u64) << 40) | 1
}

/// New memory, and how much.
pub(crate) fn pages() -> Option<(*mut u8, usize)> {
    const LENGTH: usize = 1 << 16;
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS: usize = 0x22;
    // SAFETY: memory that was nobody's.
    let place = unsafe {
        call(
            number::MMAP,
            [0, LENGTH, READ_WRITE, PRIVATE_ANONYMOUS, usize::MAX, 0],
        )
    };
    (place > 0).then_some((place as *mut u8, LENGTH))
}

/// The path of the program, with a zero after it.
pub(crate) fn program(buffer: &mut [u8; PATH]) -> &[u8] {
    let path = c"/proc/self/exe".as_ptr() as usize;
    // SAFETY: the path ends with a zero, and the buffer keeps one at its end.
    let length = unsafe {
        let place = buffer.as_mut_ptr() as usize;
        call(number::READLINKAT, [HERE, path, place, PATH - 1, 0, 0])
    };
    match usize::try_from(length) {
        Ok(1..) => buffer,
        _ => b"/proc/self/exe\0",
    }
}

/// The current folder.
pub(crate) fn current_folder(buffer: &mut [u8; PATH]) -> &[u8] {
    // SAFETY: the buffer has the length that is given.
    let length = unsafe {
        let place = buffer.as_mut_ptr() as usize;
        call(number::GETCWD, [place, PATH, 0, 0, 0, 0])
    };
    // It counts its zero.
    let length = usize::try_from(length).unwrap_or(0).saturating_sub(1);
    buffer.get(..length).unwrap_or_default()
}

/// The file of a path that has a zero after it, which is no part of the slice or is.
pub(crate) fn device_and_inode(path: &[u8]) -> (u64, u64) {
    const INODE: usize = 0x100;
    let mut about = [0_u64; 32];
    // SAFETY: every path here has its zero, and `struct statx` has 256 bytes.
    let result = unsafe {
        let place = about.as_mut_ptr() as usize;
        call(
            number::STATX,
            [HERE, path.as_ptr() as usize, 0, INODE, place, 0],
        )
    };
    if result != 0 {
        return (0, 0);
    }
    // Inode: bytes 32 to 39. Device: two numbers of four bytes from byte 136.
    (about[17], about[4])
}
