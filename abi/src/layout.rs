//! The layouts of HIP's structs and unions, version by version.

use std::fmt;

use crate::row::{ParseError, Row, rows};
use crate::version::Version;
use crate::version_range::VersionRange;

const COLUMNS: &[&str] = &["record", "versions", "size", "align", "fields"];

/// A struct or union and the header versions that lay it out so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The name by which functions take it: the typedef, if there is one.
    pub record: String,
    /// The header versions.
    pub versions: VersionRange,
    /// `sizeof` on 64-bit Linux.
    pub size: u32,
    /// `alignof` there.
    pub align: u32,
    /// The scalars, in order of declaration; those of a union overlap.
    pub fields: Vec<Field>,
}

/// A scalar, pointer or array of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The path from the outer record, `params.fence.value`; members of an unnamed
    /// member by their own name.
    pub name: String,
    /// Bytes from the start of the outer record.
    pub offset: u32,
    /// Its size in bytes, for an array that of all elements.
    pub size: u32,
    /// The C type, `unsigned int[16]` for an array; `bits` for a run of bit fields.
    pub ty: String,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Field {
            name,
            offset,
            size,
            ty,
        } = self;
        write!(f, "{offset}:{size}:{name}:{ty}")
    }
}

impl Layout {
    /// The table's line; [`parse_layouts`] reads it back.
    pub fn line(&self) -> String {
        let fields: Vec<String> = self.fields.iter().map(Field::to_string).collect();
        let columns = [
            self.record.clone(),
            self.versions.to_string(),
            self.size.to_string(),
            self.align.to_string(),
            fields.join(", "),
        ];
        columns.join(" | ")
    }

    /// The field with this path.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// Reads the table of layouts.
///
/// # Errors
///
/// The first line that does not follow the format, a field that ends outside its
/// record, or two lines for one record and version.
pub fn parse_layouts(text: &str) -> Result<Vec<Layout>, ParseError> {
    let mut layouts: Vec<Layout> = Vec::new();
    for row in rows(text, COLUMNS) {
        let row = row?;
        let layout = layout_of_row(&row)?;
        let twice = layouts.iter().rev().find(|earlier| {
            earlier.record == layout.record && earlier.versions.overlaps(&layout.versions)
        });
        if let Some(earlier) = twice {
            let problem = format!(
                "{} is laid out for {} already",
                layout.record, earlier.versions
            );
            return Err(row.error(1, problem));
        }
        layouts.push(layout);
    }
    Ok(layouts)
}

/// The layout of `record` in the headers of `version`.
pub fn layout_of<'a>(layouts: &'a [Layout], record: &str, version: Version) -> Option<&'a Layout> {
    layouts
        .iter()
        .find(|layout| layout.record == record && layout.versions.contains(version))
}

fn layout_of_row(row: &Row<'_>) -> Result<Layout, ParseError> {
    let number = |column: usize| -> Result<u32, ParseError> {
        let text = row.get(column);
        text.parse()
            .map_err(|_| row.error(column, format!("\"{text}\" is not a number of bytes")))
    };
    let size = number(2)?;
    let fields: Result<Vec<Field>, String> = row.get(4).split(", ").map(parse_field).collect();
    let fields = fields.map_err(|problem| row.error(4, problem))?;
    if let Some(field) = fields.iter().find(|field| field.offset + field.size > size) {
        let problem = format!("{} ends outside of the {size} bytes", field.name);
        return Err(row.error(4, problem));
    }
    Ok(Layout {
        record: row.get(0).to_string(),
        versions: row
            .get(1)
            .parse()
            .map_err(|problem: String| row.error(1, problem))?,
        size,
        align: number(3)?,
        fields,
    })
}

fn parse_field(text: &str) -> Result<Field, String> {
    let mut parts = text.splitn(4, ':');
    let mut next = || parts.next().filter(|part| !part.is_empty());
    let parsed = (|| {
        Some(Field {
            offset: next()?.parse().ok()?,
            size: next()?.parse().ok()?,
            name: next()?.to_string(),
            ty: next()?.to_string(),
        })
    })();
    parsed.ok_or_else(|| format!("\"{text}\" is not offset:size:name:type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "\
hipX | 5.0-5.7 | 8 | 4 | 0:4:kind:hipKind, 4:4:in.flags:unsigned int[1]
hipX | 6.0- | 8 | 8 | 0:8:in.pointer:const void *";

    #[test]
    fn a_version_has_the_layout_of_its_range() {
        let layouts = parse_layouts(LINES).unwrap();
        let size = |version| layout_of(&layouts, "hipX", version).map(|layout| layout.align);
        assert_eq!(size(Version::new(5, 7)), Some(4));
        assert_eq!(size(Version::new(7, 14)), Some(8));
        assert_eq!(size(Version::new(4, 5)), None);
        let flags = layouts[0].field("in.flags").unwrap();
        assert_eq!((flags.offset, flags.ty.as_str()), (4, "unsigned int[1]"));
    }

    #[test]
    fn a_line_is_read_and_written_back() {
        let lines: Vec<String> = parse_layouts(LINES)
            .unwrap()
            .iter()
            .map(Layout::line)
            .collect();
        assert_eq!(lines.join("\n"), LINES);
    }

    #[test]
    fn errors_name_the_column() {
        let cases = [
            ("hipX | 5.0-5.7 | big | 4 | 0:4:a:int", "size"),
            ("hipX | 5.0-5.7 | 4 | 4 | 0:8:a:size_t", "fields"),
            ("hipX | 5.0-5.7 | 4 | 4 | 0:4:a", "fields"),
            ("hipX | 5.0 | 4 | 4 | 0:4:a:int", "versions"),
        ];
        for (line, column) in cases {
            assert_eq!(parse_layouts(line).unwrap_err().column(), column, "{line}");
        }
    }

    #[test]
    fn a_version_has_one_layout() {
        let twice = "hipX | 5.0- | 4 | 4 | 0:4:a:int\nhipX | 6.0-6.4 | 4 | 4 | 0:4:b:int";
        let error = parse_layouts(twice).unwrap_err();
        assert_eq!((error.line(), error.column()), (2, "versions"));
    }
}
