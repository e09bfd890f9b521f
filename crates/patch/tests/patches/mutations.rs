//! Runs the fuzz targets on the same mutations of the corpus every time.

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

/// Bytes that are significant to one of the parsers.
const BYTES: &[u8] = b" +-@*\\<>=`~:#\"{}/.,\t\r\n0123456789ab\xff\xc3";

/// A deterministic random number generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit.max(1)
    }
}

/// Applies one random mutation to a text.
fn mutate(data: &mut Vec<u8>, random: &mut Random) {
    let byte = BYTES[random.below(BYTES.len())];
    let place = random.below(data.len() + 1);
    match random.below(9) {
        0 => change_lines(data, random, |lines, at, _| drop(lines.remove(at))),
        1 => change_lines(data, random, |lines, at, other| lines.insert(at, lines[other].clone())),
        2 => change_lines(data, random, |lines, at, other| lines.swap(at, other)),
        3 => change_lines(data, random, |lines, at, _| lines[at] = lines[at].split_off(1)),
        4 => change_lines(data, random, |lines, at, _| lines[at].insert(0, byte)),
        5 => data.insert(place, byte),
        6 => data.truncate(place),
        7 => {
            let other = CORPUS[random.below(CORPUS.len())].as_bytes();
            data.splice(place..place, other[random.below(other.len())..].iter().copied());
        }
        _ => change_lines(data, random, |lines, at, _| lines.insert(at, b"\n".to_vec())),
    }
}

/// Applies `change` to the lines of a text and two random line numbers.
fn change_lines(data: &mut Vec<u8>, random: &mut Random, change: impl Fn(&mut Vec<Vec<u8>>, usize, usize)) {
    let mut lines: Vec<Vec<u8>> = data.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if !lines.is_empty() {
        let (at, other) = (random.below(lines.len()), random.below(lines.len()));
        change(&mut lines, at, other);
        *data = lines.concat();
    }
}

#[test]
fn invariants_hold_for_mutated_patches() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for round in 0..24_000 {
        let mut data = CORPUS[round % CORPUS.len()].as_bytes().to_vec();
        for _ in 0..=random.below(6) {
            mutate(&mut data, &mut random);
        }
        run_all(&data);
    }
}

#[test]
fn invariants_hold_for_the_corpus() {
    CORPUS.iter().for_each(|text| run_all(text.as_bytes()));
}
