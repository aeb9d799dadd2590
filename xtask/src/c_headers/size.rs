//! Sizes of member types on 64-bit Linux, to place what bindgen does not place: it
//! states the offset of every member with a name.

use syn::Type;

use super::types::{Field, Record, Types};

/// The offset of member `at` of a record: the stated one, or where the member before
/// it ends.
pub(crate) fn offset(types: &Types, record: &Record, at: usize) -> Option<u64> {
    let field: &Field = record.fields.get(at)?;
    if record.is_union || at == 0 {
        return Some(0);
    }
    if let Some(offset) = field.offset {
        return Some(offset);
    }
    let (size, _) = size_and_align(types, &record.fields[at - 1].ty)?;
    let (_, align) = size_and_align(types, &field.ty)?;
    Some((offset(types, record, at - 1)? + size).next_multiple_of(align))
}

fn size_and_align(types: &Types, ty: &Type) -> Option<(u64, u64)> {
    match ty {
        Type::Ptr(_) => Some((8, 8)),
        Type::Array(array) => {
            let (size, align) = size_and_align(types, &array.elem)?;
            Some((size * super::declarator::length(&array.len).ok()?, align))
        }
        Type::Path(path) => {
            let name = path.path.segments.last()?.ident.to_string();
            if let Some((_, record)) = types.record_of(ty) {
                return Some((record.size?, record.align?));
            }
            if let Some((_, ty)) = types.aliases.iter().find(|(alias, _)| *alias == name) {
                return size_and_align(types, ty);
            }
            let is_enum = types
                .enums
                .iter()
                .any(|known| known.name.as_ref() == Some(&name))
                || types.enum_aliases.iter().any(|(new, _)| *new == name);
            let size = match name.as_str() {
                "c_char" | "c_schar" | "c_uchar" | "i8" | "u8" | "bool" => 1,
                "c_short" | "c_ushort" | "i16" | "u16" => 2,
                "c_int" | "c_uint" | "i32" | "u32" | "f32" => 4,
                // A function pointer.
                "Option" => 8,
                "c_long" | "c_ulong" | "c_longlong" | "c_ulonglong" | "i64" | "u64" | "usize"
                | "f64" => 8,
                _ if is_enum => 4,
                _ => return None,
            };
            Some((size, size))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_without_a_name_begins_where_the_one_before_ends() {
        let types = Types::parse(
            "pub struct S { pub a: *mut u8, pub b: [c_short; 3usize], pub __bindgen_anon_1: U }
             pub union U { pub x: u64 }
             const _: () = { [\"Size of U\"][size_of::<U>() - 8usize];
                 [\"Alignment of U\"][align_of::<U>() - 8usize];
                 [\"Offset of field: S::a\"][offset_of!(S, a) - 0usize];
                 [\"Offset of field: S::b\"][offset_of!(S, b) - 8usize]; };",
        )
        .unwrap();
        assert_eq!(offset(&types, &types.records["S"], 2), Some(16));
    }
}
