//! What C and C++ callers see of the interface besides functions and types.

use crate::row::{ParseError, is_identifier, rows};

/// A macro that is not a plain number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Macro {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub replacement: String,
    /// The header that defines it, `hip_runtime_api.h`.
    pub header: String,
}

/// The default arguments of a function, for C++.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defaults {
    /// The ELF link name.
    pub name: String,
    /// Name and default of the last arguments, in order.
    pub args: Vec<(String, String)>,
}

/// A C++ overload beside a C function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overload {
    /// The template parameters, `typename T`; `None` for a plain function.
    pub template: Option<String>,
    /// Name and parameters, `hipMalloc(T **devPtr, size_t size)`.
    pub signature: String,
    /// The call that it makes, `hipMalloc((void **)devPtr, size)`.
    pub call: String,
    /// The macro that turns it off.
    pub unless: Option<String>,
}

impl Overload {
    /// The function's name.
    pub fn name(&self) -> &str {
        self.signature.split('(').next().unwrap_or_default()
    }
}

/// Reads the macros.
///
/// # Errors
///
/// The first line that does not follow the format.
pub fn parse_macros(text: &str) -> Result<Vec<Macro>, ParseError> {
    rows(text, &["name", "replacement", "header"])
        .map(|row| {
            let row = row?;
            if !is_identifier(row.get(0)) {
                return Err(row.error(0, format!("\"{}\" is no C identifier", row.get(0))));
            }
            Ok(Macro {
                name: row.get(0).to_string(),
                replacement: row.get(1).to_string(),
                header: row.get(2).to_string(),
            })
        })
        .collect()
}

/// Reads the default arguments.
///
/// # Errors
///
/// The first line that does not follow the format.
pub fn parse_defaults(text: &str) -> Result<Vec<Defaults>, ParseError> {
    rows(text, &["link name", "default arguments"])
        .map(|row| {
            let row = row?;
            let args = row.get(1).split(',').map(|arg| {
                let parts = arg.split_once('=');
                let (name, value) = parts.ok_or_else(|| {
                    row.error(1, format!("\"{arg}\" is no default such as flags = 0"))
                })?;
                Ok((name.trim().to_string(), value.trim().to_string()))
            });
            Ok(Defaults {
                name: row.get(0).to_string(),
                args: args.collect::<Result<_, ParseError>>()?,
            })
        })
        .collect()
}

/// Reads the overloads.
///
/// # Errors
///
/// The first line that does not follow the format.
pub fn parse_overloads(text: &str) -> Result<Vec<Overload>, ParseError> {
    let optional = |text: &str| (text != "-").then(|| text.to_string());
    rows(text, &["template", "signature", "call", "unless"])
        .map(|row| {
            let row = row?;
            let overload = Overload {
                template: optional(row.get(0)),
                signature: row.get(1).to_string(),
                call: row.get(2).to_string(),
                unless: optional(row.get(3)),
            };
            if !overload.signature.contains('(') || !is_identifier(overload.name()) {
                return Err(row.error(1, "not a name with its parameters".to_string()));
            }
            Ok(overload)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_keep_their_order() {
        let defaults = parse_defaults("hipX | offset = 0, kind = hipMemcpyHostToDevice").unwrap();
        let expected = [("offset", "0"), ("kind", "hipMemcpyHostToDevice")];
        let args = defaults[0].args.iter();
        let args: Vec<_> = args.map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(args, expected);
    }

    #[test]
    fn a_dash_is_no_template_and_no_macro() {
        let overloads = parse_overloads("- | hipX(int a) | hipY(a) | -").unwrap();
        assert_eq!(overloads[0].name(), "hipX");
        assert_eq!(
            (&overloads[0].template, &overloads[0].unless),
            (&None, &None)
        );
    }

    #[test]
    fn errors_name_the_column() {
        assert_eq!(
            parse_defaults("hipX | flags").unwrap_err().column(),
            "default arguments"
        );
        assert_eq!(
            parse_overloads("typename T | hipX | f() | -")
                .unwrap_err()
                .column(),
            "signature"
        );
        assert_eq!(
            parse_macros("hip X | 1 | hip_runtime_api.h")
                .unwrap_err()
                .column(),
            "name"
        );
    }
}
