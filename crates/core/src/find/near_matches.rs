//! Places that are similar to a request: the closest places by alignment, or, if no line of the request is in the file, the lines
//! that share words with it, differ in case, or are spelled almost alike.

use super::alignment::Difference;
use super::diagnosis::{Candidate, Cause, Mismatch, candidate};
use super::limits::{
    MAX_CANDIDATES, MAX_RARE, MAX_WORD_BYTES, MIN_SPELLED_ALIKE, MIN_SPELLED_LETTERS, MIN_VERY_CLOSE,
};
use super::punctuation::letters;
use super::similarity::line_similarity;
use crate::change::{DifferenceKind, Lines};
use crate::snapshot::Snapshot;

/// Places that are similar to the request.
#[derive(Default)]
pub(super) struct NearMatches {
    pub(super) cause: Option<Cause>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) mismatch: Option<Mismatch>,
    /// Whether the first candidate is the only one that can be offered.
    pub(super) is_decided: bool,
    /// The places to read if there is nothing to offer.
    pub(super) read: Vec<Lines>,
    /// How many candidates are about as close as the first; `None` if that is unknown.
    pub(super) rivals: Option<usize>,
}

impl NearMatches {
    /// The candidates that are about as close as the first, itself included.
    pub(super) fn rivals(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().take(self.rivals.unwrap_or(usize::MAX))
    }

    /// Lines that have a text in another case, those that have nothing else first.
    pub(super) fn by_case(line: &str, snapshot: &Snapshot) -> Self {
        let folded = line.to_lowercase();
        let mut found: Vec<(bool, usize)> = Vec::new();
        let text = snapshot.text();
        for (at, file) in text[..text.len().min(MAX_WORD_BYTES)].split(|&byte| byte == b'\n').enumerate() {
            let file = String::from_utf8_lossy(file).to_lowercase();
            if file.contains(&folded) {
                found.push((file.trim() != folded, at + 1));
                found.sort_unstable();
                found.truncate(MAX_CANDIDATES);
            }
        }
        let mut near = Self::default();
        for (_, number) in found {
            let lines = Lines { start: number, count: 1 };
            let mut place = candidate(lines, snapshot);
            near.add_difference(line, lines, &mut place, snapshot);
            near.candidates.push(place);
        }
        near.with_places_to_read()
    }

    /// Lines that are spelled almost like the request's only line, closest first. They are only shown; nothing is decided by
    /// them.
    pub(super) fn by_spelling(line: &str, snapshot: &Snapshot) -> Self {
        let text = snapshot.text();
        let length = line.chars().count();
        let mut found: Vec<(f64, usize)> = Vec::new();
        for (at, file) in text[..text.len().min(MAX_WORD_BYTES)].split(|&byte| byte == b'\n').enumerate() {
            // A line of very different length cannot be close.
            let file = file.trim_ascii();
            if letters(line) < MIN_SPELLED_LETTERS || file.len() < length / 2 || file.len() > 4 * length {
                continue;
            }
            let similarity = line_similarity(line, &String::from_utf8_lossy(file));
            if similarity >= MIN_SPELLED_ALIKE {
                found.push((similarity, at + 1));
                found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                found.truncate(MAX_CANDIDATES);
            }
        }
        let read: Vec<Lines> =
            found.into_iter().map(|(_, number)| Lines { start: number, count: 1 }).collect();
        let candidates = read.iter().map(|&lines| candidate(lines, snapshot)).collect();
        Self { candidates, read, rivals: Some(0), ..Self::default() }
    }

    /// Lines that share words with the request. For a request of one line, with the difference.
    pub(super) fn by_words(wanted: &[&str], snapshot: &Snapshot) -> Self {
        let mut near = Self::default();
        for lines in lines_sharing_words(wanted, snapshot) {
            let mut place = candidate(lines, snapshot);
            if let [line] = wanted
                && line_similarity(line, snapshot.line(lines.start).trim()) >= MIN_VERY_CLOSE
            {
                near.add_difference(line, lines, &mut place, snapshot);
            }
            near.candidates.push(place);
        }
        near.with_places_to_read()
    }

    /// Adds how a line of the file differs from the request's only line.
    fn add_difference(&mut self, line: &str, at: Lines, place: &mut Candidate, snapshot: &Snapshot) {
        let (request, file) = (line.to_owned(), snapshot.line(at.start).into_owned());
        let mismatch = Mismatch {
            line: Some(at.start),
            expected: request.clone(),
            found: Some(file.clone()),
            is_removed: false,
        };
        self.mismatch.get_or_insert(mismatch);
        let difference = Difference { class: DifferenceKind::Drift, line: at.start, request, file };
        place.differences.push((&difference).into());
        self.cause = Some(Cause::ChangedLine).filter(|_| self.candidates.is_empty()).or(self.cause);
    }

