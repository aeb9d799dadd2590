//! The header sets that the manifest is built from and compared with.

use std::fs;
use std::path::{Path, PathBuf};

use hiplazy_abi::Version;

use crate::declarations::{Declarations, TranslationUnit, parse_bindings};
use crate::interface::{Interface, parse_interface};
use crate::libclang::{self, Language};
use crate::{Error, Types};

/// One version's declarations and where they are.
#[derive(Debug, Clone)]
pub struct HeaderSet {
    /// The HIP version that the headers call themselves.
    pub version: Version,
    /// The headers.
    pub source: Source,
}

/// Declarations in C or already in Rust.
#[derive(Debug, Clone)]
pub enum Source {
    /// An include folder, the one that holds `hip/hip_runtime_api.h`.
    Headers(PathBuf),
    /// Rust declarations that bindgen wrote from headers, published as a crate.
    Bindings(PathBuf),
}

/// What the declarations of a set are, and which headers they come from.
pub struct Contents {
    /// The functions by link name.
    pub declarations: Declarations,
    /// The header files that the set has; a function of another header is not
    /// missing from the set.
    pub headers: Vec<&'static str>,
}

/// Headers of the C interface and how each is reached; the name is the one of
/// the history table.
const HEADERS: [(&str, &[&str]); 5] = [
    ("hip_runtime_api.h", &["hip/hip_runtime_api.h"]),
    ("hip_deprecated.h", &["hip/hip_deprecated.h"]),
    (
        "hip_gl_interop.h",
        &[
            "hip/hip_gl_interop.h",
            "hip/amd_detail/amd_hip_gl_interop.h",
        ],
    ),
    ("hiprtc.h", &["hip/hiprtc.h"]),
    ("hip_ext.h", &["hip/hip_ext.h"]),
];

/// OpenGL's two types, which the interop header of some versions expects and
/// others declare; C allows the repetition.
const GL_TYPES: &str = "typedef unsigned int GLuint;\ntypedef unsigned int GLenum;\n";

impl HeaderSet {
    /// The version that `include` holds, by its `hip_version.h`.
    pub fn in_folder(include: &Path) -> Result<HeaderSet, Error> {
        let [major, minor, _] = version_numbers(include)?;
        Ok(HeaderSet {
            version: Version::new(major, minor),
            source: Source::Headers(include.to_path_buf()),
        })
    }

    /// The path, for messages.
    pub fn path(&self) -> &Path {
        match &self.source {
            Source::Headers(path) | Source::Bindings(path) => path,
        }
    }

    /// Reads the record layouts and constants of the set.
    ///
    /// # Errors
    ///
    /// The headers are missing or do not compile.
    pub fn interface(&self) -> Result<Interface, Error> {
        match &self.source {
            Source::Headers(include) => parse_interface(&interface_bindings(include)?),
            Source::Bindings(file) => parse_interface(&read_file(file)?),
        }
    }

    /// Reads all declarations of the set.
    pub fn read(&self) -> Result<Contents, Error> {
        match &self.source {
            Source::Headers(include) => read_headers(include),
            Source::Bindings(file) => Ok(Contents {
                declarations: parse_bindings(&read_file(file)?)?,
                headers: vec!["hip_runtime_api.h", "hiprtc.h"],
            }),
        }
    }
}

fn read_file(file: &Path) -> Result<String, Error> {
    fs::read_to_string(file).map_err(|error| Error::new(format!("{}: {error}", file.display())))
}

/// The numbers in the `hip_version.h` of a folder: major, minor, patch.
fn version_numbers(include: &Path) -> Result<[u32; 3], Error> {
    let path = include.join("hip/hip_version.h");
    let text = fs::read_to_string(&path).map_err(|error| {
        Error::new(format!(
            "{}: {error}; give the folder that holds hip/hip_runtime_api.h",
            path.display()
        ))
    })?;
    let number = |macro_name: &str| {
        text.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some("#define") && words.next() == Some(macro_name))
                .then(|| words.next()?.parse().ok())
                .flatten()
        })
    };
    match (
        number("HIP_VERSION_MAJOR"),
        number("HIP_VERSION_MINOR"),
        number("HIP_VERSION_PATCH"),
    ) {
        (Some(major), Some(minor), patch) => Ok([major, minor, patch.unwrap_or(0)]),
        _ => Err(Error::new(format!(
            "{} defines no HIP_VERSION_MAJOR and HIP_VERSION_MINOR",
            path.display()
        ))),
    }
}

