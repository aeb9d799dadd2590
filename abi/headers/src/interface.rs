//! What headers say besides functions: record layouts and constants.
//!
//! Layouts are computed from bindgen's Rust types by the rules of `repr(C)`, so that C
//! headers and published Rust declarations go the same way, and are then held against
//! what clang said: bindgen writes it down as assertions.

use std::collections::BTreeMap;

use hiplazy_abi::Field;
use syn::{Attribute, Expr, Item, Lit, LitInt, Type, UnOp, UseTree};

use crate::assertions::{Assertion, Of, assertions};
use crate::{Error, c_spelling};

/// Records and constants of one header set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interface {
    /// Complete structs and unions under HIP's names, by the name that functions use.
    pub records: BTreeMap<String, Record>,
    /// Enumerators by enum and name, numeric macros under [`MACRO`].
    pub constants: BTreeMap<(String, String), i64>,
}

/// A struct or union as the compiler lays it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// `sizeof`.
    pub size: u32,
    /// `alignof`.
    pub align: u32,
    /// The scalars, in order of declaration.
    pub fields: Vec<Field>,
}

/// The domain of constants that are macros.
pub const MACRO: &str = "macro";

/// The domain of enumerators whose enum has no name.
pub const UNNAMED: &str = "unnamed";

/// bindgen's stand-in for a run of bit fields.
const BIT_FIELDS: &str = "__BindgenBitfieldUnit";

/// Records and constants of Rust declarations as bindgen writes them, with its default
/// style for enumerations (constants of an integer type).
///
/// # Errors
///
/// The text is no Rust, a record holds a type of unknown size, or its layout is not the
/// one that bindgen asserts.
pub fn parse_interface(rust: &str) -> Result<Interface, Error> {
    let file = syn::parse_file(rust)
        .map_err(|error| Error::new(format!("the Rust declarations do not parse: {error}")))?;
    let types = Types::of(&file.items);
    for assertion in assertions(&file.items) {
        types.verify(&assertion)?;
    }
    let mut interface = Interface::default();
    for (tag, record) in &types.records {
        let name = types.public_name(tag);
        if is_record_of_hip(name) && !record.is_opaque() && !types.is_nested(tag) {
            interface
                .records
                .insert(name.to_string(), types.measure(tag)?);
        }
    }
    for item in &file.items {
        if let Item::Const(constant) = item
            && let Some(value) = integer(&constant.expr)
        {
            let name = constant.ident.to_string();
            let tag = last_segment(&constant.ty).unwrap_or_default();
            let domain = types.public_enum(&tag);
            let (domain, name) = match name.strip_prefix(&format!("{tag}_")) {
                Some(enumerator) => (domain, enumerator),
                None if tag.starts_with("_bindgen_ty_") => (UNNAMED, name.as_str()),
                None => (MACRO, name.as_str()),
            };
            if is_constant_of_hip(domain, name) {
                interface
                    .constants
                    .insert((domain.to_string(), name.to_string()), value);
            }
        }
    }
    Ok(interface)
}

/// HIP's own types; the vector types of device code and the C library's are not.
fn is_record_of_hip(name: &str) -> bool {
    ["hip", "HIP"].iter().any(|prefix| name.starts_with(prefix))
        || matches!(name, "dim3" | "textureReference" | "surfaceReference")
}

/// Enumerators of HIP's enums, and the macros that are flags: not the include guards,
/// not the features of the device compiler, not the version.
fn is_constant_of_hip(domain: &str, name: &str) -> bool {
    if domain != MACRO {
        return ["hip", "HIP"].iter().any(|prefix| name.starts_with(prefix));
    }
    let flag = [
        "hip",
        "HIP_TR",
        "HIP_LAUNCH_PARAM",
        "HIP_IPC_HANDLE",
        "HIP_TRS",
    ];
    flag.iter().any(|prefix| name.starts_with(prefix)) && !name.ends_with("_H")
}

/// The integer that a constant is, if it is one.
fn integer(expression: &Expr) -> Option<i64> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            // An unsigned 64-bit flag may have the sign bit: the same bits here.
            Lit::Int(number) => number.base10_parse::<u64>().ok().map(u64::cast_signed),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            integer(&unary.expr).map(i64::wrapping_neg)
        }
        _ => None,
    }
}

fn last_segment(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

/// The types of a file by name.
struct Types<'a> {
    records: BTreeMap<String, Members<'a>>,
    aliases: BTreeMap<String, &'a Type>,
    /// bindgen re-exports an enum under its typedef instead of aliasing it.
    renames: BTreeMap<String, String>,
}

