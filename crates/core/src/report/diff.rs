//! Prints a change as a unified diff. It is built from the splices, so its cost does not depend on the size of the file.
//!
//! Lines of the diff end at `\n` only and contain the file's own bytes, including `\r`, so that `git apply` and GNU patch
//! produce the same file from it. Only a file in another encoding, or one whose lines end at `\r` alone, is printed as
//! decoded text, because a diff of its bytes would be unreadable.

use std::borrow::Cow;
use std::ops::Range;

use crate::change::{Base, ChangeSet, FileChange, Lines, PathChange};
use crate::path::FilePath;
use crate::snapshot::{Snapshot, Snapshots};
use slipstitch_text::display::truncate_bytes;
use slipstitch_text::{Encoding, Newline, Span, Splice, Splices, for_each_changed_range};

/// A longer diff of a file is omitted: it is too long to read, and the journal stores the inverse of the change anyway.
const MAX_BYTES: usize = 32 << 20;

/// Marks a diff that was omitted.
pub(crate) const OMITTED_DIFF: &str = "(diff omitted: ";

/// Stored diffs are for display only, so a long one is truncated. The inverse is always stored whole.
const MAX_STORED_BYTES: usize = 1 << 20;

/// The diff of a proposal is what its reviewer decides about, so more of it is kept.
const MAX_PROPOSED_BYTES: usize = 8 << 20;

/// The start and the end of the line that marks a truncated diff.
const TRUNCATION_MARK: (&str, &str) = ("[… ", " more bytes of the diff …]");

/// More than the mark takes up, so that a truncated diff is not truncated again.
const MAX_MARK_BYTES: usize = 64;

/// The diff of a change as the journal stores it.
pub(crate) fn truncate_stored_diff(diff: Cow<'_, str>) -> String {
    truncate_diff(diff, MAX_STORED_BYTES)
}

/// The diff of a proposal as the journal stores it.
pub(crate) fn truncate_proposed_diff(diff: String) -> String {
    truncate_diff(diff.into(), MAX_PROPOSED_BYTES)
}

fn truncate_diff(diff: Cow<'_, str>, max_bytes: usize) -> String {
    let (before, after) = TRUNCATION_MARK;
    match truncate_bytes(&diff, max_bytes) {
        Some((start, omitted)) if diff.len() > max_bytes + MAX_MARK_BYTES => {
            format!("{start}\n{before}{omitted}{after}\n")
        }
        _ => diff.into_owned(),
    }
}

/// Whether nothing was left out of a diff.
pub fn is_whole_diff(diff: &str) -> bool {
    let (before, after) = TRUNCATION_MARK;
    // The lines of files are preceded by a space, a plus or a minus.
    !diff
        .lines()
        .any(|line| line.starts_with(OMITTED_DIFF) || (line.starts_with(before) && line.ends_with(after)))
}

/// The diff of all files of a change, as bytes, with `context` lines around each place.
pub fn unified_diff(changes: &ChangeSet, snapshots: &Snapshots, context: usize) -> Vec<u8> {
    unified_diff_of(changes.files(), snapshots, context)
}

/// The diff of some files of a change.
pub(crate) fn unified_diff_of<'a>(
    files: impl IntoIterator<Item = &'a FileChange>,
    snapshots: &Snapshots,
    context: usize,
) -> Vec<u8> {
    let mut out = Vec::new();
    for file in files.into_iter().filter(|file| !file.is_empty()) {
        print_file(file, snapshots.before(file), context, &mut out);
    }
    out
}

/// Prints the diff of one file; `snapshot` is the file before the change, if there was one.
fn print_file(file: &FileChange, snapshot: Option<&Snapshot>, context: usize, out: &mut Vec<u8>) {
    let few_splices = file.splices.iter().len() <= MAX_WINDOWS;
    if let Some(snapshot) = snapshot.filter(|snapshot| snapshot.is_in_blocks() && few_splices) {
        let windows = windows(file, snapshot, context);
        let texts: Vec<Cow<'_, [u8]>> = windows.iter().map(|window| snapshot.bytes_in(window.at)).collect();
        let parts = windows.iter().zip(&texts).map(|(window, old)| DiffPart {
            old,
            edits: LineEdits::find(old, &window.splices, is_narrow(file)),
            lines_before: snapshot.line_of(snapshot.view_span(window.at).start()) - 1,
        });
        return print_parts(file, &parts.collect::<Vec<_>>(), context, out);
    }
    let text = DiffText::of(file, snapshot);
    let edits = LineEdits::find(text.old, &text.splices, is_narrow(file));
    print_parts(file, &[DiffPart { old: text.old, edits, lines_before: 0 }], context, out);
}

