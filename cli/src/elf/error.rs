//! Why a file could not be read as an ELF object.

use std::fmt;

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// No ELF file at all: a script, an image.
    NotElf,
    /// An object file, a core dump: nothing that a process maps as code.
    NotLoadable,
    /// Code for a graphics processor.
    NotForTheHost,
    /// HIP exists for 64-bit processes only.
    NotSixtyFourBit,
    /// The file contradicts itself, or ends early.
    Corrupt {
        /// What was being read.
        reading: &'static str,
        /// What was wrong with it.
        why: String,
    },
}

impl Error {
    pub(super) fn corrupt(reading: &'static str, why: impl fmt::Display) -> Error {
        Error::Corrupt {
            reading,
            why: why.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotElf => f.write_str("is no ELF file"),
            Error::NotLoadable => {
                f.write_str("is an ELF file, but neither a program nor a shared library")
            }
            Error::NotForTheHost => f.write_str("is code for a graphics processor"),
            Error::NotSixtyFourBit => {
                f.write_str("is a 32-bit ELF file, and HIP exists for 64-bit processes only")
            }
            Error::Corrupt { reading, why } => {
                write!(f, "is corrupt or cut short: {reading}: {why}")
            }
        }
    }
}

impl std::error::Error for Error {}
