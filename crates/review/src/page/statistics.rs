//! Statistics: how tool calls ended.

use std::collections::BTreeMap;

use jiff::ToSpan;
use maud::{Markup, html};
use serde::Deserialize;
use slipstitch::Workspace;
use slipstitch::stats::{CallFilter, Count, Tally};

use super::filters::{Filters, percent_encode};
use super::layout::{Tab, page};
use super::visible;

/// How many days the chart over time shows.
const DAYS: i64 = 14;
/// How many bars a chart has.
const MAX_BARS: usize = 10;

/// What the charts are limited to: one cause of refusals, or one difference that was recovered from.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CallsShown {
    cause: String,
    difference: String,
}

impl CallsShown {
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

    /// What is shown, in words; `None` for everything.
    fn describe(&self) -> Option<String> {
        match (self.cause.as_str(), self.difference.as_str()) {
            ("", "") => None,
            ("", difference) => Some(format!("calls that were recovered from “{difference}”")),
            (cause, _) => Some(format!("calls that were not applied because of “{cause}”")),
        }
    }
}

pub(crate) fn statistics_page(workspace: &Workspace, shown: &CallsShown) -> Markup {
    let groups = workspace.stats(&CallFilter::default()).unwrap_or_default();
    let mut total = Tally::default();
    groups.iter().for_each(|group| total.merge(&group.tally));
    let mut by_caller: BTreeMap<String, u64> = BTreeMap::new();
    for group in &groups {
        let agent = group.agent.as_deref().unwrap_or(&group.session);
        let count = match shown.describe() {
            None => group.tally.calls,
            Some(_) => shown.count(&group.tally).iter().sum(),
        };
        *by_caller.entry(format!("{agent}, {}", group.dialect)).or_default() += count;
    }
    let mut by_caller: Vec<(String, u64)> = by_caller.into_iter().filter(|(_, count)| *count > 0).collect();
    by_caller.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let counts = |counts: &[Count]| -> Vec<(String, u64)> {
        counts.iter().map(|count| (count.what.clone(), count.count)).collect()
    };
    let content = html! {
        h1 { "Statistics" }
        @if total.calls == 0 {
            p.why { "No calls recorded here. Calls that agents make through the MCP server are counted." }
        } @else {
            p.why {
                b { (total.calls) } " calls, " b { (total.applied) } " applied, " (total.recovered) " of these recovered; "
                b { (total.refused) } " refused, " (total.invalid) " invalid, " (total.failed) " failed"
            }
            @if let Some(only) = shown.describe() { div.note role="status" { "Only " (visible(&only)) ". " a href="/statistics" { "Show all calls" } } }
            div.charts {
                (days_chart(&tallies_per_day(workspace, shown)))
                (chart("Why calls were not applied", &counts(&total.causes), "/statistics?cause="))
                (chart("By agent and dialect", &by_caller, "/history?q="))
                (chart("Recovered, by difference", &counts(&total.recovered_by), "/statistics?difference="))
            }
        }
    };
    let pending = workspace.pending_count().unwrap_or(0);
    page("Statistics", Tab::Statistics, pending, &Filters::default(), html! {}, content)
}

/// The calls of one day, by outcome.
struct Day {
    /// For people.
    name: String,
    /// For addresses.
    date: String,
    /// As in [`OUTCOMES`].
    counts: [u64; 4],
}

/// The outcomes that the chart over time shows, with their classes in the style sheet.
const OUTCOMES: [(&str, &str); 4] = [
    ("applied", "o-applied"),
    ("recovered", "o-recovered"),
    ("refused", "o-refused"),
    ("invalid or failed", "o-failed"),
];

/// The calls of each of the last days. The journal counts calls since a time, so each day is a difference.
fn tallies_per_day(workspace: &Workspace, shown: &CallsShown) -> Vec<Day> {
    let today = jiff::Zoned::now().start_of_day().ok();
    let since = |days: i64| -> Option<(jiff::Zoned, [u64; 4])> {
        let start = today.as_ref()?.checked_sub(days.days()).ok()?;
        let filter = CallFilter { since: Some(start.timestamp().as_millisecond()), ..CallFilter::default() };
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

/// Columns over time, with a table of the same numbers.
fn days_chart(days: &[Day]) -> Markup {
    const HEIGHT: u64 = 120;
    let most = days.iter().map(|day| day.counts.iter().sum::<u64>()).max().unwrap_or(0).max(1);
    html! {
        section.chart aria-label="Calls over time" {
            h2 { "Calls over time" }
            svg.columns-chart viewBox={ "0 0 " (days.len() * 24) " " (HEIGHT) } role="group" aria-label="Calls per day by outcome; the table below has the numbers" {
                @for (index, day) in days.iter().enumerate() {
                    @let total = day.counts.iter().sum::<u64>();
                    a href={ "/history?day=" (day.date) } aria-label={ (day.name) ": " (total) " calls" } {
                        rect.hit x=(index * 24) y="0" width="22" height=(HEIGHT) { title { (day.name) ": " (total) " calls" } }
                        @for (part, (_, class)) in OUTCOMES.iter().enumerate() {
                            @let below: u64 = day.counts[..part].iter().sum();
                            @let (low, high) = (below * HEIGHT / most, (below + day.counts[part]) * HEIGHT / most);
                            @if high > low { rect class=(class) x=(index * 24 + 2) y=(HEIGHT - high) width="18" height=(high - low) {} }
                        }
                    }
                }
            }
            p.legend { @for (name, class) in OUTCOMES { span { svg.swatch viewBox="0 0 10 10" aria-hidden="true" { rect class=(class) width="10" height="10" {} } (name) } } }
            details {
                summary { "Numbers" }
                table.numbers {
                    tr { th scope="col" { "day" } @for (name, _) in OUTCOMES { th scope="col" { (name) } } }
                    @for day in days.iter().rev() { tr { th scope="row" { a href={ "/history?day=" (day.date) } { (day.name) } } @for count in day.counts { td { (count) } } } }
                }
            }
        }
    }
}

/// A chart of horizontal bars, which is a table for those who cannot see it. Names and bars lead to `address` and the name.
fn chart(title: &str, bars: &[(String, u64)], address: &str) -> Markup {
    let link = |name: &str| format!("{address}{}", percent_encode(name.split(", ").next().unwrap_or(name)));
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    html! {
        section.chart aria-label=(title) {
            h2 { (title) }
            @if bars.is_empty() { p.empty { "Nothing yet." } }
            @else {
                table {
                    caption.hidden { (title) }
                    tr.hidden { th scope="col" { "name" } th scope="col" { "share" } th scope="col" { "calls" } }
                    @for (name, count) in bars.iter().take(MAX_BARS) {
                        tr {
                            th scope="row" { a href=(link(name)) { (visible(name)) } }
                            td { a.bar href=(link(name)) tabindex="-1" aria-hidden="true" { meter min="0" max=(most) value=(count) { (count) } } }
                            td.count { (count) }
                        }
                    }
                }
            }
        }
    }
}
