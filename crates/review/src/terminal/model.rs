//! What the view shows, and what was chosen so far.

use std::collections::{BTreeSet, HashMap};

use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{Entry, Filter, ProposalHunk, ProposalId, StoredProposal, Summary};
use slipstitch::core::text::display::escape_controls;
use slipstitch::stats::{FailedEdit, ListedCall};
use slipstitch::{Reviewer, Workspace};

use super::Limits;
use super::whole_file::WholeFile;
use crate::diff_view::{HunkView, views_of_files};
use crate::selection::Selection;
use crate::statistics::{CallsShown, Statistics, failure_of};
use crate::summary::{notes_about, shorten_item};
use crate::whole_file::FileBefore;

/// How many changes the history lists.
const MAX_CHANGES: usize = 500;
/// How many changes are searched.
const MAX_SEARCHED: usize = 10_000;

/// How many calls behind a bar are listed.
pub(super) const MAX_CALLS: usize = 100;

/// The width of the diff from which it is side by side unless somebody chooses.
const MIN_SPLIT: u16 = 110;
/// The width below which side by side shows too little of each line.
const NARROWEST_SPLIT: u16 = 60;

/// The parts of the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Review,
    History,
    Statistics,
}

/// How diffs are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffLayout {
    /// Side by side if the screen is wide enough.
    Auto,
    Unified,
    Split,
}

/// What is chosen for one hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    Open,
    Accept,
    Reject {
        reason: Option<String>,
    },
    Edit(String),
    /// It was rejected before, with the reason.
    RejectedBefore(String),
}

/// A line that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Prompt {
    /// A reason for the current hunk, or for the whole proposal.
    Reason(String),
    Search(String),
}

/// The proposal that is shown.
pub(super) struct OpenProposal {
    pub(super) found: StoredProposal,
    pub(super) hunks: Vec<ProposalHunk>,
    pub(super) views: Vec<HunkView>,
    /// The line that names the item around each hunk.
    pub(super) items: Vec<Option<String>>,
    pub(super) choices: Vec<Choice>,
    /// The hunk that keys apply to.
    pub(super) current: usize,
    /// What is to be said about the place or the present state of the files.
    pub(super) notes: Vec<String>,
    pub(super) is_awaited: bool,
    /// The whole file of a hunk, instead of the hunks.
    pub(super) whole_file: Option<WholeFile>,
}

/// The change that is shown.
pub(super) struct OpenChange {
    pub(super) entry: Entry,
    /// The path and the diff of each hunk.
    pub(super) views: Vec<(String, HunkView)>,
    /// The hunks that an undo or a redo would write, while the user is asked to confirm it.
    pub(super) preview: Option<Vec<(String, HunkView)>>,
}

/// The calls behind a bar.
pub(super) struct OpenCalls {
    /// Which calls these are, in words.
    pub(super) title: String,
    /// Newest first. What is kept about a refused edit is known of the last ones only.
    pub(super) calls: Vec<(ListedCall, Option<FailedEdit>)>,
}

pub(super) struct Model<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) reviewer: Reviewer,
    pub(super) limits: Limits<'a>,
    pub(super) tab: Tab,
    pub(super) queue: Vec<StoredProposal>,
    /// How many proposals are pending, with those that the options or the search leave out.
    pub(super) pending: usize,
    pub(super) queue_at: usize,
    pub(super) proposal: Option<OpenProposal>,
    /// What was chosen for proposals that were left without a decision.
    drafts: HashMap<ProposalId, Vec<Choice>>,
    /// The proposals that are decided together.
    pub(super) marked: BTreeSet<ProposalId>,
    pub(super) history: Vec<Summary>,
    pub(super) history_at: usize,
    pub(super) change: Option<OpenChange>,
    /// Counted only when they are shown, because that reads the records of all calls.
    pub(super) statistics: Option<Statistics>,
    /// The bars that were drawn last, as the calls behind them, and the selected one.
    pub(super) bars: Vec<CallsShown>,
    pub(super) bar_at: usize,
    /// The calls behind a bar, instead of the charts.
    pub(super) calls: Option<OpenCalls>,
    /// The search as the user typed it.
    pub(super) search: String,
    pub(super) prompt: Option<Prompt>,
    pub(super) is_help_shown: bool,
    pub(super) layout: DiffLayout,
    /// The width of the diff when it was last drawn.
    pub(super) diff_width: u16,
    pub(super) scroll: usize,
    /// Whether the current hunk must be scrolled into view.
    pub(super) follows_hunk: bool,
    pub(super) message: Option<String>,
    /// The change whose undo was previewed, so that the next key press does it.
    pub(super) undo_asked: Option<ChangeId>,
    /// Whether the user was warned that leaving discards unsent choices.
    pub(super) leave_asked: bool,
    pub(super) decided: usize,
    activity: String,
}

