//! Every rule: what can be found, what it means and what to do.

use crate::finding::Rule;
use crate::finding::Severity::{Conflict, Note, Warning};

/// The advice of a rule that who runs the program can do nothing about.
pub const NOTHING: &str = "none";

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $rule:expr;)*) => {
        $($(#[$doc])* pub static $name: Rule = $rule;)*

        /// All rules, the worst first within a subject.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    /// A library that is no runtime exports names of the runtime, without a node.
    BARE_EXPORT = Rule {
        id: "bare-export",
        severity: Conflict,
        title: "exports names of the HIP runtime",
        meaning: "once this library is in the global scope, every library loaded later calls it instead of the real runtime, also by references that ask for a version node",
        now: "load the real runtime with RTLD_GLOBAL before this library, or this library with RTLD_LOCAL; both only move the problem",
        owner: "hide the names: link with a version script that says `local: *` (or -fvisibility=hidden), or bind HIP with hiplazy, which exports nothing",
        threads: &[
            "https://github.com/tile-ai/tilelang/pull/1867",
            "https://github.com/vllm-project/vllm/issues/51151",
            "https://github.com/ROCm/aiter/issues/4585",
        ],
    };
    /// The same, on a node of the library's own.
    NODE_EXPORT = Rule {
        id: "node-export",
        severity: Warning,
        title: "exports names of the HIP runtime on a node of its own",
        meaning: "references that ask for the runtime's node are safe, but those without a node, and dlsym(RTLD_DEFAULT), find this library",
        now: "load this library with RTLD_LOCAL",
        owner: "hide the names: nothing outside the library should see them",
        threads: &[],
    };
    /// A stub that calls itself the runtime.
    DISGUISED_RUNTIME = Rule {
        id: "disguised-runtime",
        severity: Conflict,
        title: "has the runtime's SONAME and is no runtime",
        meaning: "the dynamic linker takes it for the runtime by its name, and every library that needs the runtime gets this one",
        now: "move the file away, or put the real runtime's folder first in LD_LIBRARY_PATH",
        owner: "give the library a SONAME of its own",
        threads: &["https://github.com/vllm-project/vllm/issues/47586"],
    };
    /// An exporter that others pull into the global scope.
    GLOBAL_EXPORTER = Rule {
        id: "global-exporter",
        severity: Conflict,
        title: "brings an exporter of HIP names into the global scope",
        meaning: "opening this library with RTLD_GLOBAL (or starting a program with it) makes the other library's names global as well, because it is among its needs",
        now: "open this library with RTLD_LOCAL",
        owner: "do not need a library that exports HIP's names, or have those names hidden",
        threads: &["https://github.com/vllm-project/vllm/issues/51151"],
    };
    /// A look-up by the old spelling.
    LEGACY_LITERAL = Rule {
        id: "legacy-literal",
        severity: Warning,
        title: "looks a renamed function up by its old name",
        meaning: "the old name fills the 792-byte struct of HIP 5, while headers since 6.0 declare the 1472-byte one: launches fail with \"invalid configuration argument\"",
        now: "use a build of this library whose literal is hipGetDevicePropertiesR0600",
        owner: "look up the link name that your header declares (hipGetDevicePropertiesR0600 since HIP 6.0), or bind with hiplazy",
        threads: &[
            "https://github.com/tile-ai/tilelang/pull/1867",
            "https://github.com/vllm-project/vllm/issues/51151",
        ],
    };
    /// References that take any definition.
    UNVERSIONED_REFERENCE = Rule {
        id: "unversioned-reference",
        severity: Warning,
        title: "refers to versioned names without a version node",
        meaning: "the reference is satisfied by any library's definition, on whatever node, and nothing checks that the runtime is new enough",
        now: "load the real runtime with RTLD_GLOBAL before everything else that has such names; then it is found first",
        owner: "link with the real libamdhip64 (-lamdhip64), so that the linker records the nodes",
        threads: &[],
    };
    /// Two ABI majors in one place.
    TWO_MAJORS = Rule {
        id: "two-majors",
        severity: Conflict,
        title: "needs two major versions of the runtime",
        meaning: "both runtimes are loaded into one process, and streams, memory and contexts of one are unknown to the other",
        now: "install builds for one ROCm major only",
        owner: "build all libraries of the package against the same major",
        threads: &["https://github.com/pytorch/pytorch/issues/141014"],
    };
    /// Builds to choose from.
    SEVERAL_MAJORS = Rule {
        id: "several-majors",
        severity: Note,
        title: "holds builds for several major versions of the runtime",
        meaning: "this is right if the package loads only the one that fits, and a conflict if one process loads two",
        now: NOTHING,
        owner: "choose the build before anything is loaded, by the runtime that is mapped or found",
        threads: &[],
    };
    /// A runtime inside a package.
    BUNDLED_RUNTIME = Rule {
        id: "bundled-runtime",
        severity: Warning,
        title: "brings its own copy of the runtime",
        meaning: "next to any other HIP library the process has two runtimes, because the copy's name is its own",
        now: "do not use the package together with another HIP library in one process",
        owner: "exclude the runtime when repairing the wheel (auditwheel repair --exclude 'libamdhip64.so*'), and find it at run time",
        threads: &["https://github.com/pytorch/pytorch/issues/141014"],
    };
    /// One symbol per process, by name.
    UNIQUE_SYMBOL = Rule {
        id: "unique-symbol",
        severity: Warning,
        title: "defines names as unique symbols, of which a process has one",
        meaning: "the first definition in the process is used by all libraries, whatever their scope, also with RTLD_LOCAL, RTLD_DEEPBIND and -Bsymbolic",
        now: "load the library whose definition must win before the others",
        owner: "compile with -fno-gnu-unique, or hide the names",
        threads: &[],
    };
    /// The old struct, newer runtime.
    OLD_STRUCT = Rule {
        id: "old-struct",
        severity: Warning,
        title: "uses HIP 5's structs with a newer runtime",
        meaning: "it was compiled with the headers of HIP 5 and needs a runtime of 6 or newer, where other structs and constants changed without a new name",
        now: "use a build for the installed ROCm",
        owner: "compile with the headers of the runtime that the library is linked with",
        threads: &["https://github.com/ROCm/clr/issues/151"],
    };
    /// The new struct, older runtime.
    NEW_STRUCT = Rule {
        id: "new-struct",
        severity: Warning,
        title: "uses HIP 6's structs and needs an older runtime",
        meaning: "it was compiled with the headers of HIP 6 or newer and linked with the runtime of HIP 5, which has no such functions: loading it, or the first call, fails with \"version `hip_6.0' not found\" or \"undefined symbol\"",
        now: "use a build for the installed ROCm",
        owner: "compile with the headers of the runtime that the library is linked with",
        threads: &[],
    };
    /// Two generations in one object.
    MIXED_STRUCTS = Rule {
        id: "mixed-structs",
        severity: Warning,
        title: "uses two generations of HIP's structs",
        meaning: "parts compiled with different HIP headers are linked together, and a struct passed between them has two sizes",
        now: NOTHING,
        owner: "compile all parts with the same headers",
        threads: &["https://github.com/llvm/llvm-project/issues/167695"],
    };
    /// A search path that only the builder has.
    BUILD_PATH = Rule {
        id: "build-path",
        severity: Warning,
        title: "searches libraries in a folder of the machine it was built on",
        meaning: "who can create that folder elsewhere decides which libraries are loaded, and nobody else finds any there",
        now: "patchelf --set-rpath '$ORIGIN' FILE",
        owner: "set the install RPATH to $ORIGIN (CMake: CMAKE_INSTALL_RPATH, CMAKE_BUILD_WITH_INSTALL_RPATH)",
        threads: &[],
    };
    /// A search path that depends on the current folder.
    RELATIVE_PATH = Rule {
        id: "relative-path",
        severity: Warning,
        title: "searches libraries in the current folder",
        meaning: "an empty or relative entry of RPATH or RUNPATH means the folder that the program happens to run in",
        now: "patchelf --set-rpath '$ORIGIN' FILE",
        owner: "remove the entry, often a trailing or doubled colon",
        threads: &[],
    };
    /// An executable stack.
    EXECUTABLE_STACK = Rule {
        id: "executable-stack",
        severity: Warning,
        title: "asks for an executable stack",
        meaning: "loading it makes the stacks of the whole process executable, and glibc 2.41 and newer refuse to load it with dlopen",
        now: "patchelf --clear-execstack FILE",
        owner: "add `.section .note.GNU-stack,\"\",@progbits` to assembler sources, or link with -z noexecstack",
        threads: &[],
    };
    /// Text relocations.
    TEXT_RELOCATIONS = Rule {
        id: "text-relocations",
        severity: Warning,
        title: "changes its own code when it is loaded",
        meaning: "code pages are made writable and are not shared between processes; hardened systems refuse that",
        now: NOTHING,
        owner: "compile everything with -fPIC and link with -z text",
        threads: &[],
    };
    /// Looks like HIP, is not.
    HIP_LIKE_EXPORT = Rule {
        id: "hip-like-export",
        severity: Note,
        title: "exports names in HIP's namespace that no runtime has",
        meaning: "a later HIP version may use the name, and then this definition takes it over",
        now: NOTHING,
        owner: "give the names a prefix of your own",
        threads: &[],
    };
    /// Two runtimes in a process.
    TWO_RUNTIMES = Rule {
        id: "two-runtimes",
        severity: Conflict,
        title: "two copies of the runtime are in one process",
        meaning: "streams, memory and errors of one copy are unknown to the other, and which copy a library uses depends on the order of loading",
        now: "start the program so that both users find the same file: install one build of each package for this ROCm, or put the folder of one runtime first in LD_LIBRARY_PATH",
        owner: "do not bring a copy of the runtime along, and open libamdhip64 by its SONAME so that the copy that is mapped is used",
        threads: &[
            "https://github.com/pytorch/pytorch/issues/141014",
            "https://github.com/ROCm/mori/issues/402",
        ],
    };
    /// The same runtime once per namespace.
    TWO_NAMESPACES = Rule {
        id: "two-namespaces",
        severity: Conflict,
        title: "the runtime is loaded in several namespaces of one process",
        meaning: "each namespace of dlmopen has a copy of its own, also of one file: streams, memory and errors of one copy are unknown to the other, and both drive the same devices",
        now: "do without what opens a library in a namespace of its own (dlmopen, LD_AUDIT), or give it a process of its own",
        owner: "open the library with dlopen (RTLD_LOCAL hides its names as well), or what it needs from HIP outside of its namespace; an auditing library (LD_AUDIT) must not need HIP",
        threads: &[],
    };
    /// A reference that another library answers.
    WRONG_PROVIDER = Rule {
        id: "wrong-provider",
        severity: Conflict,
        title: "calls a library that is not the HIP runtime it needs",
        meaning: "the names are answered by another library that came first in the scope, whose structs, errors and state are its own",
        now: "load the real runtime with RTLD_GLOBAL before the other library (in Python: ctypes.CDLL('libamdhip64.so.7', ctypes.RTLD_GLOBAL) before the first import)",
        owner: "the library that answers must hide these names: `local: *` in a version script, or bind HIP with hiplazy, which exports nothing",
        threads: &[
            "https://github.com/vllm-project/vllm/issues/51151",
            "https://github.com/ROCm/aiter/issues/4585",
        ],
    };
    /// The runtime itself calls somebody else.
    CAPTURED_RUNTIME = Rule {
        id: "captured-runtime",
        severity: Conflict,
        title: "the runtime's own calls go to another library",
        meaning: "the runtime calls some of its functions by name, and another library that is global answers them: it fails inside, whoever calls it",
        now: "load the runtime before the other library, or the other library with RTLD_LOCAL",
        owner: "the library that answers must hide these names: `local: *` in a version script, or bind HIP with hiplazy, which exports nothing",
        threads: &["https://github.com/vllm-project/vllm/issues/51151"],
    };
    /// Preloaded on purpose.
    PRELOADED_PROVIDER = Rule {
        id: "preloaded-provider",
        severity: Warning,
        title: "calls a library that LD_PRELOAD put before the runtime",
        meaning: "this is how tracing tools work; every other use changes what the program does",
        now: "start the program without LD_PRELOAD",
        owner: "none, if it is a tool that is meant to do this",
        threads: &[],
    };
    /// The next one will be caught.
    WAITING_EXPORTER = Rule {
        id: "waiting-exporter",
        severity: Warning,
        title: "answers the next library that needs HIP",
        meaning: "nothing is bound wrongly by it yet, but a library that is loaded from now on gets these names from here and not from the runtime it needs",
        now: "load all libraries that use HIP, or the runtime with RTLD_GLOBAL, before this one",
        owner: "hide the names: `local: *` in a version script, or bind HIP with hiplazy, which exports nothing",
        threads: &["https://github.com/vllm-project/vllm/issues/51151"],
    };
    /// A reference that another library answers; names that are not HIP's.
    OTHER_PROVIDER = Rule {
        id: "other-provider",
        severity: Conflict,
        title: "calls a library that is not among those it needs",
        meaning: "a library of its own needs has the name, and another one that came first in the scope answers, without being the program, preloaded or a replacement of malloc",
        now: "load the library that answers with RTLD_LOCAL, or after the one that is needed",
        owner: "the library that answers must hide the names that are not its interface: `local: *` in a version script, or -fvisibility=hidden",
        threads: &[],
    };
    /// The same on purpose.
    INTERPOSED = Rule {
        id: "interposed",
        severity: Note,
        title: "calls something that takes the place of a library it needs, as is usual",
        meaning: "programs, preloaded libraries and replacements of malloc come before libraries, so that everybody calls them; it is right if it is meant",
        now: NOTHING,
        owner: "none, if it is meant; else hide the names in what answers",
        threads: &[],
    };
    /// Global, and others come first.
    SHADOWED_EXPORTER = Rule {
        id: "shadowed-exporter",
        severity: Note,
        title: "exports names of the runtime, behind others in the global scope",
        meaning: "everybody sees it, and a library that comes before it has the names, or could not be read: another order of loading, or a dlclose of the one before it, changes who answers",
        now: NOTHING,
        owner: "hide the names",
        threads: &[],
    };
    /// A filter in the runtime's place.
    RUNTIME_FILTER = Rule {
        id: "runtime-filter",
        severity: Note,
        title: "has the runtime's name and passes on to another library",
        meaning: "it is a filter (DT_FILTER, DT_AUXILIARY): the dynamic linker looks in the other library first, and what that is decides whether this is right",
        now: NOTHING,
        owner: "none, if the other library is the runtime",
        threads: &[],
    };
    /// Mapped, and nobody sees it.
    LOCAL_EXPORTER = Rule {
        id: "local-exporter",
        severity: Note,
        title: "exports names of the runtime, out of sight of others",
        meaning: "it is loaded with RTLD_LOCAL; some later dlopen with RTLD_GLOBAL, or another order of imports, changes that",
        now: NOTHING,
        owner: "hide the names",
        threads: &[],
    };
    /// The runtime beside the client lacks something.
    MISSING_NODE = Rule {
        id: "missing-node",
        severity: Conflict,
        title: "wants version nodes or functions that the runtime it gets does not have",
        meaning: "loading it fails with \"version `hip_...' not found\", or the first call with \"undefined symbol\"",
        now: "use a newer runtime in place of this one, or a build of the library for it",
        owner: "put the runtime that the library was linked with beside it, or link with the oldest one that must do; hiplazy binds what is there and answers the rest with an error",
        threads: &[],
    };
    /// No runtime of the major has it.
    UNKNOWN_NODE = Rule {
        id: "unknown-node",
        severity: Warning,
        title: "wants version nodes or functions that no known runtime of its major has",
        meaning: "it was linked with something that is no release of the runtime it names, or compiled for a newer one: loading it fails with \"version `hip_...' not found\", or the first call with \"undefined symbol\"",
        now: "use a build for the installed ROCm",
        owner: "link with a real libamdhip64 of the version whose headers are used",
        threads: &[],
    };
    /// A program that exports names of the runtime.
    PROGRAM_EXPORT = Rule {
        id: "program-export",
        severity: Conflict,
        title: "is a program that exports names of the HIP runtime",
        meaning: "a program is the first in the global scope: every library calls it instead of the real runtime, also by references that ask for a version node, and no order of loading changes that",
        now: "use a build of the program that does not export these names",
        owner: "link without -rdynamic (-Wl,--export-dynamic), or export by a list that leaves these names out (-Wl,--dynamic-list=FILE), or bind HIP with hiplazy, which exports nothing",
        threads: &[],
    };
    /// What was not looked at.
    OUTSIDE_NEED = Rule {
        id: "outside-need",
        severity: Note,
        title: "needs libraries outside of what was looked at",
        meaning: "its search path leads from its own folder to a library that is not part of what was named, so that nothing is said about it and what it brings along",
        now: "lint the folder that holds both, such as site-packages",
        owner: "none, if the other package is among the requirements",
        threads: &[],
    };
    /// With --prefix: two definitions in one scope.
    DEFINED_TWICE = Rule {
        id: "defined-twice",
        severity: Conflict,
        title: "defines names that another library of the same scope defines as well",
        meaning: "both libraries are loaded together, and whichever comes first answers for both, also to the other one's own references",
        now: "load the two in the order in which the right one comes first",
        owner: "hide the names in the library whose interface they are not (`local: *` in a version script, or -fvisibility=hidden), or give them a version node",
        threads: &[],
    };
    /// Names of any kind that others take from the runtime.
    TAKEN_SYMBOLS = Rule {
        id: "taken-symbols",
        severity: Warning,
        title: "answers names that the runtime or its libraries define themselves",
        meaning: "two libraries contain the same C++ code, and the runtime uses the other one's: if the versions differ, memory is freed with the wrong size or layout (\"free(): invalid size\")",
        now: "load the other library with RTLD_LOCAL, or after the runtime",
        owner: "link private copies of libraries with -Wl,--exclude-libs,ALL or -fvisibility=hidden",
        threads: &["https://github.com/ROCm/mori/issues/332"],
    };
    /// Structs of another generation.
    STRUCT_GENERATION = Rule {
        id: "struct-generation",
        severity: Warning,
        title: "was compiled for another version of the runtime than it uses",
        meaning: "structs or constants of some functions that it calls changed between the two behind an unchanged name",
        now: "use a build for the runtime that is loaded",
        owner: "compile with the headers of the runtime, or bind with hiplazy, which translates or refuses such calls",
        threads: &["https://github.com/ROCm/clr/issues/151"],
    };
    /// Two allocators.
    DEEPBIND_ALLOCATOR = Rule {
        id: "deepbind-allocator",
        severity: Warning,
        title: "is opened with RTLD_DEEPBIND beside another allocator",
        meaning: "it calls the C library's malloc and free, and everybody else those of the allocator: memory that is allocated here and freed there corrupts the heap",
        now: "start the program without the allocator in LD_PRELOAD",
        owner: "do not open libraries with RTLD_DEEPBIND; hide the names that made it necessary",
        threads: &["https://github.com/ROCm/aiter/pull/4566"],
    };
    /// Bound to where nothing is.
    UNMAPPED_PROVIDER = Rule {
        id: "unmapped-provider",
        severity: Conflict,
        title: "calls code that is no longer there",
        meaning: "the library or trampoline that these names were bound to was unloaded, and the next call ends the program, or runs what lies there by then",
        now: "keep what answers or hooks these names loaded until the program ends: no dlclose, and no tool that detaches from the running program",
        owner: "who writes addresses into the tables of other libraries must put the old ones back before it is unloaded, or never be unloaded (-z nodelete)",
        threads: &[],
    };
    /// Nobody has the name.
    UNRESOLVED = Rule {
        id: "unresolved",
        severity: Warning,
        title: "refers to functions that nobody in its scope has",
        meaning: "the first call ends the program with \"symbol lookup error: undefined symbol\"",
        now: "load a library that has the functions before the call (of HIP: a runtime), with RTLD_GLOBAL if the one that calls does not need it by name",
        owner: "link with the library that has the functions (of HIP: libamdhip64), so that it is brought along, or bind HIP with hiplazy, which answers with an error",
        threads: &[],
    };
    /// `HIPLAZY_RUNTIME` names something that is none.
    UNUSABLE_CHOICE = Rule {
        id: "unusable-choice",
        severity: Warning,
        title: "HIPLAZY_RUNTIME names a runtime that cannot be used",
        meaning: "it is tried alone, so programs that use hiplazy have no runtime on this machine as long as it is set",
        now: "unset HIPLAZY_RUNTIME, or set it to a libamdhip64.so that can be loaded",
        owner: "let HIPLAZY_RUNTIME name a libamdhip64.so that can be loaded, or do not set it",
        threads: &[],
    };
    /// Loading it ends the process.
    CRASHING_RUNTIME = Rule {
        id: "crashing-runtime",
        severity: Conflict,
        title: "loading the runtime ends the process",
        meaning: "the first HIP call of every program on this machine ends it in the same way",
        now: "name another runtime with HIPLAZY_RUNTIME, or set HIPLAZY_DISABLE=1",
        owner: "install the runtime again; its libraries do not fit each other",
        threads: &[],
    };
    /// Loading it does not return.
    HANGING_RUNTIME = Rule {
        id: "hanging-runtime",
        severity: Conflict,
        title: "loading the runtime does not return",
        meaning: "the first HIP call of every program on this machine hangs in the same way, with the dynamic linker's lock held",
        now: "name another runtime with HIPLAZY_RUNTIME, or set HIPLAZY_DISABLE=1; if it is only slow, give it more time with --timeout",
        owner: "do no work in a constructor that can wait: no device, no network, no other thread",
        threads: &[],
    };
}

/// The rule with this id.
pub fn by_id(id: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.id == id).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_says_all_and_has_an_id_of_its_own() {
        for (index, rule) in ALL.iter().enumerate() {
            assert!(ALL[..index].iter().all(|other| other.id != rule.id));
            let fits = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(rule.id.bytes().all(fits), "{}", rule.id);
            for text in [rule.title, rule.meaning, rule.now, rule.owner] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{text}");
            }
            assert!(rule.threads.iter().all(|url| url.starts_with("https://")));
            assert_eq!(by_id(rule.id), Some(*rule));
        }
    }
}
