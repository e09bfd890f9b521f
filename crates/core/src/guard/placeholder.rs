//! Refuses placeholders such as "… rest of the code unchanged …" in new text: they would replace the code they stand for.

use std::borrow::Cow;

use super::{GuardInput, Refusal, Verdict};
use crate::plan::Operation;
use crate::snapshot::Snapshot;
use crate::transport::repaired_texts;
use slipstitch_patch::HunkLine;
use slipstitch_text::diff_slices;
use slipstitch_text::display::decode_lossy;

/// Phrases of placeholders, next to an ellipsis, in lower case.
const PHRASES: &[&str] = &[
    "existing code",
    "existing implementation",
    "rest of",
    "remaining code",
    "previous code",
    "other code",
    "unchanged",
    "same as before",
    "omitted",
    "no changes",
];

/// A larger file is not compared with its new content.
const MAX_COMPARED_BYTES: usize = 1 << 20;

/// Longer lines are prose.
const MAX_CHARACTERS: usize = 100;

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    for file in &input.plan.files {
        let is_in_file = |line: &str| {
            let text = input.snapshots.get(&file.path).map_or(&[][..], |snapshot| snapshot.text());
            memchr::memmem::find(text, line.as_bytes()).is_some()
        };
        for operation in file.operations.iter().filter(|operation| has_suspicious_lines(operation)) {
            let snapshot = input.snapshots.get(&file.path);
            let find = |operation: &Operation| find_placeholder(operation, snapshot, is_in_file);
            // Behind line numbers or in a fence, the old text may have the dots, too.
            if let Some(line) = find(operation)
                && without_damage(operation).iter().all(|meant| find(meant).is_some())
            {
                return Verdict::Refuse(Refusal::Placeholder { path: file.path.clone(), line });
            }
        }
    }
    Verdict::Pass
}

/// A line of the new text that stands for code.
fn find_placeholder(
    operation: &Operation,
    snapshot: Option<&Snapshot>,
    is_in_file: impl Fn(&str) -> bool,
) -> Option<String> {
    if let Some(line) = dots_instead_of_lines(operation, snapshot) {
        return Some(line);
    }
    // A placeholder in both the old and the new text is an elision: those lines are kept.
    let is_elision = |line: &str| operation.old_text().lines().any(|old| old.trim() == line);
    let in_piece = |text: Cow<'_, str>| {
        let mut lines = suspicious_lines(&text);
        let found = lines.find(|line| is_placeholder(line) && !is_elision(line) && !is_in_file(line));
        found.map(str::to_owned)
    };
    operation.new_pieces().find_map(in_piece)
}

/// A replacement as it may be meant, if its text looks damaged.
fn without_damage(operation: &Operation) -> Vec<Operation> {
    let Operation::Replace { old, new, .. } = operation else { return Vec::new() };
    let repaired = repaired_texts(old, new).into_iter();
    let meant = repaired.map(|(old, new)| {
        let mut meant = operation.clone();
        if let Operation::Replace { old: sent_old, new: sent_new, .. } = &mut meant {
            (*sent_old, *sent_new) = (old, new);
        }
        meant
    });
    meant.collect()
}

/// A line of dots alone in the new text, in place of other lines of the old text: it would delete them. A comment without dots,
/// such as `# the rest stays the same`, may be meant as a comment; it stands for code if there is less code than before.
fn dots_instead_of_lines(operation: &Operation, snapshot: Option<&Snapshot>) -> Option<String> {
    // In a whole file, three dots can be an empty body; only dots in a comment are certain.
    let is_whole = matches!(operation, Operation::Overwrite { .. });
    let is_dots = |line: &str| is_dots(line) && !(is_whole && line.starts_with('.'));
    // Almost no text has such a line, and then the texts need not be compared.
    if !suspicious_new_lines(operation).any(|line| is_dots(line) || may_stand_for_code(line)) {
        return None;
    }
    let (old, new) = replaced_and_new(operation, snapshot)?;
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.lines().map(str::trim).collect(), new.lines().map(str::trim).collect());
    // An empty body may become another empty body: `pass` and `...` mean the same in Python.
    let says_something = |line: &&str| !line.is_empty() && *line != "pass" && !is_dots(line);
    // Dots that both texts have are an elision, whichever lines a diff pairs them with.
    let count = |lines: &[&str], dots: &str| lines.iter().filter(|line| **line == dots).count();
    let is_added = |dots: &&str| count(&new, dots) > count(&old, dots);
    let is_comment = |line: &str| {
        ["//", "#", "--", ";", "/*", "*", "%", "<!--", "(*"].iter().any(|mark| line.starts_with(mark))
    };
    let is_code = |line: &&&str| says_something(line) && !is_comment(line);
    diff_slices(&old, &new).into_iter().find_map(|(removed, added)| {
        let (removed, added) = (&old[removed], &new[added]);
        let loses_code = removed.iter().filter(is_code).count() > added.iter().filter(is_code).count();
        let stands_for_lines = |line: &&&str| {
            (is_dots(line) && removed.iter().any(says_something)) || (loses_code && may_stand_for_code(line))
        };
        added.iter().filter(|line| is_added(line)).find(stands_for_lines).map(|line| (*line).to_owned())
    })
}

