//! Functions and types from the headers that `HIPLAZY_HIP_INCLUDE` or `ROCM_PATH`
//! leads to, for the feature `bindgen`.

use std::collections::BTreeSet;
use std::env;
use std::path::PathBuf;

use hiplazy_abi::{Class, Function, Library};
use hiplazy_headers::{Declaration, Declarations, Error, HeaderSet};
use hiplazy_headers::{hip_version, type_names, types_of};

pub(crate) struct Found {
    pub(crate) functions: Vec<Function>,
    pub(crate) types: String,
    pub(crate) version: u32,
}

pub(crate) fn read(manifest: Vec<Function>) -> Result<Found, Error> {
    let include = include_folder()?;
    println!("cargo:rerun-if-changed={}", include.join("hip").display());
    let declarations = HeaderSet::in_folder(&include)?.read()?.declarations;
    let types = types_of(&include)?;
    let version = hip_version(&include)?;
    let (functions, line) = compose(manifest, declarations, &type_names(&types)?);
    println!(
        "cargo:warning=HIP {version} headers in {}: {line}",
        include.display()
    );
    Ok(Found {
        functions,
        types,
        version,
    })
}

fn include_folder() -> Result<PathBuf, Error> {
    for name in ["HIPLAZY_HIP_INCLUDE", "ROCM_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if let Some(include) = env::var_os("HIPLAZY_HIP_INCLUDE") {
        return Ok(include.into());
    }
    if let Some(rocm) = env::var_os("ROCM_PATH") {
        return Ok(PathBuf::from(rocm).join("include"));
    }
    Err(Error::new(
        "the feature bindgen reads ROCm headers: set HIPLAZY_HIP_INCLUDE to the folder that \
         holds hip/hip_runtime_api.h, or ROCM_PATH to the one above it",
    ))
}

/// What the headers declare, as they declare it; then what the manifest has besides,
/// such as the compiler's own functions, as far as these headers know its types. And
/// one line on the differences.
fn compose(
    manifest: Vec<Function>,
    mut declarations: Declarations,
    known_types: &BTreeSet<String>,
) -> (Vec<Function>, String) {
    let declared = declarations.len();
    let (mut functions, mut otherwise, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    let mut unanswerable = Vec::new();
    let mut kept = 0;
    for mut function in manifest {
        match declarations.remove(&function.name) {
            Some(declaration) => {
                let Some(class) = class_of(&declaration.ret) else {
                    unanswerable.push(function.name);
                    continue;
                };
                if differs(&function, &declaration) {
                    otherwise.push(function.name.clone());
                }
                function.class = class;
                function.ret = declaration.ret;
                function.args = declaration.args;
                functions.push(function);
            }
            None if all_known(&function, known_types) => {
                kept += 1;
                functions.push(function);
            }
            None => left_out.push(function.name),
        }
    }
    let new: Vec<String> = declarations.keys().cloned().collect();
    for (name, declaration) in declarations {
        match class_of(&declaration.ret) {
            Some(class) => functions.push(new_function(name, declaration, class)),
            None => unanswerable.push(name),
        }
    }
    let line = format!(
        "{declared} functions; the manifest lacks {}, declares otherwise {}; {kept} that these headers \
         do not declare are kept from it; left out, as these headers do not know their types, {}; left \
         out, as without a runtime there is no answer of their return type, {}",
        list(&new),
        list(&otherwise),
        list(&left_out),
        list(&unanswerable),
    );
    (functions, line)
}

/// How a function of this return type fails; `None` if it could not answer.
///
/// The answer of class struct is made for the one struct that HIP returns.
fn class_of(c_type: &str) -> Option<Class> {
    match Class::of_return_type(c_type) {
        Class::Struct if c_type == "hipChannelFormatDesc" => Some(Class::Struct),
        Class::Struct => {
            let rust = hiplazy_abi::rust_type(c_type);
            let integer = rust.starts_with("c_") || FUNDAMENTAL.contains(&rust.as_str());
            // 0, as of the class of pointers: no count, no size, no handle.
            (integer && !rust.starts_with('f')).then_some(Class::Pointer)
        }
        class => Some(class),
    }
}

fn differs(function: &Function, declaration: &Declaration) -> bool {
    let types = |args: &[hiplazy_abi::Arg]| -> Vec<String> {
        args.iter().map(|arg| arg.ty.clone()).collect()
    };
    types(&declaration.args) != types(&function.args) || declaration.ret != function.ret
}

fn new_function(name: String, declaration: Declaration, class: Class) -> Function {
    let library = if name.starts_with("hiprtc") {
        Library::Hiprtc
    } else if name.starts_with("hsa_") {
        Library::Hsa
    } else {
        Library::Hip
    };
    Function {
        class,
        name,
        node: None,
        ret: declaration.ret,
        args: declaration.args,
        first: None,
        last: None,
        library,
    }
}

/// The Rust types that need no declaration, besides `c_int` and its like.
const FUNDAMENTAL: [&str; 14] = [
    "bool", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "f32", "f64",
    "void",
];

fn all_known(function: &Function, known_types: &BTreeSet<String>) -> bool {
    let arguments = function.args.iter().map(|arg| arg.ty.as_str());
    arguments.chain([function.ret.as_str()]).all(|c_type| {
        let rust = hiplazy_abi::rust_type(c_type);
        let name = rust.rsplit(' ').next().unwrap_or(&rust);
        name.starts_with("c_") || FUNDAMENTAL.contains(&name) || known_types.contains(name)
    })
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_string(),
        names => format!("{} ({})", names.len(), names.join(", ")),
    }
}
