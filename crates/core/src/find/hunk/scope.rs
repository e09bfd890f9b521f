//! Scopes: lines that must precede a hunk's place, and the blocks they open.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::line_table::LineTable;
use crate::find::error::Reason;
use crate::find::limits::{Budget, MAX_BLOCKS};

/// Compares a line of the file, the first argument, with a scope.
type ScopeMatch = fn(&[u8], &[u8]) -> bool;

/// A line that matches a scope, and the block it opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// From the line itself to the last line of the block.
    pub(super) lines: Range<usize>,
    /// Where lines are added to the block.
    pub(super) end: usize,
    /// Whether the indentation shows where the block ends; if not, it extends to the end of the file.
    pub(super) is_delimited: bool,
}

/// The lines that scopes match exactly, found in one pass for all hunks, and the blocks they open.
#[derive(Debug)]
pub(super) struct ScopeIndex<'a> {
    /// The positions of each scope, ignoring whitespace at both ends.
    places: HashMap<&'a str, Vec<usize>>,
    /// Blocks by their first line, computed once.
    blocks: RefCell<HashMap<usize, Block>>,
}

impl<'a> ScopeIndex<'a> {
    pub(super) fn new(table: &LineTable<'_>, scopes: impl Iterator<Item = &'a String>) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = scopes.map(|scope| (scope.trim(), Vec::new())).collect();
        let lines = if places.is_empty() { 0..0 } else { 0..table.count() };
        for at in lines {
            let line = std::str::from_utf8(table.line(at)).unwrap_or_default().trim();
            if let Some(list) = places.get_mut(line) {
                list.push(at);
            }
        }
        Self { places, blocks: RefCell::default() }
    }

    /// The blocks that the scopes of a hunk match, outermost scope first; the whole file if there are none.
    pub(super) fn blocks(
        &self,
        scopes: &[String],
        table: &LineTable<'_>,
        budget: &Budget,
    ) -> Result<Vec<Block>, Reason> {
        let mut blocks = vec![Block { lines: 0..table.count(), end: table.count(), is_delimited: false }];
        for scope in scopes.iter().filter(|scope| !scope.trim().is_empty()) {
            let heads = self.heads(scope, &blocks, table, budget)?;
            if heads.is_empty() {
                return Err(Reason::ScopeMissing { scope: scope.trim().to_owned() });
            }
            blocks = heads.into_iter().map(|at| self.block(at, table, budget)).collect();
        }
        Ok(blocks)
    }

    /// The blocks whose heading is exactly this one.
    pub(super) fn section_blocks(&self, section: &str, table: &LineTable<'_>, budget: &Budget) -> Vec<Block> {
        let heads = self.places.get(section.trim()).map_or(&[][..], Vec::as_slice);
        heads.iter().take(MAX_BLOCKS).map(|&at| self.block(at, table, budget)).collect()
    }

    /// The lines inside `outer` that match a scope, by the strictest comparison that finds any.
    fn heads(
        &self,
        scope: &str,
        outer: &[Block],
        table: &LineTable<'_>,
        budget: &Budget,
    ) -> Result<Vec<usize>, Reason> {
        let inside = |at: &usize| outer.iter().any(|block| block.lines.contains(at));
        let known = self.places.get(scope.trim()).map_or(&[][..], Vec::as_slice);
        let mut heads: Vec<usize> = known.iter().copied().filter(inside).take(MAX_BLOCKS).collect();
        budget.spend(heads.len() * outer.len() / 8);
        if heads.iter().any(|&at| table.line(at) == scope.as_bytes()) {
            heads.retain(|&at| table.line(at) == scope.as_bytes());
        }
        if !heads.is_empty() {
            return Ok(heads);
        }
        let matchers: [ScopeMatch; 2] =
            [|line, scope| starts_with_words(line.trim_ascii(), scope), contains_words];
        for matches in matchers {
            let mut found = BTreeSet::new();
            for block in outer {
                if budget.is_spent() {
                    return Err(Reason::TooCostly);
                }
                budget.spend(block.lines.len());
                found.extend(
                    block.lines.clone().filter(|&at| matches(table.line(at), scope.trim().as_bytes())),
                );
            }
            if !found.is_empty() {
                return Ok(found.into_iter().take(MAX_BLOCKS).collect());
            }
        }
        Ok(Vec::new())
    }

    fn block(&self, head: usize, table: &LineTable<'_>, budget: &Budget) -> Block {
        self.blocks.borrow_mut().entry(head).or_insert_with(|| find_block(head, table, budget)).clone()
    }
}

/// Whether a line starts with a scope that does not end inside a word.
fn starts_with_words(line: &[u8], scope: &[u8]) -> bool {
    line.starts_with(scope) && !(is_word_byte(scope.last()) && is_word_byte(line.get(scope.len())))
}

/// Whether a line contains a scope at word boundaries: `fn f(` in `pub fn f(a: u8) {`.
fn contains_words(line: &[u8], scope: &[u8]) -> bool {
    memchr::memmem::find_iter(line, scope).any(|at| {
        let before = at > 0 && is_word_byte(line.get(at - 1)) && is_word_byte(scope.first());
        !before && starts_with_words(&line[at..], scope)
    })
}

fn is_word_byte(byte: Option<&u8>) -> bool {
    byte.is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80)
}

/// The block that a line opens: the lines that are indented more, and the closing bracket.
fn find_block(head: usize, table: &LineTable<'_>, budget: &Budget) -> Block {
    let depth = indent_width(table.line(head));
    let mut last = head; // the last line of the block so far
    let mut deeper = false;
    let mut at = head + 1;
    while at < table.count() {
        let line = table.line(at).trim_ascii();
        let here = indent_width(table.line(at));
        match line {
            [] => {}
            _ if here > depth => {
                deeper = true;
                last = at;
            }
            // `):`, `} else {`, or an opening brace on its own line: the block continues.
            _ if here == depth && continues_block(line) => last = at,
            [b'}' | b')' | b']', ..] if here == depth && deeper => {
                budget.spend((at - head) / 8);
                return Block { lines: head..at + 1, end: last + 1, is_delimited: true };
            }
            _ => break,
        }
        at += 1;
    }
    budget.spend((at - head) / 8);
    if deeper {
        Block { lines: head..last + 1, end: last + 1, is_delimited: true }
    } else {
        Block { lines: head..table.count(), end: head + 1, is_delimited: false }
    }
}

fn indent_width(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

/// Whether a line with the head's indentation still belongs to its block.
fn continues_block(line: &[u8]) -> bool {
    let closes = matches!(line.first(), Some(b'}' | b')' | b']'));
    let opens = matches!(line.last(), Some(b'{' | b'(' | b'[' | b':'));
    (closes && opens) || line == b"{"
}
