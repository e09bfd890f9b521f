//! "… rest of the code unchanged …" in new text: written down, it would take the place of the code it stands for.

use super::{GuardInput, Refusal, Verdict};

/// What such lines say beside their dots, in small letters.
const SAYS: &[&str] = &[
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

/// A longer line is prose.
const MAX_CHARACTERS: usize = 100;

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    for file in &input.plan.files {
        let there = |line: &str| {
            let text = input.seen.get(&file.path).map_or(&[][..], |snapshot| snapshot.text());
            memchr::memmem::find(text, line.as_bytes()).is_some()
        };
        for operation in &file.operations {
            // In both texts it names lines that stay.
            let named = |line: &str| operation.old_text().lines().any(|old| old.trim() == line);
            let text = operation.new_text();
            let mut lines = text.lines().map(str::trim);
            if let Some(line) = lines.find(|line| stands_for_code(line) && !named(line) && !there(line)) {
                return Verdict::Refuse(Refusal::Placeholder { path: file.path.clone(), line: line.into() });
            }
        }
    }
    Verdict::Pass
}

/// A comment, or a line of dots, that says that code was left out: it starts or ends with the dots, or starts with
/// what it says. Dots in the middle are a quotation.
fn stands_for_code(line: &str) -> bool {
    let body = line.trim_start_matches(['/', '#', '-', ';', '*', '<', '!', '%', '(', '[', '{', ' ']);
    let comment = body.len() < line.len();
    let body = body.trim_end_matches(['/', '-', '*', '>', ')', ']', '}', ' ']).to_lowercase();
    let leads = body.starts_with("...") || body.starts_with('…');
    let ends = body.ends_with("...") || body.ends_with('…');
    if comment && line.chars().count() <= MAX_CHARACTERS && is_only_that(&body) {
        return true;
    }
    let dots = leads || ((ends || says_first(&body)) && (body.contains("...") || body.contains('…')));
    if !dots || line.chars().count() > MAX_CHARACTERS || !(comment || leads) {
        return false;
    }
    SAYS.iter().any(|words| body.contains(words))
}

/// Whether a comment says nothing but that code was left out.
fn is_only_that(body: &str) -> bool {
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

fn says_first(body: &str) -> bool {
    SAYS.iter().any(|words| body.starts_with(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stand_for_code_are_told_from_code() {
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
            assert!(stands_for_code(line), "{line}");
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
            assert!(!stands_for_code(line), "{line}");
        }
    }
}
