//! The review in a terminal, full screen: the queue at the left, the diff at the right.
//!
//! | file | what it does |
//! | --- | --- |
//! | `model.rs` | what is shown and chosen |
//! | `input.rs`, `decide.rs` | what keys do; decisions, undo and redo |
//! | `theme.rs`, `wrap.rs`, `lines.rs`, `draw.rs` | styles, long lines, diffs as lines, the screen |
//! | `whole_file.rs` | a file with all of its lines |
//! | `statistics.rs` | how tool calls ended |
//! | `../editor.rs` | a hunk in `$EDITOR` |

mod decide;
mod draw;
mod input;
mod lines;
mod model;
mod statistics;
mod theme;
mod whole_file;
mod wrap;

use std::io;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::{DefaultTerminal, Frame};
use slipstitch::core::ports::journal::{StoredProposal, Summary};
use slipstitch::stats::CallFilter;
use slipstitch::{Reviewer, Workspace};

use input::Effect;
use model::Model;
pub use theme::Colors;

/// How often the journal is looked at. Other processes write to it, and SQLite tells nobody.
const INTERVAL: Duration = Duration::from_millis(400);

/// How the view behaves.
pub struct Options<'a> {
    /// Who decides.
    pub reviewer: Reviewer,
    /// Whether colours are used.
    pub colors: Colors,
    /// What is shown.
    pub limits: Limits<'a>,
    /// Shown first, until a key is pressed.
    pub note: Option<String>,
}

/// What the view is limited to.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Which proposals are listed.
    pub has_proposal: &'a dyn Fn(&StoredProposal) -> bool,
    /// Which changes are listed.
    pub has_change: &'a dyn Fn(&Summary) -> bool,
    /// Which calls are counted.
    pub calls: &'a CallFilter,
    /// Whether anything is left out.
    pub is_limited: bool,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("reviewer", &self.reviewer).field("colors", &self.colors).finish()
    }
}

/// Shows the view until it is closed. Returns how many proposals were decided.
pub fn run(workspace: &Workspace, options: Options<'_>) -> io::Result<usize> {
    // Calls wait for a decision while the view is open. Without it, they are answered at once.
    let _attended = workspace.attend_review();
    let mut model = Model::new(workspace, options.reviewer, options.limits);
    model.message = options.note;
    let mut terminal = ratatui::try_init()?;
    let shown = show(&mut terminal, &mut model, options.colors);
    let restored = ratatui::try_restore();
    shown.and(restored).map(|()| model.decided)
}

fn show(terminal: &mut DefaultTerminal, model: &mut Model<'_>, colors: Colors) -> io::Result<()> {
    loop {
        let draw = |frame: &mut Frame<'_>| draw::draw(frame, model, colors);
        terminal.draw(draw)?;
        if !event::poll(INTERVAL)? {
            model.refresh();
            continue;
        }
        let Event::Key(key) = event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match input::press(model, key) {
            Effect::None => {}
            Effect::Quit => return Ok(()),
            Effect::Edit => {
                ratatui::try_restore()?;
                let edited = decide::edit_current(model);
                *terminal = ratatui::try_init()?;
                model.message = edited.unwrap_or_else(Some);
            }
        }
    }
}
