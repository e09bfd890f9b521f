//! Statistics: how tool calls ended.

use std::collections::BTreeMap;

use jiff::ToSpan;
use maud::{Markup, html};
use slipstitch::Workspace;
use slipstitch::stats::{CallFilter, Count, Tally};

use super::layout::{Tab, page};
use super::visible;

/// How many days the chart over time shows.
const DAYS: i64 = 14;
/// How many bars a chart has.
const MAX_BARS: usize = 10;

pub(crate) fn statistics_page(workspace: &Workspace) -> Markup {
    let groups = workspace.stats(&CallFilter::default()).unwrap_or_default();
    let mut total = Tally::default();
    groups.iter().for_each(|group| total.merge(&group.tally));
    let mut by_caller: BTreeMap<String, u64> = BTreeMap::new();
    for group in &groups {
        let agent = group.agent.as_deref().unwrap_or(&group.session);
        *by_caller.entry(format!("{agent}, {}", group.dialect)).or_default() += group.tally.calls;
    }
    let mut by_caller: Vec<(String, u64)> = by_caller.into_iter().collect();
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
            div.charts {
                (chart("Calls per day", &calls_per_day(workspace)))
                (chart("Why calls were not applied", &counts(&total.causes)))
                (chart("By agent and dialect", &by_caller))
                (chart("Recovered, by difference", &counts(&total.recovered_by)))
            }
        }
    };
    let pending = workspace.proposals().map_or(0, |pending| pending.len());
    page("Statistics", Tab::Statistics, pending, "", html! {}, content)
}

/// The calls of each of the last days. The journal counts calls since a time, so each day is a difference.
fn calls_per_day(workspace: &Workspace) -> Vec<(String, u64)> {
    let today = jiff::Zoned::now().start_of_day().ok();
    let since = |days: i64| -> Option<(String, u64)> {
        let start = today.as_ref()?.checked_sub(days.days()).ok()?;
        let filter = CallFilter { since: Some(start.timestamp().as_millisecond()), ..CallFilter::default() };
        let groups = workspace.stats(&filter).ok()?;
        Some((start.strftime("%b %d").to_string(), groups.iter().map(|group| group.tally.calls).sum()))
    };
    let mut days = Vec::new();
    let mut later = 0;
    for day in 0..DAYS {
        let Some((name, calls)) = since(day) else { break };
        days.push((name, calls - later));
        later = calls;
    }
    days.reverse();
    days
}

/// A chart of horizontal bars, which is a table for those who cannot see it.
fn chart(title: &str, bars: &[(String, u64)]) -> Markup {
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    html! {
        section.chart aria-label=(title) {
            h2 { (title) }
            @if bars.is_empty() { p.empty { "Nothing yet." } }
            @else {
                table {
                    @for (name, count) in bars.iter().take(bars.len().min(if title.ends_with("day") { bars.len() } else { MAX_BARS })) {
                        tr {
                            th scope="row" { (visible(name)) }
                            td { meter min="0" max=(most) value=(count) { (count) } }
                            td.count { (count) }
                        }
                    }
                }
            }
        }
    }
}