/// A part of the old text, and what changes in it.
struct DiffPart<'a> {
    old: &'a [u8],
    edits: LineEdits<'a>,
    /// How many lines of the file precede it.
    lines_before: usize,
}

fn print_parts(file: &FileChange, parts: &[DiffPart<'_>], context: usize, out: &mut Vec<u8>) {
    print_header(file, parts.iter().any(|part| part.edits.bytes > 0), out);
    match parts.iter().map(|part| part.edits.bytes).sum::<usize>() {
        bytes if bytes > MAX_BYTES => {
            out.extend_from_slice(format!("{OMITTED_DIFF}{bytes} bytes)\n").as_bytes());
        }
        bytes => {
            // Its lines, with signs and some context.
            out.reserve(bytes + bytes / 8);
            let mut shift = 0;
            parts.iter().for_each(|part| print_hunks(part, context, &mut shift, out));
        }
    }
}

/// With more splices, a large file is read into memory for its diff.
const MAX_WINDOWS: usize = 1000;

/// The surroundings of one or more splices, and the splices relative to it.
struct Window {
    at: Span,
    splices: Vec<Splice>,
}

/// The parts of a large file that its diff needs. Edits whose context lines meet are in one window.
fn windows(file: &FileChange, snapshot: &Snapshot, context: usize) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    for splice in file.splices.iter() {
        let around = snapshot.lines_around(splice.at, 2 * context + 1);
        let relative = |window: Span| Splice {
            at: Span::new(splice.at.start() - window.start(), splice.at.end() - window.start()),
            insert: splice.insert.clone(),
        };
        match windows.last_mut() {
            Some(last) if around.start() <= last.at.end() => {
                last.at = Span::new(last.at.start(), around.end().max(last.at.end()));
                last.splices.push(relative(last.at));
            }
            _ => windows.push(Window { at: around, splices: vec![relative(around)] }),
        }
    }
    windows
}

/// The text of a file that its diff shows, and its change in terms of that text.
struct DiffText<'a> {
    old: &'a [u8],
    splices: Cow<'a, [Splice]>,
    /// The file, if the text is decoded.
    decoded: Option<&'a Snapshot>,
}

impl<'a> DiffText<'a> {
    fn of(file: &'a FileChange, snapshot: Option<&'a Snapshot>) -> Self {
        let decoded = snapshot.filter(|snapshot| !snapshot.is_binary() && needs_decoding(snapshot));
        let unchanged = || Cow::Borrowed(file.splices.iter().as_slice());
        let (old, splices): (&[u8], Cow<'_, [Splice]>) = match (snapshot, decoded) {
            (_, Some(snapshot)) => {
                (snapshot.text(), file.splices.iter().map(|splice| decode_splice(splice, snapshot)).collect())
            }
            (Some(snapshot), None) => (snapshot.bytes(), unchanged()),
            (None, None) => (&[], unchanged()),
        };
        Self { old, splices, decoded }
    }
}

/// What one hunk of a file's diff changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HunkChange {
    /// The change of the file's bytes.
    pub(crate) splices: Vec<Splice>,
    /// The lines of the old text from the first to the last that changes.
    pub(crate) lines: Lines,
    /// How many lines the file gains.
    pub(crate) growth: isize,
}

