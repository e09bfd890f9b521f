//! How the cells of a notebook are laid out, and how to write new ones in the same way.

use slipstitch_text::Span;

use super::Cell;
use super::json::{self, Member};

/// The indentation that files get from Jupyter: one space for each level.
const JUPYTER_INDENT: &str = " ";

/// How the fields of an object are laid out.
pub(super) enum Layout {
    /// One per line.
    Lines {
        /// The indentation of the object's braces.
        outer: String,
        /// The indentation of its fields.
        inner: String,
    },
    /// All on one line.
    OneLine {
        /// What follows a comma or a colon: a space or nothing.
        space: &'static str,
    },
}

impl Layout {
    /// The layout of a cell.
    pub(super) fn of_cell(text: &[u8], cell: &Cell) -> Self {
        let first = cell.fields.first().map(|field| field.start);
        match (line_indent(text, cell.at.start()), first.and_then(|start| line_indent(text, start))) {
            (Some(outer), Some(inner)) => Self::Lines { outer, inner },
            _ => Self::one_line(text, &cell.fields),
        }
    }

    /// The layout of the first cell in a document with these fields; `list` is where the field with the cells starts.
    pub(super) fn of_first_cell(text: &[u8], fields: &[Member], list: usize) -> Self {
        match line_indent(text, list) {
            Some(unit) => Self::Lines { outer: unit.repeat(2), inner: unit.repeat(3) },
            None => Self::one_line(text, fields),
        }
    }

    fn one_line(text: &[u8], fields: &[Member]) -> Self {
        let has_space = fields.first().is_some_and(|field| text[field.value.start() - 1] == b' ');
        Self::OneLine { space: if has_space { " " } else { "" } }
    }

    /// What separates a cell that starts at `cell` from another one.
    pub(super) fn separator(&self, text: &[u8], cell: usize) -> String {
        match (line_indent(text, cell), self) {
            (Some(indent), _) => format!(",\n{indent}"),
            (None, Self::Lines { outer, .. }) => format!(",\n{outer}"),
            (None, Self::OneLine { space }) => format!(",{space}"),
        }
    }

    /// A list whose only item is a cell, in a field with this indentation.
    pub(super) fn list_of_one(&self, cell: &str, field: usize, text: &[u8]) -> String {
        match self {
            Self::Lines { outer, .. } => {
                let end = line_indent(text, field).unwrap_or_default();
                format!("[\n{outer}{cell}\n{end}]")
            }
            Self::OneLine { .. } => format!("[{cell}]"),
        }
    }

    /// An object with these fields, whose values are JSON.
    pub(super) fn object(&self, fields: &[(&str, String)]) -> String {
        let field = |space: &str, (name, value): &(&str, String)| format!("\"{name}\":{space}{value}");
        match self {
            Self::Lines { outer, inner } => {
                let fields: Vec<String> =
                    fields.iter().map(|one| format!("{inner}{}", field(" ", one))).collect();
                format!("{{\n{}\n{outer}}}", fields.join(",\n"))
            }
            Self::OneLine { space } => {
                let fields: Vec<String> = fields.iter().map(|one| field(space, one)).collect();
                format!("{{{}}}", fields.join(&format!(",{space}")))
            }
        }
    }

    /// The lines of a source as a list in one of the object's fields.
    pub(super) fn source_lines(&self, source: &str) -> String {
        match self {
            Self::Lines { outer, inner } => {
                let unit = inner.strip_prefix(outer.as_str()).filter(|unit| !unit.is_empty());
                list_of_lines(source, &format!("{inner}{}", unit.unwrap_or(JUPYTER_INDENT)), inner)
            }
            Self::OneLine { space } => list_on_one_line(source, space),
        }
    }
}

/// A source in the form that the source at `at` has: a string, or a list of lines.
pub(super) fn source_like(text: &[u8], at: Span, layout: &Layout, source: &str) -> String {
    let Some(items) = json::items(text, at) else { return quote(source) };
    let ends = [items.first().map(|item| item.start()), Some(at.end() - 1)];
    match ends.map(|at| at.map(|at| line_indent(text, at))) {
        [None, _] => layout.source_lines(source),
        [Some(Some(inner)), Some(Some(outer))] => list_of_lines(source, &inner, &outer),
        _ => {
            let space = match (items.get(1), layout) {
                (Some(second), _) if text[second.start() - 1] == b' ' => " ",
                (Some(_), _) => "",
                (None, Layout::OneLine { space }) => space,
                (None, Layout::Lines { .. }) => " ",
            };
            list_on_one_line(source, space)
        }
    }
}

/// A text as a JSON string.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn list_of_lines(source: &str, inner: &str, outer: &str) -> String {
    if source.is_empty() {
        return "[]".into();
    }
    let lines: Vec<String> =
        source.split_inclusive('\n').map(|line| format!("{inner}{}", quote(line))).collect();
    format!("[\n{}\n{outer}]", lines.join(",\n"))
}

fn list_on_one_line(source: &str, space: &str) -> String {
    let lines: Vec<String> = source.split_inclusive('\n').map(quote).collect();
    format!("[{}]", lines.join(&format!(",{space}")))
}

/// The indentation before a position, if nothing else is before it on its line.
fn line_indent(text: &[u8], at: usize) -> Option<String> {
    let start = text[..at].iter().rposition(|byte| matches!(byte, b'\n' | b'\r'))? + 1;
    let indent = &text[start..at];
    let is_blank = indent.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    is_blank.then(|| String::from_utf8_lossy(indent).into_owned())
}
