//! Times as people write them to select changes: on the command line, on the page, and in the terminal view.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

/// Formats a journal timestamp in the local time zone.
pub fn format_local(milliseconds: i64) -> String {
    match Timestamp::from_millisecond(milliseconds) {
        Ok(time) => time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => milliseconds.to_string(),
    }
}

/// Formats a journal timestamp so that parsing it gives the same time.
pub fn format_exact(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds)
        .map_or_else(|_| milliseconds.to_string(), |time| time.to_string())
}

/// Parses a start time; a date means the start of the day.
pub fn parse_since(text: &str) -> Result<i64, String> {
    parse(text, Bound::Start, &Zoned::now())
}

/// Parses an end time; a date means the end of the day.
pub fn parse_until(text: &str) -> Result<i64, String> {
    parse(text, Bound::End, &Zoned::now())
}

#[derive(Clone, Copy)]
enum Bound {
    Start,
    End,
}

fn parse(text: &str, bound: Bound, now: &Zoned) -> Result<i64, String> {
    let text = text.trim();
    let out_of_range = |error: jiff::Error| format!("`{text}` is out of range: {error}");
    let zone = now.time_zone().clone();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_millisecond());
    }
    let day = match text {
        "today" => Some(now.date()),
        "yesterday" => Some(now.date().yesterday().map_err(out_of_range)?),
        _ => Date::strptime("%Y-%m-%d", text).ok(),
    };
    let zoned = if let Some(date) = day {
        let date = match bound {
            Bound::Start => date,
            Bound::End => date.checked_add(1.day()).map_err(out_of_range)?,
        };
        date.to_zoned(zone).map_err(out_of_range)?
    } else if let Ok(time) = text.parse::<DateTime>() {
        time.to_zoned(zone).map_err(out_of_range)?
    } else if let Ok(span) = text.parse::<Span>() {
        now.checked_sub(span.abs()).map_err(out_of_range)?
    } else {
        return Err(format!(
            "`{text}` is not a time; use a date such as 2025-01-31 or yesterday, a time such as 2025-01-31T12:00:00Z, or a duration such as 2h or 3d"
        ));
    };
    Ok(zoned.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_at_noon(text: &str, bound: Bound) -> Result<String, String> {
        let now: Zoned = "2025-01-31T12:00:00+00:00[UTC]".parse().unwrap();
        parse(text, bound, &now).map(|at| Timestamp::from_millisecond(at).unwrap().to_string())
    }

    #[test]
    fn an_exact_time_is_parsed_to_itself() {
        for time in [0, 1_738_324_800_000, 1_738_324_800_123] {
            assert_eq!(parse_since(&format_exact(time)), Ok(time));
            assert_eq!(parse_until(&format_exact(time)), Ok(time));
        }
    }

    #[test]
    fn parses_dates_times_and_durations() {
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
            ("today", "2025-01-31T00:00:00Z"),
            ("yesterday", "2025-01-30T00:00:00Z"),
        ] {
            assert_eq!(parse_at_noon(text, Bound::Start).as_deref(), Ok(want), "{text}");
        }
        assert_eq!(parse_at_noon("2025-01-30", Bound::End).as_deref(), Ok("2025-01-31T00:00:00Z"));
    }

    #[test]
    fn rejects_other_text_with_examples() {
        for text in ["", "tomorrow", "2025-13-01", "2h3", "12", "9999999y", "2025-01-30x"] {
            let error = parse_at_noon(text, Bound::Start).unwrap_err();
            assert!(error.contains(text), "{error}");
        }
        assert!(parse_at_noon("soon", Bound::Start).unwrap_err().contains("2h or 3d"));
    }
}