/// What each hunk of a file's diff changes, in the order of the diff. `None` if the file can only be changed as a whole: it is
/// created, deleted, moved or made executable, or its diff is too long to show.
pub(crate) fn changes_by_hunk(
    file: &FileChange,
    snapshot: Option<&Snapshot>,
    context: usize,
) -> Option<Vec<HunkChange>> {
    let snapshot = snapshot.filter(|_| file.has_separate_hunks())?;
    let text = DiffText::of(file, Some(snapshot));
    let edits = LineEdits::find(text.old, &text.splices, is_narrow(file));
    if edits.list.is_empty() || edits.bytes > MAX_BYTES {
        return None;
    }
    let after = file.splices.apply(snapshot.bytes());
    let successor = text.decoded.map(|decoded| decoded.successor(after.clone()));
    let mut counter = LineCounter { old: text.old, at: 0, line: 0 };
    let mut shift = 0isize;
    let mut hunks = Vec::new();
    for group in group_into_hunks(text.old, &edits.list, context) {
        let group = &edits.list[group];
        let (start, end) = (group[0].old.start, group[group.len() - 1].old.end);
        let before = counter.lines_before(start);
        let lines = Lines { start: before + 1, count: count_lines(&text.old[start..end]) };
        let mut hunk = HunkChange { splices: Vec::new(), lines, growth: 0 };
        for edit in group {
            let new = edit.old.start.checked_add_signed(shift)?;
            hunk.splices.push(match (&text.decoded, &successor) {
                (Some(decoded), Some(successor)) => Splice {
                    at: decoded.raw_span(Span::new(edit.old.start, edit.old.end))?,
                    insert: successor
                        .raw_span(Span::new(new, new + edits.new_of(edit).len()))?
                        .of(&after)
                        .into(),
                },
                _ => {
                    Splice { at: Span::new(edit.old.start, edit.old.end), insert: edits.new_of(edit).into() }
                }
            });
            shift += edits.new_of(edit).len() as isize - edit.old.len() as isize;
            hunk.growth +=
                count_lines(edits.new_of(edit)) as isize - count_lines(&text.old[edit.old.clone()]) as isize;
        }
        hunks.push(hunk);
    }
    // All hunks together are the whole change.
    let all = hunks.iter().flat_map(|hunk| hunk.splices.iter().cloned()).collect();
    let all = Splices::new(snapshot.bytes().len(), all).ok()?;
    (all.apply(snapshot.bytes()) == after).then_some(hunks)
}

fn count_lines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count() + usize::from(!ends_line(text))
}

/// Whether a diff of the file's bytes would be unreadable.
fn needs_decoding(snapshot: &Snapshot) -> bool {
    snapshot.encoding() != Encoding::Utf8 || snapshot.newlines().dominant() == Newline::Cr
}

/// The same splice in the decoded text.
fn decode_splice(splice: &Splice, snapshot: &Snapshot) -> Splice {
    Splice { at: snapshot.view_span(splice.at), insert: snapshot.decode(&splice.insert).into() }
}

fn print_header(file: &FileChange, has_hunks: bool, out: &mut Vec<u8>) {
    let old = prefixed("a/", &file.path);
    let new = prefixed("b/", file.path_after().unwrap_or(&file.path));
    let mut line = |text: String| {
        out.extend_from_slice(text.as_bytes());
        out.push(b'\n');
    };
    let mode = if file.mode.is_some_and(|mode| mode & 0o111 != 0) { "100755" } else { "100644" };
    // Always printed, so that diffs can be concatenated: after a rename without hunks, a following `---` would be parsed
    // as part of that rename.
    line(format!("diff --git {old} {new}"));
    if let Some(executable) = file.executable.filter(|_| file.path_change != PathChange::Delete) {
        let (old, new) = if executable { ("100644", "100755") } else { ("100755", "100644") };
        line(format!("old mode {old}"));
        line(format!("new mode {new}"));
    }
    match (file.base, &file.path_change) {
        (Base::Absent, _) => line(format!("new file mode {mode}")),
        (_, PathChange::Delete) => line(format!("deleted file mode {mode}")),
        (_, PathChange::Move(to)) => {
            line(format!("rename from {}", quote_path(file.path.as_str())));
            line(format!("rename to {}", quote_path(to.as_str())));
        }
        (_, PathChange::Keep) => {}
    }
    if has_hunks {
        let or_null = |is_absent: bool, name: String| if is_absent { "/dev/null".into() } else { name };
        line(format!("--- {}", or_null(file.base == Base::Absent, old)));
        line(format!("+++ {}", or_null(file.path_change == PathChange::Delete, new)));
    }
}

/// A path for a header line.
fn prefixed(prefix: &str, path: &FilePath) -> String {
    quote_path(&format!("{prefix}{path}"))
}

