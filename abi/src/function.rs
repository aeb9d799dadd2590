//! One function of the manifest and the line that states it.

use std::fmt;

use crate::row::{ParseError, Row, is_identifier, rows};
use crate::version::Version;

const COLUMNS: &[&str] = &[
    "link name",
    "version node",
    "return class",
    "return type",
    "arguments",
    "headers",
    "library",
];

/// A C function of the HIP, hiprtc or HSA interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The ELF link name, which the source spelling may differ from.
    pub name: String,
    /// The ELF version node that the runtime exports the name on, for messages
    /// and for `dlvsym`; `None` where the library has no nodes.
    pub node: Option<String>,
    /// What kind of value the function returns.
    pub class: Class,
    /// The C return type.
    pub ret: String,
    /// The arguments in order.
    pub args: Vec<Arg>,
    /// The first HIP version whose headers declare the function, `None` if no
    /// public header does.
    pub first: Option<Version>,
    /// The last HIP version whose headers declare it, `None` while the newest
    /// known still does (and where no public header does).
    pub last: Option<Version>,
    /// The library that exports it.
    pub library: Library,
}

/// A function argument: C type and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    /// The C type, such as `const void *` or `size_t`.
    pub ty: String,
    /// The name, a C identifier (possibly a Rust keyword, such as `type`).
    pub name: String,
}

/// What a function returns, as far as a caller without a runtime must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// `hipError_t`.
    Error,
    /// `hiprtcResult`.
    Rtc,
    /// `hsa_status_t`.
    Hsa,
    /// `const char *`, never NULL from hiplazy.
    String,
    /// Any other pointer.
    Pointer,
    /// `int` or `bool`, in an integer register.
    Int,
    /// Nothing.
    Void,
    /// A struct by value.
    Struct,
}

/// The library that exports a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Library {
    /// `libamdhip64.so.N`.
    Hip,
    /// `libhiprtc.so.N`, up to HIP 6 also `libamdhip64.so.N`.
    Hiprtc,
    /// `libhsa-runtime64.so.1`.
    Hsa,
}

impl Class {
    const ALL: [(Class, &str); 8] = [
        (Class::Error, "error"),
        (Class::Rtc, "rtc"),
        (Class::Hsa, "hsa"),
        (Class::String, "string"),
        (Class::Pointer, "pointer"),
        (Class::Int, "int"),
        (Class::Void, "void"),
        (Class::Struct, "struct"),
    ];

    /// The word in the manifest.
    pub fn as_str(self) -> &'static str {
        word_of(&Self::ALL, self)
    }

    /// The class of a C return type; a type that is no pointer, integer or
    /// status code is taken for a struct.
    pub fn of_return_type(c_type: &str) -> Class {
        match c_type {
            "hipError_t" => Class::Error,
            "hiprtcResult" => Class::Rtc,
            "hsa_status_t" => Class::Hsa,
            "const char *" => Class::String,
            "void" => Class::Void,
            "int" | "bool" => Class::Int,
            pointer if pointer.ends_with('*') => Class::Pointer,
            _ => Class::Struct,
        }
    }
}

impl Library {
    const ALL: [(Library, &str); 3] = [
        (Library::Hip, "hip"),
        (Library::Hiprtc, "hiprtc"),
        (Library::Hsa, "hsa"),
    ];

    /// The word in the manifest.
    pub fn as_str(self) -> &'static str {
        word_of(&Self::ALL, self)
    }
}

