//! Lines that must stand before a hunk's place, and the blocks that they open.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::page::{Budget, Page};
use crate::find::error::Reason;

/// More blocks than this are not told apart.
const MAX_BLOCKS: usize = 1000;

/// Whether a line, the first, is what a scope names.
type Way = fn(&[u8], &[u8]) -> bool;

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

/// Where the lines that scopes name stand, found in one pass for all hunks, and the blocks they open.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    /// The lines that are a scope, white space at their ends aside.
    places: HashMap<&'a str, Vec<usize>>,
    /// Blocks by their first line, each looked at once.
    blocks: RefCell<HashMap<usize, Block>>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new(page: &Page<'_>, scopes: impl Iterator<Item = &'a String>) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = scopes.map(|scope| (scope.trim(), Vec::new())).collect();
        let filled = if places.is_empty() { 0..0 } else { 0..page.count() };
        for at in filled {
            let line = std::str::from_utf8(page.line(at)).unwrap_or_default().trim();
            if let Some(list) = places.get_mut(line) {
                list.push(at);
            }
        }
        Self { places, blocks: RefCell::default() }
    }

    /// The blocks that the scopes of a hunk name, outermost first; the whole file if there are none.
    pub(super) fn blocks(
        &self,
        scopes: &[String],
        page: &Page<'_>,
        budget: &Budget,
    ) -> Result<Vec<Block>, Reason> {
        let mut blocks = vec![Block { lines: 0..page.count(), end: page.count(), told: false }];
        for scope in scopes.iter().filter(|scope| !scope.trim().is_empty()) {
            let heads = self.heads(scope, &blocks, page, budget)?;
            if heads.is_empty() {
                return Err(Reason::ScopeMissing { scope: scope.trim().to_owned() });
            }
            blocks = heads.into_iter().map(|at| self.block(at, page, budget)).collect();
        }
        Ok(blocks)
    }

    /// The lines inside some blocks that a scope names, by the strictest way that finds any.
    fn heads(
        &self,
        scope: &str,
        outer: &[Block],
        page: &Page<'_>,
        budget: &Budget,
    ) -> Result<Vec<usize>, Reason> {
        let inside = |at: &usize| outer.iter().any(|block| block.lines.contains(at));
        let known = self.places.get(scope.trim()).map_or(&[][..], Vec::as_slice);
        let mut heads: Vec<usize> = known.iter().copied().filter(inside).take(MAX_BLOCKS).collect();
        budget.spend(heads.len() * outer.len() / 8);
        if heads.iter().any(|&at| page.line(at) == scope.as_bytes()) {
            heads.retain(|&at| page.line(at) == scope.as_bytes());
        }
        if !heads.is_empty() {
            return Ok(heads);
        }
        let ways: [Way; 2] = [|line, scope| starts_with_words(line.trim_ascii(), scope), holds_words];
        for way in ways {
            let mut found = BTreeSet::new();
            for block in outer {
                if budget.is_spent() {
                    return Err(Reason::TooCostly);
                }
                budget.spend(block.lines.len());
                found.extend(block.lines.clone().filter(|&at| way(page.line(at), scope.trim().as_bytes())));
            }
            if !found.is_empty() {
                return Ok(found.into_iter().take(MAX_BLOCKS).collect());
            }
        }
        Ok(Vec::new())
    }

    fn block(&self, head: usize, page: &Page<'_>, budget: &Budget) -> Block {
        self.blocks.borrow_mut().entry(head).or_insert_with(|| block(head, page, budget)).clone()
    }
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
