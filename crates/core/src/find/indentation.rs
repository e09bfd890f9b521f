//! Maps the request's indentation to the file's: lines that occur in both show how to indent the added ones.

use super::alignment::IndentPair;

/// The width of a tab of the request if no line shows it.
const DEFAULT_TAB_WIDTH: usize = 4;

/// A mapping from the request's indentation to the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    /// Identity.
    Same,
    /// Replaces the outermost indentation; deeper levels are kept, in the file's unit.
    Shift { from: String, to: String, unit: usize },
    /// Replaces the indentation unit.
    Units { from: String, to: String },
}

/// How to indent the added lines of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Indentation {
    rule: Option<Rule>,
    /// A separate mapping for the first line, whose indentation was stripped.
    first: Option<(String, String)>,
    /// Observed mappings, used where no rule applies.
    table: Vec<(String, String)>,
}

impl Indentation {
    /// Learns from lines that are in both. `added` lists the indentations of the added lines.
    pub(super) fn learn(pairs: &[IndentPair], added: &[&str]) -> Self {
        if let [pair] = pairs
            && pair.request.len().abs_diff(pair.file.len()) == 1
            && !uses_other_char(&pair.request, &pair.file)
            && !pair.file.contains('\t')
        {
            // A single line that is off by one column is a typo, not a shift.
            return Self { rule: Some(Rule::Same), first: None, table: Vec::new() };
        }
        if let Some(rule) = rule_for(pairs, added) {
            return Self { rule: Some(rule), first: None, table: Vec::new() };
        }
        // Models often strip the indentation of the first line, right after the opening quote.
        if let [first, rest @ ..] = pairs
            && first.request.is_empty()
            && let Some(rule) = rule_for(rest, added)
        {
            let first = Some((first.request.clone(), first.file.clone()));
            return Self { rule: Some(rule), first, table: Vec::new() };
        }
        let table = pairs.iter().map(|pair| (pair.request.clone(), pair.file.clone())).collect();
        Self { rule: majority_rule(pairs, added), first: None, table }
    }

    /// The indentation of an added line; `None` if the pairs do not determine it. `is_first` marks the request's first
    /// line.
    pub(super) fn apply(&self, indent: &str, is_first: bool) -> Option<String> {
        if let Some((request, file)) = &self.first
            && is_first
            && indent == request
        {
            return Some(file.clone());
        }
        match (&self.rule, self.look_up(indent)) {
            // Some lines break the rule: use tabs or spaces as the lines with this very indentation do.
            (Some(_), Some(file)) if uses_other_char(indent, file) => Some(file.to_owned()),
            // If a line with this very indentation contradicts the rule, the result is undetermined.
            (Some(rule), _) => rule.apply(indent).filter(|to| {
                self.table.iter().filter(|(request, _)| request == indent).all(|(_, file)| file == to)
            }),
            (None, file) => file.map(str::to_owned),
        }
    }

    /// The file's version of an indentation, if it is always the same.
    fn look_up(&self, indent: &str) -> Option<&str> {
        let mut found = self.table.iter().filter(|(request, _)| request == indent);
        let (_, file) = found.next()?;
        found.all(|(_, other)| other == file).then_some(file)
    }
}

/// The rule that all pairs follow.
fn rule_for(pairs: &[IndentPair], added: &[&str]) -> Option<Rule> {
    candidate_rules(pairs, added).into_iter().find(|rule| pairs.iter().all(|pair| follows(pair, rule)))
}

