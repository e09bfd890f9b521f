//! Edits as a text with tags: `<old_text line=12>…</old_text><new_text>…</new_text>`, one pair after the other.

use serde_json::{Value, json};

/// The list of edits that a text with tags stands for; `None` if it is no such text, or if a tag is not closed, because
/// the rest of the text may be missing then.
pub(super) fn edits(text: &str) -> Option<Value> {
    let mut edits = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("<old_text") {
        let (attributes, after) = after.split_once('>')?;
        let (old, after) = after.split_once("</old_text>")?;
        let (between, after) = after.split_once("<new_text>")?;
        if !between.trim().is_empty() {
            return None;
        }
        let (new, after) = after.split_once("</new_text>")?;
        let mut edit =
            json!({ "old_text": without_outer_newlines(old), "new_text": without_outer_newlines(new) });
        if let Some(line) = line_of(attributes)? {
            edit["line"] = line.into();
        }
        edits.push(edit);
        rest = after;
    }
    if edits.is_empty() || rest.contains("<new_text") { None } else { Some(Value::Array(edits)) }
}

/// The line in ` line=12` or ` line="12"`; `None` if there is something else.
fn line_of(attributes: &str) -> Option<Option<usize>> {
    match attributes.trim() {
        "" => Some(None),
        attribute => {
            let value = attribute.strip_prefix("line=")?.trim_matches(['"', '\'']);
            Some(Some(value.parse().ok()?))
        }
    }
}

/// A tag may be on a line of its own.
fn without_outer_newlines(text: &str) -> &str {
    let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_pairs_of_tags() {
        let text = "<edits>\n<old_text line=3>\na\nb\n</old_text>\n<new_text>\nc\n</new_text>\n\n\
                    <old_text line=\"9\">x < y</old_text><new_text></new_text><old_text>z</old_text><new_text>w</new_text></edits>";
        let expected = json!([
            {"old_text": "a\nb", "new_text": "c", "line": 3},
            {"old_text": "x < y", "new_text": "", "line": 9},
            {"old_text": "z", "new_text": "w"},
        ]);
        assert_eq!(edits(text), Some(expected));
    }

    #[test]
    fn text_that_was_cut_off_is_not_read() {
        for text in [
            "",
            "[]",
            "<old_text>a</old_text>",
            "<old_text>a",
            "<old_text>a</old_text><new_text>b",
            "<old_text>a</old_text>, then <new_text>b</new_text>",
            "<old_text line=x>a</old_text><new_text>b</new_text>",
            "<old_text>a</old_text><new_text>b</new_text><new_text>c</new_text>",
            "<old_text>a</old_text><new_text>b</new_text><old_text>c</old_text>",
        ] {
            assert_eq!(edits(text), None, "{text}");
        }
    }
}
