//! How a change is shown to users: the entry alone. The rest of a settings file may contain secrets, and so may
//! entries that others wrote.

use serde_json::Value;

use crate::format::{Format, FormatError, Place};
use crate::host::Addition;

/// Replaces values that may be secret.
const MASK: &str = "(not shown)";

/// The field that a TOML date becomes when it is converted to JSON.
const TOML_DATETIME: &str = "$__toml_private_datetime";

/// Fields that say what is started. Text in any other field may be a secret: every host has its own names for
/// environment variables, headers and tokens, and adds new ones.
const PUBLIC_FIELDS: &[&str] = &["command", "cmd", "args", "type", "source"];

/// The change that adds values, in place of others if there were any.
pub(crate) fn show_installation(
    format: Format,
    added: &[(Addition, Option<Value>)],
) -> Result<String, FormatError> {
    let before = added.iter().filter_map(|(Addition { place, value }, replaced)| {
        let replaced = in_field_order_of(Some(value), replaced.as_ref()?);
        Some((place.clone(), mask_secrets(&replaced, Some(value))))
    });
    let after = added.iter().map(|(addition, _)| (addition.place.clone(), addition.value.clone()));
    render_diff(format, &before.collect::<Vec<_>>(), &after.collect::<Vec<_>>())
}

/// The change that removes values and may bring back earlier ones, `restored`. Others may have written either. `ours` has the
/// fields that an installation writes.
pub(crate) fn show_removal(
    format: Format,
    removed: &[(Place, Value)],
    restored: &[(Place, Value)],
    ours: Option<&Value>,
) -> Result<String, FormatError> {
    let before = removed.iter().map(|(place, value)| {
        let back = restored.iter().find(|(known, _)| known == place).map(|(_, value)| value);
        let value = match value {
            // What `install` adds to lists are names of tools.
            Value::String(_) | Value::Bool(_) => value.clone(),
            _ => mask_secrets(&in_field_order_of(back, value), ours),
        };
        (place.clone(), value)
    });
    let after = restored.iter().map(|(place, value)| (place.clone(), mask_secrets(value, ours)));
    render_diff(format, &before.collect::<Vec<_>>(), &after.collect::<Vec<_>>())
}

/// The lines of both documents: removed ones after `-`, added ones after `+`, common ones after a space.
fn render_diff(
    format: Format,
    before: &[(Place, Value)],
    after: &[(Place, Value)],
) -> Result<String, FormatError> {
    let render =
        |values: &[(Place, Value)]| format.render(values.iter().map(|(place, value)| (place, value)));
    let (before, after) = (render(before)?, render(after)?);
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let start = before.iter().zip(&after).take_while(same).count();
    let (removed, added) = (&before[start..], &after[start..]);
    let end = removed.iter().rev().zip(added.iter().rev()).take_while(same).count();
    let mark = |mark: &str, lines: &[&str]| lines.iter().map(|line| format!("{mark} {line}")).collect();
    let parts: [Vec<String>; 4] = [
        mark(" ", &before[..start]),
        mark("-", &removed[..removed.len() - end]),
        mark("+", &added[..added.len() - end]),
        mark(" ", &removed[removed.len() - end..]),
    ];
    Ok(parts.concat().join("\n"))
}

/// Sorts the fields of an entry like those of another, so that a different order is not shown as a change: not every
/// parser keeps the order in the file.
fn in_field_order_of(other: Option<&Value>, entry: &Value) -> Value {
    let (Some(Value::Object(other)), Value::Object(fields)) = (other, entry) else { return entry.clone() };
    let common = other.keys().filter_map(|name| Some((name.clone(), fields.get(name)?.clone())));
    let rest = fields.iter().filter(|(name, _)| !other.contains_key(*name));
    Value::Object(common.chain(rest.map(|(name, value)| (name.clone(), value.clone()))).collect())
}

