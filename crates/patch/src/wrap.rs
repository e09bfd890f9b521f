//! Unwraps patches that were sent inside other text: in JSON, or on one line with `\n` escapes.

use serde_json::Value;

/// The names that tools use for the field with the patch.
const FIELDS: &[&str] = &["input", "patch", "diff", "patch_text", "patchText", "cmd", "command", "arguments"];

/// Extracts the patch if `text` is a JSON object, array or string, or one line with `\n` escapes.
pub(super) fn unwrap(text: &str) -> Option<String> {
    if !text.trim_start().starts_with(['{', '[', '"']) {
        return unescape(text);
    }
    find_patch(&serde_json::from_str(text.trim()).ok()?, 3)
}

/// Expands the escapes of a text that is one line with `\n` in it. No patch has only one line.
fn unescape(text: &str) -> Option<String> {
    let line = text.trim_end_matches('\n');
    if line.contains('\n') || !line.contains("\\n") {
        return None;
    }
    let quoted = if line.contains("\\\"") { line.to_owned() } else { line.replace('"', "\\\"") };
    serde_json::from_str(&format!("\"{quoted}\"")).ok()
}

/// Finds the multi-line text in a value, at most `depth` levels down.
fn find_patch(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::String(text) if depth > 0 && text.trim_start().starts_with('{') => {
            find_patch(&serde_json::from_str(text.trim()).ok()?, depth - 1)
        }
        Value::String(text) => text.contains('\n').then(|| text.clone()),
        _ if depth == 0 => None,
        Value::Array(items) => items.last().and_then(|last| find_patch(last, depth - 1)),
        Value::Object(fields) => FIELDS.iter().find_map(|name| find_patch(fields.get(*name)?, depth - 1)),
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
    fn extracts_the_patch(#[case] text: &str) {
        assert_eq!(unwrap(text).as_deref(), Some("a\nb"));
    }

    #[test]
    fn keeps_quotes_whether_escaped_or_not() {
        assert_eq!(unwrap(r#"a\n"b""#).as_deref(), Some("a\n\"b\""));
        assert_eq!(unwrap(r#"a\n\"b\""#).as_deref(), Some("a\n\"b\""));
    }

    #[rstest]
    #[case("{\n-a\n+b\n")]
    #[case(r#"{"other": "a\nb"}"#)]
    #[case("[1, 2]")]
    #[case("plain")]
    #[case("one\\nline\nof two")]
    fn leaves_other_texts_alone(#[case] text: &str) {
        assert_eq!(unwrap(text), None);
    }
}