    fn with_places_to_read(mut self) -> Self {
        self.is_decided = self.candidates.len() == 1;
        self.read = self.candidates.iter().map(|candidate| candidate.lines).collect();
        self
    }
}

/// Lines that share at least half the words of the request's longest line.
fn lines_sharing_words(wanted: &[&str], snapshot: &Snapshot) -> Vec<Lines> {
    let Some(longest) = wanted.iter().max_by_key(|line| line.len()) else { return Vec::new() };
    let mut wanted_words = WantedWords::new(longest);
    if wanted_words.len() == 0 {
        return Vec::new();
    }
    let text = snapshot.text();
    if text.len() > MAX_WORD_BYTES {
        return lines_with_rarest_word(longest, &wanted_words.words, snapshot);
    }
    let mut best: Vec<(usize, usize)> = Vec::new(); // shared words, line
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let shared = wanted_words.count_in(line);
        if shared * 2 >= wanted_words.len() {
            best.push((shared, number + 1));
            best.sort_by_key(|&(shared, line)| (std::cmp::Reverse(shared), line));
            best.truncate(MAX_CANDIDATES);
        }
    }
    best.into_iter().map(|(_, line)| Lines { start: line, count: 1 }).collect()
}

/// The words of a line that others are compared with.
struct WantedWords<'w> {
    /// Sorted, each once.
    words: Vec<&'w str>,
    /// Which of them the current line has.
    seen: Vec<bool>,
    /// The lengths of the words, as bits: most other words have none of them.
    lengths: u64,
}

impl<'w> WantedWords<'w> {
    fn new(line: &'w str) -> Self {
        let mut words: Vec<&str> = words(line).collect();
        words.sort_unstable();
        words.dedup();
        let lengths = words.iter().fold(0, |bits, word| bits | length_bit(word.len()));
        Self { seen: vec![false; words.len()], words, lengths }
    }

    fn len(&self) -> usize {
        self.words.len()
    }

    /// How many of the words a line has.
    fn count_in(&mut self, line: &[u8]) -> usize {
        self.seen.fill(false);
        match std::str::from_utf8(line) {
            // Most lines: no character has to be decoded.
            Ok(line) if line.is_ascii() => {
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                for word in line.as_bytes().split(|byte| !is_word(byte)) {
                    self.note(word);
                }
            }
            Ok(line) => words(line).for_each(|word| self.note(word.as_bytes())),
            Err(_) => {
                words(&String::from_utf8_lossy(line)).for_each(|word| self.note(word.as_bytes()));
            }
        }
        self.seen.iter().filter(|seen| **seen).count()
    }

    fn note(&mut self, word: &[u8]) {
        if self.lengths & length_bit(word.len()) == 0 {
            return;
        }
        if let Ok(at) = self.words.binary_search_by(|wanted| wanted.as_bytes().cmp(word)) {
            self.seen[at] = true;
        }
    }
}

/// A bit for a length; long words share one.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// In a text that is too long to be compared line by line: the lines with the rarest word of the request, those that share most
/// words first. The start of the text alone would make its first lines look close, wherever the right one is.
fn lines_with_rarest_word(line: &str, words: &[&str], snapshot: &Snapshot) -> Vec<Lines> {
    let text = snapshot.text();
    let places = |word: &&str| -> Vec<usize> {
        memchr::memmem::find_iter(text, word.as_bytes()).take(MAX_RARE + 1).collect()
    };
    let rarest = words.iter().map(places).filter(|places| !places.is_empty()).min_by_key(Vec::len);
    let rarest = rarest.filter(|places| places.len() <= MAX_RARE).unwrap_or_default();
    let mut numbers: Vec<usize> = rarest.into_iter().map(|at| snapshot.line_of(at)).collect();
    numbers.dedup();
    let shared =
        |text: &str| words.iter().filter(|word| self::words(text).any(|other| other == **word)).count();
    let mut best: Vec<(usize, f64, usize)> = numbers
        .into_iter()
        .map(|number| {
            let text = snapshot.line(number);
            (shared(&text), line_similarity(line, text.trim()), number)
        })
        .filter(|(shared, ..)| shared * 2 >= words.len())
        .collect();
    best.sort_by(|one, other| other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)).then(one.2.cmp(&other.2)));
    best.into_iter().take(MAX_CANDIDATES).map(|(.., start)| Lines { start, count: 1 }).collect()
}

/// The words of a line with more than one character.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1)
}
