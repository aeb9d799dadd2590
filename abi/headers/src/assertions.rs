//! bindgen's layout assertions: what clang says about the records of C.

use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprIndex, Item, Lit};

/// One assertion, such as `["Size of hipExtent"][size_of::<hipExtent>() - 24usize]`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Assertion {
    /// The record as bindgen names it.
    pub(crate) record: String,
    /// What is asserted.
    pub(crate) of: Of,
    /// The bytes that clang counts.
    pub(crate) bytes: u32,
}

/// What an assertion is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// `sizeof` the record.
    Size,
    /// Its alignment.
    Align,
    /// The offset of the member with this name.
    Member(String),
}

/// The assertions among `items`.
pub(crate) fn assertions(items: &[Item]) -> Vec<Assertion> {
    let mut found = Found(Vec::new());
    for item in items {
        if let Item::Const(constant) = item
            && constant.ident == "_"
        {
            found.visit_item_const(constant);
        }
    }
    found.0
}

struct Found(Vec<Assertion>);

impl<'ast> Visit<'ast> for Found {
    fn visit_expr_index(&mut self, index: &'ast ExprIndex) {
        if let Expr::Array(texts) = &*index.expr
            && let Some(Expr::Lit(text)) = texts.elems.first()
            && let Lit::Str(text) = &text.lit
            && let Expr::Binary(difference) = &*index.index
            && matches!(difference.op, BinOp::Sub(_))
            && let Expr::Lit(bytes) = &*difference.right
            && let Lit::Int(bytes) = &bytes.lit
            && let Ok(bytes) = bytes.base10_parse()
            && let Some((record, of)) = subject(&text.value())
        {
            self.0.push(Assertion { record, of, bytes });
        }
        visit::visit_expr_index(self, index);
    }
}

/// Reads `Size of X`, `Alignment of X` and `Offset of field: X::member`.
fn subject(text: &str) -> Option<(String, Of)> {
    if let Some(member) = text.strip_prefix("Offset of field: ") {
        let (record, member) = member.split_once("::")?;
        return Some((record.to_string(), Of::Member(member.to_string())));
    }
    let (of, record) = [("Size of ", Of::Size), ("Alignment of ", Of::Align)]
        .into_iter()
        .find_map(|(prefix, of)| Some((of, text.strip_prefix(prefix)?)))?;
    Some((record.to_string(), of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_alignment_and_offsets_are_read() {
        let file: syn::File = syn::parse_str(
            r#"pub struct hipX { pub a: u8 }
               const _: () = {
                   ["Size of hipX"][::std::mem::size_of::<hipX>() - 24usize];
                   ["Alignment of hipX"][::std::mem::align_of::<hipX>() - 8usize];
                   ["Offset of field: hipX::a"][::std::mem::offset_of!(hipX, a) - 16usize];
               };"#,
        )
        .unwrap();
        let expected = [
            (Of::Size, 24),
            (Of::Align, 8),
            (Of::Member("a".to_string()), 16),
        ];
        let expected = expected.map(|(of, bytes)| Assertion {
            record: "hipX".to_string(),
            of,
            bytes,
        });
        assert_eq!(assertions(&file.items), expected);
    }
}