struct Members<'a> {
    is_union: bool,
    /// By `repr(align(N))`; 1 where the members decide.
    align: u32,
    fields: Vec<(String, &'a Type)>,
}

impl Members<'_> {
    /// A struct that C only declares has no members; bindgen gives it an empty array.
    fn is_opaque(&self) -> bool {
        match self.fields.as_slice() {
            [(name, _)] => name == "_unused" || name == "_address",
            fields => fields.is_empty(),
        }
    }
}

/// What a type takes.
#[derive(Clone, Copy)]
struct Extent {
    size: u32,
    align: u32,
}

impl<'a> Types<'a> {
    fn of(items: &'a [Item]) -> Types<'a> {
        let mut types = Types {
            records: BTreeMap::new(),
            aliases: BTreeMap::new(),
            renames: BTreeMap::new(),
        };
        for item in items {
            let (ident, attributes, fields, is_union) = match item {
                Item::Struct(item) => (&item.ident, &item.attrs, item.fields.iter(), false),
                Item::Union(item) => (&item.ident, &item.attrs, item.fields.named.iter(), true),
                Item::Type(item) => {
                    types.aliases.insert(item.ident.to_string(), &item.ty);
                    continue;
                }
                Item::Use(item) => {
                    types.renames.extend(rename(&item.tree));
                    continue;
                }
                _ => continue,
            };
            let fields = fields
                .filter_map(|field| Some((field.ident.as_ref()?.to_string(), &field.ty)))
                .collect();
            let members = Members {
                is_union,
                align: explicit_align(attributes),
                fields,
            };
            types.records.insert(ident.to_string(), members);
        }
        types
    }

    /// Whether C declares the record inside of another one: bindgen then puts the outer
    /// name in front.
    fn is_nested(&self, tag: &str) -> bool {
        let inner = |outer: &String| tag.strip_prefix(outer.as_str());
        self.records
            .keys()
            .filter_map(inner)
            .any(|rest| rest.starts_with('_'))
    }

    /// The name by which functions take the record: its typedef, if it has one.
    fn public_name<'b>(&'b self, tag: &'b str) -> &'b str {
        let stands_for = |ty: &Type| last_segment(ty).is_some_and(|target| target == tag);
        self.aliases
            .iter()
            .find(|(_, ty)| matches!(ty, Type::Path(_)) && stands_for(ty))
            .map_or(tag, |(alias, _)| alias)
    }

    /// The name by which functions take the enum: its typedef, if it has one.
    fn public_enum<'b>(&'b self, tag: &'b str) -> &'b str {
        let renamed = self.renames.iter().find(|(_, target)| *target == tag);
        renamed.map_or(tag, |(typedef, _)| typedef)
    }

    /// Compares what is computed with what clang counted.
    fn verify(&self, assertion: &Assertion) -> Result<(), Error> {
        let Assertion { record, of, bytes } = assertion;
        let computed = match of {
            Of::Size => self.extent_of_record(record)?.size,
            Of::Align => self.extent_of_record(record)?.align,
            Of::Member(member) => self
                .place(record)?
                .into_iter()
                .find(|(name, ..)| name == member)
                .map_or(u32::MAX, |(.., offset)| offset),
        };
        if computed == *bytes {
            return Ok(());
        }
        Err(Error::new(format!(
            "the layout of {record} is misread: clang counts {bytes} for {of:?}, here it is {computed}"
        )))
    }

    fn measure(&self, tag: &str) -> Result<Record, Error> {
        let extent = self.extent_of_record(tag)?;
        let mut fields = Vec::new();
        self.flatten(tag, 0, "", &mut fields)?;
        Ok(Record {
            size: extent.size,
            align: extent.align,
            fields,
        })
    }

    /// The members of a record with their offsets.
    fn place(&self, tag: &str) -> Result<Vec<(&str, &'a Type, u32)>, Error> {
        let record = self
            .records
            .get(tag)
            .ok_or_else(|| Error::new(format!("the type {tag} is not declared")))?;
        let mut at = 0;
        let mut placed = Vec::new();
        for (name, ty) in &record.fields {
            let extent = self.extent(ty)?;
            let offset = if record.is_union { 0 } else { at };
            let offset = u32::next_multiple_of(offset, extent.align);
            placed.push((name.as_str(), *ty, offset));
            at = offset + extent.size;
        }
        Ok(placed)
    }

    fn extent_of_record(&self, tag: &str) -> Result<Extent, Error> {
        let align = self.records.get(tag).map_or(1, |record| record.align);
        let mut whole = Extent { size: 0, align };
        for (_, ty, offset) in self.place(tag)? {
            let extent = self.extent(ty)?;
            whole.size = whole.size.max(offset + extent.size);
            whole.align = whole.align.max(extent.align);
        }
        whole.size = whole.size.next_multiple_of(whole.align);
        Ok(whole)
    }

    fn extent(&self, ty: &Type) -> Result<Extent, Error> {
        let unknown = || {
            Error::new(format!(
                "no size is known for the type \"{}\"",
                quote::quote!(#ty)
            ))
        };
        match ty {
            Type::Ptr(_) => Ok(Extent { size: 8, align: 8 }),
            Type::Array(array) => {
                let element = self.extent(&array.elem)?;
                let length = integer(&array.len).and_then(|n| u32::try_from(n).ok());
                Ok(Extent {
                    size: element.size * length.ok_or_else(unknown)?,
                    align: element.align,
                })
            }
            Type::Path(path) => {
                let name = last_segment(ty).ok_or_else(unknown)?;
                if let Some(size) = scalar_size(&name) {
                    return Ok(Extent { size, align: size });
                }
                if name == BIT_FIELDS {
                    return self.extent(bit_storage(path).ok_or_else(unknown)?);
                }
                let name = self.renames.get(&name).unwrap_or(&name);
                if let Some(target) = self.aliases.get(name) {
                    return self.extent(target);
                }
                if self.records.contains_key(name) {
                    return self.extent_of_record(name);
                }
                Err(unknown())
            }
            _ => Err(unknown()),
        }
    }

    /// The record that a type is, through aliases.
    fn record_of(&self, ty: &Type) -> Option<String> {
        let name = last_segment(ty)?;
        if self.records.contains_key(&name) && name != BIT_FIELDS {
            return Some(name);
        }
        self.record_of(self.aliases.get(&name)?)
    }

    fn flatten(
        &self,
        tag: &str,
        base: u32,
        path: &str,
        fields: &mut Vec<Field>,
    ) -> Result<(), Error> {
        for (name, ty, offset) in self.place(tag)? {
            // bindgen aligns bit fields by an empty array and fills up behind them.
            let size = self.extent(ty)?.size;
            if size == 0 || name.starts_with("__bindgen_padding_") {
                continue;
            }
            // Members of an unnamed member are reached by their own name.
            let is_unnamed = name.starts_with("__bindgen_anon_");
            // A Rust keyword has an underscore behind it, bit fields one in front.
            let name = name.strip_prefix("_bitfield_").map_or_else(
                || name.strip_suffix('_').unwrap_or(name).to_string(),
                |number| format!("bits{number}"),
            );
            let full = match (is_unnamed, path) {
                (true, path) => path.to_string(),
                (false, "") => name,
                (false, path) => format!("{path}.{name}"),
            };
            if let Some(inner) = self.record_of(ty) {
                self.flatten(&inner, base + offset, &full, fields)?;
                continue;
            }
            fields.push(Field {
                name: full,
                offset: base + offset,
                size,
                ty: spelling(ty)?,
            });
        }
        Ok(())
    }
}

/// The `N` of `#[repr(align(N))]`, else 1.
fn explicit_align(attributes: &[Attribute]) -> u32 {
    let mut align = 1;
    for attribute in attributes.iter().filter(|it| it.path().is_ident("repr")) {
        // A representation that is not understood makes another size, which the
        // comparison with the table then shows.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("align") {
                let number;
                syn::parenthesized!(number in meta.input);
                align = number.parse::<LitInt>()?.base10_parse()?;
            }
            Ok(())
        });
    }
    align
}

