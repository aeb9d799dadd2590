//! What an object is, by its name and its contents: a runtime, something that calls
//! itself one, an exporter of its names, a client.

use serde::Serialize;

use crate::elf::{Export, Object, Reference};
use crate::names::{Api, Names, api_of, listed};

/// The libraries of a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// `libamdhip64`.
    Hip,
    /// `libhiprtc`.
    Hiprtc,
    /// `libhsa-runtime64`.
    Hsa,
    /// `libamd_comgr`, the compiler.
    Comgr,
}

impl Part {
    const ALL: [(Part, &str, &str); 4] = [
        (Part::Hip, "hip", "libamdhip64"),
        (Part::Hiprtc, "hiprtc", "libhiprtc"),
        (Part::Hsa, "hsa", "libhsa-runtime64"),
        (Part::Comgr, "comgr", "libamd_comgr"),
    ];

    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        let found = Self::ALL.iter().find(|(part, ..)| *part == self);
        found.map_or("", |(_, word, _)| word)
    }
}

/// A library name of a runtime, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryName {
    /// Which library.
    pub part: Part,
    /// The number after `.so.`, the ABI major.
    pub major: Option<u32>,
    /// All after `.so.`: `7`, `7.14.60850`.
    pub version: Option<String>,
    /// The hash that auditwheel put into the name of its copy.
    pub hash: Option<String>,
}

impl LibraryName {
    /// Reads a SONAME or file name: `libamdhip64.so.7`, `libamdhip64.so`, or auditwheel's
    /// `libamdhip64-00ca863d.so.7.14.60850-0000000`.
    pub fn parse(name: &str) -> Option<LibraryName> {
        let (stem, rest) = name.split_once(".so")?;
        let (stem, hash) = match stem.rsplit_once('-') {
            Some((stem, hash)) if is_hash(hash) => (stem, Some(hash.to_string())),
            _ => (stem, None),
        };
        let (part, ..) = *Part::ALL.iter().find(|(_, _, library)| *library == stem)?;
        let version = match rest {
            "" => None,
            _ => Some(rest.strip_prefix('.')?),
        };
        // What follows a hyphen is the build, not the version.
        let version = version.map(|version| version.split('-').next().unwrap_or(version));
        let major = version.and_then(|version| version.split('.').next()?.parse().ok());
        Some(LibraryName {
            part,
            major,
            version: version.map(str::to_string),
            hash,
        })
    }
}

fn is_hash(text: &str) -> bool {
    text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What an object is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// A real library of a runtime: its name and its contents say so.
    Runtime(LibraryName),
    /// Its name says so and its contents do not; why.
    Disguised(LibraryName, String),
    /// Its name says so, and the dynamic linker looks in another library first.
    Filter(LibraryName),
    /// Defines names of the runtime's, and is none.
    Exporter,
    /// Refers to such names, or needs a runtime.
    Client,
    /// None of this.
    Other,
}

/// What `object` is.
pub fn role(object: &Object, names: &Names) -> Role {
    if names.are_hip() {
        let is_filter = !object.filters.is_empty();
        if let Some(name) = LibraryName::parse(object.called()) {
            if is_filter {
                return Role::Filter(name);
            }
            return match doubt(object, name.part) {
                None => Role::Runtime(name),
                Some(why) => Role::Disguised(name, why),
            };
        }
        if let Some(name) = LibraryName::parse(object.file_name()) {
            if is_filter {
                return Role::Filter(name);
            }
            let why = format!("its SONAME is {}", object.called());
            return Role::Disguised(name, why);
        }
    }
    if foreign_exports(object, names).next().is_some() {
        return Role::Exporter;
    }
    let refers = references(object, names).next().is_some();
    let needs = names.are_hip() && runtime_needs(object).next().is_some();
    if refers || needs {
        Role::Client
    } else {
        Role::Other
    }
}

/// The fewest functions that a HIP runtime has; 5.0 had more than 300.
const FEWEST: usize = 100;

/// Why an object with a runtime's name is no runtime.
fn doubt(object: &Object, part: Part) -> Option<String> {
    let count = |api: Api| {
        let exports = object.exports.iter();
        exports
            .filter(|export| api_of(&export.name) == Some(api))
            .count()
    };
    let lacks = |name: &str| format!("it does not export {name}");
    match part {
        Part::Hip => {
            let Some(init) = object.export("hipInit") else {
                return Some(lacks("hipInit"));
            };
            if init.node.is_none() {
                return Some("its hipInit has no version node (the runtime's has hip_4.2)".into());
            }
            let functions = count(Api::Hip);
            (functions < FEWEST)
                .then(|| format!("it exports {functions} names, and every runtime some hundreds"))
        }
        Part::Hiprtc => {
            let missing = ["hiprtcCompileProgram", "hiprtcVersion", "hiprtcLinkCreate"]
                .iter()
                .find(|name| object.export(name).is_none());
            missing
                .map(|name| lacks(name))
                .or_else(|| (count(Api::Hip) > 0).then(|| "it exports hip* names as well".into()))
        }
        Part::Hsa => ["hsa_init", "hsa_shut_down"]
            .iter()
            .find(|name| object.export(name).is_none())
            .map(|name| lacks(name))
            .or_else(|| (count(Api::Hip) > 0).then(|| "it exports hip* names as well".into())),
        // Its names are of no interest here.
        Part::Comgr => None,
    }
}

