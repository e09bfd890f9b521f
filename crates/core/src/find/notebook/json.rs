//! The places of values in a text that is known to be valid JSON.

use serde::de::{DeserializeOwned, IgnoredAny};

use slipstitch_text::Span;

/// A field of an object.
pub(super) struct Member {
    pub(super) name: String,
    /// Where the name starts, with its quote.
    pub(super) start: usize,
    /// Where the value is.
    pub(super) value: Span,
}

/// The place of the document; `None` if the text is not JSON.
pub(super) fn document(text: &[u8]) -> Option<Span> {
    serde_json::from_slice::<IgnoredAny>(text).ok()?;
    let start = skip_space(text, 0);
    Some(Span::new(start, skip_value(text, start)))
}

/// The value at `at`, if it has this type.
pub(super) fn parse<T: DeserializeOwned>(text: &[u8], at: Span) -> Option<T> {
    serde_json::from_slice(&text[at.start()..at.end()]).ok()
}

/// The fields of the object at `at`; `None` if it is not one.
pub(super) fn members(text: &[u8], at: Span) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    let mut next = open(text, at, b'{')?;
    while text[next] != b'}' {
        let start = next;
        let end = skip_value(text, start);
        let name = parse(text, Span::new(start, end))?;
        let colon = skip_space(text, end);
        let value = skip_space(text, colon + 1);
        let value = Span::new(value, skip_value(text, value));
        members.push(Member { name, start, value });
        next = skip_comma(text, value.end());
    }
    Some(members)
}

/// The items of the array at `at`; `None` if it is not one.
pub(super) fn items(text: &[u8], at: Span) -> Option<Vec<Span>> {
    let mut items = Vec::new();
    let mut next = open(text, at, b'[')?;
    while text[next] != b']' {
        let item = Span::new(next, skip_value(text, next));
        items.push(item);
        next = skip_comma(text, item.end());
    }
    Some(items)
}

fn open(text: &[u8], at: Span, bracket: u8) -> Option<usize> {
    (text.get(at.start()) == Some(&bracket)).then(|| skip_space(text, at.start() + 1))
}

fn skip_comma(text: &[u8], from: usize) -> usize {
    let at = skip_space(text, from);
    if text[at] == b',' { skip_space(text, at + 1) } else { at }
}

fn skip_space(text: &[u8], from: usize) -> usize {
    let space = text[from..].iter().take_while(|byte| byte.is_ascii_whitespace());
    from + space.count()
}

/// The end of the value that starts at `from`.
fn skip_value(text: &[u8], from: usize) -> usize {
    match text[from] {
        b'"' => skip_string(text, from),
        b'{' | b'[' => {
            let (mut at, mut depth) = (from, 0_usize);
            loop {
                match text[at] {
                    b'"' => {
                        at = skip_string(text, at);
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return at;
                }
            }
        }
        _ => {
            let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
            text[from..].iter().position(is_end).map_or(text.len(), |length| from + length)
        }
    }
}

fn skip_string(text: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(text: &str, at: Span) -> &str {
        &text[at.start()..at.end()]
    }

    #[test]
    fn values_are_found_where_they_are() {
        let text = r#" {"a\"b" : [1, -2.5e3 ,"x]\\", {"c": []}] ,"d":null} "#;
        let root = document(text.as_bytes()).unwrap();
        assert_eq!(slice(text, root), text.trim());
        let members = members(text.as_bytes(), root).unwrap();
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["a\"b", "d"]);
        assert_eq!(slice(text, members[1].value), "null");
        let items = items(text.as_bytes(), members[0].value).unwrap();
        let items: Vec<&str> = items.into_iter().map(|item| slice(text, item)).collect();
        assert_eq!(items, ["1", "-2.5e3", r#""x]\\""#, r#"{"c": []}"#]);
    }

    #[test]
    fn what_is_not_json_has_no_places() {
        for text in ["", "{", "{\"a\": 1,}", "{} x", "# text", "\"open"] {
            assert!(document(text.as_bytes()).is_none(), "{text}");
        }
        let at = document(b"[1]").unwrap();
        assert!(members(b"[1]", at).is_none() && items(b"[1]", at).is_some());
    }
}