/// `pub use self::old as new`, as new and old.
fn rename(tree: &UseTree) -> Option<(String, String)> {
    match tree {
        UseTree::Path(path) => rename(&path.tree),
        UseTree::Rename(rename) => Some((rename.rename.to_string(), rename.ident.to_string())),
        _ => None,
    }
}

/// The integer array in which bindgen keeps bit fields.
fn bit_storage(path: &syn::TypePath) -> Option<&Type> {
    let syn::PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments
    else {
        return None;
    };
    match arguments.args.first()? {
        syn::GenericArgument::Type(storage) => Some(storage),
        _ => None,
    }
}

/// The C spelling; an array as `unsigned int[16]`, a run of bit fields as `bits`.
fn spelling(ty: &Type) -> Result<String, Error> {
    match ty {
        Type::Array(array) => {
            let length = integer(&array.len).unwrap_or_default();
            let element = spelling(&array.elem)?;
            // C writes the outer length first.
            Ok(match element.find('[') {
                Some(at) => format!("{}[{length}]{}", &element[..at], &element[at..]),
                None => format!("{element}[{length}]"),
            })
        }
        Type::Path(_) if last_segment(ty).is_some_and(|name| name == BIT_FIELDS) => {
            Ok("bits".to_string())
        }
        _ => c_spelling::of_type(ty),
    }
}

