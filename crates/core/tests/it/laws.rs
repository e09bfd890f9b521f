//! The three laws, each against an oracle that is independent of the engine.
//!
//! Files are generated character by character, so that the test knows which bytes belong to which character of the
//! canonical text.

use encoding_rs::Encoding as Legacy;
use proptest::prelude::*;
use serde_json::{Value, json};
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::guard::Policy;
use slipstitch_core::outcome::Status;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{Fault, MemoryJournal, MemoryWorkspace};
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::text::{Encoding, EncodingRule};

/// A file whose every byte is known to belong to a character.
#[derive(Debug, Clone)]
struct KnownFile {
    encoding: Encoding,
    bom: Vec<u8>,
    /// Each character of the canonical text with its bytes in the file; `None` for invalid bytes.
    units: Vec<(Option<char>, Vec<u8>)>,
}

impl KnownFile {
    fn bytes(&self) -> Vec<u8> {
        self.bom.iter().copied().chain(self.units.iter().flat_map(|(_, bytes)| bytes.clone())).collect()
    }

    fn start_of(&self, unit: usize) -> usize {
        self.bom.len() + self.units[..unit].iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    }

    /// The newline for text that replaces units without one: that of the same line, or else of the line before. Text that
    /// is only inserted in front of a line prefers the line before.
    fn newline_near(&self, from: usize, to: usize, only_inserts: bool) -> &'static str {
        let newline = |(c, bytes): &(Option<char>, Vec<u8>)| {
            let matches = |newline: &&&str| encode(self.encoding, newline) == *bytes;
            ["\n", "\r\n", "\r"].iter().find(matches).copied().filter(|_| *c == Some('\n'))
        };
        let before = || self.units[..from].iter().rev().find_map(newline);
        let own = || self.units[to..].iter().find_map(newline);
        let at_line_start = from == 0 || self.units[from - 1].0 == Some('\n');
        let found = match only_inserts && at_line_start {
            true => before().or_else(own),
            false => own().or_else(before),
        };
        found.unwrap_or("\n")
    }

    /// The text that replaces `old` at a unit. A newline at either end that only `old` has is kept, and indentation that
    /// `new` repeats is not doubled.
    fn expected(&self, at: usize, old: &[char], new: &str) -> String {
        let mut expected = new.to_owned();
        let old_text: String = old.iter().collect();
        let indent = |text: &str| text[..text.len() - text.trim_start().len()].to_owned();
        let next = self.units.get(at + old.len());
        let ends_line = old.last() == Some(&'\n') || next.is_none_or(|(c, _)| *c == Some('\n'));
        if let Some(rest) = old_text.strip_prefix('\n') {
            let joins = new.trim() == old_text.trim() || indent(new) != indent(rest);
            if ends_line && !joins && !new.is_empty() && !new.starts_with('\n') && !rest.starts_with('\n') {
                expected.insert(0, '\n');
            }
        } else {
            let before: Option<String> =
                self.units[..at].iter().rev().map(|(c, _)| *c).take_while(|c| *c != Some('\n')).collect();
            let before: String = before.unwrap_or("?".into()).chars().rev().collect();
            if !before.is_empty()
                && before.trim().is_empty()
                && indent(&old_text).is_empty()
                && let Some(bare) = new.strip_prefix(&before)
                && !bare.starts_with([' ', '\t'])
                && bare != old_text
            {
                expected = bare.to_owned();
            }
        }
        let mut before = self.units[..at].iter().rev().map(|(c, _)| *c).take_while(|c| *c != Some('\n'));
        let whole_lines = old.last() == Some(&'\n') && before.all(|c| matches!(c, Some(' ' | '\t')));
        if whole_lines && !expected.is_empty() && !expected.ends_with('\n') {
            expected.push('\n');
        }
        expected
    }

    /// The units at which `old` occurs.
    fn places(&self, old: &[char]) -> Vec<usize> {
        (0..self.units.len())
            .filter(|&at| {
                at + old.len() <= self.units.len()
                    && self.units[at..at + old.len()].iter().zip(old).all(|((unit, _), c)| *unit == Some(*c))
            })
            .collect()
    }
}

fn encode(encoding: Encoding, text: &str) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Encoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        Encoding::Legacy(legacy) => legacy.encode(text).0.into_owned(),
    }
}

