//! Enumerations, structs and unions as C, and the assertions about their layout.

use std::collections::BTreeSet;
use std::fmt::Write;

use syn::Type;

use super::Error;
use super::declarator::declare;
use super::size::offset;
use super::types::{Enumeration, Record, Types, nested_tag};

/// `typedef enum ... ;`, on one line per constant.
pub(crate) fn enumeration(enumeration: &Enumeration) -> String {
    let values: Vec<String> = enumeration
        .values
        .iter()
        .map(|(name, value)| format!("  {name} = {value}"))
        .collect();
    let values = values.join(",\n");
    match &enumeration.name {
        // C++17 code is warned when it drops an error code, as with the real headers.
        Some(name) if name == "hipError_t" => {
            format!("typedef enum HIPLAZY_ROCM_NODISCARD {name} {{\n{values}\n}} {name};\n")
        }
        Some(name) => format!("typedef enum {name} {{\n{values}\n}} {name};\n"),
        None => format!("enum {{\n{values}\n}};\n"),
    }
}

/// The records that are declared inside another one.
pub(crate) fn nested(types: &Types) -> BTreeSet<String> {
    let mut nested = BTreeSet::new();
    for (outer, record) in &types.records {
        for field in &record.fields {
            if let Some((name, _)) = types.record_of(&field.ty)
                && nested_tag(outer, name).is_some()
            {
                nested.insert(name.to_string());
            }
        }
    }
    nested
}

/// The definition of a record, which is declared already.
///
/// # Errors
///
/// A member's type has no C declaration.
pub(crate) fn definition(types: &Types, name: &str, record: &Record) -> Result<String, Error> {
    let align = match vector_components(name) {
        Some(components @ (2 | 4)) => {
            format!(
                "HIPLAZY_ROCM_ALIGNED({}) ",
                record.align.unwrap_or(1) * components
            )
        }
        _ => String::new(),
    };
    let mut text = format!("{} {align}{name} {{\n", keyword(record));
    members(types, name, record, 1, &mut text)?;
    if name == "dim3" {
        text += "#ifdef __cplusplus\n  constexpr dim3(uint32_t x_ = 1, uint32_t y_ = 1, \
                 uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}\n#endif\n";
    }
    Ok(text + "};\n")
}

fn keyword(record: &Record) -> &'static str {
    if record.is_union { "union" } else { "struct" }
}

fn members(
    types: &Types,
    outer: &str,
    record: &Record,
    depth: usize,
    text: &mut String,
) -> Result<(), Error> {
    let indent = "  ".repeat(depth);
    for field in &record.fields {
        let name = field.name.as_deref().unwrap_or_default();
        let declared = declare(&field.ty, name)?;
        let inner = types
            .record_of(&field.ty)
            .and_then(|(inner, record)| Some((inner, record, nested_tag(outer, inner)?)));
        let Some((inner, record, tag)) = inner else {
            let bits = field
                .bits
                .map_or_else(String::new, |bits| format!(" : {bits}"));
            *text += &format!("{indent}{declared}{bits};\n");
            continue;
        };
        // What stays of the declaration behind the type: name and array bounds.
        let declarator = declared.strip_prefix(inner).unwrap_or_default();
        // Members without a name are older in compilers than in the standards.
        let extension = if field.name.is_none() {
            "__extension__ "
        } else {
            ""
        };
        let space = if tag.is_empty() { "" } else { " " };
        *text += &format!("{indent}{extension}{}{space}{tag} {{\n", keyword(record));
        members(types, inner, record, depth + 1, text)?;
        *text += &format!("{indent}}}{declarator};\n");
    }
    Ok(())
}

/// Assertions about size, alignment and the offset of every member.
pub(crate) fn assertions(types: &Types, name: &str, record: &Record) -> String {
    let mut text = String::new();
    if let Some(size) = record.size {
        let _ = writeln!(text, "HIPLAZY_ROCM_ASSERT(sizeof({name}) == {size});");
    }
    let is_aligned_otherwise = matches!(vector_components(name), Some(2 | 4));
    if let Some(align) = record.align.filter(|_| !is_aligned_otherwise) {
        let _ = writeln!(text, "HIPLAZY_ROCM_ASSERT(__alignof__({name}) == {align});");
    }
    let place = Place {
        types,
        top: name,
        path: String::new(),
        base: 0,
    };
    place.assert_members(name, record, &mut text);
    text
}

