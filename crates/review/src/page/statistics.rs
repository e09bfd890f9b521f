//! Statistics: how tool calls ended, in four charts, and the calls behind a bar.

use maud::{Markup, html};
use slipstitch::Workspace;
use slipstitch::stats::{Count, FailedEdit, ListedCall};

use super::filters::query_of;
use super::layout::{Frame, Tab, page};
use super::{local_time, visible};
use crate::selection::Selection;
use crate::statistics::{CallerName, CallsShown, Day, OUTCOMES, Statistics, failure_of};

const ADDRESS: &str = "/statistics";
/// How many bars a chart has.
const MAX_BARS: usize = 10;
/// How many calls are listed.
const MAX_CALLS: usize = 100;

/// The classes of [`OUTCOMES`] in the style sheet.
const CLASSES: [&str; 4] = ["o-applied", "o-recovered", "o-refused", "o-failed"];

pub(crate) fn statistics_page(workspace: &Workspace, shown: CallsShown, selection: &Selection) -> Markup {
    let selection = &selection.without_text();
    let frame = Frame::new(workspace, Tab::Statistics, selection);
    // The form says what is wrong with a selection.
    let Ok(limits) = selection.calls() else {
        let content = html! { h1 { "Statistics" } (selection.form(ADDRESS)) };
        return page("Statistics", frame, html! {}, content);
    };
    let shown = &shown.limited_to(limits);
    let statistics = Statistics::read(workspace, shown);
    let total = &statistics.total;
    let is_empty = total.calls == 0 && shown.is_all() && selection.is_empty();
    let charts = Charts { statistics: &statistics, shown, selection };
    let content = html! {
        h1 { "Statistics" }
        @if is_empty {
            p.why { "No calls recorded here. Calls that agents make through the MCP server are counted." }
        } @else {
            (selection.form(ADDRESS))
            p.why {
                b { (total.calls) } " calls, " b { (total.applied) } " applied, " (total.recovered) " of these recovered; "
                b { (total.refused) } " refused, " (total.invalid) " invalid, " (total.failed) " failed"
            }
            @if !shown.is_all() { div.note role="status" { "Only " (visible(&shown.describe())) ". " a href=(ADDRESS) { "Show all calls" } } }
            div.charts {
                (charts.days())
                (chart("Why calls were not applied", &charts.bars(&total.causes, CallsShown::with_cause)))
                (chart("By agent, model and dialect", &charts.callers()))
                (chart("Recovered, by difference", &charts.bars(&total.recovered_by, CallsShown::with_difference)))
            }
            @if !shown.is_all() { (calls_table(workspace, shown)) }
        }
    };
    page("Statistics", frame, html! {}, content)
}

/// One bar of a chart, with the address of the calls behind it.
struct Bar {
    name: String,
    count: u64,
    address: String,
}

/// The charts, whose bars lead to the calls behind them: within what is shown already, as the numbers are.
struct Charts<'a> {
    statistics: &'a Statistics,
    shown: &'a CallsShown,
    selection: &'a Selection,
}

impl Charts<'_> {
    fn address(&self, shown: &CallsShown) -> String {
        let limits = self.selection.fields().into_iter();
        let limits = limits.filter(|(name, _)| shown.fields().all(|(set, _)| set != *name));
        format!("{ADDRESS}{}#calls", query_of(shown.fields().chain(limits)))
    }

    fn bars(&self, counts: &[Count], narrowed: fn(&CallsShown, &str) -> CallsShown) -> Vec<Bar> {
        let bar = |count: &Count| {
            let address = self.address(&narrowed(self.shown, &count.what));
            Bar { name: count.what.clone(), count: count.count, address }
        };
        counts.iter().map(bar).collect()
    }

    fn callers(&self) -> Vec<Bar> {
        let bar = |(caller, count): &(CallerName, u64)| {
            let address = self.address(&self.shown.of_caller(caller));
            Bar { name: caller.to_string(), count: *count, address }
        };
        self.statistics.callers.iter().map(bar).collect()
    }

    /// Columns over time, with a table of the same numbers.
    fn days(&self) -> Markup {
        days_chart(self.statistics, |day| self.address(&self.shown.of_day(day)))
    }
}

