//! Diff markers in front of every line: `-` or a space in the old text, `+` or a space in the new text.

use super::{split_last_newline, strip_each_line};

pub(super) fn repair(old: &str, new: &str) -> Option<(String, String)> {
    let bare = strip(old, '-')?;
    // New text with lines that start with `-` is a list.
    let listed = new.lines().any(|line| line.starts_with('-'));
    let new = strip(new, '+').or_else(|| (!listed).then(|| new.to_owned()))?;
    Some((bare, new))
}

fn strip(text: &str, mark: char) -> Option<String> {
    let (body, end) = split_last_newline(text);
    let mut marked = false;
    let bare = strip_each_line(body, |line| {
        marked |= line.starts_with(mark);
        match line.strip_prefix([mark, ' ']) {
            Some(rest) => Some(rest.to_owned()),
            None => line.is_empty().then(String::new),
        }
    })?;
    marked.then(|| format!("{bare}{end}"))
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn requires_a_marker_on_every_line() {
        assert_eq!(repair(" a\n-b\n c", " a\n+d\n c"), Some(("a\nb\nc".into(), "a\nd\nc".into())));
        assert_eq!(repair("-b", "d"), Some(("b".into(), "d".into())));
        assert_eq!(repair("a\n-b", "d"), None);
        assert_eq!(repair(" a\n b", " c"), None);
    }
}
