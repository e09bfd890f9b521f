//! What an installation changes, as people are shown it: the entry alone. The rest of a host's file is none of our
//! business, and it may hold secrets.

use serde_json::Value;

use super::edit::{Format, Place, Unsafe};

const HIDDEN: &str = "(not shown)";

/// What a date of TOML is called once it is data like any other.
const TOML_TIME: &str = "$__toml_private_datetime";

/// Fields that say what is started. Everything else that is text may be a secret: hosts have many names for the
/// variables, headers and tokens of a server, and get new ones.
const OPEN: &[&str] = &["command", "cmd", "args", "type"];

/// What an installation changes: `ours` comes, and what it replaces goes.
pub(super) fn installed(
    format: Format,
    place: Place<'_>,
    replaced: Option<&Value>,
    ours: &Value,
) -> Result<String, Unsafe> {
    let before = replaced.map(|entry| without_secrets(&in_order_of(Some(ours), entry), Some(ours)));
    marked(format, place, before.as_ref(), Some(ours))
}

/// What taking an entry out changes, with the one that is there again, if one is. Either may be someone else's.
pub(super) fn taken_out(
    format: Format,
    place: Place<'_>,
    found: &Value,
    left: Option<&Value>,
) -> Result<String, Unsafe> {
    let before = without_secrets(&in_order_of(left, found), None);
    let after = left.map(|entry| without_secrets(entry, None));
    marked(format, place, Some(&before), after.as_ref())
}

/// What is said where an entry cannot be shown.
pub(super) fn not_shown(Unsafe(why): Unsafe) -> String {
    format!("the change is made, but the entry cannot be shown: {why}")
}

/// The lines of an entry that go and come, with `-` and `+` in front; what stays has a blank.
fn marked(
    format: Format,
    place: Place<'_>,
    before: Option<&Value>,
    after: Option<&Value>,
) -> Result<String, Unsafe> {
    let text = |entry: Option<&Value>| match entry {
        Some(entry) => format.alone(place, entry),
        None => Ok(String::new()),
    };
    let (before, after) = (text(before)?, text(after)?);
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let start = before.iter().zip(&after).take_while(same).count();
    let (gone, come) = (&before[start..], &after[start..]);
    let end = gone.iter().rev().zip(come.iter().rev()).take_while(same).count();
    let marked = |mark: &str, lines: &[&str]| lines.iter().map(|line| format!("{mark} {line}")).collect();
    let parts: [Vec<String>; 4] = [
        marked(" ", &before[..start]),
        marked("-", &gone[..gone.len() - end]),
        marked("+", &come[..come.len() - end]),
        marked(" ", &gone[gone.len() - end..]),
    ];
    Ok(parts.concat().join("\n"))
}

/// An entry with its fields in the order of another one's: not every parser keeps the file's.
fn in_order_of(other: Option<&Value>, entry: &Value) -> Value {
    let (Some(Value::Object(other)), Value::Object(fields)) = (other, entry) else { return entry.clone() };
    let first = other.keys().filter_map(|name| Some((name.clone(), fields.get(name)?.clone())));
    let rest = fields.iter().filter(|(name, _)| !other.contains_key(*name));
    Value::Object(first.chain(rest.map(|(name, value)| (name.clone(), value.clone()))).collect())
}

/// An entry with everything hidden that may be a secret. What `ours` has, too, is none.
fn without_secrets(entry: &Value, ours: Option<&Value>) -> Value {
    let Value::Object(fields) = entry else { return hidden(entry) };
    let shown = |(name, value): (&String, &Value)| {
        let same = ours.and_then(|ours| ours.get(name)) == Some(value);
        let value = match value {
            _ if same => value.clone(),
            Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) if name == "url" => address(text).unwrap_or_else(|| HIDDEN.into()).into(),
            value if OPEN.contains(&name.as_str()) => words(value),
            value => hidden(value),
        };
        (name.clone(), value)
    };
    Value::Object(fields.iter().map(shown).collect())
}

/// A word or a list of words. An object beneath, as Zed's `command` once was, has variables in it.
fn words(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(words).collect()),
        Value::Object(_) => hidden(value),
        word => word.clone(),
    }
}

/// The names stay, every value goes.
fn hidden(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(hidden).collect()),
        Value::Object(fields) if !fields.contains_key(TOML_TIME) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), hidden(value))).collect())
        }
        _ => HIDDEN.into(),
    }
}

