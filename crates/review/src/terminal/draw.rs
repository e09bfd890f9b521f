//! The screen: tabs at the top, a list at the left, the content at the right, keys at the bottom.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};
use slipstitch::core::ports::journal::{ChangeKind, StoredProposal, Summary};
use slipstitch::core::text::display::escape_controls;

use super::lines::{Canvas, Lines};
use super::model::{Model, Prompt, Tab};
use super::statistics;
use super::theme::{Colors, Role};
use super::wrap::{shorten, width_of, wrap_words};
use crate::statistics::{CallsShown, Statistics};
use crate::summary::{ago, author_of, count_lines, how_found, tags_of, title_of};
use crate::times::format_local;

/// How many lines of the screen a message leaves for the rest.
const MIN_BODY_LINES: usize = 8;

const HELP: &[(&str, &str)] = &[
    ("j k", "next, previous hunk; in the history, change"),
    ("J K", "next, previous proposal"),
    ("space", "accept, reject or leave the hunk open"),
    ("a r", "accept, reject the hunk"),
    ("e", "edit the hunk in $EDITOR"),
    ("c", "reject the hunk with a reason for the agent"),
    ("⏎", "send the decision"),
    ("A R", "accept what is left, reject everything"),
    ("m", "mark; A and R then decide all marked proposals"),
    ("u", "undo or redo the change (history)"),
    ("j k ⏎", "choose a bar, list its calls (statistics)"),
    ("x w", "unified or side by side; the whole file"),
    ("↑ ↓ PgUp PgDn", "scroll"),
    ("1 2 3 Tab", "review, history, statistics"),
    ("/ Esc", "search (agent:x file:src since:2h); show everything"),
    ("q", "leave"),
];

pub(super) fn draw(frame: &mut Frame<'_>, model: &mut Model<'_>, colors: Colors) {
    let message = status_lines(model, colors, frame.area());
    let height = Constraint::Length(u16::try_from(message.len()).unwrap_or(1));
    let rows = [Constraint::Length(1), Constraint::Min(1), height, Constraint::Length(1)];
    let [top, body, status, keys] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(Paragraph::new(header(model, colors, top.width)), top);
    if model.tab == Tab::Statistics {
        let workspace = model.workspace;
        let all = CallsShown::within(model.limits.calls);
        let numbers = model.statistics.get_or_insert_with(|| Statistics::read(workspace, &all));
        match &model.calls {
            Some(open) => statistics::draw_calls(frame, open, &mut model.scroll, colors, body),
            None => {
                let charts = statistics::Charts::of(numbers, &all, body.height);
                model.bars = charts.bars();
                model.bar_at = model.bar_at.min(model.bars.len().saturating_sub(1));
                charts.draw(frame, numbers, model.bar_at, colors, body);
            }
        }
    } else {
        // The list takes what it needs to be read; the diff gets the rest.
        let list_width = if body.width >= 140 { 40 } else { (body.width * 2 / 5).clamp(20, 32) };
        let columns = [Constraint::Length(list_width), Constraint::Length(1), Constraint::Min(1)];
        let [list, line, content] = Layout::horizontal(columns).areas(body);
        draw_list(frame, model, colors, list);
        let bar = Line::styled("│", colors.style(Role::Soft));
        frame.render_widget(Paragraph::new(vec![bar; line.height.into()]), line);
        draw_content(frame, model, colors, content);
    }
    frame.render_widget(Paragraph::new(message), status);
    frame.render_widget(Paragraph::new(key_line(model, colors, keys.width)), keys);
    if model.is_help_shown {
        draw_help(frame, colors);
    }
}

