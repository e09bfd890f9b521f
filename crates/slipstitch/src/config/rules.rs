//! `[[rules]]` of the settings.

use std::path::Path;

use serde::Deserialize;
use slipstitch_core::guard::{Conditions, ConsentRule, Found, OperationKind, Protected, Rule};

use super::ConfigError;

/// One rule as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RuleSection {
    verdict: Option<String>,
    reason: Option<String>,
    paths: OneOrMany<String>,
    operations: OneOrMany<OperationKind>,
    found: OneOrMany<Found>,
    dialects: OneOrMany<String>,
    agents: OneOrMany<String>,
    groups: OneOrMany<String>,
    more_lines_than: Option<usize>,
    keeps_less_than: Option<u8>,
}

/// A value, or a list of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<T: Clone> OneOrMany<T> {
    fn to_vec(&self) -> Vec<T> {
        match self {
            Self::One(value) => vec![value.clone()],
            Self::Many(values) => values.clone(),
        }
    }
}

/// The rules of a settings file, in order.
pub(super) fn parse_rules(sections: &[RuleSection], path: &Path) -> Result<Vec<Rule>, ConfigError> {
    sections.iter().enumerate().map(|(index, section)| parse_rule(section, index, path)).collect()
}

fn parse_rule(section: &RuleSection, index: usize, path: &Path) -> Result<Rule, ConfigError> {
    let key = |name: &str| format!("rules[{index}].{name}");
    let error = |name: &str, reason: String| ConfigError::key(path, key(name), reason);
    let verdict = match section.verdict.as_deref() {
        Some("auto") => ConsentRule::Allow,
        Some("ask") => ConsentRule::Ask,
        Some("deny") => ConsentRule::Deny,
        Some(other) => {
            let reason = format!("unknown verdict `{other}`, expected `auto`, `ask` or `deny`");
            return Err(error("verdict", reason));
        }
        None => return Err(error("verdict", "missing; expected `auto`, `ask` or `deny`".into())),
    };
    let groups = section.groups.to_vec();
    let is_known = |name: &String| {
        name == Protected::ADDED_GROUP || Protected::groups().iter().any(|group| group.name == *name)
    };
    if let Some(unknown) = groups.iter().find(|name| !is_known(name)) {
        let reason = format!("unknown group `{unknown}`; `slipstitch config protected` lists the groups");
        return Err(error("groups", reason));
    }
    if section.keeps_less_than.is_some_and(|percent| percent > 100) {
        return Err(error("keeps_less_than", "expected a percentage from 0 to 100".into()));
    }
    let conditions = Conditions {
        paths: section.paths.to_vec(),
        operations: section.operations.to_vec(),
        found: section.found.to_vec(),
        dialects: section.dialects.to_vec(),
        agents: section.agents.to_vec(),
        groups,
        more_lines_than: section.more_lines_than,
        keeps_less_than: section.keeps_less_than,
    };
    let file = path.file_name().map_or_else(|| path.display().to_string(), |name| name.display().to_string());
    let source = format!("rule {} in {file}", index + 1);
    Rule::new(conditions, verdict, section.reason.clone(), source)
        .map_err(|problem| error("paths", problem.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Rule>, String> {
        #[derive(Deserialize)]
        struct File {
            rules: Vec<RuleSection>,
        }
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        parse_rules(&file.rules, Path::new("folder/config.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_rule_takes_single_values_and_lists() {
        let rules = parse(
            "[[rules]]\npaths = \"src/**\"\nfound = [\"recovered\", \"chosen\"]\nverdict = \"ask\"\n\
             [[rules]]\nagents = [\"codex*\"]\noperations = \"delete\"\nverdict = \"deny\"\nreason = \"no\"\n",
        )
        .unwrap();
        let [first, second] = &rules[..] else { panic!("{rules:?}") };
        assert_eq!((first.verdict, first.source.as_str()), (ConsentRule::Ask, "rule 1 in config.toml"));
        assert_eq!((second.verdict, second.reason.as_deref()), (ConsentRule::Deny, Some("no")));
    }

    #[test]
    fn errors_name_the_rule_and_the_key() {
        for (text, wanted) in [
            ("[[rules]]\npaths = \"a\"\n", "`rules[0].verdict`: missing"),
            ("[[rules]]\nverdict = \"allow\"\n", "expected `auto`, `ask` or `deny`"),
            ("[[rules]]\nverdict = \"ask\"\ngroups = \"cii\"\n", "`rules[0].groups`: unknown group `cii`"),
            ("[[rules]]\nverdict = \"ask\"\npaths = \"a[\"\n", "`rules[0].paths`"),
            ("[[rules]]\nverdict = \"ask\"\nkeeps_less_than = 101\n", "`rules[0].keeps_less_than`"),
            ("[[rules]]\nverdict = \"ask\"\npath = \"a\"\n", "unknown field `path`"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
