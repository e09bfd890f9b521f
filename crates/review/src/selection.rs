//! Filters for the lists of proposals and changes, as on the command line: `--agent`, `--session`, `--file`, `--since` and
//! `--until`, and a text to search for.

use serde::Deserialize;
use slipstitch::core::ports::journal::{FileSummary, Origin, StoredProposal, Summary};
use slipstitch::stats::CallFilter;

use crate::times;

/// The filters of a list. Empty fields match everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// Part of a path, an agent's or a session's name, a description, or a proposal's diff.
    #[serde(rename = "q")]
    pub text: String,
    /// The name of an agent.
    pub agent: String,
    /// The name of a session.
    pub session: String,
    /// A file, or a folder with everything in it.
    pub file: String,
    /// A time, as for `--since`.
    pub since: String,
    /// A time, as for `--until`.
    pub until: String,
}

impl Selection {
    /// The fields, with their names in URLs and in a search.
    pub(crate) fn fields(&self) -> [(&'static str, &str); 6] {
        [
            ("q", &self.text),
            ("agent", &self.agent),
            ("session", &self.session),
            ("file", &self.file),
            ("since", &self.since),
            ("until", &self.until),
        ]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields().iter().all(|(_, value)| value.is_empty())
    }

    /// The same selection without its text, which calls do not have.
    pub(crate) fn without_text(&self) -> Self {
        Self { text: String::new(), ..self.clone() }
    }

    /// The calls that are selected. The error is a message for the user.
    pub(crate) fn calls(&self) -> Result<CallFilter, String> {
        let SelectionFilter { since, until, .. } = self.filter()?;
        let named = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
        let file = match self.file_name() {
            "." => "",
            name => name,
        };
        Ok(CallFilter {
            session: named(&self.session),
            agent: named(&self.agent),
            files: (!self.file.is_empty()).then(|| vec![file.to_owned()]),
            since,
            until,
            ..CallFilter::default()
        })
    }

    /// The file or folder as the journal names it; `.` is the root.
    fn file_name(&self) -> &str {
        self.file.trim_start_matches("./").trim_end_matches('/')
    }

    /// Parses a search as the user types it, such as `agent:codex since:2h retry`.
    pub(crate) fn parse_search(typed: &str) -> Self {
        let mut selection = Self::default();
        let mut words = Vec::new();
        for word in typed.split_whitespace() {
            let field = match word.split_once(':') {
                Some(("agent", _)) => &mut selection.agent,
                Some(("session", _)) => &mut selection.session,
                Some(("file", _)) => &mut selection.file,
                Some(("since", _)) => &mut selection.since,
                Some(("until", _)) => &mut selection.until,
                _ => {
                    words.push(word);
                    continue;
                }
            };
            *field = word.split_once(':').map_or(String::new(), |(_, value)| value.to_owned());
        }
        selection.text = words.join(" ");
        selection
    }

    /// The filter of this selection, with its times parsed. The error is a message for the user.
    pub(crate) fn filter(&self) -> Result<SelectionFilter<'_>, String> {
        let time = |text: &str, parse: fn(&str) -> Result<i64, String>| match text.trim() {
            "" => Ok(None),
            text => parse(text).map(Some),
        };
        Ok(SelectionFilter {
            selection: self,
            text: self.text.to_lowercase(),
            since: time(&self.since, times::parse_since)?,
            until: time(&self.until, times::parse_until)?,
        })
    }
}

/// A [`Selection`] with its text in lower case and its times in milliseconds since 1970.
#[derive(Debug, Clone)]
pub(crate) struct SelectionFilter<'a> {
    selection: &'a Selection,
    /// In lower case.
    text: String,
    /// The first millisecond that is selected.
    pub(crate) since: Option<i64>,
    /// The first millisecond that is no longer selected.
    pub(crate) until: Option<i64>,
}

