//! What the statistics show, for the page and the terminal: how tool calls ended, and which calls are behind a bar.

use std::collections::BTreeMap;

use jiff::ToSpan;
use serde::Deserialize;
use slipstitch::Workspace;
use slipstitch::stats::{CallFilter, CallSelection, Count, FailedEdit, ListedCall, Tally};

/// How many days the chart over time shows.
const DAYS: i64 = 14;

/// The outcomes that the chart over time tells apart.
pub(crate) const OUTCOMES: [&str; 4] = ["applied", "recovered", "refused", "invalid or failed"];

/// Limits what the charts count. Each bar links to the calls behind it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CallsShown {
    /// A cause of refusals.
    cause: String,
    /// A difference that was recovered from.
    difference: String,
    agent: String,
    /// For callers that gave no name.
    session: String,
    model: String,
    dialect: String,
    /// A day, such as `2026-01-31`.
    day: String,
    /// What all calls are limited to.
    #[serde(skip)]
    limits: CallFilter,
}

impl CallsShown {
    /// Everything within these limits.
    pub(crate) fn within(limits: &CallFilter) -> Self {
        Self::default().limited_to(limits.clone())
    }

    /// The same calls, as far as they are within these limits.
    pub(crate) fn limited_to(self, limits: CallFilter) -> Self {
        Self { limits, ..self }
    }

    /// The fields that are set, with their names in URLs.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self { cause, difference, agent, session, model, dialect, day, limits: _ } = self;
        let fields = [
            ("cause", cause),
            ("difference", difference),
            ("agent", agent),
            ("session", session),
            ("model", model),
            ("dialect", dialect),
            ("day", day),
        ];
        fields.into_iter().map(|(name, value)| (name, value.as_str())).filter(|(_, value)| !value.is_empty())
    }

    /// Only the calls with a cause of refusals.
    pub(crate) fn with_cause(&self, cause: &str) -> Self {
        Self { cause: cause.to_owned(), ..self.clone() }
    }

    /// Only the calls that were recovered from a difference.
    pub(crate) fn with_difference(&self, difference: &str) -> Self {
        Self { difference: difference.to_owned(), ..self.clone() }
    }

    /// Only the calls of one caller.
    pub(crate) fn of_caller(&self, caller: &CallerName) -> Self {
        let CallerName { agent, session, model, dialect } = caller.clone();
        let (agent, model) = (agent.unwrap_or_default(), model.unwrap_or_default());
        Self { agent, session, model, dialect, ..self.clone() }
    }

    /// Only the calls of one day.
    pub(crate) fn of_day(&self, day: &Day) -> Self {
        Self { day: day.date.clone(), ..self.clone() }
    }

    /// Whether everything is shown.
    pub(crate) fn is_all(&self) -> bool {
        self.fields().next().is_none()
    }

    /// What is shown, in words.
    pub(crate) fn describe(&self) -> String {
        let quoted = |before: &str, text: &str| (!text.is_empty()).then(|| format!("{before} “{text}”"));
        let parts = [
            quoted("not applied because of", &self.cause),
            quoted("recovered from", &self.difference),
            quoted("by", &self.agent),
            quoted("of session", &self.session),
            quoted("with the model", &self.model),
            quoted("in the dialect", &self.dialect),
            quoted("on", &self.day),
        ];
        format!("calls {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    /// The calls that are behind the bars.
    pub(crate) fn selection(&self) -> CallSelection {
        let set = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let (since, until) = day_times(&self.day).unzip();
        let limits = &self.limits;
        let filter = CallFilter {
            since: since.max(limits.since),
            until: until.into_iter().chain(limits.until).min(),
            ..self.caller()
        };
        CallSelection { filter, cause: set(&self.cause), recovered_from: set(&self.difference) }
    }

    /// The filter for the caller, without a time.
    fn caller(&self) -> CallFilter {
        let set = |text: &str, limit: &Option<String>| match text {
            "" => limit.clone(),
            text => Some(text.to_owned()),
        };
        let limits = &self.limits;
        CallFilter {
            agent: set(&self.agent, &limits.agent),
            session: set(&self.session, &limits.session),
            model: set(&self.model, &limits.model),
            dialect: set(&self.dialect, &limits.dialect),
            files: limits.files.clone(),
            since: None,
            until: None,
        }
    }

    /// The calls of a tally that are shown, as in [`OUTCOMES`].
    fn count(&self, tally: &Tally) -> [u64; 4] {
        let of = |counts: &[Count], name: &str| {
            counts.iter().filter(|count| count.what == name).map(|count| count.count).sum()
        };
        match (self.cause.as_str(), self.difference.as_str()) {
            ("", "") => {
                let exact = tally.applied.saturating_sub(tally.recovered);
                [exact, tally.recovered, tally.refused, tally.invalid + tally.failed]
            }
            ("", difference) => [0, of(&tally.recovered_by, difference), 0, 0],
            (cause, _) => [0, 0, of(&tally.causes, cause), 0],
        }
    }
}

/// What is kept about a refused edit; only the last ones have it.
pub(crate) fn failure_of<'a>(call: &ListedCall, failures: &'a [FailedEdit]) -> Option<&'a FailedEdit> {
    let key = |at: i64, session: &str, tool: &str| (at, session.to_owned(), tool.to_owned());
    let wanted = key(call.at, &call.session, &call.tool);
    failures.iter().find(|failure| key(failure.at, &failure.session, &failure.tool) == wanted)
}