fn header(model: &Model<'_>, colors: Colors, width: u16) -> Line<'static> {
    let review = match (model.queue.len(), model.pending) {
        (_, 0) => "Review".into(),
        (listed, pending) if listed == pending => format!("Review {pending}"),
        (listed, pending) => format!("Review {listed} of {pending}"),
    };
    let tabs =
        [(Tab::Review, review), (Tab::History, "History".into()), (Tab::Statistics, "Statistics".into())];
    let mut spans = vec![Span::raw(" ")];
    for (index, (tab, name)) in tabs.into_iter().enumerate() {
        if index > 0 {
            spans.push(Span::styled(" · ", colors.style(Role::Soft)));
        }
        // Brackets tell which one is open where bold text cannot be seen.
        let (name, role) =
            if tab == model.tab { (format!("[{name}]"), Role::Strong) } else { (name, Role::Soft) };
        spans.push(Span::styled(name, colors.style(role)));
    }
    let used: usize = spans.iter().map(Span::width).sum();
    let room = usize::from(width).saturating_sub(used);
    if let Some(help) = ["  / search  ? help ", "  ? help "].into_iter().find(|help| help.len() <= room) {
        spans.push(Span::raw(" ".repeat(room - help.len())));
        spans.push(Span::styled(help, colors.style(Role::Soft)));
    }
    Line::from(spans)
}

/// A message, what is typed, or that the agent waits. A long message takes as many lines as it needs, as long as something else
/// can be seen: it is what the agent gets to read.
fn status_lines(model: &Model<'_>, colors: Colors, area: Rect) -> Vec<Line<'static>> {
    let width = usize::from(area.width);
    if let (None, Some(message)) = (&model.prompt, &model.message) {
        let style = colors.style(Role::Strong);
        let wrapped = |line: &str| wrap_words(&[(line.to_owned(), style)], width.saturating_sub(2));
        let rows: Vec<Vec<Span<'static>>> = message.lines().flat_map(wrapped).collect();
        let room = usize::from(area.height).saturating_sub(MIN_BODY_LINES).max(2);
        let shown = if rows.len() > room { room - 1 } else { rows.len() };
        let left = rows.len() - shown;
        let indented = |row: Vec<Span<'static>>| Line::from([vec![Span::raw(" ")], row].concat());
        let mut lines: Vec<Line<'static>> = rows.into_iter().take(shown).map(indented).collect();
        if left > 0 {
            lines.push(Line::styled(
                format!(" … {left} more lines; the history (2) has the diff"),
                colors.style(Role::Soft),
            ));
        }
        return lines;
    }
    vec![status_line(model, colors, width)]
}

fn status_line(model: &Model<'_>, colors: Colors, width: usize) -> Line<'static> {
    let (text, role) = match &model.prompt {
        Some(Prompt::Reason(text)) => (format!(" Reason for the agent: {text}▏"), Role::Strong),
        Some(Prompt::Search(text)) => (format!(" Search: {text}▏"), Role::Strong),
        None if !model.search.is_empty() => (format!(" Search: {}", model.search), Role::Soft),
        None => (String::new(), Role::Plain),
    };
    let waits = model.proposal.as_ref().is_some_and(|open| open.is_awaited) && model.tab == Tab::Review;
    let note = if waits && text.is_empty() { " The agent is waiting" } else { "" };
    // The end of what is typed matters more than its beginning.
    let text = match width_of(&text) > width && model.prompt.is_some() {
        true => text.chars().skip(width_of(&text) - width).collect(),
        false => shorten(&text, width),
    };
    Line::from(vec![Span::styled(text, colors.style(role)), Span::styled(note, colors.style(Role::Warning))])
}

fn key_line(model: &Model<'_>, colors: Colors, width: u16) -> Line<'static> {
    let keys = match (&model.prompt, model.tab) {
        (Some(_), _) => " ⏎ done  Esc cancel",
        (None, Tab::Review) if !model.marked.is_empty() => {
            let keys =
                format!(" {} marked: A accept them  R reject them  m unmark  q leave", model.marked.len());
            return Line::styled(fit_keys(&keys, width), colors.style(Role::Soft));
        }
        (None, Tab::Review) if model.has_exceptions() => {
            " a accept  r reject  e edit  c reason  A the rest  R all  ⏎ send  q leave"
        }
        (None, Tab::Review) => " a accept  r reject  e edit  c reason  A/R all  ⏎ send  x/w view  q leave",
        (None, Tab::History) => " j/k change  u undo or redo  x layout  / search  q leave",
        (None, Tab::Statistics) if model.calls.is_some() => " ↑↓ scroll  Esc the charts  q leave",
        (None, Tab::Statistics) => " j/k bar  ⏎ its calls  1 review  2 history  q leave",
    };
    Line::styled(fit_keys(keys, width), colors.style(Role::Soft))
}

/// The keys that fit, and always the last one, which leaves.
fn fit_keys(keys: &str, width: u16) -> String {
    let mut items: Vec<&str> = keys.trim_start().split("  ").collect();
    while items.len() > 1 && width_of(&items.join("  ")) >= width.into() {
        items.remove(items.len() - 2);
    }
    format!(" {}", items.join("  "))
}

fn draw_list(frame: &mut Frame<'_>, model: &Model<'_>, colors: Colors, area: Rect) {
    let width = usize::from(area.width);
    let (items, at): (Vec<[Line<'static>; 2]>, usize) = match model.tab {
        Tab::History => {
            let item = |(index, change)| change_item(change, index == model.history_at, colors, width);
            (model.history.iter().enumerate().map(item).collect(), model.history_at)
        }
        _ => {
            let item = |(index, found): (usize, &StoredProposal)| {
                let is_marked = model.marked.contains(&found.id);
                proposal_item(found, index == model.queue_at, is_marked, colors, width)
            };
            (model.queue.iter().enumerate().map(item).collect(), model.queue_at)
        }
    };
    // The selected item stays in the middle of a long list.
    let fits = usize::from(area.height) / 2;
    let first = at.saturating_sub(fits / 2).min(items.len().saturating_sub(fits));
    let lines: Vec<Line<'static>> = items.into_iter().skip(first).take(fits + 1).flatten().collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// A title with a note at the right edge, and a second line.
fn item(
    title: &str,
    note: &str,
    below: &str,
    is_selected: bool,
    colors: Colors,
    width: usize,
) -> [Line<'static>; 2] {
    let marker = if is_selected { "▌" } else { " " };
    let role = if is_selected { Role::Selected } else { Role::Plain };
    let title = shorten(title, width.saturating_sub(width_of(note) + 3));
    let gap = width.saturating_sub(width_of(&title) + width_of(note) + 2);
    [
        Line::from(vec![
            Span::styled(format!("{marker}{title}"), colors.style(role)),
            Span::styled(format!("{}{note} ", " ".repeat(gap)), colors.style(Role::Soft)),
        ]),
        Line::styled(
            format!("{marker}{}", shorten(below, width.saturating_sub(2))),
            colors.style(Role::Soft),
        ),
    ]
}

fn proposal_item(
    found: &StoredProposal,
    is_selected: bool,
    is_marked: bool,
    colors: Colors,
    width: usize,
) -> [Line<'static>; 2] {
    let proposal = &found.proposal;
    let (added, removed) = count_lines(&proposal.diff);
    let mut below = format!("{}  +{added} −{removed}", author_of(proposal));
    for tag in tags_of(proposal) {
        below.push_str(&format!("  {tag}"));
    }
    if proposal.files.len() > 1 {
        below.push_str(&format!("  {} files", proposal.files.len()));
    }
    let title = format!("{}{}", if is_marked { "[x] " } else { "" }, title_of(proposal));
    item(&title, &ago(found.at), &below, is_selected, colors, width)
}

fn change_item(change: &Summary, is_selected: bool, colors: Colors, width: usize) -> [Line<'static>; 2] {
    let mut below = format!(
        "{}  {}",
        change.id,
        escape_controls(change.origin.agent.as_deref().unwrap_or(&change.origin.session))
    );
    // The state comes before the path, because the end of the line is often cut off.
    let state = change.undone_by.map(|_| "undone");
    for word in state.into_iter().chain(how_found(change)) {
        below.push_str(&format!("  {word}"));
    }
    if change.description.is_some() {
        let path =
            change.files.first().and_then(|file| file.path_after.as_ref().or(file.path_before.as_ref()));
        let more = change.files.len().saturating_sub(1);
        below.push_str(&path.map_or(String::new(), |path| format!("  {}", escape_controls(path.as_str()))));
        if more > 0 {
            below.push_str(&format!(" +{more}"));
        }
    }
    item(&change_title(change), &ago(change.at), &below, is_selected, colors, width)
}

fn change_title(change: &Summary) -> String {
    let path = |file: &slipstitch::core::ports::journal::FileSummary| {
        file.path_after.as_ref().or(file.path_before.as_ref()).map_or(String::new(), ToString::to_string)
    };
    escape_controls(&match (&change.kind, &change.description, &change.files[..]) {
        (ChangeKind::Undo(of), ..) => format!("Undo of {of}"),
        (ChangeKind::Redo(of), ..) => format!("Redo of {of}"),
        (ChangeKind::Edit, Some(description), _) => description.clone(),
        (ChangeKind::Edit, None, [file]) => path(file),
        (ChangeKind::Edit, None, files) => format!("{} files", files.len()),
    })
}

fn draw_content(frame: &mut Frame<'_>, model: &mut Model<'_>, colors: Colors, area: Rect) {
    model.diff_width = area.width;
    let canvas = Canvas { width: usize::from(area.width), colors, is_split: model.is_split() };
    let shown = match (model.tab, &model.proposal, &model.change) {
        (Tab::Review, Some(open), _) => match &open.whole_file {
            Some(file) => canvas.whole_file(file, open.current),
            None => canvas.proposal(open),
        },
        (Tab::History, _, Some(open)) => {
            let mut shown = canvas.change(open);
            let change = &open.entry.summary;
            let mut heading = vec![(change_title(change), Role::Strong), (about_change(change), Role::Soft)];
            if open.preview.is_some() {
                heading.push(("Preview of what would be written:".into(), Role::Warning));
            }
            let heading = heading.into_iter().flat_map(|(text, role)| paragraph(&text, role, canvas));
            shown.lines.splice(0..0, heading);
            shown
        }
        _ if !model.search.is_empty() => message("Nothing matches", "Esc shows everything again.", canvas),
        (Tab::Review, ..) if model.pending > 0 => message(
            "Nothing matches these options",
            &format!(
                "{} left out. `slipstitch review` without options shows everything.",
                match model.pending {
                    1 => "A proposal is".into(),
                    pending => format!("{pending} proposals are"),
                }
            ),
            canvas,
        ),
        (Tab::Review, ..) => message(
            "Nothing to review",
            "Changes that need your approval appear here by themselves. What was written is in the history (2).",
            canvas,
        ),
        _ if model.limits.is_limited => message(
            "No changes match these options",
            "`slipstitch review` without options shows everything.",
            canvas,
        ),
        _ => message(
            "No changes yet",
            "Every change made through Slipstitch is listed here, and can be undone.",
            canvas,
        ),
    };
    let height = usize::from(area.height);
    if std::mem::take(&mut model.follows_hunk)
        && let Some(open) = &model.proposal
        && let Some(&start) = shown.hunks.get(open.current)
    {
        let end = shown.hunks.get(open.current + 1).copied().unwrap_or(shown.lines.len());
        // The heading of the file is above its first hunk.
        let start = start.saturating_sub(1);
        if start < model.scroll || end > model.scroll + height {
            model.scroll =
                if end - start <= height && end > model.scroll + height { end - height } else { start };
        }
    }
    model.scroll = model.scroll.min(shown.lines.len().saturating_sub(height));
    let lines: Vec<Line<'static>> = shown.lines.into_iter().skip(model.scroll).take(height).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// Who made a change, when, how, and who approved it.
fn about_change(change: &Summary) -> String {
    let agent = change.origin.agent.as_ref().map_or(String::new(), |agent| format!("{agent} · "));
    escape_controls(&format!(
        "{agent}session {} · {} · {} · {} · approved by {}",
        change.origin.session,
        format_local(change.at),
        change.id,
        change.origin.tool,
        change.approval
    ))
}

fn paragraph(text: &str, role: Role, canvas: Canvas) -> Vec<Line<'static>> {
    canvas.text(text, role).collect()
}

fn message(title: &str, text: &str, canvas: Canvas) -> Lines {
    let lines = [paragraph(title, Role::Strong, canvas), paragraph(text, Role::Soft, canvas)].concat();
    Lines { lines, hunks: Vec::new() }
}

fn draw_help(frame: &mut Frame<'_>, colors: Colors) {
    let area = frame.area();
    let height = u16::try_from(HELP.len()).unwrap_or(0) + 2;
    let (width, height) = (area.width.min(66), area.height.min(height));
    let place = Rect { x: (area.width - width) / 2, y: (area.height - height) / 2, width, height };
    let lines: Vec<Line<'static>> = HELP
        .iter()
        .map(|(keys, meaning)| {
            Line::from(vec![
                Span::styled(format!(" {keys:<14} "), colors.style(Role::Strong)),
                Span::raw(*meaning),
            ])
        })
        .collect();
    frame.render_widget(Clear, place);
    let block = Block::new().borders(Borders::ALL).title(" Keys ");
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
