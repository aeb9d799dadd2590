//! The types and constants of `src/sys/types.rs`, as what they are in C.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Expr, ExprLit, Fields, File, ImplItem, Item, Lit, Type};

use super::Error;

/// All types and constants, in the order of the file.
#[derive(Default)]
pub(crate) struct Types {
    /// Numbers that C has as macros.
    pub(crate) constants: Vec<(String, u64)>,
    /// Enumerations.
    pub(crate) enums: Vec<Enumeration>,
    /// Structs without known members.
    pub(crate) opaque: Vec<String>,
    /// Structs and unions by name, nested ones among them.
    pub(crate) records: BTreeMap<String, Record>,
    /// Other names of types: the new name and what it stands for.
    pub(crate) aliases: Vec<(String, Type)>,
    /// Other names of enumerations: the new name and the old one.
    pub(crate) enum_aliases: Vec<(String, String)>,
    /// The names of records and aliases in the order of the file.
    pub(crate) order: Vec<String>,
}

/// An enumeration with its constants; without a name for a nameless one.
pub(crate) struct Enumeration {
    pub(crate) name: Option<String>,
    pub(crate) values: Vec<(String, u64)>,
}

/// A struct or union.
pub(crate) struct Record {
    pub(crate) is_union: bool,
    pub(crate) fields: Vec<Field>,
    pub(crate) size: Option<u64>,
    pub(crate) align: Option<u64>,
}

/// A member; without a name for an anonymous struct or union.
pub(crate) struct Field {
    pub(crate) name: Option<String>,
    pub(crate) ty: Type,
    /// The width of a bit-field.
    pub(crate) bits: Option<u64>,
    /// Where it begins in its record, in bytes. Bit-fields have none.
    pub(crate) offset: Option<u64>,
}

/// bindgen's name for an enumeration that has none in C.
const NAMELESS: &str = "_bindgen_ty_";

impl Types {
    /// Reads Rust as bindgen writes it.
    ///
    /// # Errors
    ///
    /// An item that has no place here.
    pub(crate) fn parse(rust: &str) -> Result<Types, Error> {
        let file = syn::parse_file(rust)
            .map_err(|error| Error::new(format!("src/sys/types.rs does not parse: {error}")))?;
        let layout = Layout::of(&file);
        let bits = bit_fields(&file);
        let newtypes = newtypes(&file);
        let mut types = Types::default();
        for item in &file.items {
            types.take(item, &newtypes, &layout, &bits)?;
        }
        Ok(types)
    }

