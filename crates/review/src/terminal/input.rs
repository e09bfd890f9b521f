//! What keys do.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::decide;
use super::model::{Choice, Model, Prompt, Tab};
use crate::editor::NOT_EDITABLE;

/// What the main loop has to do after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    Quit,
    /// Opens the current hunk in the user's editor.
    Edit,
}

/// How many lines a page is.
const PAGE: usize = 15;

/// Handles one key.
pub(super) fn press(model: &mut Model<'_>, key: KeyEvent) -> Effect {
    if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
        return Effect::Quit;
    }
    if model.prompt.is_some() {
        type_text(model, key.code);
        return Effect::None;
    }
    if model.is_help_shown {
        model.is_help_shown = false;
        return Effect::None;
    }
    let asked = model.undo_asked;
    let leave_asked = std::mem::take(&mut model.leave_asked);
    model.message = None;
    let effect = match key.code {
        KeyCode::Char('q') => return leave(model, leave_asked),
        KeyCode::Char('?') => {
            model.is_help_shown = true;
            Effect::None
        }
        KeyCode::Char('/') => {
            model.prompt = Some(Prompt::Search(model.search.clone()));
            Effect::None
        }
        KeyCode::Esc if model.tab == Tab::Statistics && model.calls.is_some() => {
            model.toggle_calls();
            Effect::None
        }
        KeyCode::Esc => {
            model.set_search(String::new());
            Effect::None
        }
        code => {
            scroll_or_switch(model, code);
            if code == KeyCode::Char('w') && model.tab == Tab::Review {
                decide::toggle_whole_file(model);
                return Effect::None;
            }
            match model.tab {
                Tab::Review => decide_by_key(model, code),
                Tab::History if code == KeyCode::Char('u') => {
                    decide::undo_or_redo(model);
                    return Effect::None;
                }
                Tab::History => {
                    match code {
                        KeyCode::Char('j') => model.select(1),
                        KeyCode::Char('k') => model.select(-1),
                        _ => {}
                    }
                    Effect::None
                }
                Tab::Statistics => {
                    match code {
                        KeyCode::Enter => model.toggle_calls(),
                        KeyCode::Char('j') | KeyCode::Down if model.calls.is_none() => model.select(1),
                        KeyCode::Char('k') | KeyCode::Up if model.calls.is_none() => model.select(-1),
                        _ => {}
                    }
                    Effect::None
                }
            }
        }
    };
    if asked.is_some() {
        model.forget_undo();
    }
    effect
}

/// Leaves; if unsent choices would be lost, warns first.
fn leave(model: &mut Model<'_>, was_warned: bool) -> Effect {
    let unsent = model.unsent_choices();
    if unsent == 0 || was_warned {
        return Effect::Quit;
    }
    let choices = if unsent == 1 { "1 choice is".into() } else { format!("{unsent} choices are") };
    model.message =
        Some(format!("{choices} not sent. ⏎ sends those of this proposal; q again discards them"));
    model.leave_asked = true;
    Effect::None
}

fn scroll_or_switch(model: &mut Model<'_>, code: KeyCode) {
    let tab = match (code, model.tab) {
        (KeyCode::Char('1'), _) | (KeyCode::Tab, Tab::Statistics) => Tab::Review,
        (KeyCode::Char('2'), _) | (KeyCode::Tab, Tab::Review) => Tab::History,
        (KeyCode::Char('3'), _) | (KeyCode::Tab, Tab::History) => Tab::Statistics,
        (_, tab) => tab,
    };
    if tab != model.tab {
        model.tab = tab;
        (model.statistics, model.calls) = (None, None);
        model.scroll = 0;
    }
    match code {
        KeyCode::Char('J') => model.select(1),
        KeyCode::Char('K') => model.select(-1),
        KeyCode::Down => model.scroll += 1,
        KeyCode::Up => model.scroll = model.scroll.saturating_sub(1),
        KeyCode::PageDown => model.scroll += PAGE,
        KeyCode::PageUp => model.scroll = model.scroll.saturating_sub(PAGE),
        KeyCode::Home => model.scroll = 0,
        KeyCode::Char('x') => model.toggle_layout(),
        _ => {}
    }
}

fn decide_by_key(model: &mut Model<'_>, code: KeyCode) -> Effect {
    match code {
        KeyCode::Char('j') => model.select_hunk(1),
        KeyCode::Char('k') => model.select_hunk(-1),
        KeyCode::Char('a') => choose(model, |_| Choice::Accept),
        KeyCode::Char('r') => choose(model, |before| match before {
            Choice::Reject { .. } => before.clone(),
            _ => Choice::Reject { reason: None },
        }),
        KeyCode::Char(' ') => choose(model, |before| match before {
            Choice::Accept => Choice::Reject { reason: None },
            Choice::Reject { .. } => Choice::Open,
            _ => Choice::Accept,
        }),
        KeyCode::Char('c') if model.proposal.is_some() => {
            model.prompt = Some(Prompt::Reason(current_reason(model)))
        }
        KeyCode::Char('e') if can_be_edited(model) => return Effect::Edit,
        KeyCode::Char('m') => {
            model.toggle_mark();
            model.select(1);
        }
        KeyCode::Char('A' | 'R') if !model.marked.is_empty() => {
            decide::decide_marked(model, code == KeyCode::Char('A'))
        }
        KeyCode::Char('A') => decide::accept_rest(model),
        KeyCode::Char('R') => decide::reject_all(model),
        KeyCode::Enter => decide::send(model),
        _ => {}
    }
    Effect::None
}

/// Changes the choice for the current hunk.
fn choose(model: &mut Model<'_>, next: impl FnOnce(&Choice) -> Choice) {
    let Some(open) = &mut model.proposal else { return };
    let current = open.current;
    match open.choices.get_mut(current) {
        Some(Choice::RejectedBefore(_)) => model.message = Some("this hunk was rejected before".into()),
        Some(choice) => *choice = next(choice),
        None => model.message = Some("there are no hunks; A accepts, R rejects".into()),
    }
}

fn current_reason(model: &Model<'_>) -> String {
    let choice = model.proposal.as_ref().and_then(|open| open.choices.get(open.current));
    match choice {
        Some(Choice::Reject { reason: Some(reason) }) => reason.clone(),
        _ => String::new(),
    }
}

fn can_be_edited(model: &mut Model<'_>) -> bool {
    let Some(open) = &model.proposal else { return false };
    let problem = match (open.choices.get(open.current), open.hunks.get(open.current)) {
        (Some(Choice::RejectedBefore(_)), _) => Some("this hunk was rejected before"),
        (_, Some(hunk)) if open.found.proposal.can_edit_hunk(hunk) => None,
        _ => Some(NOT_EDITABLE),
    };
    model.message = problem.map(str::to_owned);
    problem.is_none()
}

/// Handles a key while a line is typed.
fn type_text(model: &mut Model<'_>, code: KeyCode) {
    let Some(prompt) = &mut model.prompt else { return };
    let (Prompt::Reason(text) | Prompt::Search(text)) = prompt;
    match code {
        KeyCode::Char(c) => text.push(c),
        KeyCode::Backspace => drop(text.pop()),
        KeyCode::Esc => model.prompt = None,
        KeyCode::Enter => match model.prompt.take() {
            Some(Prompt::Search(text)) => model.set_search(text),
            Some(Prompt::Reason(text)) => {
                let reason = Some(text.trim().to_owned()).filter(|reason| !reason.is_empty());
                choose(model, |_| Choice::Reject { reason });
            }
            None => {}
        },
        _ => {}
    }
}
