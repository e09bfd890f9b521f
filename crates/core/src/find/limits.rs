//! Every limit and threshold of the finder: what bounds the work for hostile or unusual input, how similar is similar
//! enough, and how much of a place an answer shows.

use std::cell::Cell;

use crate::cancel::CancelToken;

/// Longer text is not recovered: it would need an index of all its lines.
pub(super) const MAX_INDEXED_BYTES: usize = 64 << 20;

/// How many places of an ambiguous request are listed by line, and how many are collected.
pub(super) const MAX_LISTED_MATCHES: usize = 1000;

/// How many candidates a diagnosis shows.
pub(super) const MAX_CANDIDATES: usize = 3;

/// In a batch that is applied in turn, a longer text is searched for when its turn comes, not together with others.
pub(super) const MAX_TRACKED_BYTES: usize = 4 << 10;

/// How many edits of such a batch are resolved together at first.
pub(super) const FIRST_ROUND: usize = 64;

/// How many of them are resolved together at most in excerpts of the text.
pub(super) const MAX_EXCERPT_ROUND: usize = 4_096;

/// How large an excerpt is at most when it is cut out, and how many there are at most.
pub(super) const MAX_EXCERPT_BYTES: usize = 16 << 10;
pub(super) const MAX_EXCERPTS: usize = 1_000;

/// What an excerpt has around an edit, in addition to the longest text that is searched for.
pub(super) const EXCERPT_MARGIN: usize = 256;

/// How many unmatched requests of one call are diagnosed; each one compares the whole file. All others are still searched for.
const MAX_DIAGNOSES: usize = 20;

/// In such a batch, how far back a line is searched for something other than whitespace.
pub(super) const MAX_INDENTATION_BYTES: usize = 4 << 10;

/// With more texts or longer ones, a large file is read into memory and searched there.
pub(super) const MAX_SCANNED_TEXTS: usize = 16;
pub(super) const MAX_SCANNED_TEXT_BYTES: usize = 64 << 10;

/// From this many searches on, a table of all lines pays off.
pub(super) const MANY_SEARCHES: usize = 4;

/// The cost of indexing or scanning a line: it is read, folded and hashed.
pub(super) const LINE_COST: usize = 8;

/// A line with at most this many occurrences is looked up instead of scanned for.
pub(super) const MAX_RARE: usize = 1000;

/// A line that occurs more often than this does not vote for a place.
pub(super) const MAX_VOTING_OCCURRENCES: usize = 2000;
/// The extra weight of a vote by a line that occurs once.
pub(super) const RARE_LINE_WEIGHT: usize = 12;

/// How many votes are counted, and how many of the places with the most votes are compared.
pub(super) const MAX_VOTES: usize = 400_000;
pub(super) const MAX_WINDOWS: usize = 24;

/// How many lines request and file may be out of step inside one place.
pub(super) const MAX_OFFSET: usize = 8;

/// How many pairs of lines are compared to fill a gap between lines that match.
pub(super) const MAX_GAP_PAIRS: usize = 64;

/// A longer gap is unlikely to be what a line of dots represents.
pub(super) const MAX_ELIDED_LINES: usize = 2000;

/// The widest level of indentation that is recognised, and how many lines are looked at.
pub(super) const MAX_UNIT: usize = 4;
pub(super) const MAX_UNIT_LINES: usize = 5000;

/// How many blocks one scope can match.
pub(super) const MAX_BLOCKS: usize = 1000;

/// How many places are compared for similarity.
pub(super) const MAX_SIMILAR_PLACES: usize = 20_000;

/// How far the most similar place must be ahead of any other that reaches the threshold: the other one must differ from the
/// request this many times as much, and have a ratio that is lower by the margin. Functions that differ in their names have
/// ratios of 0.900 and 0.892 for a request that names a third one; such a difference is chance, not evidence.
pub(super) const MIN_SIMILAR_FACTOR: f64 = 2.0;
pub(super) const MIN_SIMILAR_MARGIN: f64 = 0.02;

/// How much of a file is compared word by word for a diagnosis.
pub(super) const MAX_WORD_BYTES: usize = 4 << 20;

/// How many places of a text inside a line are collected; more would be just as ambiguous.
pub(super) const MAX_PLACES: usize = 100;

/// With more needles than this, one pass for all of them beats one pass for each.
pub(super) const MAX_SINGLE_PASSES: usize = 8;

/// How many hits of a batch are counted: thousands of needles that contain each other can have millions of hits each.
pub(super) const MAX_HITS: usize = 50_000_000;

/// Only this much of a longer line is compared.
pub(super) const MAX_LINE_CHARS: usize = 2000;

/// The width of a tab of the request if no line shows it.
pub(super) const DEFAULT_TAB_WIDTH: usize = 4;

/// How many ways to chain the pieces around elisions are followed; a few are as ambiguous as a thousand.
pub(super) const MAX_CHAINS: usize = 16;

/// A request with more pieces between its elisions is compared with the file as if its lines of dots were ordinary ones.
pub(super) const MAX_CLOSE_PIECES: usize = 8;

/// How many comparisons of its lines with lines of the file a part of a sketch may take.
pub(super) const MAX_SKETCH_COMPARISONS: usize = 1 << 20;

/// How many letters and digits identify a line.
pub(super) const MIN_DISTINCTIVE_LETTERS: usize = 4;

// Slips of the pen.

/// Shorter words have no typos.
pub(super) const MIN_TYPO_CHARS: usize = 4;
/// A shorter word with another letter is another word.
pub(super) const MIN_OTHER_LETTER_CHARS: usize = 6;
/// Shorter words are articles and conjunctions.
pub(super) const MIN_SUBSTITUTED_CHARS: usize = 4;
/// Comments in which more words are other words of the file are those of another block.
pub(super) const MAX_SWAPPED_WORDS: usize = 1;
/// More rewritten lines are not compared with the paragraphs of the file.
pub(super) const MAX_REWRITTEN_PARAGRAPHS: usize = 8;