/// The names of the runtime's interface that an object which is no runtime defines.
pub fn foreign_exports<'a>(
    object: &'a Object,
    names: &'a Names,
) -> impl Iterator<Item = &'a Export> {
    covered(object, names).filter(move |export| is_known(&export.name, names))
}

/// Names of the shape of HIP's that no runtime has.
pub fn hip_like_exports<'a>(
    object: &'a Object,
    names: &'a Names,
) -> impl Iterator<Item = &'a Export> {
    covered(object, names).filter(move |export| !is_known(&export.name, names))
}

fn covered<'a>(object: &'a Object, names: &'a Names) -> impl Iterator<Item = &'a Export> {
    let exports = object.exports.iter();
    exports.filter(move |export| names.cover(&export.name))
}

fn is_known(name: &str, names: &Names) -> bool {
    !names.are_hip() || listed(name).is_some()
}

/// The references to names of interest that others are meant to satisfy.
pub fn references<'a>(object: &'a Object, names: &'a Names) -> impl Iterator<Item = &'a Reference> {
    object
        .references
        .iter()
        .filter(move |reference| !reference.own && names.cover(&reference.name))
}

/// The runtime libraries that an object needs, by the names it uses: of a path, as linking
/// with a library without SONAME gives it, the last part.
pub fn runtime_needs(object: &Object) -> impl Iterator<Item = (&str, LibraryName)> {
    object.needed.iter().filter_map(|needed| {
        let name = needed.rsplit('/').next()?;
        Some((needed.as_str(), LibraryName::parse(name)?))
    })
}

/// The ABI majors of HIP that an object's needs name, sorted.
pub fn majors(object: &Object) -> Vec<u32> {
    let mut majors: Vec<u32> = runtime_needs(object)
        .filter(|(_, name)| matches!(name.part, Part::Hip | Part::Hiprtc))
        .filter_map(|(_, name)| name.major)
        .collect();
    majors.sort_unstable();
    majors.dedup();
    majors
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stub takes a runtime's name and node, and has a few dozen functions.
    #[test]
    fn a_runtime_has_some_hundred_functions() {
        let export = |name: String| Export {
            name,
            node: Some("hip_4.2".into()),
            default: true,
            binding: crate::elf::Binding::Global,
            kind: crate::elf::Kind::Function,
            protected: false,
            address: 1,
        };
        let of = |functions: usize| {
            let others = (1..functions).map(|number| export(format!("hipFunction{number}")));
            let object = Object {
                path: "libamdhip64.so.7".into(),
                exports: others.chain([export("hipInit".into())]).collect(),
                ..Object::default()
            };
            role(&object, &Names::default())
        };
        assert!(matches!(of(100), Role::Runtime(_)), "{:?}", of(100));
        let Role::Disguised(_, why) = of(99) else {
            panic!("{:?}", of(99));
        };
        assert!(why.starts_with("it exports 99 names"), "{why}");
    }

    #[test]
    fn library_names_are_taken_apart() {
        let parsed = |name| LibraryName::parse(name).unwrap();
        let plain = parsed("libamdhip64.so.7");
        assert_eq!((plain.part, plain.major), (Part::Hip, Some(7)));
        assert_eq!(plain.hash, None);
        assert_eq!(parsed("libamdhip64.so").major, None);
        let copy = parsed("libamdhip64-00ca863d.so.7.14.60850-0000000");
        assert_eq!(copy.hash.as_deref(), Some("00ca863d"));
        assert_eq!(copy.version.as_deref(), Some("7.14.60850"));
        assert_eq!(copy.major, Some(7));
        assert_eq!(parsed("libhsa-runtime64.so.1").part, Part::Hsa);
        assert_eq!(
            parsed("libhsa-runtime64-0ba78719.so.1.21.0").part,
            Part::Hsa
        );
        assert_eq!(parsed("libamd_comgr.so.3.0").part, Part::Comgr);
        for name in [
            "libhip_stub.so",
            "libamdhip64_stub.so",
            "libamdhip64.sock",
            "libhiprtc-builtins.so.7",
            "libamdhip64-stub.so",
            "libcudart.so.12",
            "",
        ] {
            assert_eq!(LibraryName::parse(name), None, "{name}");
        }
    }
}
