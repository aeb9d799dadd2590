//! Who answers in place of the library that an object needs, where the names are not HIP's
//! and nothing is known of them but who has them.

use super::World;
use super::bindings::Link;
use crate::standard_names::is_standard;

/// Why something answers that is not among the needs of the object that refers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instead {
    /// It was preloaded: everybody is to call it.
    Preloaded,
    /// The program itself has the name: what a program defines comes before libraries.
    Program,
    /// Programs replace such functions, or the process is to have one of them.
    Replaceable,
    /// It came first, and nothing says that this is meant.
    First,
}

impl Instead {
    /// What it is, after the provider's name; nothing for [`Instead::First`].
    pub fn means(self) -> &'static str {
        match self {
            Instead::Preloaded => "which is preloaded",
            Instead::Program => "the program itself",
            Instead::Replaceable => "and such functions may be replaced",
            Instead::First => "",
        }
    }
}

/// What answers in place of a library that the object needs; `None` if one of those that
/// it needs does, or if that is not known.
pub fn instead(world: &World<'_>, link: &Link) -> Option<Instead> {
    let provider = link.provider?;
    link.meant.filter(|meant| *meant != provider)?;
    // Several of its needs may have the name: the first in the scope is right.
    if provider == link.from
        || world.closure(link.from).contains(&provider)
        || !world.knows_closure(link.from)
        || world.has_copy(provider, &link.name)
    {
        return None;
    }
    Some(if world.preloaded.contains(&provider) {
        Instead::Preloaded
    } else if world.objects[provider].object.flags.executable {
        Instead::Program
    } else if is_standard(&link.name) {
        Instead::Replaceable
    } else {
        Instead::First
    })
}