// Drift: when a place is accepted although context lines differ.

/// The minimum average similarity of all lines.
pub(super) const MIN_SCORE: f64 = 0.7;
/// How many lines the best place must be ahead of the next.
pub(super) const MARGIN: f64 = 0.95;
/// The margin for a place where the request says it is.
pub(super) const MARGIN_AT_STATED_LINE: f64 = 0.3;
/// Shorter requests leave the place in doubt.
pub(super) const MIN_LINES: usize = 3;
/// How many lines must match exactly for each line that only the request or only the file has.
pub(super) const EXACT_LINES_PER_GAP: usize = 5;
/// How many lines must match exactly for each line that may have been rewritten.
pub(super) const EXACT_LINES_PER_REWRITTEN: usize = 3;
/// What a line that only the file has costs in the comparison of places.
pub(super) const EXTRA_LINE_COST: f64 = 0.2;
/// Lines that are less similar than this are unrelated.
pub(super) const MIN_LINE_SIMILARITY: f64 = 0.45;

// Evidence: when a place in an earlier version is carried over.

/// How many letters and digits of a line count.
pub(super) const MAX_LINE_WEIGHT: usize = 40;
/// How many of them make a line that proves a place by occurring once.
pub(super) const MIN_PINNING_LETTERS: usize = 12;
/// How far such lines may be from a line whose place they prove.
pub(super) const MAX_PINNING_DISTANCE: usize = 100;
/// How many lines are counted to find out whether a line may be a twin's.
pub(super) const MAX_DECIDING_LINES: usize = 200;
/// How many lines are compared to find out whether anything is left of a quoted text.
pub(super) const MAX_RELATED_LINES: usize = 200;
/// How similar a current line must be to a quoted one to count as its successor.
pub(super) const MIN_RELATED: f64 = 0.45;

/// How much of a quoted text must be left, counted in letters and digits.
pub(super) const MIN_LEFT: Share = Share { part: 3, of: 5 };

// Diagnosis: what a refusal shows and offers.

/// How long a request for a single line must be, compared with the line, to be all of it.
pub(super) const MIN_WHOLE_LINE: Share = Share { part: 7, of: 10 };
/// How far from the candidates a line is looked for that tells them apart.
pub(super) const MAX_LANDMARK_DISTANCE: usize = 60;

/// How far above a place the line that names its block is looked for.
pub(super) const MAX_LINES_TO_HEADING: usize = 1000;

/// How similar a place must be to be listed, and to be diagnosed.
pub(super) const MIN_CLOSE: f64 = 0.4;
pub(super) const MIN_VERY_CLOSE: f64 = 0.6;
/// How similar a line must be to one that shares no word with it to be shown as a typo, and how many letters it must have.
pub(super) const MIN_SPELLED_ALIKE: f64 = 0.8;
pub(super) const MIN_SPELLED_LETTERS: usize = 5;
/// How many differences of a candidate are shown, and how much of a differing line.
pub(super) const MAX_DIFFERENCES: usize = 4;
pub(super) const MAX_DIFFERENCE_CHARS: usize = 120;
/// How many differing lines a note shows.
pub(super) const MAX_SHOWN_LINES: usize = 3;
/// How many lines of a candidate are shown, and how much of each.
pub(super) const MAX_PREVIEW_LINES: usize = 6;
pub(super) const MAX_PREVIEW_CHARS: usize = 160;
/// How much of a line a message shows.
pub(super) const MAX_SHOWN_CHARS: usize = 80;
/// The longest text that the caller is offered to resend.
pub(super) const MAX_RESEND_BYTES: usize = 4 << 10;
/// How many lines above and below are added to a text to resend that occurs several times.
pub(super) const MAX_RESEND_CONTEXT: usize = 6;
/// How many lines around a place the hint says to read.
pub(super) const READ_CONTEXT: usize = 3;

/// The budget of one file. Requests that repeat the same line, in a file that does too, would otherwise take hours.
pub(super) const MAX_COST: usize = 1 << 25;

/// A part of a whole, as a fraction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    part: usize,
    of: usize,
}

impl Share {
    /// Whether some part of a whole is at least this share.
    pub(super) fn is_reached_by(self, part: usize, whole: usize) -> bool {
        part * self.of >= whole * self.part
    }
}

/// What may still be spent on one file. A cancelled call has nothing left to spend.
#[derive(Debug)]
pub(super) struct Budget {
    left: Cell<usize>,
    diagnoses_left: Cell<usize>,
    cancel: CancelToken,
}

impl Budget {
    pub(super) fn new(cancel: &CancelToken) -> Self {
        Self { left: Cell::new(MAX_COST), diagnoses_left: Cell::new(MAX_DIAGNOSES), cancel: cancel.clone() }
    }

    /// Another budget of the same size for the same call.
    pub(super) fn renew(&self) -> Self {
        Self::new(&self.cancel)
    }

    pub(super) fn spend(&self, cost: usize) {
        self.left.set(self.left.get().saturating_sub(cost));
    }

    /// Whether another request may be diagnosed, which is counted.
    pub(super) fn spend_diagnosis(&self) -> bool {
        let left = self.diagnoses_left.get();
        self.diagnoses_left.set(left.saturating_sub(1));
        left > 0
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0 || self.is_cancelled()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Call this before any search that is not for an exact match. If it returns false, the call is cancelled.
    pub(super) fn may_take_long(&self) -> bool {
        self.cancel.may_take_long()
    }
}