/// A URL without user, query and fragment; nothing if it is not clear where those are.
fn address(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (server, rest) = rest.split_at(end);
    // A password with one of those in it, not escaped, would look like a server and a path.
    if rest.contains('@') {
        return None;
    }
    let server = server.rsplit_once('@').map_or(server, |(_, server)| server);
    let path = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    Some(format!("{scheme}://{server}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_marked_and_secrets_are_not_shown() {
        let before = json!({"command": "slipstitch", "args": ["mcp"], "env": {"KEY": "s3cret"}});
        let after = json!({"command": "slipstitch", "args": ["mcp", "--dialect", "codex"]});
        let text = installed(Format::Json, ["mcpServers", "slipstitch"], Some(&before), &after).unwrap();
        assert!(!text.contains("s3cret") && text.contains(HIDDEN), "{text}");
        assert!(text.lines().any(|line| line.starts_with("+ ") && line.contains("codex")), "{text}");
        assert!(text.lines().any(|line| line.starts_with("  ") && line.contains("mcpServers")), "{text}");
    }

    #[test]
    fn the_order_of_fields_is_no_change() {
        let (before, after) = (json!({"b": 1, "a": 2, "c": 3}), json!({"a": 2, "b": 4, "c": 3}));
        let text = installed(Format::Toml, ["mcp_servers", "slipstitch"], Some(&before), &after).unwrap();
        assert_eq!(text, "  [mcp_servers.slipstitch]\n  a = 2\n- b = 1\n+ b = 4\n  c = 3");
    }

    #[test]
    fn a_new_entry_comes_and_one_that_is_taken_out_goes() {
        let entry = json!({"command": "slipstitch"});
        let come = installed(Format::Toml, ["mcp_servers", "slipstitch"], None, &entry).unwrap();
        assert!(come.lines().all(|line| line.starts_with('+')), "{come}");
        let gone = taken_out(Format::Toml, ["mcp_servers", "slipstitch"], &entry, None).unwrap();
        assert_eq!(gone.replace("- ", "+ "), come);
    }

    #[test]
    fn only_what_is_started_and_switches_are_open() {
        let entry = json!({
            "type": "local", "command": ["other", "-x"], "args": ["a"], "cmd": "b", "enabled": true, "timeout": 3,
            "environment": {"KEY": "s3cret", "PIN": 4711, "deep": [{"type": "s3cret"}]},
            "token": "s3cret", "list": ["s3cret"], "oauth": {"args": "s3cret"}, "nothing": null,
        });
        let wanted = json!({
            "type": "local", "command": ["other", "-x"], "args": ["a"], "cmd": "b", "enabled": true, "timeout": 3,
            "environment": {"KEY": HIDDEN, "PIN": HIDDEN, "deep": [{"type": HIDDEN}]},
            "token": HIDDEN, "list": [HIDDEN], "oauth": {"args": HIDDEN}, "nothing": HIDDEN,
        });
        assert_eq!(without_secrets(&entry, None), wanted);
        let nested = json!({"command": {"path": "x", "args": ["y"], "env": {"KEY": "s3cret"}}});
        let wanted = json!({"command": {"path": HIDDEN, "args": [HIDDEN], "env": {"KEY": HIDDEN}}});
        assert_eq!(without_secrets(&nested, None), wanted);
        assert_eq!(without_secrets(&json!("s3cret"), None), json!(HIDDEN));
    }

    #[test]
    fn what_ours_has_is_no_secret() {
        let ours = json!({"source": "custom", "command": "slipstitch"});
        let theirs = json!({"source": "custom", "command": "other", "note": "custom"});
        let text = installed(Format::Json, ["s", "slipstitch"], Some(&theirs), &ours).unwrap();
        assert!(text.contains("        \"source\": \"custom\""), "{text}");
        assert!(text.contains(&format!("\"note\": \"{HIDDEN}\"")), "{text}");
    }

    #[test]
    fn an_address_has_no_secrets() {
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
            assert_eq!(address(url).as_deref(), shown, "{url}");
        }
    }

    #[test]
    fn every_form_can_show_what_others_put_there() {
        let toml = "[s.slipstitch]\nurl = \"https://u:s3cret@h/x?k=s3cret\"\nsince = 2020-01-01\nlimit = inf\n\
                    [s.slipstitch.http_headers]\n\"X Key\" = \"s3cret\"\n[[s.slipstitch.more]]\na = 's3cret'\n";
        let yaml = "s:\n  slipstitch:\n    cmd: x\n    \"a: b\": s3cret\n    envs: {K: s3cret}\n    deep: [[s3cret], {a: s3cret}]\n";
        for (format, text) in [(Format::Toml, toml), (Format::Yaml, yaml)] {
            let found = format.find(text, ["s", "slipstitch"]).unwrap().unwrap();
            let shown = taken_out(format, ["s", "slipstitch"], &found, None).unwrap();
            assert!(shown.contains(HIDDEN) && !shown.contains("s3cret"), "{shown}");
            assert!(shown.lines().all(|line| line.starts_with("- ")), "{shown}");
        }
    }
}