/// A record inside the one that assertions name, and where it is.
struct Place<'a> {
    types: &'a Types,
    top: &'a str,
    path: String,
    base: u64,
}

impl Place<'_> {
    fn assert_members(&self, name: &str, record: &Record, text: &mut String) {
        for (at, field) in record.fields.iter().enumerate() {
            let Some(offset) = offset(self.types, record, at) else {
                continue;
            };
            let offset = self.base + offset;
            let path = match &field.name {
                Some(member) if self.path.is_empty() => member.clone(),
                Some(member) => format!("{}.{member}", self.path),
                None => self.path.clone(),
            };
            if field.name.is_some() && field.bits.is_none() {
                let _ = writeln!(
                    text,
                    "HIPLAZY_ROCM_ASSERT(offsetof({}, {path}) == {offset});",
                    self.top
                );
            }
            let inner = self.types.record_of(&field.ty).filter(|(inner, _)| {
                nested_tag(name, inner).is_some() && !matches!(field.ty, Type::Array(_))
            });
            if let Some((inner, record)) = inner {
                let place = Place {
                    types: self.types,
                    top: self.top,
                    path,
                    base: offset,
                };
                place.assert_members(inner, record, text);
            }
        }
    }
}

/// The number of components of `float4` and its like; `None` for any other record.
pub(crate) fn vector_components(name: &str) -> Option<u64> {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let scalars = ["char", "short", "int", "long", "longlong"];
    let is_vector = ["float", "double"].contains(&base)
        || scalars.contains(&base.strip_prefix('u').unwrap_or(base));
    name[base.len()..].parse().ok().filter(|_| is_vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_records_are_written_where_they_are_used() {
        let types = Types::parse(
            "pub struct Outer { pub kind: u32, pub value: Outer__bindgen_ty_1, \
                 pub __bindgen_anon_1: Outer__bindgen_ty_2 }
             const _: () = { [\"Size of Outer\"][size_of::<Outer>() - 24usize];
                 [\"Offset of field: Outer::kind\"][offset_of!(Outer, kind) - 0usize];
                 [\"Offset of field: Outer::value\"][offset_of!(Outer, value) - 8usize];
                 [\"Offset of field: Outer::__bindgen_anon_1\"][offset_of!(Outer, x) - 16usize]; };
             pub struct Outer__bindgen_ty_1 { pub type_: *mut u8 }
             const _: () = { [\"Offset of field: Outer__bindgen_ty_1::type_\"][0 - 0usize]; };
             pub union Outer__bindgen_ty_2 { pub a: u32, pub b: u64 }",
        )
        .unwrap();
        assert_eq!(nested(&types).len(), 2);
        let text = definition(&types, "Outer", &types.records["Outer"]).unwrap();
        assert_eq!(
            text,
            "struct Outer {\n  uint32_t kind;\n  struct {\n    uint8_t *type;\n  } value;\n  \
             __extension__ union {\n    uint32_t a;\n    uint64_t b;\n  };\n};\n"
        );
        let text = assertions(&types, "Outer", &types.records["Outer"]);
        for expected in [
            "sizeof(Outer) == 24",
            "offsetof(Outer, kind) == 0",
            "offsetof(Outer, value.type) == 8",
            "offsetof(Outer, b) == 16",
        ] {
            assert!(text.contains(expected), "{expected} is not in\n{text}");
        }
    }

    #[test]
    fn vectors_are_known_by_their_names() {
        assert_eq!(vector_components("uchar4"), Some(4));
        assert_eq!(vector_components("longlong1"), Some(1));
        assert_eq!(vector_components("dim3"), None);
        assert_eq!(vector_components("hipExtent"), None);
        assert_eq!(vector_components("ufloat2"), None);
    }
}
