//! C declarators of the Rust types that bindgen writes.

use quote::ToTokens;
use syn::{Expr, GenericArgument, Lit, PathArguments, ReturnType, Type, TypeBareFn};

use super::Error;

/// The C declaration of `name` with type `ty`: `const char *name[4]`. An empty name
/// gives the type alone.
///
/// # Errors
///
/// A type that HIP's interface does not use.
pub(crate) fn declare(ty: &Type, name: &str) -> Result<String, Error> {
    inside_out(ty, name.to_string(), false)
}

/// C declarators are read from the name outwards, so the text grows around the name
/// while the type is taken apart from the outside.
fn inside_out(ty: &Type, declarator: String, is_const: bool) -> Result<String, Error> {
    let constant = if is_const { "const " } else { "" };
    match ty {
        Type::Ptr(pointer) => {
            let declarator = if is_const && !declarator.is_empty() {
                format!("*const {declarator}")
            } else if is_const {
                "*const".to_string()
            } else {
                format!("*{declarator}")
            };
            inside_out(&pointer.elem, declarator, pointer.const_token.is_some())
        }
        Type::Array(array) => {
            let length = length(&array.len)?;
            inside_out(
                &array.elem,
                format!("{}[{length}]", inner(declarator)),
                is_const,
            )
        }
        Type::Path(path) => {
            let last = path.path.segments.last();
            let last = last.ok_or_else(|| unknown(ty))?;
            if last.ident == "Option" {
                return function_pointer(
                    function_of(&last.arguments).ok_or_else(|| unknown(ty))?,
                    &declarator,
                );
            }
            let name = last.ident.to_string();
            let base = hiplazy_abi::c_type_name(&name);
            let space = if declarator.is_empty() { "" } else { " " };
            Ok(format!("{constant}{base}{space}{declarator}"))
        }
        _ => Err(unknown(ty)),
    }
}

/// A pointer inside an array or function declarator needs parentheses.
fn inner(declarator: String) -> String {
    if declarator.starts_with('*') {
        format!("({declarator})")
    } else {
        declarator
    }
}

fn function_pointer(function: &TypeBareFn, name: &str) -> Result<String, Error> {
    let arguments = function.inputs.iter().map(|argument| {
        let name = argument.name.as_ref().map(|(name, _)| name.to_string());
        declare(&argument.ty, &name.unwrap_or_default())
    });
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?.join(", ");
    let arguments = if arguments.is_empty() {
        "void"
    } else {
        &arguments
    };
    let declarator = format!("(*{name})({arguments})");
    match &function.output {
        ReturnType::Default => Ok(format!("void {declarator}")),
        ReturnType::Type(_, ty) => inside_out(ty, declarator, false),
    }
}

fn function_of(arguments: &PathArguments) -> Option<&TypeBareFn> {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(Type::BareFn(function))) => Some(function),
        _ => None,
    }
}

/// The number of elements of an array.
pub(crate) fn length(expression: &Expr) -> Result<u64, Error> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number
                .base10_parse()
                .map_err(|error| Error::new(error.to_string())),
            _ => Err(unknown(expression)),
        },
        _ => Err(unknown(expression)),
    }
}

fn unknown(what: &impl ToTokens) -> Error {
    Error::new(format!(
        "no C declaration for \"{}\" of src/sys/types.rs",
        what.to_token_stream()
    ))
}

#[cfg(test)]
mod tests {
    use super::declare;

    #[test]
    fn declarations_read_as_c() {
        let cases = [
            ("core::ffi::c_int", "int x"),
            ("*mut core::ffi::c_void", "void *x"),
            ("*const core::ffi::c_char", "const char *x"),
            ("*mut *const hipGraphNode_t", "const hipGraphNode_t **x"),
            ("*const *const core::ffi::c_char", "const char *const *x"),
            ("[core::ffi::c_char; 256usize]", "char x[256]"),
            ("[*mut core::ffi::c_void; 2usize]", "void *x[2]"),
            ("[[u32; 2usize]; 3usize]", "uint32_t x[3][2]"),
            ("*mut [u8; 4usize]", "uint8_t (*x)[4]"),
            (
                "::core::option::Option<unsafe extern \"C\" fn(data: *mut core::ffi::c_void)>",
                "void (*x)(void *data)",
            ),
            (
                "::core::option::Option<unsafe extern \"C\" fn() -> *mut core::ffi::c_int>",
                "int *(*x)(void)",
            ),
        ];
        for (rust, c) in cases {
            let ty = syn::parse_str(rust).unwrap();
            assert_eq!(declare(&ty, "x").unwrap(), c, "{rust}");
        }
    }

    #[test]
    fn a_type_without_a_name_is_the_type() {
        let ty = syn::parse_str("*const core::ffi::c_void").unwrap();
        assert_eq!(declare(&ty, "").unwrap(), "const void *");
    }
}
