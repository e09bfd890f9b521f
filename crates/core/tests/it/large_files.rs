//! Files that are read in blocks: every answer is that for a file in memory, and what is read is no more than necessary.

use std::fmt::Write;

use serde_json::{Value, json};
use slipstitch_core::text::BlockHashes;

use crate::rig::{Rig, path};

const BLOCK: usize = BlockHashes::BLOCK;

/// Numbered lines, somewhat more than `len` bytes. Characters of two, three and four bytes cross the borders of blocks.
fn lines(len: usize, newline: &str) -> String {
    let mut text = String::new();
    for number in 1.. {
        if text.len() >= len {
            break;
        }
        let _ = write!(text, "line {number}: äöü €uro 🦀 {}{newline}", "x".repeat(number % 7));
    }
    text
}

/// The line that contains an offset, without its newline.
fn line_at(text: &str, at: usize) -> &str {
    let at = (at..).find(|&at| text.is_char_boundary(at)).unwrap();
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..].lines().next().unwrap()
}

/// Makes the same calls on a file in memory and on one in blocks.
fn assert_same_answers(name: &str, text: &[u8], calls: &[(&str, Value)]) {
    let (whole, blocks) = (Rig::new(text), Rig::in_blocks(text));
    for (tool, arguments) in calls {
        let expected = whole.call(tool, arguments.clone());
        let answer = blocks.call(tool, arguments.clone());
        assert_eq!(answer.text, expected.text, "{name}: {tool} {arguments}");
        assert_eq!(answer.report.diff, expected.report.diff, "{name}: {tool} {arguments}");
        assert!(blocks.bytes() == whole.bytes(), "{name}: {tool} {arguments}");
    }
}

/// Calls of every kind that a file in blocks is made for, and some that need it in memory.
fn calls(text: &str) -> Vec<(&'static str, Value)> {
    let last = text.lines().count();
    let middle = line_at(text, text.len() / 2);
    let border = line_at(text, 2 * BLOCK);
    let next = text.lines().skip_while(|line| *line != border).nth(1).unwrap();
    let edit = |old: &str, new: &str| ("edit_file", json!({"old_text": old, "new_text": new}));
    vec![
        edit(middle, "the middle"),
        edit(&format!("{border}\n{next}\n"), "a line\nand another\n"),
        edit(&format!("{border}\n"), "gone"),
        edit("line 1:", "first line:"),
        edit("äöü", "many"),
        (
            "edit_file",
            json!({"edits": [{"old_text": "line 2:", "new_text": "zwei"}, {"old_text": "line 777:", "new_text": "777\n778"}]}),
        ),
        ("edit_file", json!({"old_text": "line 9:", "new_text": "dry", "dry_run": true})),
        (
            "edit_file",
            json!({"old_text": "line 31:", "new_text": "inside", "start_line": 20, "end_line": 40}),
        ),
        ("edit_file", json!({"old_text": "line 31:", "new_text": "outside", "start_line": 2, "end_line": 4})),
        ("edit_file", json!({"old_text": "line 1", "new_text": "LINE 1", "replace_all": true})),
        ("edit_lines", json!({"start_line": 1, "end_line": 1, "new_text": "top"})),
        ("edit_lines", json!({"start_line": 500, "end_line": 510, "new_text": "fewer\nlines"})),
        ("edit_lines", json!({"start_line": last - 8, "end_line": last - 8, "new_text": ""})),
        ("edit_lines", json!({"start_line": last + 900, "end_line": last + 900, "new_text": ""})),
        ("edit_lines", json!({"start_line": 3, "end_line": 3, "new_text": "three", "expect": "not this"})),
        ("write_file", json!({"content": "the end", "mode": "append"})),
        ("write_file", json!({"content": "the start\n", "mode": "prepend"})),
        ("read_file", json!({"start_line": 700, "end_line": 705})),
        ("get_file_info", json!({})),
        ("undo_edit", json!({})),
        ("undo_edit", json!({})),
        ("undo_edit", json!({"change": "c1"})),
    ]
}

#[test]
fn answers_are_those_for_a_file_in_memory() {
    let text = lines(2 * BLOCK + 5000, "\n");
    let miss = ("edit_file", json!({"old_text": "no such text anywhere", "new_text": "x"}));
    assert_same_answers("miss", text.as_bytes(), &[miss]);
    let calls = calls(&text);
    assert_same_answers("LF", text.as_bytes(), &calls);
    assert_same_answers("CRLF", text.replace('\n', "\r\n").as_bytes(), &calls);
    assert_same_answers("BOM", format!("\u{feff}{text}").as_bytes(), &calls);
    assert_same_answers("no final newline", text.trim_end().as_bytes(), &calls);
    assert_same_answers("mixed", format!("one\r\n{text}").as_bytes(), &calls);
    assert_same_answers("Latin-1", &encoding_rs::WINDOWS_1252.encode(&text.replace('🦀', "ß")).0, &calls);
    assert_same_answers("binary", format!("{text}\0").as_bytes(), &calls);
}

