//! The log: lines on standard error, each by one `write`.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::buffer::Buffer;
use crate::env;
use crate::strings;
use crate::text::Text;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Level {
    Error = 1,
    Warn = 2,
    Info = 3,
    Debug = 4,
}

const NAMES: &[u8] = b"error\0warn\0info\0debug\0";
const LEVELS: [Level; 4] = [Level::Error, Level::Warn, Level::Info, Level::Debug];

impl Level {
    fn name(self) -> &'static CStr {
        let start: u8 = match self {
            Level::Error => 0,
            Level::Warn => 6,
            Level::Info => 11,
            Level::Debug => 16,
        };
        strings::at(NAMES, start).unwrap_or(c"")
    }
}

/// The level of `HIPLAZY_LOG`, 0 while it has not been read.
static LEVEL: AtomicU8 = AtomicU8::new(0);

fn enabled(level: Level) -> bool {
    let mut limit = LEVEL.load(Ordering::Relaxed);
    if limit == 0 {
        let value = env::own(env::LOG);
        let known = value.and_then(|value| LEVELS.iter().find(|level| level.name() == value));
        limit = *known.unwrap_or(&Level::Error) as u8;
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
    let mut place = Place::new();
    let mut text = place.begin(level);
    line(&mut text);
    let end = text.len();
    place.end(end);
}

/// Where a line is made. Its functions are no part of each caller's copy of [`write`].
struct Place {
    /// For want of memory.
    small: [u8; 512],
    large: Option<Buffer>,
}

impl Place {
    #[inline(never)]
    fn new() -> Place {
        Place {
            small: [0; 512],
            large: Buffer::new(12 * 1024),
        }
    }

    fn buffer(&mut self) -> &mut [u8] {
        match &mut self.large {
            Some(large) => &mut large[..],
            None => &mut self.small,
        }
    }

    #[inline(never)]
    fn begin(&mut self, level: Level) -> Text<'_> {
        let mut text = Text::new(self.buffer());
        text.str("hiplazy: ");
        text.c_str(level.name()).str(": ");
        text
    }

    /// Writes the first `end` bytes.
    #[inline(never)]
    fn end(&mut self, end: usize) {
        let buffer = self.buffer();
        if let Some(nul) = buffer.get_mut(end) {
            *nul = b'\n';
        }
        let bytes = buffer.get(..=end).unwrap_or(b"");
        // SAFETY: the buffer is readable for its length. A log that cannot be written
        // is lost; there is nobody to tell.
        unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
    }
}
