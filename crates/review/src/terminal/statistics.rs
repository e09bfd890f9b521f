//! How tool calls ended: the charts of the page, as text.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use slipstitch::core::text::display::escape_controls;
use slipstitch::stats::{Count, FailedEdit, ListedCall};

use super::model::{MAX_CALLS, OpenCalls};
use super::theme::{Colors, Role};
use super::wrap::{shorten, width_of, wrap_words};
use crate::statistics::{CallerName, CallsShown, Day, OUTCOMES, Statistics};
use crate::summary::ago;

/// How many bars a chart has on a large screen.
const MAX_BARS: usize = 10;

/// The columns of a bar's name and of its number.
const NAME: usize = 18;
const NUMBER: usize = 6;

/// The heights of the columns of the chart over time.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar, with the calls behind it.
struct Bar {
    name: String,
    count: u64,
    calls: CallsShown,
}

/// The charts whose bars can be chosen, as far as they fit.
pub(super) struct Charts {
    charts: [(&'static str, Vec<Bar>); 3],
    /// How many bars of each are shown.
    max_bars: usize,
    /// The days with calls, newest first, each with its position.
    days: Vec<(usize, CallsShown)>,
}

impl Charts {
    pub(super) fn of(statistics: &Statistics, all: &CallsShown, height: u16) -> Self {
        let Statistics { total, callers, days } = statistics;
        let bars = |counts: &[Count], shown: &dyn Fn(&str) -> CallsShown| -> Vec<Bar> {
            let bar = |one: &Count| Bar { name: one.what.clone(), count: one.count, calls: shown(&one.what) };
            counts.iter().map(bar).collect()
        };
        let caller = |(caller, count): &(CallerName, u64)| Bar {
            name: caller.to_string(),
            count: *count,
            calls: all.of_caller(caller),
        };
        let has_calls = |day: &Day| day.counts.iter().sum::<u64>() > 0;
        let days = days.iter().enumerate().rev().filter(|(_, day)| has_calls(day));
        Self {
            charts: [
                ("Why calls were not applied", bars(&total.causes, &|cause| all.with_cause(cause))),
                ("By agent, model and dialect", callers.iter().map(caller).collect()),
                ("Recovered, by difference", bars(&total.recovered_by, &|what| all.with_difference(what))),
            ],
            // Three charts, each with a heading, a line for what is left out, and an empty line.
            max_bars: (usize::from(height) / 3).saturating_sub(3).clamp(1, MAX_BARS),
            days: days.map(|(at, day)| (at, all.of_day(day))).collect(),
        }
    }

    /// The calls behind each bar that is shown, from top to bottom, and behind each day.
    pub(super) fn bars(&self) -> Vec<CallsShown> {
        let bars = self.charts.iter().flat_map(|(_, bars)| bars.iter().take(self.max_bars));
        bars.map(|bar| &bar.calls).chain(self.days.iter().map(|(_, day)| day)).cloned().collect()
    }

    /// Draws all charts; `selected` is the number of a bar.
    pub(super) fn draw(
        &self,
        frame: &mut Frame<'_>,
        statistics: &Statistics,
        selected: usize,
        colors: Colors,
        area: Rect,
    ) {
        let total = &statistics.total;
        if total.calls == 0 {
            let text = " No calls recorded here. Calls that agents make through the MCP server are counted.";
            frame.render_widget(Paragraph::new(text), area);
            return;
        }
        let columns = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).spacing(2);
        let [left, right] = columns.areas(area);
        let chart = Chart { colors, width: usize::from(left.width), max_bars: MAX_BARS };
        let outcomes = [
            ("applied", total.applied),
            ("of these recovered", total.recovered),
            ("refused", total.refused),
            ("invalid", total.invalid),
            ("failed", total.failed),
        ];
        let shown: usize = self.charts.iter().map(|(_, bars)| bars.len().min(self.max_bars)).sum();
        let day = selected.checked_sub(shown).and_then(|at| self.days.get(at)).map(|(at, _)| *at);
        let lines = [
            chart.bars("How tool calls ended", &outcomes, None),
            chart.over_time(&statistics.days, statistics.busiest_day(), day),
        ];
        frame.render_widget(Paragraph::new(lines.concat()), left);
        let chart = Chart { width: usize::from(right.width), max_bars: self.max_bars, ..chart };
        let mut first = 0;
        let mut lines = Vec::new();
        for (title, bars) in &self.charts {
            let named: Vec<(&str, u64)> = bars.iter().map(|bar| (bar.name.as_str(), bar.count)).collect();
            lines.extend(chart.bars(title, &named, selected.checked_sub(first)));
            first += bars.len().min(self.max_bars);
        }
        frame.render_widget(Paragraph::new(lines), right);
    }
}

/// Draws the calls behind a bar, newest first.
pub(super) fn draw_calls(
    frame: &mut Frame<'_>,
    open: &OpenCalls,
    scroll: &mut usize,
    colors: Colors,
    area: Rect,
) {
    let width = usize::from(area.width).saturating_sub(1);
    let which = escape_controls(open.title.trim_start_matches("calls"));
    let heading = match open.calls.len() {
        MAX_CALLS => format!(" The last {MAX_CALLS} calls{which}"),
        1 => format!(" 1 call{which}"),
        count => format!(" {count} calls{which}"),
    };
    let mut lines = vec![Line::styled(shorten(&heading, width), colors.style(Role::Strong)), Line::default()];
    for (call, failure) in &open.calls {
        let ListedCall { at, session, agent, dialect, tool, status, cause, recovered_from, .. } = call;
        let name = agent.as_ref().unwrap_or(session);
        let why = match (cause, recovered_from) {
            (Some(cause), _) => format!(", {cause}"),
            (None, Some(difference)) => format!(", recovered from {difference}"),
            (None, None) => String::new(),
        };
        let call = format!(" {:>8}  {name}  {dialect} {tool}  {}{why}", ago(*at), status.replace('_', " "));
        lines.push(Line::raw(shorten(&escape_controls(&call), width)));
        if let Some(FailedEdit { path, message, .. }) = failure {
            let text = escape_controls(&format!("{path}: {message}"));
            let room = width.saturating_sub(11);
            let wrapped = wrap_words(&[(text, colors.style(Role::Soft))], room);
            let indented =
                |row: Vec<Span<'static>>| Line::from([vec![Span::raw(" ".repeat(11))], row].concat());
            lines.extend(wrapped.into_iter().map(indented));
        }
    }
    *scroll = (*scroll).min(lines.len().saturating_sub(usize::from(area.height)));
    frame.render_widget(Paragraph::new(lines.split_off(*scroll)), area);
}

#[derive(Debug, Clone, Copy)]
struct Chart {
    colors: Colors,
    width: usize,
    max_bars: usize,
}

impl Chart {
    fn heading(self, text: &str) -> Line<'static> {
        Line::styled(format!(" {text}"), self.colors.style(Role::Strong))
    }

