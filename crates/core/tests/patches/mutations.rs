//! The fuzz targets on mutations of the corpus: the same ones in every run.

use super::run_all;

const CORPUS: &[&str] = &[
    include_str!("../../../../fuzz/corpus/unified/plain"),
    include_str!("../../../../fuzz/corpus/unified/git"),
    include_str!("../../../../fuzz/corpus/unified/damaged"),
    include_str!("../../../../fuzz/corpus/unified/crlf"),
    include_str!("../../../../fuzz/corpus/unified/bare"),
    include_str!("../../../../fuzz/corpus/v4a/all"),
    include_str!("../../../../fuzz/corpus/v4a/wrapped"),
    include_str!("../../../../fuzz/corpus/v4a/json"),
    include_str!("../../../../fuzz/corpus/v4a/indented"),
    include_str!("../../../../fuzz/corpus/search_replace/plain"),
    include_str!("../../../../fuzz/corpus/search_replace/variants"),
    include_str!("../../../../fuzz/corpus/search_replace/broken"),
    include_str!("../../../../fuzz/corpus/detect/mixed"),
    include_str!("../../../../fuzz/corpus/detect/context"),
    include_str!("../../../../fuzz/corpus/detect/hidden"),
];

/// Bytes that mean something to one of the parsers.
const BYTES: &[u8] = b" +-@*\\<>=`~:#\"{}/.,\t\r\n0123456789ab\xff\xc3";

/// A small generator of numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides.max(1)
    }
}

/// Does one kind of damage to a text.
fn damage(data: &mut Vec<u8>, dice: &mut Dice) {
    let byte = BYTES[dice.roll(BYTES.len())];
    let place = dice.roll(data.len() + 1);
    match dice.roll(9) {
        0 => lines(data, dice, |lines, at, _| drop(lines.remove(at))),
        1 => lines(data, dice, |lines, at, other| lines.insert(at, lines[other].clone())),
        2 => lines(data, dice, |lines, at, other| lines.swap(at, other)),
        3 => lines(data, dice, |lines, at, _| lines[at] = lines[at].split_off(1)),
        4 => lines(data, dice, |lines, at, _| lines[at].insert(0, byte)),
        5 => data.insert(place, byte),
        6 => data.truncate(place),
        7 => {
            let other = CORPUS[dice.roll(CORPUS.len())].as_bytes();
            data.splice(place..place, other[dice.roll(other.len())..].iter().copied());
        }
        _ => lines(data, dice, |lines, at, _| lines.insert(at, b"\n".to_vec())),
    }
}

/// Changes the lines of a text, given two of them.
fn lines(data: &mut Vec<u8>, dice: &mut Dice, change: impl Fn(&mut Vec<Vec<u8>>, usize, usize)) {
    let mut lines: Vec<Vec<u8>> = data.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if !lines.is_empty() {
        let (at, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
        change(&mut lines, at, other);
        *data = lines.concat();
    }
}

#[test]
fn damaged_patches_break_no_promise() {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for round in 0..24_000 {
        let mut data = CORPUS[round % CORPUS.len()].as_bytes().to_vec();
        for _ in 0..=dice.roll(6) {
            damage(&mut data, &mut dice);
        }
        run_all(&data);
    }
}

#[test]
fn the_corpus_itself_breaks_no_promise() {
    CORPUS.iter().for_each(|text| run_all(text.as_bytes()));
}
