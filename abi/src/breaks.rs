//! Where a struct, a constant or a prototype changed behind an unchanged name.

use crate::row::{ParseError, is_identifier, rows};
use crate::version::Version;
use crate::version_range::VersionRange;

const COLUMNS: &[&str] = &[
    "function",
    "direction",
    "header versions",
    "runtime versions",
    "action",
    "translator",
    "what",
];

/// What happens to calls of one function from headers of one range on runtimes of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The link name.
    pub function: String,
    /// What changed.
    pub direction: Direction,
    /// The versions of the caller's headers.
    pub headers: VersionRange,
    /// The versions of the runtime.
    pub runtimes: VersionRange,
    /// What is done.
    pub action: Action,
    /// The function of `src/translate/` that does it, such as `memcpy::param_2d::<true>`.
    pub translator: Option<String>,
    /// For users: what changed, or what to do.
    pub what: String,
}

/// Where the change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// In what the caller hands over.
    In,
    /// In what the runtime writes.
    Out,
    /// In both.
    InOut,
    /// In a number that no type shows: flags, what a `void *` points to.
    Constant,
    /// In the prototype or the name.
    Call,
}

/// What is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Nothing: it is safe as it is.
    Direct,
    /// Arguments and results are converted.
    Translate,
    /// The call is answered with an error.
    Refuse,
    /// Another function of the runtime stands in, where it lacks this one.
    Substitute,
}

impl Direction {
    const ALL: [(Direction, &str); 5] = [
        (Direction::In, "in"),
        (Direction::Out, "out"),
        (Direction::InOut, "in-out"),
        (Direction::Constant, "constant"),
        (Direction::Call, "call"),
    ];

    /// Whether types show the change: struct layouts and enums that arguments lead to.
    pub fn is_of_types(self) -> bool {
        matches!(self, Direction::In | Direction::Out | Direction::InOut)
    }

    /// The word in the table.
    pub fn as_str(self) -> &'static str {
        word_of(&Self::ALL, self)
    }
}

impl Action {
    const ALL: [(Action, &str); 4] = [
        (Action::Direct, "direct"),
        (Action::Translate, "translate"),
        (Action::Refuse, "refuse"),
        (Action::Substitute, "substitute"),
    ];

    /// The word in the table.
    pub fn as_str(self) -> &'static str {
        word_of(&Self::ALL, self)
    }

    fn has_translator(self) -> bool {
        matches!(self, Action::Translate | Action::Substitute)
    }
}

fn word_of<T: PartialEq>(all: &[(T, &'static str)], value: T) -> &'static str {
    let found = all.iter().find(|(known, _)| *known == value);
    found.map_or("", |(_, word)| word)
}

fn by_word<T: Copy>(all: &[(T, &'static str)], word: &str) -> Result<T, String> {
    let found = all.iter().find(|(_, known)| *known == word);
    found.map(|(value, _)| *value).ok_or_else(|| {
        let words: Vec<_> = all.iter().map(|(_, known)| *known).collect();
        format!("\"{word}\" is none of {}", words.join(", "))
    })
}

impl Break {
    /// Whether the line is about callers with these headers on this runtime.
    pub fn applies(&self, headers: Version, runtime: Version) -> bool {
        self.headers.contains(headers) && self.runtimes.contains(runtime)
    }
}

/// The line for a function, the caller's headers and the runtime; at most one applies.
pub fn break_of<'a>(
    breaks: &'a [Break],
    function: &str,
    headers: Version,
    runtime: Version,
) -> Option<&'a Break> {
    breaks
        .iter()
        .find(|line| line.function == function && line.applies(headers, runtime))
}

/// Reads the table of breaks.
///
/// # Errors
///
/// The first line that is malformed, or that covers a pair of versions which an earlier
/// line of the same function covers.
pub fn parse_breaks(text: &str) -> Result<Vec<Break>, ParseError> {
    let mut breaks: Vec<Break> = Vec::new();
    for row in rows(text, COLUMNS) {
        let row = row?;
        let at = |column: usize| move |problem: String| (column, problem);
        let read = || {
            let function = row.get(0);
            if !is_identifier(function) {
                return Err((0, format!("\"{function}\" is no C identifier")));
            }
            let translator = match row.get(5) {
                "-" => None,
                path => Some(path.to_string()),
            };
            let read = Break {
                function: function.to_string(),
                direction: by_word(&Direction::ALL, row.get(1)).map_err(at(1))?,
                headers: row.get(2).parse().map_err(at(2))?,
                runtimes: row.get(3).parse().map_err(at(3))?,
                action: by_word(&Action::ALL, row.get(4)).map_err(at(4))?,
                translator,
                what: row.get(6).to_string(),
            };
            if read.action.has_translator() != read.translator.is_some() {
                let action = read.action.as_str();
                return Err((
                    5,
                    format!("a line that says {action} has this column wrong"),
                ));
            }
            if read.what.is_empty() {
                return Err((6, "says nothing".to_string()));
            }
            let twice = breaks.iter().find(|earlier| {
                earlier.function == read.function
                    && earlier.headers.overlaps(&read.headers)
                    && earlier.runtimes.overlaps(&read.runtimes)
            });
            match twice {
                Some(earlier) => Err((
                    2,
                    format!(
                        "headers {} on runtimes {} are covered twice for {function}",
                        earlier.headers, earlier.runtimes
                    ),
                )),
                None => Ok(read),
            }
        };
        let read = read().map_err(|(column, problem)| row.error(column, problem))?;
        breaks.push(read);
    }
    Ok(breaks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let text = "hipX | in-out | 5.0-5.7 | 6.0- | translate | x::up::<1, 2> | it grew\n";
        let [read] = &parse_breaks(text).unwrap()[..] else {
            panic!("one line");
        };
        assert_eq!(read.direction, Direction::InOut);
        assert_eq!(read.headers.to_string(), "5.0-5.7");
        assert_eq!(read.runtimes.to_string(), "6.0-");
        assert_eq!(read.action, Action::Translate);
        assert_eq!(read.translator.as_deref(), Some("x::up::<1, 2>"));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for (text, problem) in [
            (
                "hipX | up | 5.0- | 6.0- | direct | - | w",
                "none of in, out",
            ),
            ("hipX | in | 5.0 | 6.0- | direct | - | w", "not a range"),
            ("hipX | in | 5.0- | 6.0- | translate | - | w", "wrong"),
            ("hipX | in | 5.0- | 6.0- | refuse | a::b | w", "wrong"),
            (
                "hipX | in | 5.0-5.7 | 6.0- | direct | - | w\nhipX | in | 5.3- | 7.0- | direct | - | w",
                "covered twice",
            ),
        ] {
            let error = parse_breaks(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