impl<'a> Model<'a> {
    pub(super) fn new(workspace: &'a Workspace, reviewer: Reviewer, limits: Limits<'a>) -> Self {
        let mut model = Self {
            workspace,
            reviewer,
            limits,
            tab: Tab::Review,
            queue: Vec::new(),
            pending: 0,
            queue_at: 0,
            proposal: None,
            drafts: HashMap::new(),
            marked: BTreeSet::new(),
            history: Vec::new(),
            history_at: 0,
            change: None,
            statistics: None,
            bars: Vec::new(),
            bar_at: 0,
            calls: None,
            search: String::new(),
            prompt: None,
            is_help_shown: false,
            layout: DiffLayout::Auto,
            diff_width: 0,
            scroll: 0,
            follows_hunk: false,
            message: None,
            undo_asked: None,
            leave_asked: false,
            decided: 0,
            activity: workspace.activity().unwrap_or_default(),
        };
        model.reload();
        model
    }

    /// Reads the journal again if something happened.
    pub(super) fn refresh(&mut self) {
        let now = self.workspace.activity().unwrap_or_default();
        if now != self.activity {
            self.activity = now;
            self.reload();
        }
    }

    /// Reads the journal again. What is shown stays, if it is still there.
    pub(super) fn reload(&mut self) {
        self.statistics = None;
        let shown = self.proposal.as_ref().map(|open| open.found.id);
        let shown_change = self.change.as_ref().map(|open| open.entry.summary.id);
        let pending = self.workspace.proposals().unwrap_or_default();
        self.pending = pending.len();
        let is_decided = shown.is_some_and(|id| pending.iter().all(|found| found.id != id));
        let selection = Selection::parse_search(&self.search);
        let selected = selection.filter();
        if let Err(problem) = &selected {
            self.message = Some(escape_controls(problem));
        }
        let is_listed = |found: &StoredProposal| {
            (self.limits.has_proposal)(found)
                && selected.as_ref().is_ok_and(|selected| selected.has_proposal(found))
        };
        let pending_ids: BTreeSet<ProposalId> = pending.iter().map(|found| found.id).collect();
        self.marked.retain(|id| pending_ids.contains(id));
        self.queue = pending.into_iter().filter(is_listed).collect();
        let is_searched = self.limits.is_limited || !self.search.is_empty();
        let limit = if is_searched { MAX_SEARCHED } else { MAX_CHANGES };
        let filter = Filter { limit: Some(limit), ..Filter::default() };
        let is_listed = |change: &Summary| {
            (self.limits.has_change)(change)
                && selected.as_ref().is_ok_and(|selected| selected.has_change(change))
        };
        self.history = self
            .workspace
            .log(&filter)
            .unwrap_or_default()
            .into_iter()
            .filter(is_listed)
            .take(MAX_CHANGES)
            .collect();
        let at = shown.and_then(|id| self.queue.iter().position(|found| found.id == id));
        // A proposal that a search leaves out is still open.
        if let Some(id) = shown.filter(|_| is_decided)
            && self.message.is_none()
        {
            self.message = Some(format!("{id} was decided elsewhere"));
        }
        self.queue_at = at.unwrap_or(self.queue_at).min(self.queue.len().saturating_sub(1));
        let at = shown_change.and_then(|id| self.history.iter().position(|change| change.id == id));
        self.history_at = at.unwrap_or(0);
        self.open_selected();
        self.drafts.retain(|id, _| pending_ids.contains(id));
    }

