//! What a patch that was sent as text inside of text has lost or kept: JSON around it, line ends
//! written as `\n`.

use serde_json::Value;

/// The fields in which tools take a patch.
const FIELDS: &[&str] = &["input", "patch", "diff", "patch_text", "patchText", "cmd", "command", "arguments"];

/// The patch inside a JSON object, array or string, if the text is one.
pub(super) fn unwrapped(text: &str) -> Option<String> {
    if !text.trim_start().starts_with(['{', '[', '"']) {
        return unescaped(text);
    }
    patch_in(&serde_json::from_str(text.trim()).ok()?, 3)
}

/// The lines of a text that is one line with `\n` in it: no patch is one line.
fn unescaped(text: &str) -> Option<String> {
    let line = text.trim_end_matches('\n');
    if line.contains('\n') || !line.contains("\\n") {
        return None;
    }
    let quoted = if line.contains("\\\"") { line.to_owned() } else { line.replace('"', "\\\"") };
    serde_json::from_str(&format!("\"{quoted}\"")).ok()
}

/// The text of several lines that a value leads to, `depth` steps down at most.
fn patch_in(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::String(text) if depth > 0 && text.trim_start().starts_with('{') => {
            patch_in(&serde_json::from_str(text.trim()).ok()?, depth - 1)
        }
        Value::String(text) => text.contains('\n').then(|| text.clone()),
        _ if depth == 0 => None,
        Value::Array(items) => items.last().and_then(|last| patch_in(last, depth - 1)),
        Value::Object(fields) => FIELDS.iter().find_map(|name| patch_in(fields.get(*name)?, depth - 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#"{"input": "a\nb"}"#)]
    #[case(r#"{"cmd": ["apply_patch", "a\nb"]}"#)]
    #[case(r#"["bash", "-lc", "a\nb"]"#)]
    #[case(r#""a\nb""#)]
    #[case(r"a\nb")]
    #[case(r#"{"name": "apply_patch", "arguments": "{\"input\": \"a\\nb\"}"}"#)]
    fn the_patch_is_taken_out(#[case] text: &str) {
        assert_eq!(unwrapped(text).as_deref(), Some("a\nb"));
    }

    #[test]
    fn quotes_stay_whether_escaped_or_not() {
        assert_eq!(unwrapped(r#"a\n"b""#).as_deref(), Some("a\n\"b\""));
        assert_eq!(unwrapped(r#"a\n\"b\""#).as_deref(), Some("a\n\"b\""));
    }

    #[rstest]
    #[case("{\n-a\n+b\n")]
    #[case(r#"{"other": "a\nb"}"#)]
    #[case("[1, 2]")]
    #[case("plain")]
    #[case("one\\nline\nof two")]
    fn other_texts_are_left(#[case] text: &str) {
        assert_eq!(unwrapped(text), None);
    }
}
