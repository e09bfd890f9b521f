//! A Markdown fence around the text.

pub(super) fn mend(old: &str, new: &str) -> Option<(String, String)> {
    let bare = inner(old)?;
    Some((bare.to_owned(), inner(new).unwrap_or(new).to_owned()))
}

/// What a fence holds. Its lines stand alone: ```` ``` ```` with or without a language, and the same again.
fn inner(text: &str) -> Option<&str> {
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
    use super::inner;

    #[test]
    fn only_a_whole_fence_is_taken_off() {
        assert_eq!(inner("```rust\na\nb\n```"), Some("a\nb"));
        assert_eq!(inner("```\n```"), Some(""));
        assert_eq!(inner("```rust\na\nb"), None);
        assert_eq!(inner("a\n```"), None);
        assert_eq!(inner("```not a fence\na\n```"), None);
    }
}