    /// Moves to another proposal or change.
    pub(super) fn select(&mut self, step: isize) {
        match self.tab {
            Tab::Review => {
                self.queue_at =
                    self.queue_at.saturating_add_signed(step).min(self.queue.len().saturating_sub(1));
            }
            Tab::History => {
                self.history_at =
                    self.history_at.saturating_add_signed(step).min(self.history.len().saturating_sub(1));
            }
            Tab::Statistics => {
                self.bar_at = self.bar_at.saturating_add_signed(step).min(self.bars.len().saturating_sub(1));
                return;
            }
        }
        self.forget_undo();
        self.open_selected();
    }

    /// Opens what the lists point to.
    fn open_selected(&mut self) {
        self.keep_draft();
        let shown = self.proposal.take();
        let shown_id = shown.as_ref().map(|open| open.found.id);
        let id = self.queue.get(self.queue_at).map(|found| found.id);
        self.proposal = id.and_then(|id| {
            let drafts = self.drafts.get(&id).cloned();
            OpenProposal::read(self.workspace, id, drafts, shown.filter(|open| open.found.id == id))
        });
        if shown_id != id && self.tab == Tab::Review {
            self.scroll = 0;
        }
        let change = self.history.get(self.history_at).map(|change| change.id);
        if self.change.as_ref().map(|open| open.entry.summary.id) != change && self.tab == Tab::History {
            self.scroll = 0;
        }
        self.change = change.and_then(|id| OpenChange::read(self.workspace, id));
    }

    fn keep_draft(&mut self) {
        if let Some(open) = &self.proposal {
            self.drafts.insert(open.found.id, open.choices.clone());
        }
    }

    /// Whether a hunk of the proposal that is shown is rejected or edited, so that `A` accepts only the rest.
    pub(super) fn has_exceptions(&self) -> bool {
        let is_exception = |choice: &Choice| matches!(choice, Choice::Reject { .. } | Choice::Edit(_));
        self.proposal.as_ref().is_some_and(|open| open.choices.iter().any(is_exception))
    }

    /// What was chosen for the hunks of a proposal so far; empty if it was never shown.
    pub(super) fn choices_of(&self, id: ProposalId) -> &[Choice] {
        match &self.proposal {
            Some(open) if open.found.id == id => &open.choices,
            _ => self.drafts.get(&id).map_or(&[], Vec::as_slice),
        }
    }

    /// How many hunks have a choice that was not sent.
    pub(super) fn unsent_choices(&mut self) -> usize {
        self.keep_draft();
        let is_chosen = |choice: &&Choice| !matches!(choice, Choice::Open | Choice::RejectedBefore(_));
        self.drafts.values().flatten().filter(is_chosen).count()
    }

    /// Marks the proposal that is shown, to be decided with others, or takes the mark off.
    pub(super) fn toggle_mark(&mut self) {
        if let Some(id) = self.proposal.as_ref().map(|open| open.found.id)
            && !self.marked.remove(&id)
        {
            self.marked.insert(id);
        }
    }

    /// Whether old and new are side by side.
    pub(super) fn is_split(&self) -> bool {
        match self.layout {
            DiffLayout::Auto => self.diff_width >= MIN_SPLIT,
            DiffLayout::Unified => false,
            DiffLayout::Split => true,
        }
    }

    /// Changes between unified and side by side.
    pub(super) fn toggle_layout(&mut self) {
        self.layout = match self.is_split() {
            true => DiffLayout::Unified,
            false if self.diff_width < NARROWEST_SPLIT => {
                self.message = Some("the screen is too narrow for side by side".into());
                self.layout
            }
            false => DiffLayout::Split,
        };
        self.follows_hunk = true;
    }

