//! HIP's own headers, for machines without ROCm.

use std::collections::BTreeSet;
use std::fmt::Write;

use hiplazy_abi::Library;

use super::functions::{Interface, overloads};
use super::template::fill;
use super::types::{Enumeration, Types};
use super::{Error, HIP_VERSION, Tables, declarator, records};

/// OpenGL's own header declares these.
const NOT_HIPS: [&str; 2] = ["GLuint", "GLenum"];

/// Scalars and components that a texture's channels can have.
const CHANNELS: [(&str, &str, u32, &str); 7] = [
    ("signed char", "char", 8, "Signed"),
    ("unsigned char", "uchar", 8, "Unsigned"),
    ("short", "short", 16, "Signed"),
    ("unsigned short", "ushort", 16, "Unsigned"),
    ("int", "int", 32, "Signed"),
    ("unsigned int", "uint", 32, "Unsigned"),
    ("float", "float", 32, "Float"),
];

/// Which header a type or constant belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    Hip,
    Hiprtc,
    Hsa,
}

impl Header {
    fn of(name: &str) -> Header {
        if name.starts_with("HSA_") || name.starts_with("hsa_") {
            return Header::Hsa;
        }
        let is_hiprtc = ["hiprtc", "HIPRTC_", "_hiprtc", "ihiprtc"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        if is_hiprtc {
            Header::Hiprtc
        } else {
            Header::Hip
        }
    }
}

/// All headers, by their names in the package's include folder.
pub(crate) fn headers(tables: &Tables) -> Result<Vec<(&'static str, String)>, Error> {
    let interface = Interface::new(&tables.functions, &tables.history, &tables.defaults)?;
    let [major, minor, patch] = HIP_VERSION.map(|number| number.to_string());
    let version = format!("{major}.{minor}");
    let version_h = fill(
        include_str!("templates/hip_version.h.in"),
        &[("MAJOR", &major), ("MINOR", &minor), ("PATCH", &patch)],
    );
    let texts = |header| Texts::of(tables, header);
    let (hip, hiprtc, hsa) = (
        texts(Header::Hip)?,
        texts(Header::Hiprtc)?,
        texts(Header::Hsa)?,
    );
    let hip_functions = interface.prototypes(|header| header != "hiprtc.h");
    let hiprtc_functions = interface.prototypes(|header| header == "hiprtc.h");
    Ok(vec![
        (
            "rocm/hip/hip_runtime_api.h",
            fill(
                include_str!("templates/hip_runtime_api.h.in"),
                &[
                    ("VERSION", &version),
                    ("CONSTANTS", &constants(&tables.types)),
                    ("ENUMERATIONS", &hip.enumerations),
                    ("FORWARD", &hip.forward),
                    ("TYPES", &hip.types),
                    ("ASSERTIONS", &hip.assertions),
                    ("MACROS", &macros(tables, "hip_runtime_api.h")),
                    ("FUNCTIONS", &hip_functions),
                    ("MAKERS", &makers(&tables.types)?),
                    ("OVERLOADS", &overloads(&tables.overloads)),
                    ("CHANNELS", &channels()),
                    ("PER_THREAD", &per_thread(&interface)),
                ],
            ),
        ),
        ("rocm/hip/hip_version.h", version_h),
        (
            "rocm/hip/hip_common.h",
            include_str!("templates/hip_common.h.in").to_string(),
        ),
        (
            "rocm/hip/hip_runtime.h",
            include_str!("templates/hip_runtime.h.in").to_string(),
        ),
        (
            "rocm/hip/hiprtc.h",
            fill(
                include_str!("templates/hiprtc.h.in"),
                &[
                    ("VERSION", &version),
                    ("ENUMERATIONS", &hiprtc.enumerations),
                    ("FORWARD", &hiprtc.forward),
                    ("TYPES", &hiprtc.types),
                    ("MACROS", &macros(tables, "hiprtc.h")),
                    ("FUNCTIONS", &hiprtc_functions),
                ],
            ),
        ),
        (
            "rocm/hsa/hsa.h",
            fill(
                include_str!("templates/hsa.h.in"),
                &[
                    ("ENUMERATIONS", &hsa.enumerations),
                    ("FUNCTIONS", &hsa_functions(tables)),
                ],
            ),
        ),
    ])
}

/// The declarations of one header.
#[derive(Default)]
struct Texts {
    enumerations: String,
    forward: String,
    types: String,
    assertions: String,
}

impl Texts {
    fn of(tables: &Tables, header: Header) -> Result<Texts, Error> {
        let types = &tables.types;
        let mut texts = Texts::default();
        for enumeration in &types.enums {
            if header == of_enumeration(enumeration) {
                texts.enumerations += &records::enumeration(enumeration);
            }
        }
        for (new, old) in &types.enum_aliases {
            if header == Header::of(new) {
                let _ = writeln!(texts.enumerations, "typedef {old} {new};");
            }
        }
        let nested = records::nested(types);
        for name in &types.opaque {
            if header == Header::of(name) {
                let _ = writeln!(texts.forward, "typedef struct {name} {name};");
            }
        }
        for name in &types.order {
            if let Some(record) = types.records.get(name)
                && header == Header::of(name)
                && !nested.contains(name)
            {
                let keyword = if record.is_union { "union" } else { "struct" };
                let _ = writeln!(texts.forward, "typedef {keyword} {name} {name};");
                texts.assertions += &records::assertions(types, name, record);
            }
        }
        let mut definitions = Definitions {
            tables,
            nested: &nested,
            done: BTreeSet::new(),
            text: String::new(),
        };
        for name in &types.order {
            if header == Header::of(name) {
                definitions.define(name)?;
            }
        }
        texts.types = definitions.text;
        Ok(texts)
    }
}

fn of_enumeration(enumeration: &Enumeration) -> Header {
    Header::of(enumeration.name.as_deref().unwrap_or_default())
}

/// Definitions in an order in which each finds what it contains. The order of the file
/// is not one: what a newer HIP changed comes last there.
struct Definitions<'a> {
    tables: &'a Tables,
    nested: &'a BTreeSet<String>,
    done: BTreeSet<String>,
    text: String,
}

