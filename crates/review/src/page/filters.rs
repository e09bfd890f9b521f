//! What a list is limited to, as with the command line's options.

use jiff::ToSpan;
use maud::{Markup, html};
use serde::Deserialize;
use slipstitch::core::ports::journal::Origin;

/// What a list is limited to.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Filters {
    /// A part of a path, an agent's or a session's name, or a description.
    pub(crate) q: String,
    pub(crate) agent: String,
    pub(crate) session: String,
    /// A file, or the start of its path.
    pub(crate) file: String,
    /// A duration before now, such as `2h` or `3d`.
    pub(crate) since: String,
    /// A day, such as `2026-01-31`.
    pub(crate) day: String,
}

/// The durations that the form offers.
const DURATIONS: &[(&str, &str)] = &[
    ("", "any time"),
    ("1h", "last hour"),
    ("1d", "last day"),
    ("1w", "last week"),
    ("30d", "last 30 days"),
];

impl Filters {
    /// Whether something with these properties is shown.
    pub(super) fn allow<'a>(
        &self,
        at: i64,
        origin: &Origin,
        description: Option<&str>,
        paths: impl Iterator<Item = &'a str> + Clone,
    ) -> bool {
        let query = self.q.to_lowercase();
        let contains = |text: &str| text.to_lowercase().contains(&query);
        let agent = origin.agent.as_deref().unwrap_or_default();
        let is_found = query.is_empty()
            || contains(agent)
            || contains(&origin.session)
            || description.is_some_and(contains)
            || paths.clone().any(contains);
        let (since, until) = self.times();
        is_found
            && (self.agent.is_empty() || self.agent == agent)
            && (self.session.is_empty() || self.session == origin.session)
            && (self.file.is_empty() || paths.clone().any(|path| path.starts_with(&self.file)))
            && since.is_none_or(|since| at >= since)
            && until.is_none_or(|until| at < until)
    }

    /// The first millisecond that is shown, and the first that is not.
    pub(super) fn times(&self) -> (Option<i64>, Option<i64>) {
        if let Ok(day) = self.day.parse::<jiff::civil::Date>()
            && let Ok(start) = day.to_zoned(jiff::tz::TimeZone::system())
        {
            let end = start.checked_add(1.day()).ok().map(|end| end.timestamp().as_millisecond());
            return (Some(start.timestamp().as_millisecond()), end);
        }
        let minutes = |unit: &str| match unit {
            "m" => Some(1),
            "h" => Some(60),
            "d" => Some(24 * 60),
            "w" => Some(7 * 24 * 60),
            _ => None,
        };
        let parsed = self.since.char_indices().next_back().and_then(|(at, _)| {
            let (number, unit) = self.since.split_at(at);
            number.parse::<i64>().ok()?.checked_mul(minutes(unit)?)?.checked_mul(60_000)
        });
        (parsed.map(|ago| jiff::Timestamp::now().as_millisecond().saturating_sub(ago)), None)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields().iter().all(|(_, value)| value.is_empty())
    }

    fn fields(&self) -> [(&'static str, &str); 6] {
        [
            ("q", &self.q),
            ("agent", &self.agent),
            ("session", &self.session),
            ("file", &self.file),
            ("since", &self.since),
            ("day", &self.day),
        ]
    }

    /// The filters as the end of an address.
    pub(super) fn query(&self) -> String {
        let fields = self.fields();
        let set = fields.iter().filter(|(_, value)| !value.is_empty());
        let parts: Vec<String> =
            set.map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
        if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
    }

    /// The form above a list.
    pub(super) fn form(&self, address: &str) -> Markup {
        let is_set = [&self.agent, &self.session, &self.file, &self.since, &self.day]
            .iter()
            .any(|text| !text.is_empty());
        let field = |name: &str, label: &str, value: &str| {
            let id = format!("filter-{name}");
            html! { label for=(id) { (label) } input id=(id) name=(name) value=(value); }
        };
        html! {
            details.filters open[is_set] {
                summary { "Filter" @if is_set { " · on" } }
                form method="get" action=(address) {
                    @if !self.q.is_empty() { input type="hidden" name="q" value=(self.q); }
                    (field("agent", "Agent", &self.agent))
                    (field("session", "Session", &self.session))
                    (field("file", "File or folder", &self.file))
                    label for="filter-since" { "When" }
                    select #filter-since name="since" {
                        @for (value, label) in DURATIONS { option value=(value) selected[*value == self.since] { (label) } }
                    }
                    div.buttons { button { "Apply" } @if is_set { a href=(address) { "Clear" } } }
                }
            }
        }
    }
}

/// Text as a part of an address.
pub(super) fn percent_encode(text: &str) -> String {
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
    fn filters_survive_an_address() {
        let filters = Filters { agent: "a&b=c é".into(), q: "<x>".into(), ..Filters::default() };
        assert_eq!(filters.query(), "?q=%3Cx%3E&agent=a%26b%3Dc%20%C3%A9");
        assert!(Filters::default().query().is_empty());
    }

    #[test]
    fn times_are_durations_or_days() {
        let since = |text: &str| Filters { since: text.into(), ..Filters::default() }.times().0;
        let now = jiff::Timestamp::now().as_millisecond();
        let hour = since("1h").unwrap();
        assert!((now - 3_600_000 - hour).abs() < 5_000);
        for invalid in ["", "h", "1", "x1h", "9999999999999999999w", "1é"] {
            assert_eq!(since(invalid), None, "{invalid}");
        }
        let (start, end) = Filters { day: "2026-01-31".into(), ..Filters::default() }.times();
        assert_eq!(end.unwrap() - start.unwrap(), 86_400_000);
    }
}
