//! Lines that must stand before a hunk's place, and the blocks that they open.

use std::ops::Range;

use super::page::{Budget, Page};
use crate::resolve::error::Reason;

/// More blocks than this are not told apart.
const MOST_BLOCKS: usize = 1000;

/// A line that a scope names, and what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// From the line itself to the last line of its block.
    pub(super) lines: Range<usize>,
    /// Where lines that are added to the block go.
    pub(super) end: usize,
    /// Whether the block can be told by its indentation; if not, it is all that follows.
    pub(super) told: bool,
}

/// The blocks that the scopes of a hunk name, outermost first; the whole file if there are none.
pub(super) fn blocks(scopes: &[String], page: &Page<'_>, budget: &Budget) -> Result<Vec<Block>, Reason> {
    let all = Block { lines: 0..page.count(), end: page.count(), told: false };
    let mut blocks = vec![all];
    for scope in scopes {
        blocks = inner(scope, &blocks, page, budget);
        if blocks.is_empty() {
            return Err(Reason::ScopeMissing { scope: scope.trim().to_owned() });
        }
    }
    Ok(blocks)
}

/// The blocks inside others that a scope names, by the strictest way that finds any.
fn inner(scope: &str, outer: &[Block], page: &Page<'_>, budget: &Budget) -> Vec<Block> {
    let ways: [fn(&str, &[u8]) -> bool; 4] = [
        |scope, line| line == scope.as_bytes(),
        |scope, line| line.trim_ascii() == scope.trim().as_bytes(),
        |scope, line| starts_with_words(line.trim_ascii(), scope.trim().as_bytes()),
        |scope, line| holds_words(line, scope.trim().as_bytes()),
    ];
    if scope.trim().is_empty() {
        return outer.to_vec();
    }
    for way in ways {
        let mut lines: Vec<usize> = Vec::new();
        for block in outer {
            budget.spend(block.lines.len() / 8);
            lines.extend(block.lines.clone().filter(|&at| way(scope, page.line(at))));
            if lines.len() > MOST_BLOCKS || budget.is_spent() {
                break;
            }
        }
        lines.sort_unstable();
        lines.dedup();
        if !lines.is_empty() {
            return lines.into_iter().take(MOST_BLOCKS).map(|at| block(at, page, budget)).collect();
        }
    }
    Vec::new()
}

/// Whether a line starts with a scope and goes on with another word, if at all.
fn starts_with_words(line: &[u8], scope: &[u8]) -> bool {
    line.starts_with(scope) && !(is_word(scope.last()) && is_word(line.get(scope.len())))
}

/// Whether a line holds a scope, and not inside words: `fn f(` in `pub fn f(a: u8) {`.
fn holds_words(line: &[u8], scope: &[u8]) -> bool {
    memchr::memmem::find_iter(line, scope).any(|at| {
        let before = at > 0 && is_word(line.get(at - 1)) && is_word(scope.first());
        !before && starts_with_words(&line[at..], scope)
    })
}

fn is_word(byte: Option<&u8>) -> bool {
    byte.is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80)
}

/// The block that a line opens: the lines that are indented deeper, and the bracket that closes them.
fn block(head: usize, page: &Page<'_>, budget: &Budget) -> Block {
    let depth = indent(page.line(head));
    let mut last = head; // the last line that belongs to the block
    let mut deeper = false;
    let mut at = head + 1;
    while at < page.count() {
        let line = page.line(at).trim_ascii();
        let here = indent(page.line(at));
        match line {
            [] => {}
            _ if here > depth => {
                deeper = true;
                last = at;
            }
            // `):`, `} else {`, or a bracket of its own below the head: the block goes on.
            _ if here == depth && goes_on(line) => last = at,
            [b'}' | b')' | b']', ..] if here == depth && deeper => {
                budget.spend((at - head) / 8);
                return Block { lines: head..at + 1, end: last + 1, told: true };
            }
            _ => break,
        }
        at += 1;
    }
    budget.spend((at - head) / 8);
    if deeper {
        Block { lines: head..last + 1, end: last + 1, told: true }
    } else {
        Block { lines: head..page.count(), end: head + 1, told: false }
    }
}

fn indent(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

/// Whether a line that is not indented deeper than the head still belongs to its block.
fn goes_on(line: &[u8]) -> bool {
    let closes = matches!(line.first(), Some(b'}' | b')' | b']'));
    let opens = matches!(line.last(), Some(b'{' | b'(' | b'[' | b':'));
    (closes && opens) || line == b"{"
}
