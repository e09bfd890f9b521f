//! SEARCH/REPLACE blocks, with the file's path above them.

mod mark;
mod name;
#[cfg(test)]
mod tests;

pub(super) use mark::Mark;
pub(super) use name::{find_above as find_path_above, is_tag_fence};

use super::source::{Notes, Source, error_at, parse_number, syntax_error};
use super::{Action, Block, FilePatch, PatchError, PatchErrorKind};
use mark::{MIN_PLAIN_WIDTH, MarkKind, is_line_hint, unescape};

const EXAMPLE: &str = "A block is the file's path on a separate line, `<<<<<<< SEARCH`, the lines to find, `=======`, the new \
                       lines, `>>>>>>> REPLACE`.";
const ESCAPE: &str = "Put a backslash before lines of the file that look like markers (`\\=======`), or write the block's \
                      markers with nine characters.";

/// Parses SEARCH/REPLACE blocks.
pub(super) fn parse(source: &Source<'_>, notes: &mut Notes) -> Result<Vec<FilePatch>, PatchError> {
    let mut files = Vec::new();
    let mut path: Option<String> = None;
    let mut previous_end = 0;
    let mut at = 0;
    while at < source.len() {
        match Mark::parse(source.line(at)) {
            Some(Mark { kind: MarkKind::Search, width, .. }) => {
                let span = find_span(source, at, width)?;
                path = name::find_above(source, at, previous_end).or(path);
                let block = parse_block(source, at, &span, notes)?;
                let action = Action::Replace { blocks: vec![block] };
                files.push(FilePatch { path: path.clone(), action, line: at + 1, crlf: false });
                previous_end = span.replace + 1;
                at = previous_end;
            }
            Some(Mark { kind: MarkKind::Replace, .. }) => {
                return Err(syntax_error(at, "the block that ends here has no `<<<<<<< SEARCH`", EXAMPLE));
            }
            _ => at += 1,
        }
    }
    if files.is_empty() {
        return Err(error_at(PatchErrorKind::Format, 0, "the text has no `<<<<<<< SEARCH`", EXAMPLE));
    }
    Ok(files)
}

/// The indices of a block's markers after the first.
pub(super) struct BlockSpan {
    divider: usize,
    /// The index of `>>>>>>> REPLACE`.
    pub(super) replace: usize,
}

/// Finds the markers that belong to the one at `open`: those of the same width if they form a
/// block, otherwise those of any width. Ambiguous markers are an error.
pub(super) fn find_span(source: &Source<'_>, open: usize, width: usize) -> Result<BlockSpan, PatchError> {
    match find_markers(source, open, |found| found == width) {
        Ok(span) => Ok(span),
        Err(_) => find_markers(source, open, |found| found >= MIN_PLAIN_WIDTH || found == width),
    }
}

fn find_markers(
    source: &Source<'_>,
    open: usize,
    fits: impl Fn(usize) -> bool,
) -> Result<BlockSpan, PatchError> {
    let mut dividers = Vec::new();
    for at in open + 1..source.len() {
        let Some(mark) = Mark::parse(source.line(at)).filter(|mark| fits(mark.width)) else { continue };
        match mark.kind {
            MarkKind::Divider => dividers.push(at),
            MarkKind::Search => {
                let message = format!("another block starts before the one at line {} ends", open + 1);
                return Err(syntax_error(at, message, ESCAPE));
            }
            MarkKind::Replace => return close_block(&dividers, open, at),
        }
    }
    let missing = if dividers.is_empty() { "`=======` and `>>>>>>> REPLACE`" } else { "`>>>>>>> REPLACE`" };
    Err(syntax_error(open, format!("the block has no {missing}"), EXAMPLE))
}

fn close_block(dividers: &[usize], open: usize, replace: usize) -> Result<BlockSpan, PatchError> {
    match dividers {
        [] => Err(syntax_error(open, "the block has no `=======`", EXAMPLE)),
        [divider] => Ok(BlockSpan { divider: *divider, replace }),
        [first, second, ..] => {
            let message = format!(
                "the block has `=======` at lines {} and {}, so it is ambiguous where the new text starts",
                first + 1,
                second + 1
            );
            Err(syntax_error(*second, message, ESCAPE))
        }
    }
}

/// Parses the texts between the markers, and the line hint.
fn parse_block(
    source: &Source<'_>,
    open: usize,
    span: &BlockSpan,
    notes: &mut Notes,
) -> Result<Block, PatchError> {
    let (first, start_line) = parse_line_hints(source, open + 1, span.divider)?;
    for index in [span.divider, span.replace] {
        let width = Mark::parse(source.line(open)).map(|mark| mark.width);
        if Mark::parse(source.line(index)).map(|mark| mark.width) != width {
            notes.repair(
                index,
                format!("accepted a marker whose length differs from the one at line {}", open + 1),
            )?;
        }
    }
    Ok(Block {
        search: unescape_lines(source.slice(first, span.divider)),
        replace: unescape_lines(source.slice(span.divider + 1, span.replace)),
        start_line,
    })
}

fn unescape_lines(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [unescape(line), "\n"]).collect()
}

/// Parses `:start_line:12`, `:end_line:14` and the dashes below them.
fn parse_line_hints(
    source: &Source<'_>,
    first: usize,
    end: usize,
) -> Result<(usize, Option<usize>), PatchError> {
    let mut at = first;
    let mut start = None;
    while at < end && is_line_hint(source.line(at)) {
        let line = source.trimmed(at);
        if let Some(digits) = line.strip_prefix(":start_line:") {
            start = Some(parse_number(digits.trim(), at)?).filter(|line| *line > 0);
        }
        at += 1;
    }
    let dashes = source.trimmed(at);
    if at > first && at < end && dashes.len() >= 5 && dashes.bytes().all(|byte| byte == b'-') {
        at += 1;
    }
    Ok((at, start))
}
