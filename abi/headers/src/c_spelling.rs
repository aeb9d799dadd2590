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
            Ok(c_name(&name).to_string())
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

fn c_name(rust_name: &str) -> &str {
    match rust_name {
        "c_void" => "void",
        "c_char" => "char",
        "c_schar" => "signed char",
        "c_uchar" => "unsigned char",
        "c_short" => "short",
        "c_ushort" => "unsigned short",
        "c_int" => "int",
        "c_uint" => "unsigned int",
        "c_long" => "long",
        "c_ulong" => "unsigned long",
        "c_longlong" => "long long",
        "c_ulonglong" => "unsigned long long",
        "f32" => "float",
        "f64" => "double",
        "usize" => "size_t",
        "i8" => "int8_t",
        "u8" => "uint8_t",
        "i16" => "int16_t",
        "u16" => "uint16_t",
        "i32" => "int32_t",
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "u64" => "uint64_t",
        other => other,
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
