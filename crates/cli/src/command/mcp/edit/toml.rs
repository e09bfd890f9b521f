//! TOML: a table of its own at the end of the file.

use serde_json::{Map, Value};

use super::{Place, Unsafe, newline};

pub(super) fn read(text: &str) -> Result<Map<String, Value>, Unsafe> {
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| Unsafe(format!("it is not valid TOML: {}", error.message())))?;
    match serde_json::to_value(table) {
        Ok(Value::Object(fields)) => Ok(fields),
        _ => Err(Unsafe("it holds what cannot be compared".into())),
    }
}

/// `text` with one more table. Where the servers are written in another way this is no valid TOML, and the
/// caller's comparison finds out.
pub(super) fn with(text: &str, [key, name]: Place<'_>, entry: &Value) -> String {
    let end = newline(text);
    let gap = match text {
        "" => String::new(),
        text if text.ends_with("\n\n") || text.ends_with("\n\r\n") => String::new(),
        text if text.ends_with('\n') => end.into(),
        _ => end.repeat(2),
    };
    let mut table = format!("[{key}.{name}]{end}");
    for (field, value) in entry.as_object().into_iter().flatten() {
        table.push_str(&format!("{} = {}{end}", key_of(field), literal(value)));
    }
    format!("{text}{gap}{table}")
}

/// `text` without the table at `place` and those beneath it.
pub(super) fn without(text: &str, place: Place<'_>) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if !opens(lines[at], place) {
            kept.push(lines[at]);
            at += 1;
            continue;
        }
        let next = lines[at + 1..].iter().position(|line| header(line).is_some());
        let end = next.map_or(lines.len(), |next| at + 1 + next);
        // What stands between this table's last field and the next header belongs to the next.
        let fields =
            lines[at..end].iter().rposition(|line| !line.trim().is_empty() && !line.trim().starts_with('#'));
        at += fields.unwrap_or(0) + 1;
        let blank = |line: Option<&&str>| line.is_none_or(|line| line.trim().is_empty());
        if kept.last().is_some_and(|line| line.trim().is_empty()) && blank(lines.get(at)) {
            kept.pop();
        }
    }
    kept.concat()
}

/// The table that a line opens.
fn header(line: &str) -> Option<toml::Table> {
    line.trim_start().starts_with('[').then(|| line.parse().ok())?
}

fn opens(line: &str, [key, name]: Place<'_>) -> bool {
    let table = header(line);
    let servers = table.as_ref().and_then(|table| table.get(key)).and_then(toml::Value::as_table);
    servers.is_some_and(|servers| servers.contains_key(name))
}

/// A name in front of `=`, in quotes if it needs them.
fn key_of(name: &str) -> String {
    let bare = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    match !name.is_empty() && name.chars().all(bare) {
        true => name.to_owned(),
        false => Value::from(name).to_string(),
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{} = {}", key_of(name), literal(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        // A JSON string is a basic TOML string: both escape what needs it in the same way.
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLACE: Place<'static> = ["mcp_servers", "slipstitch"];
    const TABLE: &str =
        "[mcp_servers.slipstitch]\ncommand = \"slipstitch\"\nargs = [\"mcp\", \"--root\", \"/a\\\"b\"]\n";

    fn put(text: &str) -> String {
        with(text, PLACE, &json!({"command": "slipstitch", "args": ["mcp", "--root", "/a\"b"]}))
    }

    #[test]
    fn a_table_is_added_at_the_end() {
        assert_eq!(put(""), TABLE);
        assert_eq!(put("a = 1"), format!("a = 1\n\n{TABLE}"));
        assert_eq!(put("a = 1 # x\n"), format!("a = 1 # x\n\n{TABLE}"));
        assert_eq!(put("a = 1\r\n"), format!("a = 1\r\n\r\n{}", TABLE.replace('\n', "\r\n")));
        assert_eq!(read(TABLE).unwrap()["mcp_servers"]["slipstitch"]["args"][2], "/a\"b");
    }

    #[test]
    fn tables_in_an_entry_are_written_in_its_lines() {
        let entry = json!({"a b": 1, "": {}, "headers": {"X-Key": "x", "é": [{"k": true}]}});
        let text = with("", PLACE, &entry);
        assert_eq!(read(&text).unwrap()["mcp_servers"]["slipstitch"], entry, "{text}");
        assert!(text.contains("headers = { X-Key = \"x\", \"é\" = [{ k = true }] }\n"), "{text}");
    }

    #[test]
    fn taking_it_out_is_the_way_back() {
        for before in ["", "a = 1\n", "a = 1\r\n", "[mcp_servers.a]\ncommand = \"x\"\n# end\n"] {
            assert_eq!(without(&put(before), PLACE), before);
        }
    }

    #[test]
    fn tables_beneath_go_too_and_nothing_else() {
        let text = "[mcp_servers.a]\nx = 1\n\n[mcp_servers.\"slipstitch\"] # ours\ncommand = \"slipstitch\"\n\n\
                    [mcp_servers.slipstitch.env]\nA = \"1\"\n\n# of b\n[mcp_servers.b]\nargs = [\"[mcp_servers.slipstitch]\"]\n";
        let left =
            "[mcp_servers.a]\nx = 1\n\n# of b\n[mcp_servers.b]\nargs = [\"[mcp_servers.slipstitch]\"]\n";
        assert_eq!(without(text, PLACE), left);
    }
}
