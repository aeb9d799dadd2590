//! A header set against the manifest: what differs and nothing explains.

use std::collections::BTreeMap;
use std::fmt;

use hiplazy_abi::{
    Arg, Declared, Function, HEADER_VERSIONS, NotWrapped, Prototype, Version, rust_type,
};

use hiplazy_headers::Contents;

/// Everything that can explain what a header set declares.
pub struct Manifest {
    /// The functions with their newest prototypes.
    pub functions: Vec<Function>,
    /// The header versions that declare each function.
    pub history: Vec<Declared>,
    /// Prototypes of older headers.
    pub prototypes: Vec<Prototype>,
    /// Names that are not wrapped on purpose.
    pub not_wrapped: Vec<NotWrapped>,
}

/// A difference between headers and manifest that nothing explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The headers declare a function that the manifest lacks.
    NotInManifest {
        /// The link name.
        name: String,
    },
    /// The headers declare a function of which the history says that this
    /// version does not.
    NotInHistory {
        /// The link name.
        name: String,
        /// The version of the headers.
        version: Version,
    },
    /// The history says that this version declares a function; it does not.
    NotDeclared {
        /// The link name.
        name: String,
        /// The header that should declare it.
        header: String,
        /// The version of the headers.
        version: Version,
    },
    /// Return or argument types are those of no known prototype.
    Prototype {
        /// The link name.
        name: String,
        /// The prototype in the headers.
        headers: String,
        /// The prototype in the manifest.
        manifest: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::NotInManifest { name } => write!(
                f,
                "{name} is declared and has no line in functions.txt; add it to abi/supplement/ \
                 and abi/history.txt, or with a reason to abi/not_wrapped.txt"
            ),
            Difference::NotInHistory { name, version } => write!(
                f,
                "{name} is declared, and abi/history.txt says that {version} does not declare it"
            ),
            Difference::NotDeclared {
                name,
                header,
                version,
            } => write!(
                f,
                "{name} is not declared, and abi/history.txt says that {header} of {version} does"
            ),
            Difference::Prototype {
                name,
                headers,
                manifest,
            } => write!(
                f,
                "{name} is declared as \"{headers}\" where functions.txt has \"{manifest}\", \
                 and abi/prototypes.txt does not explain it"
            ),
        }
    }
}

/// Compares the headers of `version` with the manifest.
///
/// Ranges are only compared for versions that the history knows, and absence
/// only for headers that the set contains.
pub fn compare(version: Version, contents: &Contents, manifest: &Manifest) -> Vec<Difference> {
    let functions: BTreeMap<&str, &Function> = manifest
        .functions
        .iter()
        .map(|function| (function.name.as_str(), function))
        .collect();
    let history: BTreeMap<&str, &Declared> = manifest
        .history
        .iter()
        .map(|entry| (entry.name.as_str(), entry))
        .collect();
    let version_is_known = HEADER_VERSIONS.contains(&version);
    let mut differences = Vec::new();

    for (name, declaration) in &contents.declarations {
        if manifest.not_wrapped.iter().any(|entry| entry.name == *name) {
            continue;
        }
        let Some(function) = functions.get(name.as_str()) else {
            differences.push(Difference::NotInManifest { name: name.clone() });
            continue;
        };
        // HSA's headers have no HIP version, and ROCm keeps its two functions as they are.
        let is_hip = function.library != hiplazy_abi::Library::Hsa;
        let declared = history.get(name.as_str());
        if version_is_known
            && is_hip
            && !declared.is_some_and(|entry| entry.versions.contains(&version))
        {
            differences.push(Difference::NotInHistory {
                name: name.clone(),
                version,
            });
        }
        let headers = Shape::of(&declaration.ret, &declaration.args);
        let known = headers == Shape::of(&function.ret, &function.args)
            || manifest.prototypes.iter().any(|prototype| {
                prototype.name == *name
                    && prototype.versions.contains(&version)
                    && headers == Shape::of(&prototype.ret, &prototype.args)
            });
        if !known {
            differences.push(Difference::Prototype {
                name: name.clone(),
                headers: spelled(&declaration.ret, &declaration.args),
                manifest: spelled(&function.ret, &function.args),
            });
        }
    }

    for entry in &manifest.history {
        if entry.versions.contains(&version)
            && contents.headers.contains(&entry.header.as_str())
            && !contents.declarations.contains_key(&entry.name)
        {
            differences.push(Difference::NotDeclared {
                name: entry.name.clone(),
                header: entry.header.clone(),
                version,
            });
        }
    }
    differences
}

/// What a prototype means to the ABI: types without names and spelling.
#[derive(PartialEq, Eq)]
struct Shape {
    ret: String,
    args: Vec<String>,
}

impl Shape {
    fn of(ret: &str, args: &[Arg]) -> Shape {
        Shape {
            ret: rust_type(ret),
            args: args.iter().map(|arg| rust_type(&arg.ty)).collect(),
        }
    }
}

fn spelled(ret: &str, args: &[Arg]) -> String {
    let types: Vec<&str> = args.iter().map(|arg| arg.ty.as_str()).collect();
    format!("{ret} ({})", types.join(", "))
}