fn has_suspicious_lines(operation: &Operation) -> bool {
    operation.new_pieces().any(|piece| suspicious_lines(&piece).next().is_some())
}

/// The lines that an operation puts where it replaces others, as far as they may be dots.
fn suspicious_new_lines(operation: &Operation) -> Box<dyn Iterator<Item = &str> + '_> {
    match operation {
        Operation::Replace { new, .. }
        | Operation::ReplaceAt { new, .. }
        | Operation::ReplaceLines { new, .. } => Box::new(suspicious_lines(new)),
        Operation::Overwrite { content, .. } => Box::new(suspicious_lines(content)),
        Operation::Hunk(hunk) | Operation::HunkAt { hunk, .. } => {
            Box::new(hunk.new_lines().flat_map(|line| suspicious_lines(&line.text)))
        }
        _ => Box::new(std::iter::empty()),
    }
}

/// The lines of a text that may be dots or a placeholder, trimmed. Almost all others start with a letter or a digit, and only
/// comments and dots do not; so a look at the first character is enough, and a large file is judged quickly.
fn suspicious_lines(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    let mut start = 0;
    ends.filter_map(move |end| {
        let line = &text[std::mem::replace(&mut start, end + 1)..end];
        let mut body = line.as_bytes();
        while let [b' ' | b'\t', rest @ ..] = body {
            body = rest;
        }
        let is_suspicious = match body {
            [] => false,
            // Whatever follows these may be a comment.
            [b'p', b'a', b's', b's', ..] | [b'R', b'E', b'M', b' ', ..] | [b'd', b'n', b'l', b' ', ..] => {
                true
            }
            [first, ..] => !first.is_ascii_alphanumeric(),
        };
        is_suspicious.then(|| line.trim())
    })
}

/// The text that an operation replaces, and the text that it puts there.
fn replaced_and_new<'t>(
    operation: &'t Operation,
    snapshot: Option<&Snapshot>,
) -> Option<(Cow<'t, str>, Cow<'t, str>)> {
    match operation {
        Operation::Replace { old, new, .. } | Operation::ReplaceAt { old, new, .. } => {
            Some((old.into(), new.into()))
        }
        Operation::Hunk(hunk) | Operation::HunkAt { hunk, .. } => {
            let text = |lines: &mut dyn Iterator<Item = &HunkLine>| -> String {
                lines.map(|line| format!("{}\n", line.text)).collect()
            };
            Some((text(&mut hunk.old_lines()).into(), text(&mut hunk.new_lines()).into()))
        }
        Operation::ReplaceLines { lines, new, .. } => {
            let snapshot = snapshot?;
            let replaced = lines.first.max(1)..=lines.last.min(snapshot.line_count());
            let old: Vec<Cow<'_, str>> = replaced.map(|line| snapshot.line(line)).collect();
            Some((old.join("\n").into(), new.into()))
        }
        Operation::Overwrite { content, .. } => {
            let snapshot = snapshot.filter(|snapshot| snapshot.text_len() <= MAX_COMPARED_BYTES)?;
            let old = decode_lossy(snapshot.text()).into_owned();
            Some((old.into(), content.into()))
        }
        _ => None,
    }
}

