//! Reads ROCm headers as the compiler does.
//!
//! Link names come from the syntax tree, never from source spelling: HIP's headers
//! rename functions by macro, and newer ones by inline functions.

mod assertions;
mod c_spelling;
mod declarations;
mod error;
mod header_set;
mod interface;
mod libclang;
mod sys_types;

pub use declarations::{Declaration, Declarations, TranslationUnit, parse_bindings};
pub use error::Error;
pub use header_set::{Contents, HeaderSet, Source, hip_version, types_of};
pub use interface::{Interface, MACRO, Record, UNNAMED, parse_interface};
pub use libclang::Language;
pub use sys_types::{Types, format, same, type_names};
