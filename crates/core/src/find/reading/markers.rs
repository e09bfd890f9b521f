//! The markers of a diff in front of every line: `-` or a blank in old text, `+` or a blank in new text.

use super::{each_line, without_last_newline};

pub(super) fn mend(old: &str, new: &str) -> Option<(String, String)> {
    let bare = stripped(old, '-')?;
    // New text that starts with `-` too is a list.
    let listed = new.lines().any(|line| line.starts_with('-'));
    let new = stripped(new, '+').or_else(|| (!listed).then(|| new.to_owned()))?;
    Some((bare, new))
}

fn stripped(text: &str, mark: char) -> Option<String> {
    let (body, end) = without_last_newline(text);
    let mut marked = false;
    let bare = each_line(body, |line| {
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
    use super::mend;

    #[test]
    fn every_line_must_have_one() {
        assert_eq!(mend(" a\n-b\n c", " a\n+d\n c"), Some(("a\nb\nc".into(), "a\nd\nc".into())));
        assert_eq!(mend("-b", "d"), Some(("b".into(), "d".into())));
        assert_eq!(mend("a\n-b", "d"), None);
        assert_eq!(mend(" a\n b", " c"), None);
    }
}