/// When a day begins and ends, in milliseconds since 1970.
fn day_times(day: &str) -> Option<(i64, i64)> {
    let start = day.parse::<jiff::civil::Date>().ok()?.to_zoned(jiff::tz::TimeZone::system()).ok()?;
    let end = start.checked_add(1.day()).ok()?;
    Some((start.timestamp().as_millisecond(), end.timestamp().as_millisecond()))
}

/// A program or, if it gave no name, a session, with one model and in one dialect.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallerName {
    pub(crate) agent: Option<String>,
    /// Empty if the agent is known.
    pub(crate) session: String,
    /// Unknown unless the client reports it.
    pub(crate) model: Option<String>,
    pub(crate) dialect: String,
}

impl std::fmt::Display for CallerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, ", self.agent.as_ref().unwrap_or(&self.session))?;
        self.model.iter().try_for_each(|model| write!(f, "{model}, "))?;
        f.write_str(&self.dialect)
    }
}

/// The calls of one day, by outcome.
#[derive(Debug)]
pub(crate) struct Day {
    /// For people.
    pub(crate) name: String,
    /// For addresses.
    pub(crate) date: String,
    /// As in [`OUTCOMES`].
    pub(crate) counts: [u64; 4],
}

/// The numbers of all charts.
#[derive(Debug)]
pub(crate) struct Statistics {
    pub(crate) total: Tally,
    /// The callers with the most calls first.
    pub(crate) callers: Vec<(CallerName, u64)>,
    pub(crate) days: Vec<Day>,
}

impl Statistics {
    pub(crate) fn read(workspace: &Workspace, shown: &CallsShown) -> Self {
        let groups = workspace.stats(&shown.selection().filter).unwrap_or_default();
        let mut total = Tally::default();
        let mut callers: BTreeMap<CallerName, u64> = BTreeMap::new();
        for group in groups {
            total.merge(&group.tally);
            let count = match (shown.cause.as_str(), shown.difference.as_str()) {
                ("", "") => group.tally.calls,
                _ => shown.count(&group.tally).iter().sum(),
            };
            let session = if group.agent.is_none() { group.session } else { String::new() };
            let name = CallerName { agent: group.agent, session, model: group.model, dialect: group.dialect };
            *callers.entry(name).or_default() += count;
        }
        let mut callers: Vec<(CallerName, u64)> =
            callers.into_iter().filter(|(_, count)| *count > 0).collect();
        callers.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Self { total, callers, days: count_days(workspace, shown) }
    }

    /// The most calls of a day, at least 1.
    pub(crate) fn busiest_day(&self) -> u64 {
        self.days.iter().map(|day| day.counts.iter().sum()).max().unwrap_or(0).max(1)
    }
}

/// The calls of each of the last days. The journal counts calls since a given time, so each day is a difference of two counts.
fn count_days(workspace: &Workspace, shown: &CallsShown) -> Vec<Day> {
    let today = jiff::Zoned::now().start_of_day().ok();
    let since = |days: i64| -> Option<(jiff::Zoned, [u64; 4])> {
        let start = today.as_ref()?.checked_sub(days.days()).ok()?;
        let (since, until) = (Some(start.timestamp().as_millisecond()), shown.limits.until);
        let filter = CallFilter { since: since.max(shown.limits.since), until, ..shown.caller() };
        let mut total = Tally::default();
        workspace.stats(&filter).ok()?.iter().for_each(|group| total.merge(&group.tally));
        Some((start, shown.count(&total)))
    };
    let mut days = Vec::new();
    let mut later = [0; 4];
    for day in 0..DAYS {
        let Some((start, counts)) = since(day) else { break };
        let only: Vec<u64> = counts.iter().zip(later).map(|(all, later)| all.saturating_sub(later)).collect();
        days.push(Day {
            name: start.strftime("%b %d").to_string(),
            date: start.strftime("%Y-%m-%d").to_string(),
            counts: [only[0], only[1], only[2], only[3]],
        });
        later = counts;
    }
    days.reverse();
    days
}
