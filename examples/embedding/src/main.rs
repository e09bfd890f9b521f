//! Embeds Slipstitch in memory with its own storage, dialect, guard and approval, and prints a short session.

mod approval;
mod dialect;
mod guard;
mod storage;

use std::io::{self, Write};

use serde_json::{Value, json};
use slipstitch_core::dialect::Dialects;
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::guard::Guards;
use slipstitch_core::ports::memory::MemoryJournal;

use approval::SizeLimit;
use storage::Documents;

/// The embedding application.
struct App {
    documents: Documents,
    /// A real application would implement `Journal` for its database, or use the SQLite one of the crate `slipstitch`.
    journal: MemoryJournal,
    dialects: Dialects,
    guards: Guards,
}

impl App {
    fn new() -> Self {
        Self {
            documents: Documents::default(),
            journal: MemoryJournal::default(),
            dialects: slipstitch_dialects::builtin().with(&dialect::DIALECT),
            guards: Guards::builtin().with(guard::KEEP_LICENSE),
        }
    }

    /// Answers a tool call of a model.
    fn call(&self, dialect: &str, tool: &str, arguments: Value) -> Answer {
        let request = Request { dialect: dialect.into(), tool: tool.into(), arguments };
        Engine::new(&self.documents, &self.journal)
            .dialects(&self.dialects)
            .guards(&self.guards)
            .call(request, &mut SizeLimit { max_lines: 10 })
    }
}

const PLAN: &str = "Ship on Monday.\nAsk Ada on Monday.\n";
const MAIN: &str = "// SPDX-License-Identifier: MIT\nfn main() {}\n";

fn main() -> io::Result<()> {
    run_session(&mut io::stdout().lock())
}

fn run_session(out: &mut dyn Write) -> io::Result<()> {
    let app = App::new();
    app.documents.put("plan.md", PLAN);
    app.documents.put("main.rs", MAIN);
    let long = "another line\n".repeat(20);
    for (dialect, tool, arguments) in [
        (
            "notes",
            "revise",
            json!({"document": "plan.md", "passage": "Ship on Monday", "revision": "Ship on Tuesday"}),
        ),
        ("notes", "revise", json!({"document": "plan.md", "passage": "on", "revision": "by"})),
        (
            "notes",
            "revise",
            json!({"document": "main.rs", "passage": "// SPDX-License-Identifier: MIT\n", "revision": ""}),
        ),
        ("notes", "revise", json!({"document": "plan.md", "passage": "Ask Ada", "revision": long})),
        // The built-in dialects work on the same documents.
        ("native", "undo_edit", json!({})),
    ] {
        writeln!(out, "> {dialect} {tool} {}", shorten(&arguments.to_string()))?;
        writeln!(out, "{}\n", app.call(dialect, tool, arguments).text)?;
    }
    write!(out, "plan.md:\n{}", app.documents.get("plan.md").unwrap_or_default())
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use slipstitch_core::outcome::{Outcome, Refused, Status, Unplaced};

    use super::*;

    #[test]
    fn session_runs_to_its_end() {
        let mut out = Vec::new();
        run_session(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out.matches("Revised plan.md.").count(), 1, "{out}");
        assert_eq!(out.matches("Not revised:").count(), 3, "{out}");
        assert!(out.ends_with(&format!("plan.md:\n{PLAN}")), "{out}");
    }

    fn app() -> App {
        let app = App::new();
        app.documents.put("plan.md", PLAN);
        app.documents.put("main.rs", MAIN);
        app
    }

    fn revise(app: &App, document: &str, passage: &str, revision: &str) -> Answer {
        app.call("notes", "revise", json!({"document": document, "passage": passage, "revision": revision}))
    }

    #[test]
    fn own_dialect_edits_own_storage() {
        let app = app();
        let answer = revise(&app, "plan.md", "Ship on Monday", "Ship on Tuesday");
        assert_eq!((answer.text.as_str(), answer.report.outcome), ("Revised plan.md.", Outcome::Applied));
        assert_eq!(app.documents.get("plan.md").unwrap(), "Ship on Tuesday.\nAsk Ada on Monday.\n");

        app.call("native", "undo_edit", json!({}));
        assert_eq!(app.documents.get("plan.md").unwrap(), PLAN);
    }

    #[test]
    fn hints_use_the_words_of_the_dialect() {
        let app = app();
        let answer = revise(&app, "plan.md", "Monday", "Tuesday");
        assert_eq!(answer.report.outcome, Outcome::Unplaced(Unplaced::Ambiguous));
        assert!(
            answer.text.contains("`passage`") && answer.text.contains("set `everywhere`"),
            "{}",
            answer.text
        );

        let arguments =
            json!({"document": "plan.md", "passage": "Monday", "revision": "Tuesday", "everywhere": true});
        assert!(app.call("notes", "revise", arguments).report.is_success());
        assert_eq!(app.documents.get("plan.md").unwrap(), "Ship on Tuesday.\nAsk Ada on Tuesday.\n");
    }

    #[test]
    fn own_guard_keeps_the_license() {
        let app = app();
        let answer = revise(&app, "main.rs", "// SPDX-License-Identifier: MIT\n", "");
        assert_eq!(
            answer.report.outcome,
            Outcome::Custom { status: Status::Refused, code: "license_removed" }
        );
        assert_eq!(app.documents.get("main.rs").unwrap(), MAIN);

        // It applies to every dialect.
        let arguments = json!({"path": "main.rs", "content": "fn main() {}\n", "mode": "overwrite"});
        assert!(!app.call("native", "write_file", arguments).report.is_success());
        assert!(revise(&app, "main.rs", "{}", "{ run() }").report.is_success());
    }

    #[test]
    fn own_approver_declines_large_changes() {
        let app = app();
        let answer = revise(&app, "plan.md", "Ask Ada", &"another line\n".repeat(20));
        assert_eq!(answer.report.outcome, Outcome::Refused(Refused::Declined));
        assert!(answer.text.contains("the limit is 10"), "{}", answer.text);
        assert_eq!(app.documents.get("plan.md").unwrap(), PLAN);
    }
}