    fn take(
        &mut self,
        item: &Item,
        newtypes: &BTreeSet<String>,
        layout: &Layout,
        bits: &BTreeMap<String, Vec<BitField>>,
    ) -> Result<(), Error> {
        match item {
            Item::Const(constant) if constant.ident != "_" => {
                let name = constant.ident.to_string();
                let value = number(&constant.expr).ok_or_else(|| {
                    Error::new(format!("{name} of src/sys/types.rs is no number"))
                })?;
                let ty = constant.ty.to_token_stream().to_string();
                if newtypes.contains(&ty) {
                    self.enumeration(Some(&ty)).values.push((name, value));
                } else if ty.starts_with(NAMELESS) {
                    self.enumeration(None).values.push((name, value));
                } else {
                    self.constants.push((name, value));
                }
            }
            Item::Struct(item) => {
                let name = item.ident.to_string();
                match &item.fields {
                    _ if name.starts_with("__Bindgen") => {}
                    Fields::Unnamed(_) => {
                        self.enumeration(Some(&name));
                    }
                    fields if is_opaque(fields) => self.opaque.push(name),
                    fields => {
                        let fields = fields
                            .iter()
                            .flat_map(|field| members(&name, field, layout, bits));
                        let fields = fields.collect();
                        self.record(name, false, fields, layout);
                    }
                }
            }
            Item::Union(item) => {
                let name = item.ident.to_string();
                let fields = item.fields.named.iter();
                let fields = fields.flat_map(|field| members(&name, field, layout, bits));
                let fields = fields.collect();
                self.record(name, true, fields, layout);
            }
            Item::Type(item) if !item.ident.to_string().starts_with(NAMELESS) => {
                let name = item.ident.to_string();
                self.order.push(name.clone());
                self.aliases.push((name, (*item.ty).clone()));
            }
            Item::Use(item) => {
                // `pub use self::hipX_enum as hipX;`
                let text = item.tree.to_token_stream().to_string();
                let words: Vec<&str> = text.split_whitespace().collect();
                if let ["self", "::", old, "as", new] = words[..] {
                    self.enum_aliases.push((new.to_string(), old.to_string()));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The enumeration of this name, made when it is met first.
    fn enumeration(&mut self, name: Option<&str>) -> &mut Enumeration {
        let known = self.enums.iter();
        let at = known
            .enumerate()
            .find(|(_, known)| known.name.as_deref() == name)
            .map(|(at, _)| at);
        let at = at.unwrap_or_else(|| {
            self.enums.push(Enumeration {
                name: name.map(str::to_string),
                values: Vec::new(),
            });
            self.enums.len() - 1
        });
        &mut self.enums[at]
    }

    fn record(&mut self, name: String, is_union: bool, fields: Vec<Field>, layout: &Layout) {
        let number = |what: &str| layout.0.get(&format!("{what} of {name}")).copied();
        let (size, align) = (number("Size"), number("Alignment"));
        self.order.push(name.clone());
        self.records.insert(
            name,
            Record {
                is_union,
                fields,
                size,
                align,
            },
        );
    }

    /// The record that a member's type names, and its name.
    pub(crate) fn record_of(&self, ty: &Type) -> Option<(&str, &Record)> {
        let mut ty = ty;
        while let Type::Array(array) = ty {
            ty = &array.elem;
        }
        let name = ty.to_token_stream().to_string();
        self.records
            .get_key_value(&name)
            .map(|(name, record)| (name.as_str(), record))
    }
}

/// The part of a nested record's name that C has: none for bindgen's own numbering,
/// the tag for a struct that is declared inside `outer`. `None` if `name` is not
/// nested in `outer` at all.
pub(crate) fn nested_tag<'a>(outer: &str, name: &'a str) -> Option<&'a str> {
    let rest = name.strip_prefix(outer)?.strip_prefix('_')?;
    Some(if rest.starts_with("_bindgen_ty_") {
        ""
    } else {
        rest
    })
}

/// The C name of what Rust had to rename: bindgen appends an underscore to a name that
/// Rust reserves.
pub(crate) fn c_identifier(rust: &str) -> &str {
    match rust.strip_suffix('_') {
        Some(stem) if syn::parse_str::<syn::Ident>(stem).is_err() => stem,
        _ => rust,
    }
}

fn is_opaque(fields: &Fields) -> bool {
    fields
        .iter()
        .all(|field| field.ident.as_ref().is_some_and(|name| name == "_unused"))
}

/// The members that one Rust field stands for: a unit of bit-fields is several,
/// padding is none.
fn members(
    record: &str,
    field: &syn::Field,
    layout: &Layout,
    bits: &BTreeMap<String, Vec<BitField>>,
) -> Vec<Field> {
    let rust = field
        .ident
        .as_ref()
        .map_or_else(String::new, ToString::to_string);
    if rust.starts_with("_bitfield_") {
        let fields = bits.get(record).map_or(&[][..], Vec::as_slice);
        let fields = fields.iter().map(|bit_field| Field {
            name: Some(bit_field.name.clone()),
            ty: bit_field.ty.clone(),
            bits: Some(bit_field.width),
            offset: None,
        });
        return fields.collect();
    }
    if rust.starts_with("_bindgen_align") || rust.starts_with("__bindgen_padding") {
        return Vec::new();
    }
    let offset = layout.0.get(&format!("Offset of field: {record}::{rust}"));
    let is_anonymous = rust.starts_with("__bindgen_anon_");
    vec![Field {
        name: (!is_anonymous).then(|| c_identifier(&rust).to_string()),
        ty: field.ty.clone(),
        bits: None,
        offset: offset.copied(),
    }]
}

/// The names of the structs that stand for enumerations.
fn newtypes(file: &File) -> BTreeSet<String> {
    let names = file.items.iter().filter_map(|item| match item {
        Item::Struct(item) if matches!(item.fields, Fields::Unnamed(_)) => {
            Some(item.ident.to_string())
        }
        _ => None,
    });
    names.collect()
}

/// A number, or one inside a constructor: `hipError_t(2)`.
fn number(expression: &Expr) -> Option<u64> {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => number.base10_parse().ok(),
        Expr::Call(call) => number(call.args.first()?),
        _ => None,
    }
}

/// What bindgen's layout assertions say: "Size of hipExtent" and so on.
struct Layout(BTreeMap<String, u64>);

impl Layout {
    fn of(file: &File) -> Layout {
        let mut layout = Layout(BTreeMap::new());
        layout.visit_file(file);
        layout
    }
}

impl<'ast> Visit<'ast> for Layout {
    // `["Size of hipExtent"][size_of::<hipExtent>() - 24usize]`
    fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
        if let Expr::Array(what) = &*index.expr
            && let Some(Expr::Lit(ExprLit {
                lit: Lit::Str(what),
                ..
            })) = what.elems.first()
            && let Expr::Binary(difference) = &*index.index
            && let Some(value) = number(&difference.right)
        {
            self.0.insert(what.value(), value);
        }
        visit::visit_expr_index(self, index);
    }
}

/// A bit-field as its getter shows it.
struct BitField {
    name: String,
    ty: Type,
    at: u64,
    width: u64,
}

/// The bit-fields of each record, in order.
fn bit_fields(file: &File) -> BTreeMap<String, Vec<BitField>> {
    let mut records: BTreeMap<String, Vec<BitField>> = BTreeMap::new();
    for item in &file.items {
        let Item::Impl(block) = item else { continue };
        let record = block.self_ty.to_token_stream().to_string();
        for item in &block.items {
            let ImplItem::Fn(method) = item else { continue };
            let name = method.sig.ident.to_string();
            let mut place = Place(None);
            place.visit_block(&method.block);
            if let (syn::ReturnType::Type(_, ty), Some((at, width))) = (&method.sig.output, place.0)
                && method.sig.receiver().is_some()
            {
                records.entry(record.clone()).or_default().push(BitField {
                    name: c_identifier(&name).to_string(),
                    ty: (**ty).clone(),
                    at,
                    width,
                });
            }
        }
    }
    for fields in records.values_mut() {
        fields.sort_by_key(|field| field.at);
    }
    records
}

/// The place in `get_const::<0usize, 1u8>()`: first bit and width.
struct Place(Option<(u64, u64)>);

impl<'ast> Visit<'ast> for Place {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method == "get_const"
            && let Some(turbofish) = &call.turbofish
        {
            let numbers: Vec<u64> = turbofish
                .args
                .iter()
                .filter_map(|argument| match argument {
                    syn::GenericArgument::Const(expression) => number(expression),
                    _ => None,
                })
                .collect();
            if let [at, width] = numbers[..] {
                self.0 = Some((at, width));
            }
        }
        visit::visit_expr_method_call(self, call);
    }
}
