//! How tool calls ended: the charts of the page, as text.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use slipstitch::core::text::display::escape_controls;

use super::theme::{Colors, Role};
use super::wrap::{shorten, width_of};
use crate::statistics::{Day, OUTCOMES, Statistics};

/// How many bars a chart has on a large screen.
const MAX_BARS: usize = 10;

/// The columns of a bar's name and of its number.
const NAME: usize = 18;
const NUMBER: usize = 6;

/// The heights of the columns of the chart over time.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(super) fn draw(frame: &mut Frame<'_>, statistics: &Statistics, colors: Colors, area: Rect) {
    if statistics.total.calls == 0 {
        let text = " No calls recorded here. Calls that agents make through the MCP server are counted.";
        frame.render_widget(Paragraph::new(text), area);
        return;
    }
    let columns = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).spacing(2);
    let [left, right] = columns.areas(area);
    let (total, days) = (&statistics.total, &statistics.days);
    let chart = Chart { colors, width: usize::from(left.width), max_bars: MAX_BARS };
    let outcomes = [
        ("applied", total.applied),
        ("of these recovered", total.recovered),
        ("refused", total.refused),
        ("invalid", total.invalid),
        ("failed", total.failed),
    ];
    let counts = |counts: &[slipstitch::stats::Count]| -> Vec<(String, u64)> {
        counts.iter().map(|count| (count.what.clone(), count.count)).collect()
    };
    let lines = [
        chart.bars("How tool calls ended", &outcomes.map(|(name, count)| (name.to_owned(), count))),
        chart.over_time(days, statistics.busiest_day()),
    ];
    frame.render_widget(Paragraph::new(lines.concat()), left);
    // Three charts, each with a heading, a line for what is left out, and an empty line.
    let max_bars = (usize::from(area.height) / 3).saturating_sub(3).clamp(1, MAX_BARS);
    let chart = Chart { colors, width: usize::from(right.width), max_bars };
    let callers: Vec<(String, u64)> =
        statistics.callers.iter().map(|(caller, count)| (caller.to_string(), *count)).collect();
    let lines = [
        chart.bars("Why calls were not applied", &counts(&total.causes)),
        chart.bars("By agent, model and dialect", &callers),
        chart.bars("Recovered, by difference", &counts(&total.recovered_by)),
    ];
    frame.render_widget(Paragraph::new(lines.concat()), right);
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
    fn bars(self, title: &str, bars: &[(String, u64)]) -> Vec<Line<'static>> {
        let mut lines = vec![self.heading(title)];
        let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
        let room = self.width.saturating_sub(NAME + NUMBER + 4) as u64;
        for (name, count) in bars.iter().take(self.max_bars) {
            let name = shorten(&escape_controls(name), NAME);
            let gap = " ".repeat(NAME.saturating_sub(width_of(&name)));
            let bar = "█".repeat(usize::try_from(count * room / most).unwrap_or(0));
            lines.push(Line::from(vec![
                Span::raw(format!(" {name}{gap} {count:>NUMBER$} ")),
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
    fn over_time(self, days: &[Day], most: u64) -> Vec<Line<'static>> {
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
        let text = format!(" {ends}, at most {most} a day");
        lines.push(Line::styled(shorten(&text, self.width), self.colors.style(Role::Soft)));
        lines.push(Line::default());
        lines
    }
}
