//! A Markdown fence around the text.

pub(super) fn repair(old: &str, new: &str) -> Option<(String, String)> {
    let bare = fence_body(old)?;
    // The text in a fence ends before its last newline, and so must a new text without one.
    let plain = || new.strip_suffix('\n').unwrap_or(new);
    Some((bare.to_owned(), fence_body(new).unwrap_or_else(plain).to_owned()))
}

/// The text inside a fence: a line of ```` ``` ````, optionally with a language, and the same line at the end.
fn fence_body(text: &str) -> Option<&str> {
    let text = text.trim_matches('\n');
    let (first, rest) = text.split_once('\n')?;
    let mark = first.trim();
    let fence: String = mark.chars().take_while(|&c| c == '`' || c == '~').collect();
    let plain = !mark[fence.len()..].contains(['`', ' ']);
    if fence.len() < 3 || !plain || fence.chars().any(|c| !fence.starts_with(c)) {
        return None;
    }
    let rest = rest.trim_end();
    match rest.rsplit_once('\n') {
        Some((body, last)) if last.trim() == fence => Some(body),
        None if rest.trim() == fence => Some(""),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::fence_body;

    #[test]
    fn strips_only_complete_fences() {
        assert_eq!(fence_body("```rust\na\nb\n```"), Some("a\nb"));
        assert_eq!(fence_body("```\n```"), Some(""));
        assert_eq!(fence_body("```rust\na\nb"), None);
        assert_eq!(fence_body("a\n```"), None);
        assert_eq!(fence_body("```not a fence\na\n```"), None);
    }
}
