//! `slipstitch gc`: forget what is beyond the journal's limits.

use clap::Args;
use serde_json::json;
use slipstitch::core::plan::Run;
use slipstitch::core::report::Report;
use slipstitch::journal::Collected;

use crate::args::Global;
use crate::change::run;
use crate::output::{Done, Outcome};
use crate::page::Page;

const EXAMPLES: &str = "\
Examples:
  slipstitch gc --dry-run
  slipstitch gc

The limits are `max_bytes` and `max_age_days` in `[journal]` of the settings. The journal is one for all
roots. The oldest changes are forgotten first; what is pending or waits for a review stays. A change
that was forgotten can not be shown or taken back any more.";

/// Forget the oldest changes beyond the journal's limits, and give the space back
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Gc {
    /// Say what would be forgotten and forget nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

impl Gc {
    pub(super) fn run(self, global: &Global) -> Done {
        let run = run(self.dry_run);
        let workspace = global.open()?;
        let collected = workspace.collect(run).map_err(Report::from)?;
        let locks = match run {
            // Lock files that stay harm nobody.
            Run::Real => workspace.sweep_locks().unwrap_or(0),
            Run::Dry => 0,
        };
        Ok(Box::new(Tidied { collected, locks, run }))
    }
}

/// What was forgotten, or would be.
struct Tidied {
    collected: Collected,
    /// How many lock files were removed.
    locks: usize,
    run: Run,
}

impl Outcome for Tidied {
    fn json(&self) -> serde_json::Result<String> {
        let mut object = serde_json::to_value(self.collected)?;
        object["locks"] = json!(self.locks);
        object["dry_run"] = json!(self.run == Run::Dry);
        serde_json::to_string(&object)
    }

    fn write(&self, page: &mut Page) {
        let Collected { changes, proposals, memories, calls, texts, max_bytes, bytes_before, bytes_after } =
            self.collected;
        match self.locks {
            0 => {}
            1 => page.out.line("Removed a lock file that nobody holds."),
            locks => page.out.line(format!("Removed {locks} lock files that nobody holds.")),
        }
        if self.collected.is_empty() {
            page.out.line(match bytes_after <= max_bytes {
                true => format!("The journal is within its limits; it holds {}.", size(bytes_after)),
                false => format!(
                    "The journal holds {}, more than its limit of {}: the rest is what sessions take back next, and what waits.",
                    size(bytes_after),
                    size(max_bytes)
                ),
            });
            return;
        }
        let (verb, holds) = match self.run {
            Run::Real => ("Forgot", "holds"),
            Run::Dry => ("Would forget", "would hold"),
        };
        let kinds = [
            (changes, "change", "changes"),
            (proposals, "decided proposal", "decided proposals"),
            (memories, "text that a session remembered", "texts that sessions remembered"),
            (calls, "call in the statistics", "calls in the statistics"),
            (texts, "text of a file", "texts of files"),
        ];
        let counted: Vec<String> = kinds
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
            .collect();
        let (before, after) = (size(bytes_before), size(bytes_after));
        page.out.line(format!("{verb} {}.", counted.join(", ")));
        page.out.line(format!("The journal {holds} {after} instead of {before}."));
    }
}

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
