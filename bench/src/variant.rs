//! The measured functions and the ways to reach them.

use std::fmt;

/// A measured function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Function {
    /// One pointer argument; nothing in it but the call.
    GetDevice,
    /// With the `hipFree` of what it returned: two calls.
    Malloc,
    /// Eleven arguments, five of them on the stack.
    ModuleLaunchKernel,
    /// As a caller with headers of HIP 5 calls it: hiplazy's entry for these translates
    /// what the runtime answers, all others pass it on as it is.
    PointerGetAttributes,
}

impl Function {
    /// All of them.
    pub const ALL: [Function; 4] = [
        Function::GetDevice,
        Function::Malloc,
        Function::ModuleLaunchKernel,
        Function::PointerGetAttributes,
    ];

    /// Those that mean the same in every version of HIP, so that nothing of hiplazy's but
    /// the jump stands before them.
    pub const UNAFFECTED: [Function; 3] = [
        Function::GetDevice,
        Function::Malloc,
        Function::ModuleLaunchKernel,
    ];

    /// How many calls of HIP its loop makes in one turn.
    pub fn calls(self) -> u64 {
        match self {
            Function::Malloc => 2,
            _ => 1,
        }
    }

    /// The link name, which is also the benchmark group.
    pub fn name(self) -> &'static str {
        match self {
            Function::GetDevice => "hipGetDevice",
            Function::Malloc => "hipMalloc",
            Function::ModuleLaunchKernel => "hipModuleLaunchKernel",
            Function::PointerGetAttributes => "hipPointerGetAttributes",
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A way to reach a HIP function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, clap::ValueEnum)]
pub enum Variant {
    /// Linked to `libamdhip64.so.7`.
    Direct,
    /// An address that was looked up once.
    Pointer,
    /// `libhiplazy.so`.
    Shared,
    /// `libhiplazy.a`.
    Static,
    /// TileLang 0.1.10's `libhip_stub.so`.
    Tilelang,
}

impl Variant {
    /// All of them, in the order of the tables.
    pub const ALL: [Variant; 5] = [
        Variant::Direct,
        Variant::Pointer,
        Variant::Shared,
        Variant::Static,
        Variant::Tilelang,
    ];

    /// What can be called in this way: TileLang's stub has no `hipPointerGetAttributes`.
    pub fn functions(self) -> &'static [Function] {
        match self {
            Variant::Tilelang => &Function::UNAFFECTED,
            _ => &Function::ALL,
        }
    }

    /// The name of the benchmark and of the compiled library.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Direct => "direct",
            Variant::Pointer => "pointer",
            Variant::Shared => "shared",
            Variant::Static => "static",
            Variant::Tilelang => "tilelang",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Variant::Direct => "linked directly",
            Variant::Pointer => "cached pointer",
            Variant::Shared => "libhiplazy.so",
            Variant::Static => "libhiplazy.a",
            Variant::Tilelang => "TileLang 0.1.10",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title())
    }
}