/// Masks everything in an entry that may be secret. A value that `ours` has as well is not.
fn mask_secrets(entry: &Value, ours: Option<&Value>) -> Value {
    let Value::Object(fields) = entry else { return mask(entry) };
    let shown = |(name, value): (&String, &Value)| {
        let value = match value {
            _ if is_ours(value, ours.and_then(|ours| ours.get(name))) => value.clone(),
            Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(url) if name == "url" => strip_url(url).unwrap_or_else(|| MASK.into()).into(),
            value if PUBLIC_FIELDS.contains(&name.as_str()) => mask_objects(value),
            value => mask(value),
        };
        (name.clone(), value)
    };
    Value::Object(fields.iter().map(shown).collect())
}

/// Whether a value is one that we write, or a list of some of the items that we write: lists of tools differ by dialect.
fn is_ours(value: &Value, ours: Option<&Value>) -> bool {
    match (value, ours) {
        (Value::Array(items), Some(Value::Array(ours))) => items.iter().all(|item| ours.contains(item)),
        _ => ours == Some(value),
    }
}

/// Shows a string or a list of strings. An object, as Zed's `command` used to be, may contain environment variables.
fn mask_objects(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(mask_objects).collect()),
        Value::Object(_) => mask(value),
        scalar => scalar.clone(),
    }
}

/// Keeps field names and masks every value.
fn mask(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(mask).collect()),
        Value::Object(fields) if !fields.contains_key(TOML_DATETIME) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), mask(value))).collect())
        }
        _ => MASK.into(),
    }
}