/// An encoding, its byte order mark, some of its characters, and bytes that are invalid in it.
type Alphabet = (Encoding, &'static [u8], &'static str, &'static [u8]);

fn alphabets() -> impl Strategy<Value = Alphabet> {
    let legacy = |legacy: &'static Legacy| Encoding::Legacy(legacy);
    prop_oneof![
        3 => Just((Encoding::Utf8, &b""[..], "ab \tü→😀ﬁ①\u{2028}\u{c}", &b"\xFF"[..])),
        1 => Just((Encoding::Utf8, &b"\xEF\xBB\xBF"[..], "ab é", &b"\x80"[..])),
        1 => Just((Encoding::Utf16Le, &b"\xFF\xFE"[..], "ab ü😀", &b"\x00\xD8"[..])),
        1 => Just((Encoding::Utf16Be, &b"\xFE\xFF"[..], "ab ü😀", &b"\xD8\x00"[..])),
        1 => Just((legacy(encoding_rs::WINDOWS_1252), &b""[..], "ab éß", &b""[..])),
        1 => Just((legacy(encoding_rs::GBK), &b""[..], "ab 中文字", &b"\xFF"[..])),
        1 => Just((legacy(encoding_rs::SHIFT_JIS), &b""[..], "ab 日本カ", &b"\xFD"[..])),
    ]
}

fn known_files() -> impl Strategy<Value = KnownFile> {
    alphabets().prop_flat_map(|(encoding, bom, characters, junk)| {
        let characters: Vec<char> = characters.chars().collect();
        let unit = (0..100u8, any::<proptest::sample::Index>()).prop_map(move |(kind, pick)| match kind {
            0..20 => Some((Some('\n'), encode(encoding, ["\n", "\r\n", "\r"][pick.index(3)]))),
            20..24 if !junk.is_empty() => Some((None, junk.to_vec())),
            _ => {
                let c = characters[pick.index(characters.len())];
                Some((Some(c), encode(encoding, &c.to_string())))
            }
        });
        proptest::collection::vec(unit, 0..60).prop_map(move |units| {
            let mut units: Vec<(Option<char>, Vec<u8>)> = units.into_iter().flatten().collect();
            // A lone \r before a lone \n is one line ending.
            for at in 1..units.len() {
                let (before, after) = (encode(encoding, "\r"), encode(encoding, "\n"));
                if units[at - 1].1 == before && units[at].1 == after {
                    units[at].1 = before;
                }
            }
            // Invalid bytes must not form a character with the next byte.
            for at in 1..units.len() {
                if units[at - 1].0.is_none() && !units[at].1[0].is_ascii() {
                    units[at] = (Some('a'), encode(encoding, "a"));
                }
            }
            KnownFile { encoding, bom: bom.to_vec(), units }
        })
    })
}

fn path() -> FilePath {
    FilePath::from_record("file.txt").unwrap()
}

struct Rig {
    files: MemoryWorkspace,
    journal: MemoryJournal,
    policy: Policy,
    encoding: EncodingRule,
}

impl Rig {
    fn new(bytes: Vec<u8>, encoding: EncodingRule) -> Self {
        let files = MemoryWorkspace::default();
        files.put(&path(), bytes);
        // Small random files shrink a lot. The shrink guard has its own tests.
        let policy = Policy { shrink_from_lines: usize::MAX, ..Policy::default() };
        Self { files, journal: MemoryJournal::default(), policy, encoding }
    }

    fn call(&self, tool: &str, arguments: Value) -> Answer {
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .policy(&self.policy)
            .encoding(self.encoding)
            .session("laws");
        engine.call(Request { dialect: "native".into(), tool: tool.into(), arguments }, &mut Auto)
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        self.files.get(&path())
    }
}

/// Decodes written bytes into canonical text.
fn decode(encoding: Encoding, bytes: &[u8]) -> String {
    let text = match encoding {
        Encoding::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
        Encoding::Utf16Le => encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0.into_owned(),
        Encoding::Utf16Be => encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0.into_owned(),
        Encoding::Legacy(legacy) => legacy.decode_without_bom_handling(bytes).0.into_owned(),
    };
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Part of the file's text, with a wrong character at the end if `damage` is set.
fn quote(known: &KnownFile, from: usize, length: usize, damage: bool) -> Vec<char> {
    let from = from.min(known.units.len());
    let until = (from + length).min(known.units.len());
    let mut old: Vec<char> = known.units[from..until].iter().map(|(c, _)| c.unwrap_or('?')).collect();
    if damage {
        old.push('§');
    }
    old
}

fn with_line_endings(text: &[char], style: u8) -> String {
    let text: String = text.iter().collect();
    match style {
        0 => text.replace('\n', "\r\n"),
        1 => text.replace('\n', "\r"),
        _ => text,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    /// Laws one and two: the old text is replaced where it occurs, if it occurs once; every other byte is unchanged; the
    /// new text has the file's own encoding and newlines.
    #[test]
    fn an_edit_changes_only_the_matched_bytes(
        known in known_files(),
        from in 0usize..60,
        length in 1usize..12,
        damage in prop::bool::weighted(0.1),
        new in "[ab \n]{0,8}",
        style in 0u8..4,
    ) {
        let before = known.bytes();
        let rig = Rig::new(before.clone(), EncodingRule::Force(known.encoding));
        let old = quote(&known, from, length, damage);
        let answer = rig.call("edit_file", json!({
            "path": "file.txt", "old_text": with_line_endings(&old, style), "new_text": new,
        }));
        let after = rig.bytes().unwrap();
        let places = known.places(&old);
        let blank = old.iter().all(|c| c.is_whitespace());
        if places.is_empty() && answer.report.warnings.iter().any(|warning| warning.contains("recovered")) {
            return Ok(()); // recovery has its own tests
        }
        if blank || places.len() != 1 {
            prop_assert_eq!(&after, &before, "a refusal leaves the file unchanged: {}", answer.text);
            prop_assert!(answer.report.status() != Status::Applied);
            return Ok(());
        }
        let (start, end) = (known.start_of(places[0]), known.start_of(places[0] + old.len()));
        // This would join a \r and a \n into one line ending.
        let bytes_of = |unit: Option<&(Option<char>, Vec<u8>)>| unit.map(|(_, bytes)| bytes.clone()).unwrap_or_default();
        let joins = new.is_empty()
            && places[0] > 0
            && bytes_of(known.units.get(places[0] - 1)) == encode(known.encoding, "\r")
            && bytes_of(known.units.get(places[0] + old.len())) == encode(known.encoding, "\n");
        prop_assert_eq!(answer.report.code() == "joins_newlines", joins);
        if joins || answer.report.status() == Status::NoChange {
            prop_assert_eq!(&after, &before);
            return Ok(());
        }
        prop_assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
        prop_assert!(after.len() >= start + before.len() - end);
        prop_assert_eq!(&after[..start], &before[..start], "bytes before the match");
        prop_assert_eq!(&after[after.len() - (before.len() - end)..], &before[end..], "bytes after the match");
        let written = &after[start..after.len() - (before.len() - end)];
        let expected = known.expected(places[0], &old, &new);
        prop_assert_eq!(decode(known.encoding, written), expected.clone());
        let lone_cr = known.units.iter().any(|(_, bytes)| *bytes == encode(known.encoding, "\r"));
        if !old.contains(&'\n') && !lone_cr {
            let only_inserts = expected.ends_with(&format!("\n{}", old.iter().collect::<String>()));
            let newline = known.newline_near(places[0], places[0] + old.len(), only_inserts);
            let text = expected.replace('\n', newline);
            prop_assert_eq!(written, &encode(known.encoding, &text)[..], "the file's own newline and encoding");
        }
    }

    /// Law three: undo and redo restore every byte.
    #[test]
    fn undo_and_redo_restore_every_byte(
        known in known_files(),
        from in 0usize..60,
        length in 1usize..12,
        lines in (1usize..8, 0usize..4),
        kind in 0u8..6,
        new in "[ab \n]{0,8}",
    ) {
        let before = known.bytes();
        let rig = Rig::new(before.clone(), EncodingRule::Force(known.encoding));
        let old: String = quote(&known, from, length, false).iter().collect();
        let answer = match kind {
            0 => rig.call("edit_file", json!({"path": "file.txt", "old_text": old, "new_text": new})),
            1 => rig.call("edit_file", json!({"path": "file.txt", "old_text": old, "new_text": new, "replace_all": true})),
            2 => rig.call("edit_lines", json!({"path": "file.txt", "start_line": lines.0, "end_line": lines.0 + lines.1, "new_text": new})),
            3 => rig.call("write_file", json!({"path": "file.txt", "content": new, "mode": "overwrite"})),
            4 => rig.call("write_file", json!({"path": "file.txt", "content": new, "mode": "append"})),
            _ => rig.call("write_file", json!({"path": "file.txt", "content": new, "mode": "prepend"})),
        };
        let after = rig.bytes().unwrap();
        if answer.report.status() != Status::Applied {
            prop_assert_eq!(&after, &before, "a refusal leaves the file unchanged: {}", answer.text);
            return Ok(());
        }
        prop_assert_ne!(&after, &before, "a report of a change means that the file changed");
        let undone = rig.call("undo_edit", json!({}));
        prop_assert_eq!(undone.report.status(), Status::Applied, "{}", undone.text);
        prop_assert_eq!(rig.bytes().unwrap(), before.clone());
        let id = undone.report.change.unwrap();
        let redone = rig.call("undo_edit", json!({"change": id.to_string()}));
        prop_assert_eq!(redone.report.status(), Status::Applied, "{}", redone.text);
        prop_assert_eq!(rig.bytes().unwrap(), after);
    }

    /// Arbitrary bytes, with the encoding detected: lines are replaced, and all other lines keep their bytes.
    #[test]
    fn replacing_lines_of_arbitrary_bytes_keeps_the_other_lines(
        parts in proptest::collection::vec(prop_oneof![
            proptest::collection::vec(1u8.., 0..6),
            Just(b"\n".to_vec()), Just(b"\r\n".to_vec()), Just(b"\r".to_vec()), Just(b"text".to_vec()),
        ], 0..16),
        first in 1usize..6,
        more in 0usize..3,
        new in "[ab\n]{0,6}",
    ) {
        let before = parts.concat();
        prop_assume!(!before.starts_with(b"\xFF\xFE") && !before.starts_with(b"\xFE\xFF"));
        let rig = Rig::new(before.clone(), EncodingRule::Detect);
        let answer = rig.call("edit_lines", json!({
            "path": "file.txt", "start_line": first, "end_line": first + more, "new_text": new,
        }));
        let after = rig.bytes().unwrap();
        // The oracle: split the bytes at \n, \r\n and \r.
        let bom = if before.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let mut line_starts = vec![bom];
        for at in bom..before.len() {
            if before[at] == b'\n' || (before[at] == b'\r' && before.get(at + 1) != Some(&b'\n')) {
                line_starts.push(at + 1);
            }
        }
        if line_starts[line_starts.len() - 1] < before.len() {
            line_starts.push(before.len());
        }
        let count = line_starts.len() - 1;
        if first + more > count || answer.report.code() == "joins_newlines" {
            prop_assert!(answer.report.code() == "joins_newlines" || answer.report.code() == "out_of_range");
            prop_assert_eq!(after, before);
            return Ok(());
        }
        prop_assert!(answer.report.is_success(), "{}", answer.text);
        let (start, end) = (line_starts[first - 1], line_starts[first + more]);
        prop_assert_eq!(&after[..start], &before[..start]);
        prop_assert_eq!(&after[after.len() - (before.len() - end)..], &before[end..]);
        let written = &after[start..after.len() - (before.len() - end)];
        let body = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n").trim_end_matches('\n').to_owned();
        prop_assert_eq!(body(&String::from_utf8_lossy(written)), body(&new));
    }

    /// Law three: if writing fails, the files are unchanged.
    #[test]
    fn a_fault_leaves_every_file_unchanged(publish in any::<bool>(), new in "new[a-z]{1,5}") {
        let rig = Rig::new(b"one\ntwo\n".to_vec(), EncodingRule::Detect);
        let fault = if publish { Fault::Publish } else { Fault::Stage };
        rig.files.fail_next(fault, WorkspaceError::Io { path: path(), action: "write", reason: "no space left".into() });
        let answer = rig.call("edit_file", json!({"path": "file.txt", "old_text": "two", "new_text": new}));
        prop_assert_eq!(answer.report.status(), Status::Failed);
        prop_assert_eq!(rig.bytes().unwrap(), b"one\ntwo\n".to_vec());
        let undo = rig.call("undo_edit", json!({}));
        prop_assert_eq!(undo.report.code(), "nothing_to_undo");
    }

    /// If another process writes between reading and writing, the edit is applied to its text or not at all.
    #[test]
    fn another_writer_is_never_overwritten(theirs in "[a-z ]{0,12}\n", keep in any::<bool>()) {
        let rig = Rig::new(b"one\nTWO\n".to_vec(), EncodingRule::Detect);
        let meanwhile = if keep { format!("{theirs}TWO\n") } else { theirs.clone() };
        rig.files.write_after_next_read(&path(), meanwhile.clone());
        let answer = rig.call("edit_file", json!({"path": "file.txt", "old_text": "TWO", "new_text": "2"}));
        let after = String::from_utf8(rig.bytes().unwrap()).unwrap();
        if keep {
            prop_assert_eq!(answer.report.status(), Status::Applied);
            prop_assert_eq!(after, format!("{theirs}2\n"));
        } else {
            prop_assert_eq!(answer.report.code(), "no_match");
            prop_assert_eq!(after, meanwhile);
        }
    }
}

fn one_edit(bytes: &[u8], encoding: EncodingRule, tool: &str, arguments: Value) -> (Answer, Vec<u8>) {
    let rig = Rig::new(bytes.to_vec(), encoding);
    let answer = rig.call(tool, arguments);
    let after = rig.bytes().unwrap();
    (answer, after)
}

/// Invalid bytes must not form a character with the text inserted next to them.
#[test]
fn new_text_does_not_merge_with_invalid_bytes() {
    let sjis = EncodingRule::Force(Encoding::Legacy(encoding_rs::SHIFT_JIS));
    let cases: [(&[u8], EncodingRule, Value); 3] = [
        (b"ab\x81\nfoo x\n", sjis, json!({"path": "file.txt", "old_text": "\nfoo", "new_text": "Afoo"})),
        (
            b"\xFF\xFEa\0x\0\x00\xD8\n\0",
            EncodingRule::Detect,
            json!({"path": "file.txt", "old_text": "x", "new_text": ""}),
        ),
        (
            b"caf\xC3\xA9 \xE2\x82 X \xAC",
            EncodingRule::Force(Encoding::Utf8),
            json!({"path": "file.txt", "old_text": " X ", "new_text": ""}),
        ),
    ];
    for (number, (bytes, encoding, arguments)) in cases.into_iter().enumerate() {
        let (answer, after) = one_edit(bytes, encoding, "edit_file", arguments);
        // The second is fine: the lone surrogate stays one.
        let refused = number != 1;
        assert_eq!(answer.report.code() == "splits_character", refused, "case {number}: {}", answer.text);
        assert_eq!(after == bytes, refused, "case {number}");
    }
    let odd_length = b"\xFF\xFEa\0b\0\n\0c";
    let append = json!({"path": "file.txt", "content": "zz", "mode": "append"});
    let (answer, after) = one_edit(odd_length, EncodingRule::Detect, "write_file", append);
    assert_eq!((answer.report.code(), after.as_slice()), ("splits_character", &odd_length[..]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// A batch of edits with line ranges: each is applied where the oracle finds it inside its range, or nothing changes.
    #[test]
    fn a_batch_with_line_ranges_is_applied_completely_or_not_at_all(
        lines in proptest::collection::vec("[ab]{1,2}", 1..12),
        picks in proptest::collection::vec((0usize..12, 0usize..3, 0usize..3, "[cd]{0,2}"), 1..12),
        crlf in any::<bool>(),
    ) {
        let newline = if crlf { "\r\n" } else { "\n" };
        let text: String = lines.iter().map(|line| format!("{line}{newline}")).collect();
        let mut edits = Vec::new();
        let mut expected: Option<Vec<(usize, String)>> = Some(Vec::new());
        for (line, up, down, new) in &picks {
            let line = line % lines.len();
            let (first, last) = (line.saturating_sub(*up), (line + down).min(lines.len() - 1));
            edits.push(json!({"old_text": lines[line].clone() + "\n", "new_text": new.clone() + "\n", "start_line": first + 1, "end_line": last + 1}));
            // The oracle: lines in the range that end with the old text, because a match may start inside a line.
            let hits: Vec<usize> = (first..=last).filter(|&at| lines[at].ends_with(lines[line].as_str())).collect();
            let is_free = expected.as_ref().is_some_and(|list| list.iter().all(|(at, _)| *at != line));
            match (&mut expected, &hits[..]) {
                (Some(list), [one]) if *one == line && is_free => list.push((line, new.clone())),
                _ => expected = None,
            }
        }
        let rig = Rig::new(text.clone().into_bytes(), EncodingRule::Detect);
        let answer = rig.call("edit_file", json!({"path": "file.txt", "edits": edits}));
        let after = String::from_utf8(rig.bytes().unwrap()).unwrap();
        match expected {
            None => {
                prop_assert_eq!(after, text, "nothing must be written: {}", answer.text);
                prop_assert!(answer.report.status() != Status::Applied);
            }
            Some(list) => {
                let mut expected = lines.clone();
                for (at, new) in list {
                    expected[at] = new;
                }
                let expected: String = expected.iter().map(|line| format!("{line}{newline}")).collect();
                prop_assert_eq!(after, expected, "{}", answer.text);
                let undone = rig.call("undo_edit", json!({}));
                prop_assert_eq!(undone.report.status(), Status::Applied);
                prop_assert_eq!(rig.bytes().unwrap(), text.into_bytes());
            }
        }
    }
}
