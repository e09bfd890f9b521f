//! The line of a settings file that a key is on.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The line, from 1, of a key such as `protected.rule` or `rules[0].verdict`. Of a key that is not in the text, that of the
/// section it belongs to.
pub(super) fn find(text: &str, key: &str) -> Option<usize> {
    let parsed = DeTable::parse(text).ok()?;
    let at = locate(parsed.get_ref(), &split_key(key))?;
    Some(text.get(..at)?.matches('\n').count() + 1)
}

/// The names and indexes of a key.
fn split_key(key: &str) -> Vec<&str> {
    key.split(['.', '[', ']']).filter(|part| !part.is_empty()).collect()
}

fn locate(table: &DeTable<'_>, parts: &[&str]) -> Option<usize> {
    let (first, rest) = parts.split_first()?;
    let (name, value) = table.iter().find(|(name, _)| name.get_ref().as_ref() == *first)?;
    locate_in(value, rest).or(Some(name.span().start))
}

fn locate_in(value: &Spanned<DeValue<'_>>, parts: &[&str]) -> Option<usize> {
    match value.get_ref() {
        DeValue::Table(table) => locate(table, parts),
        DeValue::Array(items) => {
            let (index, rest) = parts.split_first()?;
            let item = items.get(index.parse::<usize>().ok()?)?;
            locate_in(item, rest).or(Some(item.span().start))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn finds_the_line_of_a_key_or_of_its_section() {
        let text = "[files]\nfsync = true\n\n[protected]\nrule = \"x\"\n\n[[rules]]\npaths = []\n[[rules]]\nverdict = 1\n";
        assert_eq!(find(text, "protected.rule"), Some(5));
        assert_eq!(find(text, "files"), Some(1));
        assert_eq!(find(text, "rules[1].verdict"), Some(10));
        assert_eq!(find(text, "protected.groups.x"), Some(4));
        assert_eq!(find(text, "nothing"), None);
    }
}
