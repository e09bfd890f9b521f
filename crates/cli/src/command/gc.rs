//! `slipstitch gc`: apply the journal's limits.

use clap::Args;
use serde_json::json;
use slipstitch::core::plan::Run;
use slipstitch::core::report::Report;
use slipstitch::journal::Collected;

use crate::change::run_mode;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult, Effect};
use crate::progress::Progress;
use crate::streams::Streams;

const EXAMPLES: &str = "\
Examples:
  slipstitch gc --dry-run
  slipstitch gc

The limits are `max_bytes` and `max_age_days` in `[journal]` of the settings. All roots share one
journal. The oldest changes are dropped first; pending changes and proposals are kept. A dropped
change can no longer be shown or undone.";

/// Drop the oldest changes over the journal's limits and reclaim space
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Gc {
    /// Show what would be dropped without dropping it
    #[arg(long, short = 'n')]
    dry_run: bool,
}

impl Gc {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let run = run_mode(self.dry_run);
        let _progress = Progress::start("Going through the journal", global);
        let workspace = global.open()?;
        let finished_erasing = match run {
            Run::Real => workspace.finish_erasing().map_err(Report::from)?,
            Run::Dry => false,
        };
        let collected = workspace.collect(run).map_err(Report::from)?;
        let locks = match run {
            // Leftover lock files are harmless, so failing to remove them is not an error.
            Run::Real => workspace.sweep_locks().unwrap_or(0),
            Run::Dry => 0,
        };
        Ok(Box::new(GcOutput { collected, locks, finished_erasing, run }))
    }
}

/// What was dropped, or would be in a dry run.
struct GcOutput {
    collected: Collected,
    /// Number of lock files removed.
    locks: usize,
    /// Whether text that an earlier `forget` had left was erased.
    finished_erasing: bool,
    run: Run,
}

impl CommandOutput for GcOutput {
    fn effect(&self) -> Effect {
        if self.run == Run::Real { Effect::Other } else { Effect::Nothing }
    }

    fn json(&self) -> serde_json::Result<String> {
        let mut object = serde_json::to_value(self.collected)?;
        object["locks"] = json!(self.locks);
        object["finished_erasing"] = json!(self.finished_erasing);
        object["dry_run"] = json!(self.run == Run::Dry);
        serde_json::to_string(&object)
    }

    fn write(&self, streams: &mut Streams) {
        let Collected { changes, proposals, memories, calls, texts, max_bytes, bytes_before, bytes_after } =
            self.collected;
        if self.finished_erasing {
            streams
                .out
                .line("Erased what an earlier `slipstitch forget` had to leave in the journal's files.");
        }
        match self.locks {
            0 => {}
            1 => streams.out.line("Removed 1 unused lock file."),
            locks => streams.out.line(format!("Removed {locks} unused lock files.")),
        }
        if self.collected.is_empty() {
            streams.out.line(match bytes_after <= max_bytes {
                true => format!("The journal is within its limits ({}).", format_size(bytes_after)),
                false => format!(
                    "The journal is still {} (limit {}): the rest is pending or needed for the next undo and redo.",
                    format_size(bytes_after),
                    format_size(max_bytes)
                ),
            });
            return;
        }
        let (verb, size_verb) = match self.run {
            Run::Real => ("Dropped", "shrank"),
            Run::Dry => ("Would drop", "would shrink"),
        };
        let kinds = [
            (changes, "change", "changes"),
            (proposals, "decided proposal", "decided proposals"),
            (memories, "session record", "session records"),
            (calls, "call record", "call records"),
            (texts, "stored file text", "stored file texts"),
        ];
        let counted: Vec<String> = kinds
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
            .collect();
        let (before, after) = (format_size(bytes_before), format_size(bytes_after));
        streams.out.line(format!("{verb} {}.", counted.join(", ")));
        streams.out.line(format!("The journal {size_verb} from {before} to {after}."));
    }
}

/// Formats a number of bytes.
fn format_size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