    /// A chart of horizontal bars, and an empty line.
    fn bars(self, title: &str, bars: &[(&str, u64)], selected: Option<usize>) -> Vec<Line<'static>> {
        let mut lines = vec![self.heading(title)];
        let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
        let room = self.width.saturating_sub(NAME + NUMBER + 4) as u64;
        for (at, (name, count)) in bars.iter().take(self.max_bars).enumerate() {
            let (marker, role) =
                if selected == Some(at) { ("▌", Role::Selected) } else { (" ", Role::Plain) };
            let name = shorten(&escape_controls(name), NAME);
            let gap = " ".repeat(NAME.saturating_sub(width_of(&name)));
            let bar = "█".repeat(usize::try_from(count * room / most).unwrap_or(0));
            lines.push(Line::from(vec![
                Span::styled(format!("{marker}{name}{gap} {count:>NUMBER$} "), self.colors.style(role)),
                Span::styled(bar, self.colors.style(Role::Code(crate::line_part::Class::Number))),
            ]));
        }
        let more = match bars.len() {
            0 => Some(" Nothing yet.".to_owned()),
            count if count > self.max_bars => Some(format!(" {} more", count - self.max_bars)),
            _ => None,
        };
        lines.extend(more.map(|text| Line::styled(text, self.colors.style(Role::Soft))));
        lines.push(Line::default());
        lines
    }

    /// One column per day, a row for each outcome that occurred.
    fn over_time(self, days: &[Day], most: u64, selected: Option<usize>) -> Vec<Line<'static>> {
        let mut lines = vec![self.heading("Calls over time")];
        for (part, name) in OUTCOMES.iter().enumerate() {
            let column = |day: &Day| match day.counts[part] {
                0 => ' ',
                count => {
                    let height = (count * HEIGHTS.len() as u64).div_ceil(most).clamp(1, HEIGHTS.len() as u64);
                    HEIGHTS[usize::try_from(height - 1).unwrap_or(0)]
                }
            };
            let columns: String = days.iter().map(column).collect();
            lines.push(Line::raw(format!(" {name:<NAME$}  {columns}")));
        }
        let ends = days.first().zip(days.last());
        let ends = ends.map_or(String::new(), |(first, last)| format!("{} to {}", first.name, last.name));
        let text = match selected.and_then(|at| Some((at, days.get(at)?))) {
            None => format!(" {ends}, at most {most} a day"),
            Some((at, day)) => {
                let pointer = format!("   {:NAME$}{}▲", "", " ".repeat(at));
                lines.push(Line::styled(pointer, self.colors.style(Role::Selected)));
                format!("▌{}: {} calls", day.name, day.counts.iter().sum::<u64>())
            }
        };
        lines.push(Line::styled(shorten(&text, self.width), self.colors.style(Role::Soft)));
        lines.push(Line::default());
        lines
    }
}
