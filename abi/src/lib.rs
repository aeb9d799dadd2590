//! The ABI manifest of AMD's HIP API, as data and as a parser.
//!
//! The tables beside this crate state facts about HIP's binary interface: one
//! reviewable line per function, error code, ABI history entry. The library's
//! build script, the fake runtime, the command and the project tasks all read
//! them through this crate, so that a format has one reader.
//!
//! | table | what a line says |
//! | --- | --- |
//! | [`FUNCTIONS_TXT`] | a function: link name, version node, return class, types, headers, library |
//! | [`SLOTS_TXT`] | an entry of the slot table, by its place |
//! | [`ERRORS_TXT`] | an error code with the name and text the real runtime answers |
//! | [`NOT_WRAPPED_TXT`] | an exported name that has no wrapper, and why |
//! | [`HISTORY_TXT`] | the header versions that declare a function |
//! | [`PROTOTYPES_TXT`] | a prototype that some headers declare otherwise, and what that means |
//! | [`LAYOUTS_TXT`] | a struct or union: size, alignment and every scalar in it, by version |
//! | [`CONSTANTS_TXT`] | an enumerator or flag: its value, by version |
//! | [`MACROS_TXT`] | a macro of the headers that is not a plain number |
//! | [`DEFAULTS_TXT`] | the default arguments that C++ callers have |
//! | [`OVERLOADS_TXT`] | an overload that C++ callers have |
//! | [`EXPORTS`] | the dynamic exports of real runtimes |
//! | [`HSA_EXPORTS`] | those of real `libhsa-runtime64` |
//!
//! Every table is UTF-8 text; `#` starts a comment line, ` | ` separates columns.

mod breaks;
mod c_interface;
mod c_type;
mod constant;
mod entry;
mod error_code;
mod export;
mod function;
mod history;
mod layout;
mod not_wrapped;
mod prototype;
mod row;
mod slot;
mod version;
mod version_range;

pub use breaks::{Action, Break, Direction, break_of, parse_breaks};
pub use c_interface::{Defaults, Macro, Overload, parse_defaults, parse_macros, parse_overloads};
pub use c_type::{c_type_name, rust_type};
pub use constant::{Constant, constant_of, parse_constants};
pub use entry::{Entry, entries, entry_for};
pub use error_code::{Code, Domain, ErrorCode, parse_errors};
pub use export::{EXPORTS, Export, ExportTable, HSA_EXPORTS, parse_exports};
pub use function::{Arg, Class, Function, Library, parse_functions};
pub use history::{Declared, HEADER_VERSIONS, parse_history};
pub use layout::{Field, Layout, layout_of, parse_layouts};
pub use not_wrapped::{NotWrapped, parse_not_wrapped};
pub use prototype::{Prototype, parse_prototypes};
pub use row::ParseError;
pub use slot::{SlotOrder, parse_slots, table_lengths};
pub use version::Version;
pub use version_range::VersionRange;

/// Where structs, constants or prototypes changed behind an unchanged name, parsed by
/// [`parse_breaks`].
pub const BREAKS_TXT: &str = include_str!("../breaks.txt");

/// The function manifest, parsed by [`parse_functions`].
pub const FUNCTIONS_TXT: &str = include_str!("../functions.txt");

/// The order of the slot table, parsed by [`parse_slots`].
pub const SLOTS_TXT: &str = include_str!("../slots.txt");

/// The error codes with names and texts, parsed by [`parse_errors`].
pub const ERRORS_TXT: &str = include_str!("../errors.txt");

/// Exported names without a wrapper, parsed by [`parse_not_wrapped`].
pub const NOT_WRAPPED_TXT: &str = include_str!("../not_wrapped.txt");

/// The header versions that declare each function, parsed by [`parse_history`].
pub const HISTORY_TXT: &str = include_str!("../history.txt");

/// Prototypes of older headers, parsed by [`parse_prototypes`].
pub const PROTOTYPES_TXT: &str = include_str!("../prototypes.txt");

/// The layouts of structs and unions by version, parsed by [`parse_layouts`].
pub const LAYOUTS_TXT: &str = include_str!("../layouts.txt");

/// The values of enumerators and flags by version, parsed by [`parse_constants`].
pub const CONSTANTS_TXT: &str = include_str!("../constants.txt");

/// Macros of the headers, parsed by [`parse_macros`].
pub const MACROS_TXT: &str = include_str!("../c_macros.txt");

/// Default arguments in C++, parsed by [`parse_defaults`].
pub const DEFAULTS_TXT: &str = include_str!("../cxx_defaults.txt");

/// Overloads in C++, parsed by [`parse_overloads`].
pub const OVERLOADS_TXT: &str = include_str!("../cxx_overloads.txt");

/// The control functions of the C interface, without their prefix (`hiplazy_load` and
/// so on).
pub const CONTROL_FUNCTIONS: [&str; 8] = [
    "load",
    "has",
    "symbol",
    "runtime_path",
    "runtime_version",
    "header_version",
    "last_error",
    "version",
];