fn word_of<T: PartialEq>(all: &[(T, &'static str)], value: T) -> &'static str {
    all.iter()
        .find(|(known, _)| *known == value)
        .map_or("", |(_, word)| word)
}

fn by_word<T: Copy>(all: &[(T, &'static str)], word: &str) -> Result<T, String> {
    all.iter()
        .find(|(_, known)| *known == word)
        .map(|(value, _)| *value)
        .ok_or_else(|| {
            let words: Vec<_> = all.iter().map(|(_, known)| *known).collect();
            format!("\"{word}\" is none of {}", words.join(", "))
        })
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.ty.ends_with('*') { "" } else { " " };
        write!(f, "{}{space}{}", self.ty, self.name)
    }
}

impl Arg {
    /// Reads a C declarator such as `const void *ptr`.
    pub(crate) fn parse(declarator: &str) -> Result<Arg, String> {
        let start = declarator
            .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .map_or(0, |at| at + 1);
        let (ty, name) = declarator.split_at(start);
        let ty = ty.trim_end();
        let needs_base = |word: &str| matches!(word, "const" | "volatile" | "struct" | "enum");
        if ty.is_empty() || !is_identifier(name) || ty.split(' ').all(needs_base) {
            return Err(format!("\"{declarator}\" is not a type and a name"));
        }
        Ok(Arg {
            ty: ty.to_string(),
            name: name.to_string(),
        })
    }

    /// Reads a comma-separated list of declarators; empty text is no argument.
    pub(crate) fn parse_list(list: &str) -> Result<Vec<Arg>, String> {
        if list.is_empty() {
            return Ok(Vec::new());
        }
        list.split(',')
            .map(|part| Arg::parse(part.trim()))
            .collect()
    }
}

impl Function {
    /// The manifest line of this function; [`parse_functions`] reads it back.
    pub fn line(&self) -> String {
        let headers = match (self.first, self.last) {
            (None, _) => "-".to_string(),
            (Some(first), None) => format!("{first}-"),
            (Some(first), Some(last)) => format!("{first}-{last}"),
        };
        let columns = [
            self.name.clone(),
            self.node.clone().unwrap_or_else(|| "-".to_string()),
            self.class.as_str().to_string(),
            self.ret.clone(),
            self.arguments(),
            headers,
            self.library.as_str().to_string(),
        ];
        columns.join(" | ")
    }

    /// The arguments as C writes them, `void **ptr, size_t size`; empty for none.
    pub fn arguments(&self) -> String {
        let args: Vec<String> = self.args.iter().map(Arg::to_string).collect();
        args.join(", ")
    }

    fn from_row(row: &Row<'_>) -> Result<Function, ParseError> {
        let [name, node, class, ret, args, headers, library] = [0, 1, 2, 3, 4, 5, 6];
        if !is_identifier(row.get(name)) {
            return Err(row.error(name, format!("\"{}\" is no C identifier", row.get(name))));
        }
        let parsed_class =
            by_word(&Class::ALL, row.get(class)).map_err(|problem| row.error(class, problem))?;
        if row.get(ret).is_empty() {
            return Err(row.error(ret, "empty; a function without result says void"));
        }
        if Class::of_return_type(row.get(ret)) != parsed_class {
            return Err(row.error(
                class,
                format!(
                    "\"{}\" does not fit the return type {}",
                    row.get(class),
                    row.get(ret)
                ),
            ));
        }
        let (first, last) =
            parse_headers(row.get(headers)).map_err(|problem| row.error(headers, problem))?;
        Ok(Function {
            name: row.get(name).to_string(),
            node: match row.get(node) {
                "" => return Err(row.error(node, "empty; \"-\" says that there is none")),
                "-" => None,
                text => Some(text.to_string()),
            },
            class: parsed_class,
            ret: row.get(ret).to_string(),
            args: Arg::parse_list(row.get(args)).map_err(|problem| row.error(args, problem))?,
            first,
            last,
            library: by_word(&Library::ALL, row.get(library))
                .map_err(|problem| row.error(library, problem))?,
        })
    }
}

/// Reads `5.0-`, `5.0-5.2` or `-`.
fn parse_headers(text: &str) -> Result<(Option<Version>, Option<Version>), String> {
    if text == "-" {
        return Ok((None, None));
    }
    let (first, last) = text
        .split_once('-')
        .ok_or_else(|| format!("\"{text}\" is not a range such as 5.0- or 5.0-5.2"))?;
    let first: Version = first.parse()?;
    if last.is_empty() {
        return Ok((Some(first), None));
    }
    let last: Version = last.parse()?;
    if last < first {
        return Err(format!("{text} ends before it begins"));
    }
    Ok((Some(first), Some(last)))
}

/// Reads the function manifest.
///
/// # Errors
///
/// The first line that does not follow the format, a name that occurs twice,
/// or a line out of order (by library, then by link name in byte order).
pub fn parse_functions(text: &str) -> Result<Vec<Function>, ParseError> {
    let mut functions: Vec<Function> = Vec::new();
    for row in rows(text, COLUMNS) {
        let row = row?;
        let function = Function::from_row(&row)?;
        if let Some(previous) = functions.last() {
            let order = |f: &Function| (f.library, f.name.clone());
            if order(previous) >= order(&function) {
                return Err(row.error(
                    0,
                    format!(
                        "{} does not belong after {}: lines are sorted by library and name, each once",
                        function.name, previous.name
                    ),
                ));
            }
        }
        functions.push(function);
    }
    Ok(functions)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MALLOC: &str =
        "hipMalloc | hip_4.2 | error | hipError_t | void **ptr, size_t size | 5.0- | hip";

    #[test]
    fn a_line_is_read_and_written_back() {
        let functions = parse_functions(MALLOC).unwrap();
        let malloc = &functions[0];
        assert_eq!(malloc.node.as_deref(), Some("hip_4.2"));
        assert_eq!(malloc.class, Class::Error);
        assert_eq!(malloc.args[0].ty, "void **");
        assert_eq!(malloc.args[1].name, "size");
        assert_eq!(malloc.first, Some(Version::new(5, 0)));
        assert_eq!(malloc.last, None);
        assert_eq!(malloc.line(), MALLOC);
    }

    #[test]
    fn absent_facts_are_dashes() {
        let line = "hsa_init | - | hsa | hsa_status_t |  | - | hsa";
        let functions = parse_functions(line).unwrap();
        assert_eq!(functions[0].node, None);
        assert!(functions[0].args.is_empty());
        assert_eq!(functions[0].first, None);
        assert_eq!(functions[0].line(), line);
    }

    #[test]
    fn errors_name_line_and_column() {
        let cases = [
            ("hipX | hip_4.2 | error", "return type"),
            ("2hip | - | error | hipError_t |  | 5.0- | hip", "link name"),
            (
                "hipX |  | error | hipError_t |  | 5.0- | hip",
                "version node",
            ),
            (
                "hipX | - | status | hipError_t |  | 5.0- | hip",
                "return class",
            ),
            (
                "hipX | - | string | hipError_t |  | 5.0- | hip",
                "return class",
            ),
            (
                "hipX | - | error | hipError_t | size_t | 5.0- | hip",
                "arguments",
            ),
            ("hipX | - | error | hipError_t |  | new | hip", "headers"),
            (
                "hipX | - | error | hipError_t |  | 6.0-5.0 | hip",
                "headers",
            ),
            ("hipX | - | error | hipError_t |  | 5.0- | cuda", "library"),
        ];
        for (line, column) in cases {
            let error = parse_functions(&format!("# a comment\n{line}\n")).unwrap_err();
            assert_eq!((error.line(), error.column()), (2, column), "{line}");
        }
    }

    #[test]
    fn a_second_line_for_a_name_is_refused() {
        let error = parse_functions(&format!("{MALLOC}\n{MALLOC}")).unwrap_err();
        assert_eq!(error.line(), 2);
    }
}