/// Quotes a path with spaces, control characters, quotes or backslashes as a C string. Git accepts spaces without that,
/// GNU patch does not.
fn quote_path(name: &str) -> String {
    if !name.chars().any(|c| c.is_ascii_control() || matches!(c, ' ' | '"' | '\\')) {
        return name.into();
    }
    let mut out = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_ascii_control() => out.push_str(&format!("\\{:03o}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Removed lines and the lines added instead.
#[derive(Debug)]
struct LineEdit {
    /// Their place in the old text.
    old: Range<usize>,
    new: AddedLines,
}

/// Where added lines are.
#[derive(Debug)]
enum AddedLines {
    /// In the text of [`LineEdits`].
    Text(Range<usize>),
    /// They are what a splice inserts.
    Splice(usize),
}

/// The lines that a change removes and adds. If they are too long to show, only their length is kept, because a change can have
/// millions of places.
#[derive(Debug)]
struct LineEdits<'a> {
    splices: &'a [Splice],
    list: Vec<LineEdit>,
    /// The added lines that are not what one splice inserts.
    text: Vec<u8>,
    /// The length of all removed and added lines.
    bytes: usize,
}

/// Whether the splices of a change leave out lines that do not change. An edit that was found in the file was compared with it
/// line by line; the inverse of a change, or a file that takes the place of another, was not.
fn is_narrow(file: &FileChange) -> bool {
    !file.edits.is_empty()
}

/// A narrow splice of whole lines that replaces this much is not compared with the file again, which would take as long as
/// finding it did.
const MIN_TRUSTED_BYTES: usize = 64 << 10;

impl<'a> LineEdits<'a> {
    /// Extends splices to whole lines, joins those that share a line, and omits lines that do not change.
    fn find(old: &[u8], splices: &'a [Splice], is_narrow: bool) -> Self {
        let mut found = Self { splices, list: Vec::new(), text: Vec::new(), bytes: 0 };
        let mut at = 0;
        while at < splices.len() {
            let start = line_start(old, splices[at].at.start());
            if is_narrow && is_trusted(old, splices, at) {
                found.add_splice(at);
                at += 1;
                continue;
            }
            let new_start = found.text.len();
            let mut done = start; // the old text is processed up to here
            let mut next_line_end = 0; // the end of a line of the old text that was already searched for
            let end = loop {
                let splice = &splices[at];
                found.text.extend_from_slice(&old[done..splice.at.start()]);
                found.text.extend_from_slice(&splice.insert);
                done = splice.at.end();
                at += 1;
                let new = &found.text[new_start..];
                let end = line_end(old, done, new, &mut next_line_end);
                let is_between_lines = ends_line(&old[..end]) && (end > done || ends_line(new));
                if splices.get(at).is_none_or(|next| next.at.start() >= end && is_between_lines) {
                    break end;
                }
            };
            found.text.extend_from_slice(&old[done..end]);
            found.add_changed(old, start..end, new_start);
            if found.bytes > MAX_BYTES {
                // Nobody will see them.
                found.list.clear();
                found.text.clear();
            }
        }
        found
    }

    /// Adds the lines that differ between a range of the old text and the text from `new_start` on.
    fn add_changed(&mut self, old: &[u8], range: Range<usize>, new_start: usize) {
        let Self { list, text, bytes, .. } = self;
        for_each_changed_range(&old[range.clone()], &text[new_start..], |changed| {
            let old = range.start + changed.old.start..range.start + changed.old.end;
            let new = new_start + changed.new.start..new_start + changed.new.end;
            *bytes += old.len() + new.len();
            list.push(LineEdit { old, new: AddedLines::Text(new) });
        });
    }

    /// Adds a splice of whole lines, all of which differ.
    fn add_splice(&mut self, index: usize) {
        let Splice { at, insert } = &self.splices[index];
        self.bytes += at.len() + insert.len();
        self.list.push(LineEdit { old: at.start()..at.end(), new: AddedLines::Splice(index) });
    }

    fn new_of(&self, edit: &LineEdit) -> &[u8] {
        match &edit.new {
            AddedLines::Text(range) => &self.text[range.clone()],
            AddedLines::Splice(index) => &self.splices[*index].insert,
        }
    }
}

/// Whether a narrow splice need not be compared with the file again: it is long, and replaces whole lines that no other splice
/// shares.
fn is_trusted(old: &[u8], splices: &[Splice], index: usize) -> bool {
    let Splice { at, insert } = &splices[index];
    let ends_between_lines = ends_line(&old[..at.end()]) && ends_line(insert);
    at.len().min(insert.len()) >= MIN_TRUSTED_BYTES
        && line_start(old, at.start()) == at.start()
        && (ends_between_lines || at.end() == old.len())
        && splices.get(index + 1).is_none_or(|_| ends_between_lines)
}

fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1)
}

fn ends_line(text: &[u8]) -> bool {
    text.last().is_none_or(|&byte| byte == b'\n')
}

/// The end of the lines that a change touches: `at` if both texts are between lines there. `next_line_end` caches the
/// result, so that a long line with many changes is searched for its end only once.
fn line_end(old: &[u8], at: usize, new: &[u8], next_line_end: &mut usize) -> usize {
    if ends_line(&old[..at]) && ends_line(new) {
        return at;
    }
    if *next_line_end <= at {
        *next_line_end = memchr::memchr(b'\n', &old[at..]).map_or(old.len(), |newline| at + newline + 1);
    }
    *next_line_end
}