/// The `HIP_VERSION` of the headers in a folder: `major * 10000000 + minor * 100000
/// + patch`.
pub fn hip_version(include: &Path) -> Result<u32, Error> {
    let [major, minor, patch] = version_numbers(include)?;
    Ok(major * 10_000_000 + minor * 100_000 + patch)
}

/// The Rust types of the headers in a folder, with those of hiprtc and HSA, which not
/// every ROCm package brings, and nothing else from elsewhere.
pub fn types_of(include: &Path) -> Result<String, Error> {
    let mut source =
        String::from("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    source += GL_TYPES;
    let present = present_headers(include);
    for (name, path) in &present {
        if *name != "hip_ext.h" {
            source += &format!("#include <{path}>\n");
        }
    }
    let supplement = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../supplement"));
    if !present.iter().any(|(name, _)| *name == "hiprtc.h") {
        source += &format!("#include \"{}\"\n", supplement.join("hiprtc.h").display());
    }
    source += if include.join("hsa/hsa.h").is_file() {
        "#include <hsa/hsa.h>\n"
    } else {
        HSA_STATUS
    };
    let types = Types {
        include,
        source,
        also: Some(supplement),
    };
    types.generate()
}

/// The status of `hsa_init`, for headers without HSA's (`hsa.h`).
const HSA_STATUS: &str = "typedef enum {\n  HSA_STATUS_SUCCESS = 0x0,\n  \
     HSA_STATUS_INFO_BREAK = 0x1,\n  HSA_STATUS_ERROR = 0x1000\n} hsa_status_t;\n";

fn present_headers(include: &Path) -> Vec<(&'static str, &'static str)> {
    HEADERS
        .iter()
        .filter_map(|(name, paths)| {
            let path = paths.iter().find(|path| include.join(path).is_file())?;
            Some((*name, *path))
        })
        .collect()
}

/// C source that includes what C can include of the folder.
fn c_source(include: &Path) -> Result<String, Error> {
    let present = present_headers(include);
    if !present.iter().any(|(name, _)| *name == "hip_runtime_api.h") {
        return Err(Error::new(format!(
            "{} has no hip/hip_runtime_api.h",
            include.display()
        )));
    }
    let includes: String = present
        .iter()
        .filter(|(name, _)| *name != "hip_ext.h")
        .map(|(_, path)| format!("#include <{path}>\n"))
        .collect();
    Ok(format!("{GL_TYPES}{includes}"))
}

/// Types and constants of the headers as bindgen writes them without further wishes:
/// so were the published Rust declarations made, and one reader serves both.
fn interface_bindings(include: &Path) -> Result<String, Error> {
    let bindings = bindgen::Builder::default()
        .header_contents("hip_headers.h", &c_source(include)?)
        .clang_args(libclang::arguments(include, Language::C)?)
        .allowlist_file(".*/hip/.*")
        .with_codegen_config(bindgen::CodegenConfig::TYPES | bindgen::CodegenConfig::VARS)
        .generate_comments(false)
        .formatter(bindgen::Formatter::None)
        .generate()
        .map_err(|error| Error::new(format!("{}: {error}", include.display())))?;
    Ok(bindings.to_string())
}

fn read_headers(include: &Path) -> Result<Contents, Error> {
    let present = present_headers(include);
    let c_source = c_source(include)?;

    // The C view comes last: where C++ declares the same link name, C's argument
    // types are the contract.
    let mut units = Vec::new();
    if present.iter().any(|(name, _)| *name == "hip_ext.h") {
        let source = "#include <hip/hip_runtime_api.h>\n#include <hip/hip_ext.h>\n";
        units.push((source.to_string(), Language::Cxx, &[][..]));
    }
    let per_thread: &[&str] = &["HIP_API_PER_THREAD_DEFAULT_STREAM"];
    units.push((c_source.clone(), Language::Cxx, &[]));
    units.push((c_source.clone(), Language::C, per_thread));
    units.push((c_source, Language::C, &[]));

    let mut declarations = Declarations::new();
    for (source, language, define) in units {
        let unit = TranslationUnit {
            include,
            source,
            language,
            define,
            only: None,
        };
        declarations.extend(unit.declarations()?);
    }
    Ok(Contents {
        declarations,
        headers: present.into_iter().map(|(name, _)| name).collect(),
    })
}
