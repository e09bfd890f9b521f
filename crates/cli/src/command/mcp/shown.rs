//! What an installation changes, as people are shown it: the entry alone. The rest of a host's file is none of our
//! business, and it may hold secrets.

use serde_json::Value;

use super::edit::{Format, Place, Unsafe};

/// Tables whose values are often secrets.
const SECRET: &[&str] = &["env", "envs", "headers"];
const HIDDEN: &str = "(not shown)";

/// The lines of an entry that go and come, with `-` and `+` in front; what stays has a blank.
pub(super) fn change(
    format: Format,
    place: Place<'_>,
    before: Option<&Value>,
    after: Option<&Value>,
) -> Result<String, Unsafe> {
    let text = |entry: Option<&Value>| match entry {
        Some(entry) => format.alone(place, &without_secrets(entry)),
        None => Ok(String::new()),
    };
    let ordered = before.map(|before| in_order_of(after, before));
    let (before, after) = (text(ordered.as_ref())?, text(after)?);
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

fn without_secrets(entry: &Value) -> Value {
    let mut shown = entry.clone();
    for table in
        SECRET.iter().filter_map(|name| shown.get(name)?.is_object().then_some(*name)).collect::<Vec<_>>()
    {
        for value in shown[table].as_object_mut().into_iter().flat_map(|table| table.values_mut()) {
            *value = HIDDEN.into();
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_marked_and_secrets_are_not_shown() {
        let before = json!({"command": "incise", "args": ["mcp"], "env": {"KEY": "s3cret"}});
        let after = json!({"command": "incise", "args": ["mcp", "--dialect", "codex"]});
        let text = change(Format::Json, ["mcpServers", "incise"], Some(&before), Some(&after)).unwrap();
        assert!(!text.contains("s3cret") && text.contains(HIDDEN), "{text}");
        assert!(text.lines().any(|line| line.starts_with("+ ") && line.contains("codex")), "{text}");
        assert!(text.lines().any(|line| line.starts_with("  ") && line.contains("mcpServers")), "{text}");
    }

    #[test]
    fn the_order_of_fields_is_no_change() {
        let (before, after) = (json!({"b": 1, "a": 2, "c": 3}), json!({"a": 2, "b": 4, "c": 3}));
        let text = change(Format::Toml, ["mcp_servers", "incise"], Some(&before), Some(&after)).unwrap();
        assert_eq!(text, "  [mcp_servers.incise]\n  a = 2\n- b = 1\n+ b = 4\n  c = 3");
    }

    #[test]
    fn a_new_entry_comes_and_one_that_is_taken_out_goes() {
        let entry = json!({"command": "incise"});
        let come = change(Format::Toml, ["mcp_servers", "incise"], None, Some(&entry)).unwrap();
        assert!(come.lines().all(|line| line.starts_with('+')), "{come}");
        let gone = change(Format::Toml, ["mcp_servers", "incise"], Some(&entry), None).unwrap();
        assert_eq!(gone.replace("- ", "+ "), come);
    }
}
