//! The filter form of a list, and the selection as part of a URL.

use maud::{Markup, html};

use crate::selection::Selection;

/// Times that the form suggests. Others can be typed, as for `--since` on the command line.
const TIMES: &[&str] = &["1h", "today", "yesterday", "7d", "30d"];

impl Selection {
    /// The selection as the query of a URL.
    pub(crate) fn query(&self) -> String {
        query_of(self.fields())
    }

    /// The form above a list, with its error if there is one.
    pub(super) fn form(&self, address: &str) -> Markup {
        let is_set = self.fields().iter().any(|(name, value)| *name != "q" && !value.is_empty());
        let field = |name: &str, label: &str, value: &str, times: bool| {
            let id = format!("filter-{name}");
            html! {
                label for=(id) { (label) }
                input id=(id) name=(name) value=(value) list=[times.then_some("times")] placeholder=[times.then_some("2h, 3d, 2026-01-31")];
            }
        };
        html! {
            details.filters open[is_set] {
                summary { "Filter" @if is_set { " · on" } }
                form method="get" action=(address) {
                    @if !self.text.is_empty() { input type="hidden" name="q" value=(self.text); }
                    (field("agent", "Agent", &self.agent, false))
                    (field("session", "Session", &self.session, false))
                    (field("file", "File or folder", &self.file, false))
                    (field("since", "Since", &self.since, true))
                    (field("until", "Until", &self.until, true))
                    datalist #times { @for time in TIMES { option value=(time) {} } }
                    div.buttons { button { "Apply" } @if is_set { a href=(address) { "Clear" } } }
                }
            }
            @if let Err(problem) = self.filter() { p.empty role="alert" { (super::visible(&problem)) } }
        }
    }
}

/// The query of a URL with the fields that are not empty.
pub(super) fn query_of<'a>(fields: impl IntoIterator<Item = (&'static str, &'a str)>) -> String {
    let set = fields.into_iter().filter(|(_, value)| !value.is_empty());
    let parts: Vec<String> = set.map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
    if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
}

/// Text as a part of an address.
fn percent_encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(byte.into()),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
        encoded
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_survives_an_address() {
        let selection = Selection { agent: "a&b=c é".into(), text: "<x>".into(), ..Selection::default() };
        assert_eq!(selection.query(), "?q=%3Cx%3E&agent=a%26b%3Dc%20%C3%A9");
        assert!(Selection::default().query().is_empty());
    }
}