    /// Moves to another hunk of the proposal.
    pub(super) fn select_hunk(&mut self, step: isize) {
        if let Some(open) = &mut self.proposal {
            open.current = open.current.saturating_add_signed(step).min(open.hunks.len().saturating_sub(1));
            self.follows_hunk = true;
        }
    }

    /// Shows the calls behind the selected bar instead of the charts, or the charts again.
    pub(super) fn toggle_calls(&mut self) {
        self.scroll = 0;
        self.calls = match self.calls.take() {
            Some(_) => None,
            None => self.bars.get(self.bar_at).map(|shown| OpenCalls::read(self.workspace, shown)),
        };
    }

    /// Drops the question about an undo or a redo.
    pub(super) fn forget_undo(&mut self) {
        self.undo_asked = None;
        if let Some(open) = &mut self.change {
            open.preview = None;
        }
    }

    pub(super) fn set_search(&mut self, text: String) {
        self.search = text;
        self.reload();
    }
}

impl OpenCalls {
    fn read(workspace: &Workspace, shown: &CallsShown) -> Self {
        let selection = shown.selection();
        let calls = workspace.calls(&selection, MAX_CALLS).unwrap_or_default();
        let failures = workspace.failures(&selection.filter).unwrap_or_default();
        let with_failure = |call: ListedCall| {
            let failure = failure_of(&call, &failures).cloned();
            (call, failure)
        };
        Self { title: shown.describe(), calls: calls.into_iter().map(with_failure).collect() }
    }
}

impl OpenProposal {
    /// Reads a proposal. If it is the one that was shown, its diff is the same.
    fn read(
        workspace: &Workspace,
        id: ProposalId,
        draft: Option<Vec<Choice>>,
        shown: Option<Self>,
    ) -> Option<Self> {
        let found = workspace.proposal(id).ok().flatten()?;
        let hunks = found.proposal.hunks();
        let view = |hunk: &ProposalHunk| HunkView::parse(found.proposal.hunk_diff(hunk), hunk.path.as_str());
        let (views, items, current, whole_file) = match shown {
            Some(open) => (open.views, open.items, open.current, open.whole_file),
            None => (hunks.iter().map(view).collect(), items_around(workspace, &found, &hunks), 0, None),
        };
        let initial = |hunk: &ProposalHunk| {
            let rejected = found.rejected_hunks.iter().find(|rejected| rejected.hunk == hunk.number);
            match rejected {
                Some(rejected) => Choice::RejectedBefore(rejected.reason.clone().unwrap_or_default()),
                None => Choice::Open,
            }
        };
        let mut choices: Vec<Choice> = hunks.iter().map(initial).collect();
        for (choice, kept) in choices.iter_mut().zip(draft.unwrap_or_default()) {
            if *choice == Choice::Open {
                *choice = kept;
            }
        }
        let (notes, is_awaited) = (notes_about(workspace, &found), workspace.is_decision_awaited(id));
        Some(Self { found, hunks, views, items, choices, current, notes, is_awaited, whole_file })
    }
}

/// The lines that name the items around the hunks of a proposal.
fn items_around(
    workspace: &Workspace,
    found: &StoredProposal,
    hunks: &[ProposalHunk],
) -> Vec<Option<String>> {
    let mut items = Vec::new();
    for group in hunks.chunk_by(|one, other| one.path == other.path) {
        let before = FileBefore::read(workspace, found, &group[0].path);
        let diffs: Vec<&str> = group.iter().map(|hunk| found.proposal.hunk_diff(hunk)).collect();
        let named = |item: Option<&str>| item.map(|item| escape_controls(&shorten_item(item)));
        items.extend(before.items_around(&diffs).into_iter().map(named));
    }
    items
}

impl OpenChange {
    fn read(workspace: &Workspace, id: ChangeId) -> Option<Self> {
        let entry = workspace.change(id).ok().flatten()?;
        let paths = entry.summary.files.iter().map(|file| {
            let path = file.path_after.as_ref().or(file.path_before.as_ref());
            path.map_or("", |path| path.as_str())
        });
        let views = views_of_files(paths, &entry.diff);
        Some(Self { entry, views, preview: None })
    }
}