impl Definitions<'_> {
    fn define(&mut self, name: &str) -> Result<(), Error> {
        let types = &self.tables.types;
        let is_macro = self.tables.macros.iter().any(|known| known.name == name);
        if is_macro || NOT_HIPS.contains(&name) || !self.done.insert(name.to_string()) {
            return Ok(());
        }
        if let Some((_, ty)) = types.aliases.iter().find(|(alias, _)| alias == name) {
            for word in type_names(ty) {
                // Records are declared already; other names have to come first.
                if !types.records.contains_key(&word) {
                    self.define(&word)?;
                }
            }
            let _ = writeln!(self.text, "typedef {};", declarator::declare(ty, name)?);
        }
        if let Some(record) = types.records.get(name) {
            for field in &record.fields {
                for word in type_names(&field.ty) {
                    self.define(&word)?;
                }
            }
            if !self.nested.contains(name) {
                self.text += &records::definition(types, name, record)?;
            }
        }
        Ok(())
    }
}

/// The identifiers in a type.
fn type_names(ty: &syn::Type) -> Vec<String> {
    struct Names(Vec<String>);
    impl<'ast> syn::visit::Visit<'ast> for Names {
        fn visit_ident(&mut self, ident: &'ast proc_macro2::Ident) {
            self.0.push(ident.to_string());
        }
    }
    let mut names = Names(Vec::new());
    syn::visit::Visit::visit_type(&mut names, ty);
    names.0
}

fn constants(types: &Types) -> String {
    let mut text = String::new();
    for (name, value) in &types.constants {
        // Hexadecimal, so that a value beyond int is unsigned, as in HIP's headers.
        let _ = if *value > 9 {
            writeln!(text, "#define {name} {value:#x}")
        } else {
            writeln!(text, "#define {name} {value}")
        };
    }
    text
}

fn macros(tables: &Tables, header: &str) -> String {
    let mut text = String::new();
    for entry in tables.macros.iter().filter(|entry| entry.header == header) {
        let _ = writeln!(text, "#define {} {}", entry.name, entry.replacement);
    }
    text
}

/// `make_float4(x, y, z, w)` and its like.
fn makers(types: &Types) -> Result<String, Error> {
    let mut text = String::new();
    for (name, record) in &types.records {
        if records::vector_components(name).is_none() {
            continue;
        }
        let fields = || {
            record
                .fields
                .iter()
                .filter_map(|field| Some((field.name.as_deref()?, field)))
        };
        let parameters = fields().map(|(name, field)| declarator::declare(&field.ty, name));
        let parameters = parameters.collect::<Result<Vec<_>, _>>()?.join(", ");
        let _ = writeln!(
            text,
            "static inline {name} make_{name}({parameters}) {{\n  {name} value;"
        );
        for (field, _) in fields() {
            let _ = writeln!(text, "  value.{field} = {field};");
        }
        text += "  return value;\n}\n";
    }
    Ok(text)
}

/// The channels of scalars and of vectors of one, two and four.
fn channels() -> String {
    let mut text = String::new();
    let mut channel = |ty: &str, bits: u32, components: usize, kind: &str| {
        let widths = (0..4).map(|at| if at < components { bits } else { 0 });
        let widths: Vec<String> = widths.map(|width| width.to_string()).collect();
        let _ = writeln!(
            text,
            "template <>\ninline hipChannelFormatDesc hipCreateChannelDesc<{ty}>() {{\n  \
             return hipCreateChannelDesc({}, hipChannelFormatKind{kind});\n}}",
            widths.join(", ")
        );
    };
    channel("char", 8, 1, "Signed");
    for (scalar, vector, bits, kind) in CHANNELS {
        channel(scalar, bits, 1, kind);
        for components in [1, 2, 4] {
            channel(&format!("{vector}{components}"), bits, components, kind);
        }
    }
    text
}

fn per_thread(interface: &Interface) -> String {
    let mut text = String::new();
    for name in interface.per_thread() {
        let _ = writeln!(text, "#define {name} {name}_spt");
    }
    text
}

fn hsa_functions(tables: &Tables) -> String {
    let functions = tables
        .functions
        .iter()
        .filter(|function| function.library == Library::Hsa);
    functions.fold(String::new(), |mut text, function| {
        let _ = writeln!(text, "{} {}(void);", function.ret, function.name);
        text
    })
}
