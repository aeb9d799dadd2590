//! The log: lines on standard error, each by one `write`.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::buffer::Buffer;
use crate::env;
use crate::text::Text;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Level {
    Error = 1,
    Warn = 2,
    Info = 3,
    Debug = 4,
}

const LEVELS: [(&CStr, Level); 4] = [
    (c"error", Level::Error),
    (c"warn", Level::Warn),
    (c"info", Level::Info),
    (c"debug", Level::Debug),
];

/// The level of `HIPLAZY_LOG`, 0 while it has not been read.
static LEVEL: AtomicU8 = AtomicU8::new(0);

fn enabled(level: Level) -> bool {
    let mut limit = LEVEL.load(Ordering::Relaxed);
    if limit == 0 {
        let value = env::own(env::LOG);
        let known = value.and_then(|value| LEVELS.iter().find(|(name, _)| *name == value));
        limit = known.map_or(Level::Error, |(_, level)| *level) as u8;
        LEVEL.store(limit, Ordering::Relaxed);
        if let (Some(value), None) = (value, known) {
            write(Level::Error, |text| {
                text.str("HIPLAZY_LOG=")
                    .c_str(value)
                    .str(" is not error, warn, info or debug");
            });
        }
    }
    level as u8 <= limit
}

/// Writes what `line` makes if `level` is asked for.
pub(crate) fn log(level: Level, line: impl FnOnce(&mut Text)) {
    if enabled(level) {
        write(level, line);
    }
}

/// Writes what `line` makes, whatever the level.
///
/// Not inlined, so that a caller's stack holds the line only while it is written.
#[cold]
#[inline(never)]
pub(crate) fn write(level: Level, line: impl FnOnce(&mut Text)) {
    let mut small = [0; 512];
    let mut large = Buffer::new(12 * 1024);
    let buffer = match &mut large {
        Some(large) => &mut large[..],
        None => &mut small[..],
    };
    let mut text = Text::new(buffer);
    text.str("hiplazy: ");
    if let Some((name, _)) = LEVELS.iter().find(|(_, known)| *known == level) {
        text.c_str(name).str(": ");
    }
    line(&mut text);
    let end = text.len();
    if let Some(nul) = buffer.get_mut(end) {
        *nul = b'\n';
    }
    let bytes = buffer.get(..=end).unwrap_or(b"");
    // SAFETY: the buffer is readable for its length. A log that cannot be written
    // is lost; there is nobody to tell.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}
