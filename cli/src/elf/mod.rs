//! One ELF object: what the dynamic linker would see of it, and what a reviewer wants
//! to know.
//!
//! Everything comes from the program headers and the dynamic segment, as it does for
//! the dynamic linker: section headers may be missing, and may lie. `object` reads the
//! tables. No input makes this module panic; what cannot be read is an [`Error`].

mod dynamic;
mod error;
mod literals;
mod lookup;
mod read;

use serde::Serialize;

pub use error::Error;
pub use literals::RENAMED;
pub use lookup::{Definition, Definitions, Sections};
pub use read::read;

/// Which symbols of an object are kept.
#[derive(Clone, Copy)]
pub enum Keep<'a> {
    /// All of them.
    All,
    /// Those that the names cover, the lookups (`dlsym`, `dlvsym`), and unique symbols of
    /// HIP's C++ code.
    Of(&'a crate::names::Names),
}

/// An executable or shared library.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Object {
    /// The file, or `wheel.whl!path inside` for a member of an archive.
    pub path: String,
    /// The size of the file in bytes.
    pub size: u64,
    /// `DT_SONAME`.
    pub soname: Option<String>,
    /// `DT_NEEDED`, in order.
    pub needed: Vec<String>,
    /// The libraries that answer in its place, if they have the name (`DT_FILTER`,
    /// `DT_AUXILIARY`).
    pub filters: Vec<String>,
    /// `DT_RPATH`, split at colons; empty entries are kept.
    pub rpath: Vec<String>,
    /// `DT_RUNPATH`, split at colons; empty entries are kept.
    pub runpath: Vec<String>,
    /// The GNU build id, in hexadecimal digits.
    pub build_id: Option<String>,
    /// `e_machine`: 62 is x86-64, 183 is AArch64.
    pub machine: u16,
    /// How it was linked.
    pub flags: Flags,
    /// The version nodes that the object defines, without its own name.
    pub nodes: Vec<String>,
    /// The dynamic symbols that are defined here and visible to others.
    pub exports: Vec<Export>,
    /// The dynamic symbols that are wanted from elsewhere, and those defined here that
    /// another object may take away (see [`Reference::own`]).
    pub references: Vec<Reference>,
    /// How many dynamic symbols are defined in all, kept or not.
    pub defined: usize,
    /// Literals that spell a HIP function whose struct changed.
    pub literals: Vec<String>,
}

/// How an object was linked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Flags {
    /// `-z now`: every function is bound when the object is loaded.
    pub now: bool,
    /// `-z nodelete`: never unloaded.
    pub nodelete: bool,
    /// `-Bsymbolic`: its own definitions come first for its own references.
    pub symbolic: bool,
    /// `DF_1_GLOBAL`.
    pub global: bool,
    /// `PT_GNU_STACK` is executable, or missing (which means the same).
    pub executable_stack: bool,
    /// Code is written to when the object is loaded.
    pub text_relocations: bool,
    /// An executable, position independent or not.
    pub executable: bool,
    /// Has a dynamic segment at all.
    pub dynamic: bool,
}

/// A dynamic symbol that an object defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Export {
    /// The link name.
    pub name: String,
    /// The version node it is defined on.
    pub node: Option<String>,
    /// `name@@node`: what a reference without a node gets. Also true without a node.
    pub default: bool,
    /// Global, weak or unique.
    pub binding: Binding,
    /// Function, data or other.
    pub kind: Kind,
    /// Protected symbols are never taken away from the object itself.
    pub protected: bool,
    /// The address within the object (`st_value`).
    pub address: u64,
}

/// A dynamic symbol that an object wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// The link name.
    pub name: String,
    /// The version node it asks for.
    pub node: Option<String>,
    /// The library that the node was found in when the object was linked.
    pub library: Option<String>,
    /// May stay unresolved.
    pub weak: bool,
    /// The object defines the name itself, yet looks it up like any other: whoever
    /// comes first in the scope gets it.
    pub own: bool,
    /// The words that the dynamic linker fills for this reference.
    pub slots: Vec<Slot>,
}

/// A word that the dynamic linker fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// Its address within the object; add the load address of a process.
    pub address: u64,
    /// How it is filled.
    pub relocation: Relocation,
    /// What is added to the symbol's address.
    pub addend: i64,
}

/// How a word is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relocation {
    /// A PLT entry: at the first call, unless the object or the process says "now".
    JumpSlot,
    /// A GOT entry, filled when the object is loaded.
    GlobDat,
    /// A pointer in data, filled when the object is loaded.
    Absolute,
    /// The executable has a copy of the variable.
    Copy,
    /// Something else, such as thread-local storage: the word is no plain address.
    Other(u32),
}

/// A symbol's binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    /// `STB_GLOBAL`.
    Global,
    /// `STB_WEAK`; the dynamic linker treats it as global.
    Weak,
    /// `STB_GNU_UNIQUE`: one for the whole process, whatever the scope says.
    Unique,
}

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Code, also by way of a resolver (`STT_GNU_IFUNC`).
    Function,
    /// A variable.
    Data,
    /// Thread-local, or without a type.
    Other,
}

impl Object {
    /// The last part of the path.
    pub fn file_name(&self) -> &str {
        self.path
            .rsplit(['/', '!'])
            .next()
            .unwrap_or(self.path.as_str())
    }

    /// The SONAME, else the file name: what others call it.
    pub fn called(&self) -> &str {
        self.soname.as_deref().unwrap_or_else(|| self.file_name())
    }

    /// The default definition of `name`, if the object exports it.
    pub fn export(&self, name: &str) -> Option<&Export> {
        self.exports
            .iter()
            .find(|export| export.name == name && export.default)
    }

    /// The reference to `name` that is not to the object's own definition.
    pub fn wants(&self, name: &str) -> Option<&Reference> {
        self.references
            .iter()
            .find(|reference| reference.name == name && !reference.own)
    }

    /// Whether it looks symbols up by their spelling.
    pub fn looks_up(&self) -> bool {
        ["dlsym", "dlvsym"]
            .iter()
            .any(|name| self.wants(name).is_some())
    }
}

/// Whether a symbol is kept.
fn names_in(keep: Keep<'_>, name: &[u8], binding: Binding) -> bool {
    let Keep::Of(names) = keep else {
        return true;
    };
    let Ok(name) = std::str::from_utf8(name) else {
        return false;
    };
    names.cover(name)
        || matches!(name, "dlsym" | "dlvsym")
        || (binding == Binding::Unique && crate::names::is_hip_like(name))
}