impl SelectionFilter<'_> {
    /// Whether a proposal is selected. Its diff is searched too.
    pub(crate) fn has_proposal(&self, found: &StoredProposal) -> bool {
        let proposal = &found.proposal;
        let paths = proposal.files.iter().flat_map(|file| [Some(&file.path), file.path_after()]).flatten();
        self.has_origin(found.at, &proposal.origin)
            && self.has_file(paths.clone().map(|path| path.as_str()))
            && (self.has_text(
                &proposal.origin,
                proposal.description.as_deref(),
                paths.map(|path| path.as_str()),
            ) || proposal.diff.to_lowercase().contains(&self.text))
    }

    /// Whether a change is selected.
    pub(crate) fn has_change(&self, change: &Summary) -> bool {
        let paths = change.files.iter().flat_map(paths_of);
        self.has_origin(change.at, &change.origin)
            && self.has_file(paths.clone())
            && self.has_text(&change.origin, change.description.as_deref(), paths)
    }

    fn has_origin(&self, at: i64, origin: &Origin) -> bool {
        let is = |wanted: &str, name: &str| wanted.is_empty() || wanted == name;
        is(&self.selection.agent, origin.agent.as_deref().unwrap_or_default())
            && is(&self.selection.session, &origin.session)
            && self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at < until)
    }

    fn has_file<'a>(&self, mut paths: impl Iterator<Item = &'a str>) -> bool {
        let wanted = self.selection.file_name();
        let is_inside = |path: &str| {
            path.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        wanted.is_empty() || wanted == "." || paths.any(is_inside)
    }

    fn has_text<'a>(
        &self,
        origin: &Origin,
        description: Option<&str>,
        mut paths: impl Iterator<Item = &'a str>,
    ) -> bool {
        let contains = |text: &str| text.to_lowercase().contains(&self.text);
        self.text.is_empty()
            || contains(&origin.session)
            || origin.agent.as_deref().is_some_and(contains)
            || description.is_some_and(contains)
            || paths.any(contains)
    }
}

/// The paths of a file before and after a change.
fn paths_of(file: &FileSummary) -> impl Iterator<Item = &str> + Clone {
    [&file.path_before, &file.path_after].into_iter().flatten().map(|path| path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin {
        Origin {
            session: "s1".into(),
            agent: Some("codex".into()),
            dialect: "native".into(),
            tool: "edit".into(),
        }
    }

    fn finds(typed: &str, paths: &[&str]) -> bool {
        let selection = Selection::parse_search(typed);
        let filter = selection.filter().unwrap();
        let now = jiff::Timestamp::now().as_millisecond();
        filter.has_origin(now - 3_600_000, &origin())
            && filter.has_file(paths.iter().copied())
            && filter.has_text(&origin(), Some("Retry uploads"), paths.iter().copied())
    }

    #[test]
    fn a_search_has_words_and_fields() {
        for (typed, want) in [
            ("", true),
            ("RETRY up", true),
            ("agent:codex", true),
            ("agent:code", false),
            ("session:s1 retry", true),
            ("session:s2 retry", false),
            ("file:src", true),
            ("file:./src/", true),
            ("file:src/a.py", true),
            ("file:sr", false),
            ("file:.", true),
            ("since:2h", true),
            ("since:30m", false),
            ("until:30m", true),
            ("until:2h", false),
            ("https://x", false),
        ] {
            assert_eq!(finds(typed, &["src/a.py"]), want, "{typed}");
        }
    }

    #[test]
    fn calls_are_selected_by_the_same_fields() {
        let calls = |typed: &str| Selection::parse_search(typed).calls().unwrap();
        assert_eq!(calls(""), CallFilter::default());
        assert_eq!(calls("agent:codex").agent.as_deref(), Some("codex"));
        assert_eq!(calls("session:s1").session.as_deref(), Some("s1"));
        assert_eq!(calls("file:./src/").files, Some(vec!["src".to_owned()]));
        assert_eq!(calls("file:.").files, Some(vec![String::new()]), "the root");
        assert!(calls("since:2h").since.is_some() && calls("until:2h").until.is_some());
        assert!(Selection::parse_search("since:soon").calls().is_err());
    }

    #[test]
    fn a_time_that_is_none_is_said() {
        let selection = Selection { since: "soon".into(), ..Selection::default() };
        assert!(selection.filter().unwrap_err().contains("`soon` is not a time"));
    }
}