/// The rule that most pairs follow, including all removed lines: a few context lines may be indented by mistake.
fn majority_rule(pairs: &[IndentPair], added: &[&str]) -> Option<Rule> {
    let mut rules = candidate_rules(pairs, added);
    for pair in pairs {
        rules.extend(candidate_rules(std::slice::from_ref(pair), added));
    }
    // Unindented lines support the identity, but say nothing about any other rule.
    let counts = |pair: &&IndentPair, rule: &Rule| {
        follows(pair, rule) && (*rule == Rule::Same || !(pair.request.is_empty() && pair.file.is_empty()))
    };
    let (followers, rule) = rules
        .into_iter()
        .map(|rule| (pairs.iter().filter(|pair| counts(pair, &rule)).count(), rule))
        .rev()
        .max_by_key(|(followers, _)| *followers)?;
    let removed_follow = pairs.iter().filter(|pair| pair.removed).all(|pair| follows(pair, &rule));
    // The identity is the default if nothing contradicts it: copied lines usually keep their indentation.
    let enough = followers >= 2 && followers * 3 >= pairs.len() * 2;
    (removed_follow && (enough || (rule == Rule::Same && followers >= 1))).then_some(rule)
}

fn follows(pair: &IndentPair, rule: &Rule) -> bool {
    rule.apply(&pair.request).is_some_and(|indent| indent == pair.file)
}

/// The rules that some pairs suggest, simplest first.
fn candidate_rules(pairs: &[IndentPair], added: &[&str]) -> Vec<Rule> {
    let mut rules = vec![Rule::Same];
    let Some(from) = common_prefix(pairs.iter().map(|pair| pair.request.as_str())) else { return rules };
    let shift = pairs.iter().find(|pair| pair.request == from).map(|pair| {
        let deeper = pairs.iter().map(|pair| pair.request.as_str()).chain(added.iter().copied());
        let unit = common_unit(deeper.filter_map(|indent| indent.strip_prefix(from)));
        Rule::Shift { from: from.to_owned(), to: pair.file.clone(), unit }
    });
    let outermost =
        pairs.iter().filter(|pair| !pair.request.is_empty()).min_by_key(|pair| pair.request.len());
    let units = outermost.and_then(|pair| unit_rule(&pair.request, &pair.file));
    // Between tabs and spaces the depth matters, otherwise the offset.
    let changes_char = matches!(&shift, Some(Rule::Shift { from, to, .. }) if uses_other_char(from, to));
    match changes_char {
        true => rules.extend(units.into_iter().chain(shift)),
        false => rules.extend(shift.into_iter().chain(units)),
    }
    rules
}

/// A rule from the request's unit to the file's, if one is a multiple of the other.
fn unit_rule(request: &str, file: &str) -> Option<Rule> {
    let (request_char, file_char) = (indent_char(request)?, indent_char_or_space(file)?);
    if file.is_empty() {
        return None;
    }
    let (from, to) = match (request_char, file_char) {
        ('\t', _) => {
            let width = file.len().is_multiple_of(request.len()).then(|| file.len() / request.len())?;
            (1, width)
        }
        (_, '\t') => (request.len().is_multiple_of(file.len()).then(|| request.len() / file.len())?, 1),
        _ => {
            let (short, long) = (request.len().min(file.len()), request.len().max(file.len()));
            long.is_multiple_of(short).then_some((request.len(), file.len()))?
        }
    };
    Some(Rule::Units { from: request_char.to_string().repeat(from), to: file_char.to_string().repeat(to) })
}

impl Rule {
    fn apply(&self, indent: &str) -> Option<String> {
        match self {
            Self::Same => Some(indent.to_owned()),
            Self::Shift { from, to, unit } => match indent.strip_prefix(from.as_str()) {
                Some(rest) => Some(format!("{to}{}", convert_deeper(to, rest, *unit))),
                // A line further left than any shared line.
                None => {
                    let missing = from.strip_prefix(indent)?.len();
                    (!uses_other_char(from, to) && missing <= to.len())
                        .then(|| to[..to.len() - missing].to_owned())
                }
            },
            Self::Units { from, to } => {
                let depth = indent.len() / from.len();
                let fits = indent.len().is_multiple_of(from.len()) && from.repeat(depth) == indent;
                fits.then(|| to.repeat(depth))
            }
        }
    }
}