/// Counts the lines of the old text, front to back.
struct LineCounter<'a> {
    old: &'a [u8],
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// The number of lines before `to`, which must not be less than in the last call.
    fn lines_before(&mut self, to: usize) -> usize {
        self.line += memchr::memchr_iter(b'\n', &self.old[self.at..to]).count();
        self.at = to;
        self.line
    }
}

/// Prints the hunks of a part. `shift` is how many lines the file gained before it.
fn print_hunks(part: &DiffPart<'_>, context: usize, shift: &mut isize, out: &mut Vec<u8>) {
    let DiffPart { old, edits, lines_before } = part;
    let mut counter = LineCounter { old, at: 0, line: *lines_before };
    for group in group_into_hunks(old, &edits.list, context) {
        let group = &edits.list[group];
        let start = context_start(old, group[0].old.start, context);
        let end = context_end(old, group[group.len() - 1].old.end, context);
        let before = counter.lines_before(start);
        let (old_lines, new_lines) = count_hunk_lines((old, edits), group, start..end);
        let number = |before: usize, count: usize| if count == 0 { before } else { before + 1 };
        let after = before.strict_add_signed(*shift);
        let header = format!(
            "@@ -{},{old_lines} +{},{new_lines} @@\n",
            number(before, old_lines),
            number(after, new_lines)
        );
        out.extend_from_slice(header.as_bytes());
        print_hunk_lines((old, edits), group, start..end, out);
        *shift += new_lines as isize - old_lines as isize;
    }
}

/// The edits of each hunk: those whose context lines meet are in one.
fn group_into_hunks(old: &[u8], edits: &[LineEdit], context: usize) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let mut first = 0;
    while first < edits.len() {
        let mut end = first + 1;
        while edits
            .get(end)
            .is_some_and(|next| contexts_meet(old, edits[end - 1].old.end, next.old.start, context))
        {
            end += 1;
        }
        groups.push(first..end);
        first = end;
    }
    groups
}

/// Whether the context lines of two edits meet.
fn contexts_meet(old: &[u8], end: usize, start: usize, context: usize) -> bool {
    let mut newlines = memchr::memchr_iter(b'\n', &old[end..start]);
    newlines.nth(2 * context).is_none()
}

/// The start of the context lines before a line start.
fn context_start(old: &[u8], mut at: usize, context: usize) -> usize {
    for _ in 0..context {
        if at > 0 {
            at = line_start(old, at - 1);
        }
    }
    at
}

/// The end of the context lines after a line start.
fn context_end(old: &[u8], mut at: usize, context: usize) -> usize {
    for _ in 0..context {
        at = memchr::memchr(b'\n', &old[at..]).map_or(old.len(), |newline| at + newline + 1);
    }
    at
}

/// How many lines of a hunk belong to the old and to the new text. They are counted first, so that the lines can be printed where
/// they belong: the hunk of a file that changes everywhere is as long as the file.
fn count_hunk_lines(
    (old, edits): (&[u8], &LineEdits),
    group: &[LineEdit],
    lines: Range<usize>,
) -> (usize, usize) {
    let removed: usize = group.iter().map(|edit| count_lines(&old[edit.old.clone()])).sum();
    let added: usize = group.iter().map(|edit| count_lines(edits.new_of(edit))).sum();
    let old_lines = count_lines(&old[lines]);
    (old_lines, old_lines - removed + added)
}

/// Prints the lines of a hunk.
fn print_hunk_lines(
    (old, edits): (&[u8], &LineEdits),
    group: &[LineEdit],
    lines: Range<usize>,
    out: &mut Vec<u8>,
) {
    let mut at = lines.start;
    for edit in group {
        push_lines(b' ', &old[at..edit.old.start], out);
        push_lines(b'-', &old[edit.old.clone()], out);
        push_lines(b'+', edits.new_of(edit), out);
        at = edit.old.end;
    }
    push_lines(b' ', &old[at..lines.end], out);
}

fn push_lines(sign: u8, text: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    for newline in memchr::memchr_iter(b'\n', text) {
        out.push(sign);
        out.extend_from_slice(&text[at..=newline]);
        at = newline + 1;
    }
    if at < text.len() {
        out.push(sign);
        out.extend_from_slice(&text[at..]);
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}