/// Whether a line consists of dots or a phrase for them, apart from comment markers.
fn is_dots(line: &str) -> bool {
    const MARKERS: &[char] =
        &['/', '#', '-', ';', '*', '<', '!', '%', '(', '[', '{', '>', ')', ']', '}', '@', ' '];
    const PHRASES: &[&str] = &[
        "same",
        "same as before",
        "snip",
        "etc",
        "code continues",
        "unchanged lines",
        "omitted",
        "truncated",
    ];
    // What such a comment may say after the dots.
    const AFTER_DOTS: &[&str] =
        &["more", "lines", "other", "others", "rest", "remaining", "similar", "etc", "continues"];
    // `pass  # ...` and `"""..."""` are dots too.
    let line = line.strip_prefix("pass").filter(|rest| rest.trim_start().starts_with('#')).unwrap_or(line);
    let line = line.strip_prefix("REM ").or_else(|| line.strip_prefix("dnl ")).unwrap_or(line);
    let is_comment = may_be_comment(line);
    // Most lines are code. Only a comment may have words next to the dots.
    if !is_comment && line.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        return false;
    }
    let comment = line.trim_matches(MARKERS);
    // `// "... other than the first` quotes a text from its middle on.
    let is_quotation = comment.starts_with('"') && !comment.ends_with('"');
    let body = comment.trim_matches(['"', '\'', ' ', '>', '<']);
    let dots: String = body.chars().filter(|c| *c != ' ').collect();
    let bare = body.trim_matches(['.', '…', ' ']).to_lowercase();
    let starts = dots.starts_with("...") || dots.starts_with('…');
    let ends = dots.ends_with("...") || dots.ends_with('…');
    let words = || bare.split(|c: char| !c.is_alphanumeric());
    (!dots.is_empty() && dots.chars().all(|c| matches!(c, '…' | '⋮' | '⋯')))
        || (dots.len() >= 3 && dots.chars().all(|c| c == '.'))
        || (is_comment && dots == "..")
        || (is_comment
            && (PHRASES.contains(&bare.as_str())
                || (starts && ends)
                || only_says_code_is_omitted(&bare)
                || (starts
                    && !is_quotation
                    && line.chars().count() <= MAX_CHARACTERS
                    && words().any(|word| AFTER_DOTS.contains(&word)))))
}

/// Whether a line may be a comment, in any language.
fn may_be_comment(line: &str) -> bool {
    line.trim_start().starts_with(['/', '#', '-', ';', '*', '<', '%', '(', '{', '\''])
        || (line.starts_with('[') && line.ends_with(']'))
}

/// Words of comments that say that code is left out, on their own, ...
const LEFT_OUT: &[&str] = &[
    "omitted",
    "unchanged",
    "snipped",
    "truncated",
    "elided",
    "unmodified",
    "untouched",
    "skipped",
    "ditto",
];
/// ... together with what is left out, ...
const KEPT: &[&str] = &["existing", "previous", "remaining", "rest", "same", "keep", "other"];
const WHAT: &[&str] = &[
    "code",
    "implementation",
    "logic",
    "function",
    "functions",
    "method",
    "methods",
    "body",
    "file",
    "class",
    "content",
    "contents",
    "lines",
    "stuff",
];
/// ... and the words between them.
const OTHERS: &[&str] = &[
    "the", "of", "this", "is", "are", "as", "before", "here", "for", "brevity", "goes", "stays", "remains",
    "and",
];