/// Writes deeper indentation with the file's character.
fn convert_deeper(to: &str, rest: &str, unit: usize) -> String {
    match (indent_char_or_space(to), indent_char_or_space(rest)) {
        (Some('\t'), Some(' ')) if !to.is_empty() && rest.len().is_multiple_of(unit) => {
            "\t".repeat(rest.len() / unit)
        }
        (Some(' '), Some('\t')) if !to.is_empty() => " ".repeat(rest.len() * DEFAULT_TAB_WIDTH),
        _ => rest.to_owned(),
    }
}

/// The greatest width that divides all these indentations.
fn common_unit<'a>(indents: impl Iterator<Item = &'a str>) -> usize {
    let gcd = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    match indents.map(str::len).fold(0, gcd) {
        0 => DEFAULT_TAB_WIDTH,
        unit => unit,
    }
}

/// The longest common prefix.
fn common_prefix<'a>(mut texts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let first = texts.next()?;
    Some(texts.fold(first, |common, text| {
        let same =
            common.chars().zip(text.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
        &common[..same]
    }))
}

/// The character that an indentation consists of, if it is only one.
fn indent_char(indent: &str) -> Option<char> {
    let first = indent.chars().next()?;
    (matches!(first, ' ' | '\t') && indent.chars().all(|c| c == first)).then_some(first)
}

/// Like [`indent_char`], with a space for no indentation.
fn indent_char_or_space(indent: &str) -> Option<char> {
    if indent.is_empty() { Some(' ') } else { indent_char(indent) }
}

/// Whether one consists of spaces and the other of tabs.
fn uses_other_char(a: &str, b: &str) -> bool {
    matches!((indent_char(a), indent_char(b)), (Some(a), Some(b)) if a != b)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn learn(pairs: &[(&str, &str)], added: &[&str]) -> Indentation {
        let pairs: Vec<IndentPair> = pairs
            .iter()
            .map(|(request, file)| IndentPair {
                removed: false,
                request: (*request).into(),
                file: (*file).into(),
            })
            .collect();
        Indentation::learn(&pairs, added)
    }

    #[rstest]
    #[case::same(&[("  ", "  ")], "    ", Some("    "))]
    #[case::deeper_in_the_file(&[("", "    "), ("  ", "      ")], "  ", Some("      "))]
    #[case::further_out(&[("    ", "        ")], "", Some("    "))]
    #[case::no_room(&[("    ", "  ")], "", None)]
    #[case::tabs_in_the_file(&[("    ", "\t")], "        ", Some("\t\t"))]
    #[case::spaces_in_the_file(&[("\t", "  ")], "\t\t", Some("    "))]
    #[case::tabs_from_nothing(&[("", "\t")], "    ", Some("\t\t"))]
    #[case::another_unit(&[("", ""), ("  ", "    "), ("    ", "        ")], "      ", Some("            "))]
    #[case::one_line_off(&[("  ", "  "), ("   ", "    "), ("    ", "    ")], "      ", Some("      "))]
    #[case::off_in_pairs(&[("  ", ""), ("", ""), ("    ", "  "), ("", "")], "  ", None)]
    #[case::single_typo(&[("   ", "    ")], "    ", Some("    "))]
    #[case::typo_next_to_unindented_lines(&[("", ""), ("", ""), ("", ""), ("     ", "    ")], "    ", Some("    "))]
    #[case::stray_tab(&[("\t", "    "), ("    ", "    ")], "\t", Some("    "))]
    #[case::no_rule(&[("  ", "    "), ("  ", " ")], "  ", None)]
    fn learns_from_pairs(#[case] pairs: &[(&str, &str)], #[case] indent: &str, #[case] want: Option<&str>) {
        assert_eq!(learn(pairs, &[indent]).apply(indent, false).as_deref(), want);
    }

    #[test]
    fn restores_indentation_of_the_first_line() {
        let learned = learn(&[("", "    "), ("        ", "        ")], &[]);
        assert_eq!(learned.apply("", true).as_deref(), Some("    "));
        assert_eq!(learned.apply("    ", true).as_deref(), Some("    "));
        assert_eq!(learned.apply("        ", false).as_deref(), Some("        "));
    }
}
