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

/// The lines that were found give no rule, and none of their indentations is more frequent than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unclear;

/// How the indentation of a hunk becomes the file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule<'a> {
    /// All lines have this in front in the file.
    Deeper(&'a str),
    /// All lines have this in front in the hunk.
    Shallower(&'a str),
    /// So many blanks in the hunk are so many in the file.
    Wider { hunk: usize, file: usize },
    /// So many blanks are a tab in the file.
    ToTabs(usize),
    /// A tab is so many blanks in the file.
    ToBlanks(usize),
}

/// A line that comes, indented as the lines that were found suggest.
pub(super) fn fitted(line: &str, pairs: &[Pair<'_>]) -> Result<String, Unclear> {
    let own = indent_of(line);
    let body = &line[own.len()..];
    if body.is_empty() || pairs.iter().all(|pair| pair.hunk == pair.file) {
        return Ok(line.to_owned());
    }
    let to = match rule(pairs) {
        Some(rule) => rule.apply(own).ok_or(Unclear)?,
        None => without_rule(own, pairs)?.to_owned(),
    };
    Ok(to + body)
}

/// The rule that every line that was found follows, if there is one.
fn rule<'a>(pairs: &[Pair<'a>]) -> Option<Rule<'a>> {
    let shift = pairs.first().and_then(|first| {
        let deeper = first.file.strip_suffix(first.hunk).map(Rule::Deeper);
        deeper.or_else(|| first.hunk.strip_suffix(first.file).map(Rule::Shallower))
    });
    let filled = pairs.iter().find(|pair| !pair.hunk.is_empty() && !pair.file.is_empty());
    let other = filled.and_then(|pair| match (only_tabs(pair.hunk), only_tabs(pair.file)) {
        (false, true) if pair.hunk.len() % pair.file.len() == 0 => {
            Some(Rule::ToTabs(pair.hunk.len() / pair.file.len()))
        }
        (true, false) if pair.file.len() % pair.hunk.len() == 0 => {
            Some(Rule::ToBlanks(pair.file.len() / pair.hunk.len()))
        }
        (false, false) => {
            let (hunk, file) = (pair.hunk.len(), pair.file.len());
            (hunk % file == 0 || file % hunk == 0).then_some(Rule::Wider { hunk, file })
        }
        _ => None,
    });
    let followed = |rule: &Rule<'_>| {
        pairs.iter().all(|pair| rule.apply(pair.hunk).as_deref() == Some(pair.file)) && !rule.is_slip(pairs)
    };
    shift.filter(followed).or(other.filter(followed))
}

fn only_tabs(indent: &str) -> bool {
    indent.bytes().all(|byte| byte == b'\t')
}

impl Rule<'_> {
    /// The file's indentation for one of the hunk; none if the rule does not say.
    fn apply(self, own: &str) -> Option<String> {
        let only_blanks = own.bytes().all(|byte| byte == b' ');
        match self {
            Self::Deeper(more) => Some(format!("{more}{own}")),
            Self::Shallower(less) => own.strip_prefix(less).map(str::to_owned),
            Self::Wider { hunk, file } => (only_blanks && (own.len() * file).is_multiple_of(hunk))
                .then(|| " ".repeat(own.len() * file / hunk)),
            Self::ToTabs(width) => {
                (only_blanks && own.len().is_multiple_of(width)).then(|| "\t".repeat(own.len() / width))
            }
            Self::ToBlanks(width) => only_tabs(own).then(|| " ".repeat(own.len() * width)),
        }
    }

    /// A line or two that are off by a column are a slip of the hand.
    fn is_slip(self, pairs: &[Pair<'_>]) -> bool {
        match self {
            Self::Deeper(by) | Self::Shallower(by) => by == " " && pairs.len() < 3,
            Self::Wider { hunk, file } => hunk.abs_diff(file) == 1 && pairs.len() < 3,
            Self::ToTabs(_) | Self::ToBlanks(_) => false,
        }
    }
}

/// Some lines are off in their own ways. If others are as the file has them, so are the lines that come,
/// unless they have tabs where the file has blanks; else most lines with the same indentation decide.
fn without_rule<'a>(own: &'a str, pairs: &[Pair<'a>]) -> Result<&'a str, Unclear> {
    let there: Vec<&str> = pairs.iter().filter(|pair| pair.hunk == own).map(|pair| pair.file).collect();
    let right = pairs.iter().any(|pair| pair.hunk == pair.file);
    let in_other_blanks =
        there.iter().any(|file| !file.is_empty() && file.contains('\t') != own.contains('\t'));
    if there.is_empty() || there.contains(&own) || (right && !in_other_blanks) {
        return Ok(own);
    }
    let times = |indent: &str| there.iter().filter(|other| **other == indent).count();
    let most = there.iter().map(|indent| times(indent)).max().unwrap_or_default();
    let mut best: Vec<&str> = there.iter().filter(|indent| times(indent) == most).copied().collect();
    best.sort_unstable();
    best.dedup();
    match best[..] {
        [one] => Ok(one),
        _ => Err(Unclear),
    }
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
    // Another width.
    #[case(&[("", ""), ("  ", "    ")], "    x", "        x")]
    // Some context lines are off: the others decide.
    #[case(&[("  ", ""), ("", ""), ("    ", "  "), ("", "")], "  x", "  x")]
    #[case(&[("   ", "    "), ("    ", "    "), ("    ", "    ")], "    x", "    x")]
    #[case(&[("   ", "    ")], "    x", "    x")]
    #[case(&[("", ""), ("", ""), ("", ""), ("     ", "    ")], "    x", "    x")]
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