fn words_of(comment: &str) -> impl Iterator<Item = &str> {
    comment.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether a comment has no other words than those of a placeholder: `keep existing code`, `code omitted for brevity`.
fn only_says_code_is_omitted(comment: &str) -> bool {
    let has = |list: &[&str]| words_of(comment).any(|word| list.contains(&word));
    words_of(comment).all(|word| [LEFT_OUT, KEPT, WHAT, OTHERS].iter().any(|list| list.contains(&word)))
        && (has(LEFT_OUT) || (has(KEPT) && has(WHAT)))
}

/// Whether a comment may stand for code although it has no dots: `the rest stays the same`, `lines 5-8 as before`, `your code here`.
fn may_stand_for_code(line: &str) -> bool {
    /// Words that, with the lists above, make a comment a placeholder if it has no other words.
    const LIKE_BEFORE: &[&str] = &[
        "before",
        "above",
        "below",
        "original",
        "everything",
        "nothing",
        "stays",
        "stay",
        "remains",
        "remain",
        "continue",
        "continues",
        "kept",
        "identical",
        "skip",
    ];
    const FILLERS: &[&str] = &[
        "a", "all", "be", "change", "changed", "changes", "else", "from", "in", "it", "line", "my", "no",
        "not", "note", "see", "to", "todo", "with", "your",
    ];
    /// With these at its end, a comment may name what it stands for.
    const ENDS: &[&str] = &[
        "unchanged",
        "omitted",
        "as before",
        "as is",
        "not shown",
        "the same",
        "stays",
        "stay",
        "unmodified",
    ];
    const MAX_WORDS: usize = 8;
    if !may_be_comment(line) || line.chars().count() > MAX_CHARACTERS {
        return false;
    }
    let line = line.to_lowercase();
    let words: Vec<&str> = words_of(&line).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let is_known = |word: &&str| {
        [LEFT_OUT, KEPT, WHAT, OTHERS, LIKE_BEFORE, FILLERS].iter().any(|list| list.contains(word))
            || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let says_so = has(LEFT_OUT)
        || has(KEPT)
        || has(LIKE_BEFORE)
        || (has(WHAT) && has(&["here", "goes"]))
        || (has(&["no", "not"]) && has(&["change", "changed", "changes"]));
    let comment = words.join(" ");
    (words.iter().all(is_known) && says_so)
        || (words.len() <= MAX_WORDS && ENDS.iter().any(|end| comment.ends_with(end)))
}

/// Whether a line says that code was left out: a comment or a line that starts with an ellipsis, with one of the phrases.
/// The line must start or end with the ellipsis, or start with the phrase; an ellipsis in the middle is a quotation.
fn is_placeholder(line: &str) -> bool {
    let body = line.trim_start_matches(['/', '#', '-', ';', '*', '<', '!', '%', '(', '[', '{', ' ']);
    let is_comment = body.len() < line.len();
    // Most lines are code.
    if !is_comment && !line.starts_with("...") && !line.starts_with('…') {
        return false;
    }
    let body = body.trim_end_matches(['/', '-', '*', '>', ')', ']', '}', ' ']).to_lowercase();
    let starts = body.starts_with("...") || body.starts_with('…');
    let ends = body.ends_with("...") || body.ends_with('…');
    if is_comment && line.chars().count() <= MAX_CHARACTERS && is_bare_placeholder(&body) {
        return true;
    }
    let has_ellipsis =
        starts || ((ends || starts_with_phrase(&body)) && (body.contains("...") || body.contains('…')));
    if !has_ellipsis || line.chars().count() > MAX_CHARACTERS || !(is_comment || starts) {
        return false;
    }
    PHRASES.iter().any(|words| body.contains(words))
}

/// Whether a comment consists of nothing but a placeholder, even without an ellipsis.
fn is_bare_placeholder(body: &str) -> bool {
    let body = body.trim_matches(['.', '…', ' ', '(', ')', '[', ']']);
    const WHOLE: &[&str] = &[
        "unchanged",
        "existing code",
        "existing code here",
        "rest unchanged",
        "rest of code",
        "rest of the code",
        "rest of function",
        "rest of the function",
        "rest of file",
        "rest of the file",
        "keep the rest",
        "remaining code",
    ];
    const AFTER: &[&str] =
        &["", "unchanged", "is unchanged", "remains unchanged", "remains the same", "stays the same"];
    WHOLE.iter().any(|words| body.strip_prefix(words).is_some_and(|rest| AFTER.contains(&rest.trim())))
}

fn starts_with_phrase(body: &str) -> bool {
    PHRASES.iter().any(|words| body.starts_with(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_must_not_replace_lines() {
        let refused = |old: &str, new: &str| {
            let (old, new) = (old.to_owned(), new.to_owned());
            let operation = Operation::Replace { old, new, which: crate::plan::Which::Unique, within: None };
            dots_instead_of_lines(&operation, None).is_some()
        };
        for dots in [
            "...",
            "    ...",
            "# ...",
            "// ...",
            "/* ... */",
            "<!-- ... -->",
            "…",
            "-- ....",
            ". . .",
            "\"\"\" ... \"\"\"",
            "pass  # ...",
            "# (same as before)",
            "# ...middle...",
            "// <snip>",
            "; ...",
            "{/* ... */}",
            "(* ... *)",
            "{- ... -}",
            "{# ... #}",
            "<%-- ... --%>",
            "@* ... *@",
            "REM ...",
            "' ...",
            "% ...",
            "\t...",
            "// ... (30 more lines)",
            "-- … remaining columns",
            "/* ... other rules */",
            "// [code omitted]",
            "# code omitted for brevity",
            "' ... existing code",
            "// keep existing code",
            "// previous code here",
            "// …既存のコード…",
            "[snip]",
        ] {
            assert!(refused("a()\nb()\nc()\n", &format!("a()\n{dots}\nd()\n")), "{dots}");
            // The dots are in both, they replace nothing, or they replace a body that is empty.
            assert!(!refused(&format!("a()\n{dots}\nc()\n"), &format!("a()\n{dots}\nd()\n")), "{dots}");
            assert!(!refused("a()\nb()\n", &format!("a()\n{dots}\nb()\n")), "{dots}");
            // A diff pairs the first `b()` with the second one.
            let (old, new) = (format!("a()\n{dots}\nb()\nc()\n"), format!("a()\nb()\n{dots}\nb()\nd()\n"));
            assert!(!refused(&old, &new), "{dots}");
            assert!(refused(&old, &format!("{new}{dots}\n")), "{dots}");
            assert!(!refused("def f():\n    pass\n", &format!("def f():\n    {dots}\n")), "{dots}");
        }
        assert!(!refused("a()\nb()\n", "a(...)\n# see ...\n"));
        assert!(!refused("a()\nb()\n", "a()\n// ...and then it is closed.\nc()\n"));
        assert!(!refused("a()\nb()\n", "a()\n# keep\nc()\n"));
        assert!(!refused("a()\nb()\n", "a()\n// The other methods are slower.\nc()\n"));
    }

    #[test]
    fn a_comment_stands_for_code_if_there_is_less_code() {
        let refused = |old: &str, new: &str| {
            let (old, new) = (old.to_owned(), new.to_owned());
            let operation = Operation::Replace { old, new, which: crate::plan::Which::Unique, within: None };
            dots_instead_of_lines(&operation, None).is_some()
        };
        for comment in [
            "# the rest stays the same",
            "// as before",
            "# no change here",
            "-- everything else unchanged",
            "# [4 lines omitted]",
            "# lines 5-8 stay the same",
            "/* your existing code here */",
            "# code here",
            "<!-- see above -->",
            "# (validation stays)",
            "# original implementation",
            "# ditto",
            "⋮",
            "# ..",
        ] {
            assert!(refused("a()\nb()\nc()\nd()\n", &format!("a(1)\n{comment}\nd()\n")), "{comment}");
            // In place of another comment, or next to as much code as before, it is a real comment.
            if !is_dots(comment) {
                assert!(!refused("a()\n# b\nd()\n", &format!("a(1)\n{comment}\nd()\n")), "{comment}");
                assert!(!refused("a()\nb()\n", &format!("a()\n{comment}\nc()\n")), "{comment}");
            }
        }
        for comment in
            ["# Closes the file.", "// The order is the same as in the table.", "## Other tools", "# 1"]
        {
            assert!(!refused("a()\nb()\nc()\n", &format!("a()\n{comment}\n")), "{comment}");
        }
    }

    #[test]
    fn only_lines_that_may_be_placeholders_are_looked_at_closely() {
        let text = "let a = 1;\n\t// b\n\n  pass  # ...\npassword\r\n\u{a0}...\r\n9\n...";
        let lines: Vec<&str> = suspicious_lines(text).collect();
        assert_eq!(lines, ["// b", "pass  # ...", "password", "...", "..."]);
    }

    #[test]
    fn a_quotation_that_starts_in_the_middle_of_a_sentence_is_no_placeholder() {
        assert!(!is_dots("// \"... other than an initial message"));
        assert!(is_dots("// \"... other lines\""));
        assert!(is_dots("// ... other lines"));
    }

    #[test]
    fn distinguishes_placeholders_from_code() {
        for line in [
            "// ... rest of the code unchanged",
            "# ... existing code ...",
            "/* … unchanged … */",
            "<!-- ... rest of the page ... -->",
            "... rest of the file unchanged ...",
            "-- ... (unchanged) ...",
            "// rest of the code unchanged ...",
            "# rest of the code remains the same",
            "# (unchanged)",
            "// existing code here",
            "# ... (keep the rest)",
            "# [rest of function]",
        ] {
            assert!(is_placeholder(line), "{line}");
        }
        for line in [
            "...",
            "def f(*args): ...",
            "// wait...",
            "// Traps: \"... rest of the code unchanged\" in new text",
            "# the rest of the list is sorted",
            "let x = [..., rest];",
            "print('... rest of it')",
            "return \"... unchanged\"",
        ] {
            assert!(!is_placeholder(line), "{line}");
        }
    }
}
