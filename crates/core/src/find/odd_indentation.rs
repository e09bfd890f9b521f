//! Notes about exact edits whose new lines are indented like nothing else in the file. They are written as sent, and the answer
//! says so: otherwise nobody would notice until the file is run.

use super::alignment::indent;
use super::file_text::FileText;
use super::indentation::gcd;
use super::limits::MAX_UNIT_LINES;

/// Describes what is odd about the indentation of a new text, as a clause; `None` if nothing is.
///
/// The old text shows how the file is indented there. The rest of the file is checked only if a new line does not fit.
///
/// Both texts come line by line: a patch with many hunks has no need to join them.
pub(super) fn describe<'t>(
    old: impl Iterator<Item = &'t str> + Clone,
    new: impl Iterator<Item = &'t str>,
    file: &FileText<'_>,
) -> Option<String> {
    let depths = Depths::of(old.clone())?;
    let mut above = None;
    let odd = new.filter(|line| !is_blank(line)).find(|line| {
        let above = above.replace(*line);
        !depths.include(indent(line)) && !continues_line(above, line) && !old.clone().any(|old| old == *line)
    })?;
    let odd = indent(odd);
    let index = file.index()?;
    let count = index.len().min(MAX_UNIT_LINES);
    let is_used = |is_alike: &dyn Fn(&str) -> bool| (0..count).any(|at| is_alike(indent(&index.text(at))));
    match depths {
        Depths::Tabs => (!is_used(&|indent| indent.starts_with("  ")))
            .then(|| "indented with spaces, the file with tabs".into()),
        Depths::Spaces(_) if odd.contains('\t') => (!is_used(&|indent| indent.starts_with('\t')))
            .then(|| "indented with tabs, the file with spaces".into()),
        Depths::Spaces(_) => {
            let unit = index.indent_unit()?;
            let width = odd.len();
            (!width.is_multiple_of(unit) && !is_used(&|indent| indent == odd))
                .then(|| format!("indented by {width} spaces, the file by {unit} for each level"))
        }
    }
}

/// How an old text is indented.
enum Depths {
    Tabs,
    /// By multiples of this width.
    Spaces(usize),
}

impl Depths {
    /// `None` if the text does not show it.
    fn of<'t>(old: impl Iterator<Item = &'t str>) -> Option<Self> {
        let mut indents = old.filter(|line| !is_blank(line)).map(indent).filter(|indent| !indent.is_empty());
        let first = indents.next()?;
        if first.starts_with('\t') {
            return indents.all(|indent| indent.starts_with('\t')).then_some(Self::Tabs);
        }
        let mut unit = first.len();
        for indent in std::iter::once(first).chain(indents) {
            if indent.bytes().any(|byte| byte != b' ') {
                return None;
            }
            unit = gcd(unit, indent.len());
        }
        (unit > 1).then_some(Self::Spaces(unit))
    }

    fn include(&self, indent: &str) -> bool {
        indent.is_empty()
            || match self {
                Self::Tabs => indent.starts_with('\t'),
                Self::Spaces(unit) => {
                    indent.len().is_multiple_of(*unit) && indent.bytes().all(|byte| byte == b' ')
                }
            }
    }
}

fn is_blank(line: &str) -> bool {
    line.chars().all(char::is_whitespace)
}

/// Whether a line may be aligned with something in the line above it.
fn continues_line(above: Option<&str>, line: &str) -> bool {
    let is_open =
        |above: &str| above.trim_end().ends_with([',', '(', '[', '\\', '=', '+', '&', '|', '?', '"', '\'']);
    above.is_some_and(is_open) || line.trim_start().starts_with(|c: char| !c.is_alphanumeric() && c != '_')
}
