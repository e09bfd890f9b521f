//! Line ranges as people write them.

use slipstitch::core::plan::LineRange;

/// Reads `A`, `A-B`, or `A-` for all lines from A on.
pub(crate) fn range(text: &str) -> Result<LineRange, String> {
    match text.split_once('-') {
        Some((first, "")) => Ok(LineRange { first: number(first)?, last: usize::MAX }),
        _ => closed_range(text),
    }
}

/// Reads `A` or `A-B`.
pub(crate) fn closed_range(text: &str) -> Result<LineRange, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let lines = LineRange { first: number(first)?, last: number(last)? };
    if lines.last < lines.first {
        return Err(format!("line {} is before line {}; give the first line first", lines.last, lines.first));
    }
    Ok(lines)
}

fn number(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(0) => Err("lines are counted from 1".into()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("`{text}` is not a line number; give lines as `7` or `7-9`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let lines = |first, last| Ok(LineRange { first, last });
        assert_eq!(range("7"), lines(7, 7));
        assert_eq!(range("7-9"), lines(7, 9));
        assert_eq!(range("7-"), lines(7, usize::MAX));
        assert_eq!(closed_range("7-9"), lines(7, 9));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [("0", "from 1"), ("9-7", "before"), ("x", "`x`"), ("", "``"), ("1-2-3", "`2-3`")]
        {
            let error = range(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(closed_range("7-").is_err());
    }
}