#[test]
fn endings_at_the_borders_of_blocks() {
    for at in BLOCK - 3..BLOCK + 3 {
        let mut text = "x".repeat(at);
        text.push_str("\r\nneedle\r\n");
        text.push_str(&"y".repeat(BLOCK));
        let calls = [
            ("edit_file", json!({"old_text": "needle\n", "new_text": "nail\n"})),
            ("edit_lines", json!({"start_line": 2, "new_text": "two"})),
            ("get_file_info", json!({})),
        ];
        assert_same_answers("CRLF at a border", text.as_bytes(), &calls);
    }
}

#[test]
fn a_character_that_is_cut_off_is_not_text() {
    let mut text = lines(BLOCK, "\n").into_bytes();
    text.extend_from_slice(&"€".as_bytes()[..2]);
    assert_same_answers("cut off", &text, &[("get_file_info", json!({}))]);
    for at in BLOCK - 2..=BLOCK {
        let mut text = "x".repeat(at).into_bytes();
        text.extend_from_slice(b"\xE2\x28\xA1 invalid\n");
        assert_same_answers("invalid at a border", &text, &[("get_file_info", json!({}))]);
    }
}

/// What a call on a file in blocks reads, in bytes.
fn read_by(text: &str, tool: &str, arguments: Value) -> usize {
    let rig = Rig::in_blocks(text);
    let answer = rig.call(tool, arguments);
    assert_eq!(answer.report.code(), "applied", "{}", answer.text);
    rig.files.bytes_read()
}

#[test]
fn an_edit_reads_the_file_once() {
    let text = lines(16 * BLOCK, "\n");
    let last = text.lines().count();
    // The blocks around the edit, and that at the start for the guard against generated files.
    let around = 6 * BLOCK;
    let read = read_by(&text, "edit_file", json!({"old_text": "line 900:", "new_text": "LINE 900:"}));
    assert!(read <= text.len() + around, "{read} of {}", text.len());
    let read = read_by(&text, "edit_lines", json!({"start_line": last, "new_text": "a longer last line"}));
    assert!(read <= text.len() + around, "{read} of {}", text.len());
    let read = read_by(&text, "write_file", json!({"content": "more", "mode": "append"}));
    assert!(read <= text.len() + around, "{read} of {}", text.len());
    // What moves is hashed again.
    let read =
        read_by(&text, "edit_file", json!({"old_text": "line 900:", "new_text": "line nine hundred:"}));
    assert!(read <= 2 * text.len() + around, "{read} of {}", text.len());
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_again() {
    let text = lines(4 * BLOCK, "\n");
    let other = text.replace("line 40:", "someone else's line:");
    for after in [1, BLOCK, 2 * BLOCK, 4 * BLOCK, text.len(), text.len() + 1, text.len() + BLOCK] {
        let rig = Rig::in_blocks(text.as_str());
        rig.files.write_after_reading(after, &path("file.txt"), other.as_str());
        let answer = rig.edit("line 900:", "my line:");
        assert_eq!(answer.report.code(), "applied", "after {after}: {}", answer.text);
        let now = String::from_utf8(rig.bytes()).unwrap();
        let expected = if after > rig.files.bytes_read() { &text } else { &other };
        assert!(now == expected.replace("line 900:", "my line:"), "after {after} bytes");
        assert_eq!(rig.call("undo_edit", json!({})).report.code(), "applied");
        assert!(rig.bytes() == expected.as_bytes(), "after {after} bytes");
    }
}

/// Lines of ASCII, about `len` bytes.
fn plain_lines(len: usize) -> String {
    let mut text = String::new();
    for number in 1.. {
        if text.len() >= len {
            break;
        }
        let _ = writeln!(text, "line {number} of many");
    }
    text
}

#[test]
fn a_range_is_read_no_further_than_its_last_line() {
    let text = plain_lines(20 * BLOCK);
    let size = text.len();
    for (first, last, blocks) in [(1, 100, 1), (30_000, 30_004, 3)] {
        let rig = Rig::in_blocks(text.as_str());
        let answer = rig.call("read_file", json!({"start_line": first, "end_line": last}));
        let lines: String =
            (first..=last).map(|number| format!("{number:>6}\tline {number} of many\n")).collect();
        let footer = format!(
            "[lines {first}-{last} of a file of {size} bytes]\nversion: not computed for a part of a large file; `get_file_info` returns it"
        );
        assert_eq!(answer.text, lines + &footer);
        assert!(rig.files.bytes_read() <= blocks * BLOCK, "{} bytes", rig.files.bytes_read());
    }
}

#[test]
fn a_range_that_other_parts_of_the_file_could_change_is_shown_as_in_memory() {
    let text = plain_lines(3 * BLOCK);
    let calls = [
        ("read_file", json!({"start_line": 3, "end_line": 5})),
        ("read_file", json!({"start_line": 2, "end_line": 9_000_000})),
        ("read_file", json!({"start_line": 9_000_000, "end_line": 9_000_001})),
        ("read_file", json!({"start_line": 5, "end_line": 4})),
    ];
    for (name, start) in
        [("CRLF", "one\r\n"), ("UTF-8", "one\ntwo\nthree ä\n"), ("BOM", "\u{feff}one\n"), ("NUL", "\0\n")]
    {
        assert_same_answers(name, format!("{start}{text}").as_bytes(), &calls);
    }
    assert_same_answers("plain", text.as_bytes(), &calls[1..]);
}
