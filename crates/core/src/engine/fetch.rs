//! Files whose text belongs to a call: a diff that is named instead of sent.

use serde_json::Value;

use super::Engine;
use crate::outcome::Invalid;
use crate::plan::FetchPlan;
use crate::report::Report;

impl Engine<'_> {
    /// The arguments of a call with a file's text in the place of its name.
    pub(super) fn fetch_text(&self, fetch: &FetchPlan, mut arguments: Value) -> Result<Value, Box<Report>> {
        let path = &fetch.path;
        let found = self.snapshot(path).map_err(|error| Box::new(error.into()))?;
        let snapshot = found.ok_or_else(|| {
            let message = format!("`{}` names `{path}`, and there is no such file", fetch.named_in);
            let hint = format!("Check the path, or send the text itself in `{}`.", fetch.text_for);
            Box::new(Report::new(Invalid::FileNotFound, message).hint(hint))
        })?;
        let unreadable = |why: &str| {
            let message = format!("`{path}`, named in `{}`, {why}", fetch.named_in);
            Box::new(Report::new(Invalid::BadRequest, message).hint("Name a file of plain text."))
        };
        if snapshot.is_binary() {
            return Err(unreadable("is binary"));
        }
        let most = self.policy.max_request_bytes;
        if snapshot.text().len() > most {
            return Err(unreadable(&format!("holds more than the {most} bytes that a request may have")));
        }
        let text =
            std::str::from_utf8(snapshot.text()).map_err(|_| unreadable("holds bytes that are no text"))?;
        if let Value::Object(fields) = &mut arguments {
            fields.remove(fetch.named_in);
            fields.insert(fetch.text_for.to_owned(), text.into());
        }
        Ok(arguments)
    }
}

/// Such a plan is the first half of a call, and cannot be carried out by itself.
pub(super) fn not_fetched(fetch: &FetchPlan) -> Report {
    let message = format!("the text of `{}` was not read", fetch.path);
    Report::new(Invalid::BadRequest, message).hint("Send the text itself.")
}
