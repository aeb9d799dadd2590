//! Names come from files of strangers: what steers a terminal, or turns the direction of
//! the text around it, is shown, not obeyed.

use std::borrow::Cow;

use serde_json::Value;

/// `text` with such characters written out.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match steers(character) {
            true => shown.extend(character.escape_unicode()),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
        )
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Every text in a value.
pub(super) fn all(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(shown) = plain(text) {
                *text = shown;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(all),
        // Fields have names of ours.
        Value::Object(fields) => fields.values_mut().for_each(all),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_steer_the_terminal() {
        assert_eq!(plain("lib\u{1b}[2J.so"), "lib\\u{1b}[2J.so");
        assert_eq!(plain("a\u{202e}b\nc"), "a\\u{202e}b\\u{a}c");
        assert_eq!(plain("a\u{200f}b"), "a\\u{200f}b");
        assert_eq!(plain("libä.so"), "libä.so");
    }

    #[test]
    fn every_text_of_a_value_is_plain() {
        let mut value = serde_json::json!({"a": ["\u{202e}x", 1, null], "b": {"c": "\u{1b}"}});
        all(&mut value);
        let shown = serde_json::json!({"a": ["\\u{202e}x", 1, null], "b": {"c": "\\u{1b}"}});
        assert_eq!(value, shown);
    }
}
