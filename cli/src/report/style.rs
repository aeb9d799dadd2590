//! Colours, or none.

use anstyle::{AnsiColor, Style};

use crate::finding::Severity;

/// The styles of a text report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Styles {
    /// Headings.
    pub heading: Style,
    /// What is less important.
    pub dim: Style,
    /// All is well.
    pub good: Style,
    note: Style,
    warning: Style,
    conflict: Style,
}

impl Styles {
    /// Colours, or nothing at all.
    pub fn new(color: bool) -> Styles {
        if !color {
            return Styles::default();
        }
        let of = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        Styles {
            heading: Style::new().bold(),
            dim: Style::new().dimmed(),
            good: of(AnsiColor::Green),
            note: of(AnsiColor::Cyan),
            warning: of(AnsiColor::Yellow).bold(),
            conflict: of(AnsiColor::Red).bold(),
        }
    }

    /// The style of a severity.
    pub fn of(&self, severity: Severity) -> Style {
        match severity {
            Severity::Note => self.note,
            Severity::Warning => self.warning,
            Severity::Conflict => self.conflict,
        }
    }

    /// `text` in a style.
    pub fn paint(&self, style: Style, text: &str) -> String {
        format!("{style}{text}{style:#}")
    }
}