fn scalar_size(rust: &str) -> Option<u32> {
    Some(match rust {
        "c_char" | "c_schar" | "c_uchar" | "i8" | "u8" | "bool" => 1,
        "c_short" | "c_ushort" | "i16" | "u16" => 2,
        "c_int" | "c_uint" | "i32" | "u32" | "f32" => 4,
        "c_long" | "c_ulong" | "c_longlong" | "c_ulonglong" | "i64" | "u64" | "f64" | "isize"
        | "usize" => 8,
        // A function pointer.
        "Option" => 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST: &str = r#"
        pub const hipFlag: u32 = 4294967295;
        pub const hipInvalid: i32 = -2;
        pub const HIP_RUNTIME_API_H: &[u8; 2] = b"1\0";
        pub const hipKind_e_hipKindHost: hipKind_e = 1;
        pub type hipKind_e = ::std::os::raw::c_uint;
        pub use self::hipKind_e as hipKind;
        pub const HIP_SUCCESS: _bindgen_ty_1 = 0;
        pub type _bindgen_ty_1 = ::std::os::raw::c_uint;
        #[repr(C)]
        pub struct hipHandle { _unused: [u8; 0] }
        #[repr(C)]
        pub struct hipX_st {
            pub type_: hipKind,
            pub __bindgen_anon_1: hipX_st__bindgen_ty_1,
            pub handle: *mut hipHandle,
            pub arch: hipArch,
            pub rows: [[i32; 3usize]; 2usize],
        }
        #[repr(C)]
        pub union hipX_st__bindgen_ty_1 {
            pub value: ::std::os::raw::c_ulonglong,
            pub pair: hipX_st_pair,
        }
        #[repr(C)]
        pub struct hipX_st_pair { pub a: u8, pub b: u16 }
        #[repr(C)]
        #[repr(align(4))]
        pub struct hipArch {
            pub _bitfield_align_1: [u8; 0],
            pub _bitfield_1: __BindgenBitfieldUnit<[u8; 3usize]>,
            pub __bindgen_padding_0: u8,
        }
        pub type hipX = hipX_st;
    "#;

    #[test]
    fn records_are_flattened_to_scalars_by_the_rules_of_c() {
        let records = parse_interface(RUST).unwrap().records;
        let names: Vec<&str> = records.keys().map(String::as_str).collect();
        assert_eq!(names, ["hipArch", "hipX"]);
        let x = &records["hipX"];
        assert_eq!((x.size, x.align), (56, 8));
        let fields: Vec<String> = x.fields.iter().map(Field::to_string).collect();
        let expected = [
            "0:4:type:hipKind",
            "8:8:value:unsigned long long",
            "8:1:pair.a:uint8_t",
            "10:2:pair.b:uint16_t",
            "16:8:handle:hipHandle *",
            "24:3:arch.bits1:bits",
            "28:24:rows:int32_t[2][3]",
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn constants_are_known_by_enum_and_name() {
        let constants = parse_interface(RUST).unwrap().constants;
        let expected = [
            ("hipKind", "hipKindHost", 1),
            (MACRO, "hipFlag", 0xffff_ffff),
            (MACRO, "hipInvalid", -2),
            (UNNAMED, "HIP_SUCCESS", 0),
        ];
        let expected = expected.map(|(domain, name, value)| {
            let key = (domain.to_string(), name.to_string());
            (key, value)
        });
        assert_eq!(constants, expected.into());
    }

    #[test]
    fn a_layout_that_clang_contradicts_is_an_error() {
        let assertion = r#"const _: () = { ["Offset of field: hipX_st::arch"]
            [::std::mem::offset_of!(hipX_st, arch) - 20usize]; };"#;
        let error = parse_interface(&format!("{RUST}{assertion}")).unwrap_err();
        assert!(error.to_string().contains("hipX_st"), "{error}");
    }
}
