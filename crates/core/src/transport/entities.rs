//! HTML entities: `&lt;`, `&gt;`, `&amp;`, `&quot;`, `&#39;` and the like.

const ENTITIES: &[(&str, char)] = &[
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&amp;", '&'),
    ("&quot;", '"'),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&apos;", '\''),
    ("&nbsp;", '\u{a0}'),
];

pub(super) fn repair(old: &str, new: &str) -> Option<(String, String)> {
    let bare = decode(old)?;
    // New text with an unencoded character was not encoded at all, unless the old text has it unencoded as well: in
    // `<p>a &amp;lt; b</p>` only the ampersand was encoded.
    let is_plain = |c: char| new.contains(c) && !old.contains(c);
    let plain = is_plain('<') || is_plain('>') || (bare_ampersand(new) && !bare_ampersand(old));
    let new = if plain { None } else { decode(new) }.unwrap_or_else(|| new.to_owned());
    Some((bare, new))
}

fn decode(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut any = false;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match ENTITIES.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, plain)) => {
                out.push(*plain);
                rest = &rest[name.len()..];
                any = true;
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    any.then_some(out)
}

fn bare_ampersand(text: &str) -> bool {
    text.match_indices('&').any(|(at, _)| !ENTITIES.iter().any(|(name, _)| text[at..].starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn decodes_entities_once() {
        assert_eq!(repair("a &lt; b", "a &amp;lt; b"), Some(("a < b".into(), "a &lt; b".into())));
        assert_eq!(repair("a &lt; b", "a < c &amp; d").unwrap().1, "a < c &amp; d");
        assert_eq!(repair("a < b", "c"), None);
        let (old, new) = ("<p>a &amp;lt; b</p>", "<p>c &amp;lt; d</p>");
        assert_eq!(repair(old, new), Some(("<p>a &lt; b</p>".into(), "<p>c &lt; d</p>".into())));
    }
}
