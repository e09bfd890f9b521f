//! Refuses placeholders such as "… rest of the code unchanged …" in new text: they would replace the code they stand for.

use super::{GuardInput, Refusal, Verdict};

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

/// Longer lines are prose.
const MAX_CHARACTERS: usize = 100;

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    for file in &input.plan.files {
        let is_in_file = |line: &str| {
            let text = input.snapshots.get(&file.path).map_or(&[][..], |snapshot| snapshot.text());
            memchr::memmem::find(text, line.as_bytes()).is_some()
        };
        for operation in &file.operations {
            // A placeholder in both the old and the new text is an elision: those lines are kept.
            let is_elision = |line: &str| operation.old_text().lines().any(|old| old.trim() == line);
            let text = operation.new_text();
            let mut lines = text.lines().map(str::trim);
            if let Some(line) =
                lines.find(|line| is_placeholder(line) && !is_elision(line) && !is_in_file(line))
            {
                return Verdict::Refuse(Refusal::Placeholder { path: file.path.clone(), line: line.into() });
            }
        }
    }
    Verdict::Pass
}

/// Whether a line says that code was left out: a comment or a line that starts with an ellipsis, with one of the phrases.
/// The line must start or end with the ellipsis, or start with the phrase; an ellipsis in the middle is a quotation.
fn is_placeholder(line: &str) -> bool {
    let body = line.trim_start_matches(['/', '#', '-', ';', '*', '<', '!', '%', '(', '[', '{', ' ']);
    let is_comment = body.len() < line.len();
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