/// A URL without user, query and fragment; `None` if it is not clear where those are.
fn strip_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    // A password that contains one of these unescaped would look like a server and a path.
    if rest.contains('@') {
        return None;
    }
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    let path = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    Some(format!("{scheme}://{server}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn place(key: &str) -> Place {
        Place::field(&[key], "slipstitch")
    }

    fn install(format: Format, key: &str, replaced: Option<&Value>, value: &Value) -> String {
        let addition = Addition { place: place(key), value: value.clone() };
        show_installation(format, &[(addition, replaced.cloned())]).unwrap()
    }

    fn removal(format: Format, key: &str, removed: &Value) -> String {
        show_removal(format, &[(place(key), removed.clone())], &[], None).unwrap()
    }

    #[test]
    fn marks_only_differences_and_masks_secrets() {
        let before = json!({"command": "slipstitch", "args": ["mcp"], "env": {"KEY": "s3cret"}});
        let after = json!({"command": "slipstitch", "args": ["mcp", "--dialect", "codex"]});
        let text = install(Format::Json, "mcpServers", Some(&before), &after);
        assert!(!text.contains("s3cret") && text.contains(MASK), "{text}");
        assert!(text.lines().any(|line| line.starts_with("+ ") && line.contains("codex")), "{text}");
        assert!(text.lines().any(|line| line.starts_with("  ") && line.contains("mcpServers")), "{text}");
    }

    #[test]
    fn field_order_is_not_a_difference() {
        let (before, after) = (json!({"b": 1, "a": 2, "c": 3}), json!({"a": 2, "b": 4, "c": 3}));
        let text = install(Format::Toml, "mcp_servers", Some(&before), &after);
        assert_eq!(text, "  [mcp_servers.slipstitch]\n  a = 2\n- b = 1\n+ b = 4\n  c = 3");
    }

    #[test]
    fn marks_new_entries_as_added_and_old_ones_as_removed() {
        let entry = json!({"command": "slipstitch"});
        let added = install(Format::Toml, "mcp_servers", None, &entry);
        assert!(added.lines().all(|line| line.starts_with('+')), "{added}");
        let removed = removal(Format::Toml, "mcp_servers", &entry);
        assert_eq!(removed.replace("- ", "+ "), added);
    }

    #[test]
    fn shows_only_commands_and_scalar_options() {
        let entry = json!({
            "type": "local", "command": ["other", "-x"], "args": ["a"], "cmd": "b", "enabled": true, "timeout": 3,
            "environment": {"KEY": "s3cret", "PIN": 4711, "deep": [{"type": "s3cret"}]},
            "token": "s3cret", "list": ["s3cret"], "oauth": {"args": "s3cret"}, "nothing": null,
        });
        let expected = json!({
            "type": "local", "command": ["other", "-x"], "args": ["a"], "cmd": "b", "enabled": true, "timeout": 3,
            "environment": {"KEY": MASK, "PIN": MASK, "deep": [{"type": MASK}]},
            "token": MASK, "list": [MASK], "oauth": {"args": MASK}, "nothing": MASK,
        });
        assert_eq!(mask_secrets(&entry, None), expected);
        let nested = json!({"command": {"path": "x", "args": ["y"], "env": {"KEY": "s3cret"}}});
        let expected = json!({"command": {"path": MASK, "args": [MASK], "env": {"KEY": MASK}}});
        assert_eq!(mask_secrets(&nested, None), expected);
        assert_eq!(mask_secrets(&json!("s3cret"), None), json!(MASK));
    }

    #[test]
    fn values_of_our_own_entry_are_not_masked() {
        let ours = json!({"source": "custom", "command": "slipstitch"});
        let theirs = json!({"source": "custom", "command": "other", "note": "custom"});
        let text = install(Format::Json, "s", Some(&theirs), &ours);
        assert!(text.contains("        \"source\": \"custom\""), "{text}");
        assert!(text.contains(&format!("\"note\": \"{MASK}\"")), "{text}");
    }

    #[test]
    fn what_an_installation_writes_is_shown_when_it_is_removed() {
        let ours = json!({"mode": "approve", "tools": ["edit_file", "patch"]});
        let show = |entry: Value| {
            let (entry, back) = ([(place("s"), entry.clone())], [(place("s"), entry)]);
            let gone = show_removal(Format::Json, &entry, &[], Some(&ours)).unwrap();
            let restored = show_removal(Format::Json, &[], &back, Some(&ours)).unwrap();
            assert_eq!(gone.contains(MASK), restored.contains(MASK), "{gone}\n{restored}");
            gone
        };
        assert!(!show(json!({"mode": "approve", "tools": ["patch"]})).contains(MASK));
        for theirs in [
            json!({"mode": "s3cret"}),
            json!({"mode": ["approve"]}),
            json!({"other": "approve"}),
            json!({"tools": ["patch", "s3cret"]}),
            json!({"tools": "patch"}),
        ] {
            let shown = show(theirs.clone());
            assert!(shown.contains(MASK) && !shown.contains("s3cret"), "{theirs}: {shown}");
        }
    }

    #[test]
    fn urls_are_shown_without_credentials() {
        for (url, shown) in [
            ("https://host:8080/mcp", Some("https://host:8080/mcp")),
            ("https://user:s3cret@host/mcp?key=s3cret#s3cret", Some("https://host/mcp")),
            ("https://us@er:s3cret@host", Some("https://host")),
            ("https://host?key=s3cret", Some("https://host")),
            ("https://host#s3cret", Some("https://host")),
            ("https://user:s3/cret@host/", None),
            ("https://user:s3#cret@host/", None),
            ("s3cret", None),
        ] {
            assert_eq!(strip_url(url).as_deref(), shown, "{url}");
        }
    }

    #[test]
    fn masks_foreign_entries_in_every_format() {
        let toml = "[s.slipstitch]\nurl = \"https://u:s3cret@h/x?k=s3cret\"\nsince = 2020-01-01\nlimit = inf\n\
                    [s.slipstitch.http_headers]\n\"X Key\" = \"s3cret\"\n[[s.slipstitch.more]]\na = 's3cret'\n";
        let yaml = "s:\n  slipstitch:\n    cmd: x\n    \"a: b\": s3cret\n    envs: {K: s3cret}\n    deep: [[s3cret], {a: s3cret}]\n";
        for (format, text) in [(Format::Toml, toml), (Format::Yaml, yaml)] {
            let found = format.find(text, &place("s")).unwrap().unwrap();
            let shown = removal(format, "s", &found);
            assert!(shown.contains(MASK) && !shown.contains("s3cret"), "{shown}");
            assert!(shown.lines().all(|line| line.starts_with("- ")), "{shown}");
        }
    }
}
