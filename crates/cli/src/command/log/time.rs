//! Times as people write them, and as they read them.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

/// A moment of the journal in the local time zone.
pub(crate) fn local(milliseconds: i64) -> String {
    match Timestamp::from_millisecond(milliseconds) {
        Ok(time) => time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => milliseconds.to_string(),
    }
}

/// Reads a time to start at; a date is its first moment.
pub(crate) fn since(text: &str) -> Result<i64, String> {
    moment(text, Edge::Start, &Zoned::now())
}

/// Reads a time to end at; a date is its last moment.
pub(super) fn until(text: &str) -> Result<i64, String> {
    moment(text, Edge::End, &Zoned::now())
}

#[derive(Clone, Copy)]
enum Edge {
    Start,
    End,
}

fn moment(text: &str, edge: Edge, now: &Zoned) -> Result<i64, String> {
    let text = text.trim();
    let beyond = |error: jiff::Error| format!("`{text}` is too far away: {error}");
    let zone = now.time_zone().clone();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_millisecond());
    }
    let zoned = if let Ok(date) = Date::strptime("%Y-%m-%d", text) {
        let date = match edge {
            Edge::Start => date,
            Edge::End => date.checked_add(1.day()).map_err(beyond)?,
        };
        date.to_zoned(zone).map_err(beyond)?
    } else if let Ok(time) = text.parse::<DateTime>() {
        time.to_zoned(zone).map_err(beyond)?
    } else if let Ok(span) = text.parse::<Span>() {
        now.checked_sub(span.abs()).map_err(beyond)?
    } else {
        return Err(format!(
            "`{text}` is not a time; give a date such as 2025-01-31, a time such as 2025-01-31T12:00:00Z, or how long ago, such as 2h or 3d"
        ));
    };
    Ok(zoned.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, edge: Edge) -> Result<String, String> {
        let now: Zoned = "2025-01-31T12:00:00+00:00[UTC]".parse().unwrap();
        moment(text, edge, &now).map(|at| Timestamp::from_millisecond(at).unwrap().to_string())
    }

    #[test]
    fn every_form_is_read() {
        for (text, want) in [
            ("2025-01-30T10:00:00Z", "2025-01-30T10:00:00Z"),
            ("2025-01-30T10:00:00+02:00", "2025-01-30T08:00:00Z"),
            ("2025-01-30T10:00", "2025-01-30T10:00:00Z"),
            ("2025-01-30 10:00:30", "2025-01-30T10:00:30Z"),
            ("2025-01-30", "2025-01-30T00:00:00Z"),
            ("30m", "2025-01-31T11:30:00Z"),
            ("2h", "2025-01-31T10:00:00Z"),
            ("3d", "2025-01-28T12:00:00Z"),
            ("1w 2d", "2025-01-22T12:00:00Z"),
            ("2h ago", "2025-01-31T10:00:00Z"),
        ] {
            assert_eq!(read(text, Edge::Start).as_deref(), Ok(want), "{text}");
        }
        assert_eq!(read("2025-01-30", Edge::End).as_deref(), Ok("2025-01-31T00:00:00Z"));
    }

    #[test]
    fn what_is_no_time_is_refused_with_examples() {
        for text in ["", "yesterday", "2025-13-01", "2h3", "12", "9999999y", "2025-01-30x"] {
            let error = read(text, Edge::Start).unwrap_err();
            assert!(error.contains(text), "{error}");
        }
        assert!(read("soon", Edge::Start).unwrap_err().contains("2h or 3d"));
    }
}
