//! Dynamic exports of real runtimes.

use crate::row::ParseError;

/// One measured export table.
#[derive(Debug, Clone, Copy)]
pub struct ExportTable {
    /// The library and where it comes from, `libamdhip64_debian_5.2.3`.
    pub name: &'static str,
    /// The table, parsed by [`parse_exports`].
    pub text: &'static str,
}

macro_rules! tables {
    ($($name:literal),* $(,)?) => {
        &[$(ExportTable {
            name: $name,
            text: include_str!(concat!("../exports/", $name, ".txt")),
        }),*]
    };
}

/// The exports of five real `libamdhip64` and three real `libhiprtc`.
pub const EXPORTS: &[ExportTable] = tables![
    "libamdhip64_debian_5.2.3",
    "libamdhip64_debian_5.7.1",
    "libamdhip64_debian_6.4.3",
    "libamdhip64_debian_7.2.4",
    "libamdhip64_therock_7.14.60850",
    "libhiprtc_debian_6.4.3",
    "libhiprtc_debian_7.2.4",
    "libhiprtc_therock_7.14.60850",
];

/// The exports of two real `libhsa-runtime64`, the oldest and the newest: whose name an
/// `hsa_*` is.
pub const HSA_EXPORTS: &[ExportTable] = tables![
    "libhsa-runtime64_debian_5.2.3",
    "libhsa-runtime64_therock_7.14.60850",
];

/// A symbol that a library exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The link name.
    pub name: String,
    /// The ELF version node, if the library has nodes.
    pub node: Option<String>,
    /// Whether it is code (`STT_FUNC`); a version node itself is an object.
    pub is_function: bool,
}

/// Reads one export table: `name@@node,TYPE,BINDING` per line.
///
/// # Errors
///
/// The first line that does not follow the format.
pub fn parse_exports(text: &str) -> Result<Vec<Export>, ParseError> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(index, line)| {
            let mut columns = line.split(',');
            let (Some(symbol), Some(kind), Some(_binding), None) = (
                columns.next(),
                columns.next(),
                columns.next(),
                columns.next(),
            ) else {
                return Err(ParseError::new(
                    index + 1,
                    "symbol",
                    format!("\"{line}\" is not name@@node,TYPE,BINDING"),
                ));
            };
            let (name, node) = match symbol.split_once("@@") {
                Some((name, "")) => (name, None),
                Some((name, node)) => (name, Some(node.to_string())),
                None => (symbol, None),
            };
            Ok(Export {
                name: name.to_string(),
                node,
                is_function: kind == "FUNC",
            })
        })
        .collect()
}
