//! From bindgen's Rust types back to the C types of the manifest.

use syn::{ReturnType, Type};

use crate::Error;

/// The C spelling of a type as bindgen writes it; the inverse of
/// [`hiplazy_abi::rust_type`].
pub(crate) fn of_type(ty: &Type) -> Result<String, Error> {
    match ty {
        Type::Ptr(pointer) => {
            let pointee = of_type(&pointer.elem)?;
            let is_pointer = pointee.ends_with('*');
            let pointee = match (pointer.const_token.is_some(), is_pointer) {
                (true, true) => format!("{pointee}const "),
                (true, false) => format!("const {pointee} "),
                (false, true) => pointee,
                (false, false) => format!("{pointee} "),
            };
            Ok(format!("{pointee}*"))
        }
        Type::Path(path) => {
            let last = path
                .path
                .segments
                .last()
                .map(|segment| segment.ident.to_string());
            let name = last.unwrap_or_default();
            // A function pointer without a typedef. It is passed as any pointer is, and
            // its spelling has no place in a line of the manifest.
            if name == "Option" {
                return Ok("void *".to_string());
            }
            Ok(hiplazy_abi::c_type_name(&name).to_string())
        }
        other => Err(Error::new(format!(
            "no C spelling for the type \"{}\"",
            quote::quote!(#other)
        ))),
    }
}

/// The C spelling of a return type.
pub(crate) fn of_return(ret: &ReturnType) -> Result<String, Error> {
    match ret {
        ReturnType::Default => Ok("void".to_string()),
        ReturnType::Type(_, ty) => of_type(ty),
    }
}

#[cfg(test)]
mod tests {
    use super::of_type;

    #[test]
    fn spelling_and_rust_type_are_inverse() {
        for c in [
            "void *",
            "const void *",
            "void **",
            "const char **",
            "const char *const *",
            "void *const *",
            "size_t",
            "unsigned int",
            "uint32_t",
            "unsigned long long",
            "bool",
            "float",
            "hipStream_t",
            "const hipDeviceProp_tR0600 *",
        ] {
            let rust = hiplazy_abi::rust_type(c);
            let ty = syn::parse_str(&rust).unwrap();
            assert_eq!(of_type(&ty).unwrap(), c, "{rust}");
        }
    }
}
