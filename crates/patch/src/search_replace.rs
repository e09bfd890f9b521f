//! SEARCH/REPLACE blocks, with the file's name above them.

mod mark;
mod name;
#[cfg(test)]
mod tests;

pub(super) use mark::{Mark, escaped};
pub(super) use name::line as name_line;

use super::source::{Notes, Source, fault, number, syntax};
use super::{Action, Block, Fault, FilePatch, PatchError};
use mark::{Side, is_hint, unescaped};

const EXAMPLE: &str = "A block is the file's path on a line of its own, `<<<<<<< SEARCH`, the lines to find, `=======`, the new \
                       lines, `>>>>>>> REPLACE`.";
const ESCAPE: &str = "Put a backslash before the lines of the file that look like markers (`\\=======`), or give the block's own \
                      markers nine characters.";

/// Reads the text as SEARCH/REPLACE blocks.
pub(super) fn parse(source: &Source<'_>, notes: &mut Notes) -> Result<Vec<FilePatch>, PatchError> {
    let mut files = Vec::new();
    let mut path: Option<String> = None;
    let mut floor = 0;
    let mut at = 0;
    while at < source.len() {
        match Mark::parse(source.line(at)) {
            Some(Mark { side: Side::Open, width, .. }) => {
                let span = span(source, at, width)?;
                path = name::above(source, at, floor).or(path);
                let block = block(source, at, &span, notes)?;
                let action = Action::Replace { blocks: vec![block] };
                files.push(FilePatch { path: path.clone(), action, line: at + 1, crlf: false });
                floor = span.close + 1;
                at = floor;
            }
            Some(Mark { side: Side::Close, .. }) => {
                return Err(syntax(at, "the block ends here, and its `<<<<<<< SEARCH` is missing", EXAMPLE));
            }
            _ => at += 1,
        }
    }
    if files.is_empty() {
        return Err(fault(Fault::Format, 0, "there is no `<<<<<<< SEARCH` in the text", EXAMPLE));
    }
    Ok(files)
}

/// The lines of a block's markers.
pub(super) struct Span {
    divide: usize,
    /// The line of the closing marker.
    pub(super) close: usize,
}

/// Finds the markers that belong to the one at `open`: those of its own width if they make one
/// block, else those of any. What could be read in two ways is refused.
pub(super) fn span(source: &Source<'_>, open: usize, width: usize) -> Result<Span, PatchError> {
    match search(source, open, |found| found == width) {
        Ok(span) => Ok(span),
        Err(_) => search(source, open, |_| true),
    }
}

fn search(source: &Source<'_>, open: usize, fits: impl Fn(usize) -> bool) -> Result<Span, PatchError> {
    let mut divides = Vec::new();
    for at in open + 1..source.len() {
        let Some(mark) = Mark::parse(source.line(at)).filter(|mark| fits(mark.width)) else { continue };
        match mark.side {
            Side::Divide => divides.push(at),
            Side::Open => {
                let message = format!("another block begins before the one of line {} is closed", open + 1);
                return Err(syntax(at, message, ESCAPE));
            }
            Side::Close => return close(&divides, open, at),
        }
    }
    let missing = if divides.is_empty() { "`=======` and `>>>>>>> REPLACE`" } else { "`>>>>>>> REPLACE`" };
    Err(syntax(open, format!("the block has no {missing}"), EXAMPLE))
}

fn close(divides: &[usize], open: usize, close: usize) -> Result<Span, PatchError> {
    match divides {
        [] => Err(syntax(open, "the block has no `=======`", EXAMPLE)),
        [divide] => Ok(Span { divide: *divide, close }),
        [first, second, ..] => {
            let message = format!(
                "the block has `=======` at lines {} and {}, so that it is not certain where the new text begins",
                first + 1,
                second + 1
            );
            Err(syntax(*second, message, ESCAPE))
        }
    }
}

/// The texts between the markers, and the line that a hint names.
fn block(source: &Source<'_>, open: usize, span: &Span, notes: &mut Notes) -> Result<Block, PatchError> {
    let (first, start_line) = hints(source, open + 1, span.divide)?;
    for index in [span.divide, span.close] {
        let own = Mark::parse(source.line(open)).map(|mark| mark.width);
        if Mark::parse(source.line(index)).map(|mark| mark.width) != own {
            notes.repair(
                index,
                format!("the marker is not as long as that of line {}: read as its own", open + 1),
            )?;
        }
    }
    Ok(Block {
        search: text(source.slice(first, span.divide)),
        replace: text(source.slice(span.divide + 1, span.close)),
        start_line,
    })
}

fn text(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [unescaped(line), "\n"]).collect()
}

/// Reads `:start_line:12`, `:end_line:14` and the rule below them.
fn hints(source: &Source<'_>, first: usize, end: usize) -> Result<(usize, Option<usize>), PatchError> {
    let mut at = first;
    let mut start = None;
    while at < end && is_hint(source.line(at)) {
        let line = source.trimmed(at);
        if let Some(digits) = line.strip_prefix(":start_line:") {
            start = Some(number(digits.trim(), at)?).filter(|line| *line > 0);
        }
        at += 1;
    }
    let rule = source.trimmed(at);
    if at > first && at < end && rule.len() >= 5 && rule.bytes().all(|byte| byte == b'-') {
        at += 1;
    }
    Ok((at, start))
}
