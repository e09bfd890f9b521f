//! Lines that come take the indentation that the file has, where the hunk's own differs from it.

/// The indentation of a hunk's line and of the file's line that it was found at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair<'a> {
    pub(super) hunk: &'a str,
    pub(super) file: &'a str,
}

/// The blanks that a line starts with.
pub(super) fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Several indentations of the file belong to one of the hunk, and none more often than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unclear;

/// A line that comes, indented as the lines that were found suggest.
pub(super) fn fitted(line: &str, pairs: &[Pair<'_>]) -> Result<String, Unclear> {
    let own = indent_of(line);
    let body = &line[own.len()..];
    if body.is_empty() || pairs.iter().all(|pair| pair.hunk == pair.file) {
        return Ok(line.to_owned());
    }
    let same: Vec<&str> = pairs.iter().filter(|pair| pair.hunk == own).map(|pair| pair.file).collect();
    let to = if same.is_empty() { shifted(own, pairs) } else { favourite(own, &same)?.to_owned() };
    Ok(to + body)
}

/// What most lines with this indentation have in the file; their own if that is among the most frequent.
fn favourite<'a>(own: &'a str, there: &[&'a str]) -> Result<&'a str, Unclear> {
    let times = |indent: &str| there.iter().filter(|other| **other == indent).count();
    let most = there.iter().map(|indent| times(indent)).max().unwrap_or_default();
    if times(own) == most {
        return Ok(own);
    }
    let mut best: Vec<&str> = there.iter().filter(|indent| times(indent) == most).copied().collect();
    best.sort_unstable();
    best.dedup();
    match best[..] {
        [one] => Ok(one),
        _ => Err(Unclear),
    }
}

/// An indentation that no line of the hunk has: shifted as all lines are that were found. A single line
/// that is off by a column is a slip, not a shift.
fn shifted(own: &str, pairs: &[Pair<'_>]) -> String {
    let telling = |pair: &&Pair<'_>| pair.hunk.len().abs_diff(pair.file.len()) != 1 || pairs.len() > 2;
    let by_prefix = |pair: &Pair<'_>| own.strip_prefix(pair.hunk).map(|rest| format!("{}{rest}", pair.file));
    let mut ways = pairs.iter().filter(telling).filter_map(by_prefix);
    let Some(first) = ways.next() else { return in_tabs(own, pairs) };
    if pairs.iter().any(|pair| pair.hunk == pair.file) || ways.any(|other| other != first) {
        return in_tabs(own, pairs);
    }
    match in_tabs(own, pairs) {
        tabs if tabs != own => tabs,
        _ => first,
    }
}

/// Blanks as tabs, or tabs as blanks, where every line that was found has them so.
fn in_tabs(own: &str, pairs: &[Pair<'_>]) -> String {
    let width = |pair: &Pair<'_>| match (pair.hunk, pair.file) {
        (hunk, file) if !hunk.is_empty() && !file.is_empty() => {
            let (tabs, blanks) = if file.contains('\t') { (file, hunk) } else { (hunk, file) };
            let plain = tabs.bytes().all(|b| b == b'\t') && blanks.bytes().all(|b| b == b' ');
            (plain && blanks.len() % tabs.len() == 0)
                .then(|| (blanks.len() / tabs.len(), file.contains('\t')))
        }
        _ => None,
    };
    let filled = pairs.iter().filter(|pair| !pair.hunk.is_empty() || !pair.file.is_empty());
    let widths: Option<Vec<(usize, bool)>> = filled.map(width).collect();
    let (width, to_tabs) = match widths.as_deref() {
        Some([first, rest @ ..]) if rest.iter().all(|other| other == first) => *first,
        _ => return own.to_owned(),
    };
    if to_tabs {
        let blanks = own.bytes().filter(|&b| b == b' ').count();
        if blanks == own.len() && blanks % width == 0 {
            return "\t".repeat(blanks / width);
        }
    } else if own.bytes().all(|b| b == b'\t') {
        return " ".repeat(own.len() * width);
    }
    own.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    // All lines shifted: new ones too, deeper ones by the same.
    #[case(&[("", "    "), ("    ", "        ")], "x", "    x")]
    #[case(&[("", "    "), ("    ", "        ")], "        x", "            x")]
    #[case(&[("", "    ")], "    x", "        x")]
    #[case(&[("    ", "")], "    x", "x")]
    // Tabs for blanks.
    #[case(&[("    ", "\t"), ("        ", "\t\t")], "            x", "\t\t\tx")]
    #[case(&[("\t", "  ")], "\t\tx", "    x")]
    // One context line is off: the others decide.
    #[case(&[("   ", "    "), ("    ", "    "), ("    ", "    ")], "    x", "    x")]
    #[case(&[("   ", "    ")], "    x", "    x")]
    #[case(&[("\t", "    "), ("    ", "    ")], "\tx", "    x")]
    fn new_lines_are_indented_like_the_file(
        #[case] pairs: &[(&str, &str)],
        #[case] line: &str,
        #[case] want: &str,
    ) {
        let pairs: Vec<Pair<'_>> = pairs.iter().map(|&(hunk, file)| Pair { hunk, file }).collect();
        assert_eq!(fitted(line, &pairs).as_deref(), Ok(want));
    }

    #[test]
    fn pairs_that_contradict_each_other_are_not_guessed_from() {
        let pairs = [Pair { hunk: "", file: "  " }, Pair { hunk: "", file: "    " }];
        assert_eq!(fitted("x", &pairs), Err(Unclear));
    }
}
