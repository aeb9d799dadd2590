//! Why a call had no function to go to.

use core::ffi::{CStr, c_int};

use crate::breaks;
use crate::functions;
use crate::loaded::{Library, Loaded};
use crate::text::Text;

/// A call, or a request, that found nothing to bind to.
#[derive(Clone, Copy)]
pub(crate) struct Failure {
    /// The function that was called; `None` for [`load`](crate::load).
    pub(crate) function: Option<usize>,
    pub(crate) cause: Cause,
}

/// The reason.
#[derive(Clone, Copy)]
pub(crate) enum Cause {
    /// The library was looked for and not found; the report says where.
    Absent(Library, &'static CStr),
    /// The library is bound but lacks the function.
    Missing(&'static Loaded),
    /// A constructor that runs inside our own `dlopen` asks for a function of a
    /// runtime that is not mapped yet.
    Opening(Library),
    /// There is no memory to look for anything.
    OutOfMemory,
    /// The runtime's function means something else than the caller's headers, for this
    /// reason.
    Incompatible(&'static Loaded, &'static CStr),
    /// It depends on the runtime's minor version. Never reported.
    Undecided,
    /// A translator was given, or would have to give, what the other side has no
    /// counterpart of.
    Untranslatable { code: c_int, why: &'static CStr },
}

impl Failure {
    /// The full text of [`last_error`](crate::last_error).
    pub(crate) fn describe(&self, text: &mut Text) {
        if let Some(name) = self.function.and_then(functions::name) {
            text.c_str(name).str(": ");
        }
        match self.cause {
            Cause::Absent(library, report) => {
                text.str("no ").str(library.title()).str("\n").c_str(report);
            }
            Cause::Missing(loaded) => {
                text.str("not in ").c_str(loaded.path).str(" (");
                loaded.describe_version(text);
                text.str(")");
                let node = self.function.and_then(functions::node);
                if let Some(node) = node {
                    text.str("; the function first came with version node ")
                        .c_str(node);
                }
                match self.function.and_then(functions::first_header) {
                    Some((major, minor)) => {
                        text.str(", in the headers since HIP ").number(major.into());
                        text.str(".").number(minor.into());
                    }
                    None => {
                        text.str(", in no public header");
                    }
                }
                text.str(". Use a newer runtime, or ask before the call whether there is such a function.");
                let name = self.function.and_then(functions::name).unwrap_or(c"");
                if name.to_bytes().ends_with(b"_spt") {
                    text.str(" Or compile without HIP_API_PER_THREAD_DEFAULT_STREAM (hipcc: without -fgpu-default-stream=per-thread) and pass hipStreamPerThread.");
                }
            }
            Cause::Opening(library) => {
                text.str("called by a constructor while the ")
                    .str(library.title())
                    .str(" itself is being opened and is not mapped yet");
            }
            Cause::OutOfMemory => {
                text.str("out of memory while a runtime was looked for; the next call looks again");
            }
            Cause::Incompatible(loaded, why) => {
                text.str("not called: ")
                    .c_str(why)
                    .str(". The caller's headers");
                let index = self.function.unwrap_or(usize::MAX);
                if let headers @ 1.. = breaks::headers_of(index) {
                    // An entry knows where the generation of headers begins.
                    text.str(match functions::since(index) {
                        0 => " are of HIP ",
                        _ => " are of the generation that begins with HIP ",
                    });
                    text.number((headers / 100).into());
                    text.str(".").number((headers % 100).into());
                }
                text.str(", the runtime is ").c_str(loaded.path).str(" (");
                loaded.describe_version(text);
                text.str("). HIPLAZY_ABI=warn passes such calls through.");
            }
            Cause::Undecided => {
                text.str("not decided yet");
            }
            Cause::Untranslatable { why, .. } => {
                text.c_str(why);
            }
        }
    }
}
