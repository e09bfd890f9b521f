//! Arguments given by file name: the file's text replaces its name in the call, as in `diff_file`.

use serde_json::Value;

use super::Engine;
use crate::outcome::Invalid;
use crate::plan::FetchPlan;
use crate::report::Report;

impl Engine<'_> {
    /// The arguments of a call, with a file's text instead of its name.
    pub(super) fn fetch_text(&self, fetch: &FetchPlan, mut arguments: Value) -> Result<Value, Box<Report>> {
        let path = &fetch.path;
        let found = self.snapshot(path).map_err(|error| Box::new(error.into()))?;
        let snapshot = found.ok_or_else(|| {
            let message = format!("`{}` names `{path}`, which does not exist", fetch.named_in);
            let hint = format!("Check the path, or send the text itself in `{}`.", fetch.text_for);
            Box::new(Report::new(Invalid::FileNotFound, message).hint(hint))
        })?;
        let unreadable = |why: &str| {
            let message = format!("`{path}`, named in `{}`, {why}", fetch.named_in);
            Box::new(Report::new(Invalid::BadRequest, message).hint("Name a plain text file."))
        };
        if snapshot.is_binary() {
            return Err(unreadable("is binary"));
        }
        let max = self.policy.max_request_bytes;
        if snapshot.text_len() > max {
            return Err(unreadable(&format!("is larger than the {max} bytes allowed in a request")));
        }
        let text = std::str::from_utf8(snapshot.text())
            .map_err(|_| unreadable("contains bytes that are not text"))?;
        if let Value::Object(fields) = &mut arguments {
            fields.remove(fetch.named_in);
            fields.insert(fetch.text_for.to_owned(), text.into());
        }
        Ok(arguments)
    }
}

/// The report for a caller that executes a [`FetchPlan`] itself: the plan is only the first half of a call.
pub(super) fn not_fetched(fetch: &FetchPlan) -> Report {
    let message = format!("the text of `{}` was not read", fetch.path);
    Report::new(Invalid::BadRequest, message).hint("Send the text itself.")
}
