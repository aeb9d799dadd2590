//! The page: a picture and tables that can be searched, in one file without any request
//! to elsewhere.

use serde::Serialize;

use super::picture::Picture;
use super::{Printing, Report, plain, text};

const FRAME: &str = include_str!("page/frame.html");
const STYLE: &str = include_str!("page/style.css");
const PICTURE: &str = include_str!("page/picture.js");
const TABLES: &str = include_str!("page/tables.js");
const PAGE: &str = include_str!("page/page.js");

#[derive(Serialize)]
struct Data<'a> {
    report: super::json::WithRules<'a>,
    picture: Picture,
}

/// The page of a report.
pub(super) fn render(report: &Report) -> String {
    let data = Data {
        report: super::json::WithRules::of(report),
        picture: Picture::of(report),
    };
    // Strings, numbers and lists only: nothing in a report can fail to be written.
    let mut data = serde_json::to_value(&data).unwrap_or_default();
    plain::all(&mut data);
    let data = data.to_string();
    let text = text::render(
        report,
        Printing {
            verbose: 1,
            ..Printing::default()
        },
    );
    let mut page = String::with_capacity(data.len() + text.len() + 64 * 1024);
    // The frame is cut at its markers, so that a marker in a hostile name stays text.
    let mut rest = FRAME;
    for (marker, content) in [
        ("{{title}}", escaped(&plain::plain(&report.subject))),
        ("{{style}}", STYLE.to_string()),
        ("{{plain}}", escaped(&text)),
        ("{{data}}", inert(&data)),
        ("{{script}}", [PICTURE, TABLES, PAGE].concat()),
    ] {
        let (before, after) = rest.split_once(marker).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(&content);
        rest = after;
    }
    page.push_str(rest);
    page
}

/// Text in HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// JSON that ends no script element and begins no comment: in JSON these characters
/// occur in strings only.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_has_every_marker_once_and_in_order() {
        let mut rest = FRAME;
        for marker in [
            "{{title}}",
            "{{style}}",
            "{{plain}}",
            "{{data}}",
            "{{script}}",
        ] {
            assert_eq!(FRAME.matches(marker).count(), 1, "{marker}");
            rest = rest.split_once(marker).unwrap().1;
        }
    }

    #[test]
    fn names_do_not_turn_the_page_around() {
        let mut report = Report::new("lint", "a\u{202e}b", &Default::default());
        report.runtimes.push(crate::report::Runtime {
            path: "/lib/x\u{2067}\u{1b}[2J.so".into(),
            ..Default::default()
        });
        let page = render(&report);
        let steers = ['\u{202e}', '\u{2067}', '\u{1b}'];
        assert!(!page.contains(steers));
        // In JSON, a backslash is written as two.
        assert!(!page.contains("\\u2067") && !page.contains("\\u001b"));
        assert!(page.contains(r"x\\u{2067}") && page.contains("<title>"));
    }

    #[test]
    fn nothing_is_fetched() {
        for part in [FRAME, STYLE, PICTURE, TABLES, PAGE] {
            for way in [
                "src=",
                "href=\"http",
                "@import",
                "url(",
                "fetch(",
                "innerHTML",
            ] {
                assert!(!part.contains(way), "{way}");
            }
        }
        assert!(FRAME.contains("default-src 'none'"));
    }

    #[test]
    fn data_cannot_end_its_element() {
        let hostile = serde_json::to_string("</script><!--\u{2028}&").unwrap();
        let inert = inert(&hostile);
        assert!(!inert.contains(['<', '>', '&', '\u{2028}']), "{inert}");
        assert_eq!(
            serde_json::from_str::<String>(&inert).unwrap(),
            "</script><!--\u{2028}&"
        );
    }
}
