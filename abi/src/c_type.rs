//! From the manifest's C types to Rust types.

/// The Rust spelling of a C type of the manifest.
///
/// Fundamental types become those of `core::ffi` (named without a path) or
/// Rust's own; every other name stands for itself, as the generated `sys` types
/// declare it. A top-level `const` is dropped: it is no part of the ABI.
///
/// ```
/// # use hiplazy_abi::rust_type;
/// assert_eq!(rust_type("const hipDeviceProp_tR0600 *"), "*const hipDeviceProp_tR0600");
/// assert_eq!(rust_type("void **"), "*mut *mut c_void");
/// ```
pub fn rust_type(c_type: &str) -> String {
    let mut base = Vec::new();
    let mut base_is_const = false;
    // For each `*`, from the innermost outwards: is the pointer itself const?
    let mut pointers: Vec<bool> = Vec::new();
    let spaced = c_type.replace('*', " * ");
    for word in spaced.split_whitespace() {
        match (word, pointers.last_mut()) {
            ("*", _) => pointers.push(false),
            ("const", Some(pointer)) => *pointer = true,
            ("const", None) => base_is_const = true,
            ("struct" | "enum" | "union" | "volatile", _) => {}
            (name, _) => base.push(name),
        }
    }
    let mut rust = rust_name(&base.join(" ")).to_string();
    let mut pointee_is_const = base_is_const;
    for pointer_is_const in pointers {
        let qualifier = if pointee_is_const { "const" } else { "mut" };
        rust = format!("*{qualifier} {rust}");
        pointee_is_const = pointer_is_const;
    }
    rust
}

fn rust_name(c_name: &str) -> &str {
    match c_name {
        "void" => "c_void",
        "char" => "c_char",
        "signed char" => "c_schar",
        "unsigned char" => "c_uchar",
        "short" => "c_short",
        "unsigned short" => "c_ushort",
        "int" => "c_int",
        "unsigned" | "unsigned int" => "c_uint",
        "long" => "c_long",
        "unsigned long" => "c_ulong",
        "long long" => "c_longlong",
        "unsigned long long" => "c_ulonglong",
        "float" => "f32",
        "double" => "f64",
        "size_t" => "usize",
        "int8_t" => "i8",
        "uint8_t" => "u8",
        "int16_t" => "i16",
        "uint16_t" => "u16",
        "int32_t" => "i32",
        "uint32_t" => "u32",
        "int64_t" => "i64",
        "uint64_t" => "u64",
        "intptr_t" => "isize",
        "uintptr_t" => "usize",
        other => other,
    }
}

/// The C spelling of a named type as bindgen writes it in Rust: `c_uint` is
/// `unsigned int`, `u64` is `uint64_t`, and any other name stands for itself.
pub fn c_type_name(rust_name: &str) -> &str {
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
    use super::rust_type;

    #[test]
    fn pointers_carry_the_constness_of_what_they_point_to() {
        let cases = [
            ("void *", "*mut c_void"),
            ("const void *", "*const c_void"),
            ("void **", "*mut *mut c_void"),
            ("const char **", "*mut *const c_char"),
            ("const char *const *", "*const *const c_char"),
            ("void *const *", "*const *mut c_void"),
            ("const textureReference **", "*mut *const textureReference"),
            (
                "const hipDeviceProp_tR0600 *",
                "*const hipDeviceProp_tR0600",
            ),
        ];
        for (c, rust) in cases {
            assert_eq!(rust_type(c), rust, "{c}");
        }
    }

    #[test]
    fn values_are_fundamental_or_named() {
        let cases = [
            ("size_t", "usize"),
            ("uint32_t", "u32"),
            ("unsigned int", "c_uint"),
            ("unsigned long long", "c_ulonglong"),
            ("unsigned char", "c_uchar"),
            ("float", "f32"),
            ("bool", "bool"),
            ("struct hipExtent", "hipExtent"),
            ("enum hipLimit_t", "hipLimit_t"),
            ("const hipFunction_t", "hipFunction_t"),
        ];
        for (c, rust) in cases {
            assert_eq!(rust_type(c), rust, "{c}");
        }
    }
}
