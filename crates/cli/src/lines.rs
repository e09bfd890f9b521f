//! Parsing line ranges from the command line.

use slipstitch::core::plan::LineRange;

/// Parses `A`, `A-B`, or `A-` (from A to the end).
pub(crate) fn parse_range(text: &str) -> Result<LineRange, String> {
    match text.split_once('-') {
        Some((first, "")) => Ok(LineRange { first: parse_number(first)?, last: usize::MAX }),
        _ => parse_closed_range(text),
    }
}

/// Parses `A` or `A-B`.
pub(crate) fn parse_closed_range(text: &str) -> Result<LineRange, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let lines = LineRange { first: parse_number(first)?, last: parse_number(last)? };
    if lines.last < lines.first {
        return Err(format!("line {} is before line {}; put the first line first", lines.last, lines.first));
    }
    Ok(lines)
}

fn parse_number(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(0) => Err("line numbers start at 1".into()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("`{text}` is not a line number; use `7` or `7-9`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_ranges() {
        let lines = |first, last| Ok(LineRange { first, last });
        assert_eq!(parse_range("7"), lines(7, 7));
        assert_eq!(parse_range("7-9"), lines(7, 9));
        assert_eq!(parse_range("7-"), lines(7, usize::MAX));
        assert_eq!(parse_closed_range("7-9"), lines(7, 9));
    }

    #[test]
    fn explains_invalid_ranges() {
        for (text, part) in
            [("0", "start at 1"), ("9-7", "before"), ("x", "`x`"), ("", "``"), ("1-2-3", "`2-3`")]
        {
            let error = parse_range(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(parse_closed_range("7-").is_err());
    }
}