fn days_chart(statistics: &Statistics, address: impl Fn(&Day) -> String) -> Markup {
    const HEIGHT: u64 = 120;
    let (days, most) = (&statistics.days, statistics.busiest_day());
    html! {
        section.chart aria-label="Calls over time" {
            h2 { "Calls over time" }
            svg.columns-chart viewBox={ "0 0 " (days.len() * 24) " " (HEIGHT) } preserveAspectRatio="none" role="group" aria-label="Calls per day by outcome; the table below has the numbers" {
                @for (index, day) in days.iter().enumerate() {
                    @let total = day.counts.iter().sum::<u64>();
                    a href=(address(day)) aria-label={ (day.name) ": " (total) " calls" } {
                        rect.hit x=(index * 24) y="0" width="22" height=(HEIGHT) { title { (day.name) ": " (total) " calls" } }
                        @for (part, class) in CLASSES.iter().enumerate() {
                            @let below: u64 = day.counts[..part].iter().sum();
                            @let (low, high) = (below * HEIGHT / most, (below + day.counts[part]) * HEIGHT / most);
                            @if high > low { rect class=(class) x=(index * 24 + 2) y=(HEIGHT - high) width="18" height=(high - low) {} }
                        }
                    }
                }
            }
            p.axis {
                span { (days.first().map_or("", |day| &day.name)) }
                span { "at most " (most) " a day" }
                span { (days.last().map_or("", |day| &day.name)) }
            }
            p.legend { @for (name, class) in OUTCOMES.iter().zip(CLASSES) { span { svg.swatch viewBox="0 0 10 10" aria-hidden="true" { rect class=(class) width="10" height="10" {} } (name) } } }
            details {
                summary { "Numbers" }
                table.numbers {
                    tr { th scope="col" { "day" } @for name in OUTCOMES { th scope="col" { (name) } } }
                    @for day in days.iter().rev() { tr { th scope="row" { a href=(address(day)) { (day.name) } } @for count in day.counts { td { (count) } } } }
                }
            }
        }
    }
}

/// A chart of horizontal bars, which is a table for screen readers.
fn chart(title: &str, bars: &[Bar]) -> Markup {
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1);
    html! {
        section.chart aria-label=(title) {
            h2 { (title) }
            @if bars.is_empty() { p.empty { "Nothing yet." } }
            @else {
                table {
                    caption.hidden { (title) }
                    tr.hidden { th scope="col" { "name" } th scope="col" { "share" } th scope="col" { "calls" } }
                    @for bar in bars.iter().take(MAX_BARS) {
                        tr {
                            th scope="row" { a href=(bar.address) { (visible(&bar.name)) } }
                            td { a.bar href=(bar.address) tabindex="-1" aria-hidden="true" { meter min="0" max=(most) value=(bar.count) { (bar.count) } } }
                            td.count { (bar.count) }
                        }
                    }
                }
                @if bars.len() > MAX_BARS { p.empty { (bars.len() - MAX_BARS) " more" } }
            }
        }
    }
}

/// The calls behind a bar.
fn calls_table(workspace: &Workspace, shown: &CallsShown) -> Markup {
    let selection = shown.selection();
    let calls = workspace.calls(&selection, MAX_CALLS).unwrap_or_default();
    let failures = workspace.failures(&selection.filter).unwrap_or_default();
    html! {
        section.calls #calls aria-label="Calls" {
            h2 { @if calls.len() == MAX_CALLS { "The last " (MAX_CALLS) " calls" } @else { "Calls" } }
            @if calls.is_empty() { p.empty { "None." } }
            @else {
                table {
                    tr { th scope="col" { "time" } th scope="col" { "caller" } th scope="col" { "tool" } th scope="col" { "outcome" } th scope="col" { "details" } }
                    @for call in &calls { (call_row(call, failure_of(call, &failures))) }
                }
            }
        }
    }
}

fn call_row(call: &ListedCall, failure: Option<&FailedEdit>) -> Markup {
    html! {
        tr {
            td { (local_time(call.at)) }
            td { (visible(call.agent.as_deref().unwrap_or(&call.session))) }
            td { (visible(&call.dialect)) " · " (visible(&call.tool)) }
            td { (call.status.replace('_', " ")) }
            td {
                @if let Some(cause) = &call.cause { (visible(cause)) " " }
                @if let Some(difference) = &call.recovered_from { "recovered from " (visible(difference)) " " }
                @if let Some(failure) = failure { code { (visible(&failure.path)) } ": " (visible(&failure.message)) " " }
                @if let Some(id) = call.proposal { a href={ "/review/" (id) } { (id) } }
            }
        }
    }
}
