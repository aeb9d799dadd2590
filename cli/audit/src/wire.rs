//! What the module and `hiplazy run` tell each other: settings that are written into the
//! module's file, and one datagram per event. Both are of one build and one machine.

/// How [`Settings`] are found in the module's file.
pub(crate) const MAGIC: [u8; 32] = *b"hiplazy run: settings of module\n";
/// The longest prefixes, each with a zero after it.
pub(crate) const PREFIXES: usize = 4096;
/// How many values a message has.
pub(crate) const VALUES: usize = 5;

/// Where to send, and what.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    /// [`MAGIC`].
    pub magic: [u8; 32],
    /// Whoever does not know it is not listened to.
    pub token: [u8; 16],
    /// The name of a socket in the abstract namespace, without its leading zero.
    pub address: [u8; 32],
    /// Whether mangled names of C++ with "hip" in them count.
    pub mangled: u64,
    /// What names begin with, each with a zero after it, and an empty one at the end.
    pub prefixes: [u8; PREFIXES],
}

/// What stands before the text of a message.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Header {
    /// [`Settings::token`].
    pub token: [u8; 16],
    /// The process and what it runs: another one after each `fork` and `exec`.
    pub process: u64,
    /// The process that it was forked from, or zero.
    pub parent: u64,
    /// How many messages there were before, also of those it was forked from.
    pub sequence: u32,
    /// How many there were when it was forked.
    pub forked_at: u32,
    /// A [`Kind`].
    pub kind: u64,
    /// By kind.
    pub values: [u64; VALUES],
}

/// What happened. Objects are named by the addresses of their link maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Kind {
    /// The module was loaded. Value: the version of the interface.
    Started = 1,
    /// This glibc cannot tell enough. Value: the version of the interface.
    TooOld = 2,
    /// An object was mapped. Values: object, namespace, load address, device, inode.
    /// Text: its path.
    Opened = 3,
    /// An object goes. Value: object.
    Closed = 4,
    /// A function was looked up. Values: who asked, who has it, its address, flags of
    /// `la_symbind64`. Text: its name.
    Bound = 5,
    /// A word for a reference was filled when the object was loaded. Values: object,
    /// the word's address in the file, its value. Text: the name.
    Word = 6,
    /// All objects that were mapped can be used: ld.so has found what they need.
    Complete = 7,
    /// The receiver tells itself that all is over.
    Over = 8,
}

impl Kind {
    /// The kind that a number stands for.
    pub(crate) fn of(number: u64) -> Option<Kind> {
        [
            Kind::Started,
            Kind::TooOld,
            Kind::Opened,
            Kind::Closed,
            Kind::Bound,
            Kind::Word,
            Kind::Complete,
            Kind::Over,
        ]
        .into_iter()
        .find(|kind| *kind as u64 == number)
    }
}

/// `LA_SYMB_DLSYM`: a question of the program's, no reference.
pub(crate) const BY_DLSYM: u64 = 8;
