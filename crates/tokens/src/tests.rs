//! The counts below are those of `bpe-openai` 0.3.2 and of OpenAI's own `tiktoken` 0.14.0, which agree.

use super::*;

#[test]
fn counts_like_the_reference() {
    for (name, text, expected) in cases() {
        assert_eq!(count(&text), expected, "{name}");
    }
}

#[test]
fn stops_exactly_at_the_limit() {
    for (name, text, tokens) in cases() {
        assert!(!more_than([text.as_str()], tokens), "{name}");
        assert!(more_than([text.as_str()], tokens - 1), "{name}");
    }
}

#[test]
fn adds_up_several_texts() {
    // " the" is one token.
    let text = " the".repeat(1000);
    assert!(!more_than([text.as_str(), &text], 2000));
    assert!(more_than([text.as_str(), &text], 1999));
}

#[test]
fn pieces_make_up_the_text() {
    for (name, text, _) in cases() {
        assert_eq!(pieces(&text).collect::<String>(), text, "{name}");
    }
}

/// Name, text, number of tokens.
fn cases() -> Vec<(&'static str, String, usize)> {
    let source = include_str!("../samples/source.txt");
    let prose = include_str!("../samples/prose.txt");
    let languages = include_str!("../samples/languages.txt");
    vec![
        ("source code", source.to_owned(), 2_675),
        ("source code with CRLF", source.replace('\n', "\r\n"), 2_690),
        ("source code in tabs", source.replace("    ", "\t"), 2_669),
        ("prose", prose.to_owned(), 5_263),
        ("many languages", languages.to_owned(), 548),
        ("upper case", languages.to_uppercase(), 700),
        ("no-break spaces", languages.replace(' ', "\u{a0}"), 723),
        ("double ideographic spaces", languages.replace(' ', "\u{3000}\u{3000}"), 871),
        ("a run of a letter", "a".repeat(10_001), 1_251),
        ("a run of two letters", "aB".repeat(5_000), 5_001),
        ("a run of digits", "7".repeat(1_000), 334),
        ("a run of spaces", " ".repeat(10_001), 79),
        ("a run of spaces before a word", " ".repeat(10_001) + "word", 80),
        ("a run of tabs and newlines", "\t\n".repeat(3_001), 751),
        ("a run of no-break spaces before digits", "\u{a0}\u{a0}1".repeat(2_000), 6_000),
        ("a run of signs", "=".repeat(10_001), 157),
        ("a run of slashes and newlines", "//\n/".repeat(999), 1_000),
        ("a run of accents", "e\u{301}".repeat(999), 1_998),
        ("a run of emoji", "🙂".repeat(999), 999),
        ("names of special tokens", "<|endoftext|><|endofprompt|>".repeat(9), 109),
        ("scalars of every block", scalars(), 468_565),
        ("arbitrary mixtures", mixtures(), 44_932),
    ]
}

/// Scalar values from all of Unicode, each next to letters, spaces and digits.
fn scalars() -> String {
    let all = (0..=0x10_ffff).step_by(61).filter_map(char::from_u32);
    all.map(|c| format!("a{c}b {c} {c}A\n{c}{c}1")).collect()
}

/// Characters that the pattern treats differently, in every kind of order.
fn mixtures() -> String {
    let kinds: Vec<char> =
        " \t\n\r\u{b}\u{85}\u{a0}\u{2028}\u{200b}\u{3000}'sStTrReEvVmMlLdDſK/aA19._-é中あｱ\u{301}ǅʰ"
            .chars()
            .collect();
    let mut state = 88_172_645_463_325_252_u64;
    let mut pick = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        kinds[(state % kinds.len() as u64) as usize]
    };
    (0..50_000).map(|_| pick()).collect()
}
