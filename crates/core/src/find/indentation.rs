//! Maps the request's indentation to the file's: lines that occur in both show how to indent the added ones.

use std::cmp::Ordering;

use super::alignment::IndentPair;
use super::limits::DEFAULT_TAB_WIDTH;

/// A mapping from the request's indentation to the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    /// Identity.
    Same,
    /// Replaces the outermost indentation; deeper levels are kept, in the file's unit.
    ///
    /// `unit` is the request's; none if it has tabs. Spaces align a line there, and are no level.
    Shift { from: String, to: String, unit: Option<usize> },
    /// Replaces the indentation unit.
    Units { from: String, to: String },
    /// Replaces the outermost indentation, and the unit of deeper levels.
    ShiftUnits { from: String, to: String, deeper: Box<Rule> },
}

/// How to indent the added lines of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Indentation {
    rule: Option<Rule>,
    /// A separate mapping for the first line, whose indentation was stripped.
    first: Option<(String, String)>,
    /// Observed mappings, used where no rule applies.
    table: Vec<(String, String)>,
    /// Lines that are off by one column: what their indentation should be.
    slips: Vec<(String, String)>,
    /// Indentations that are correct in the request.
    correct: Vec<String>,
    /// The smallest indentation of the removed lines, if all of them are indented like the file. Then the lines that replace them
    /// are too, whatever is wrong with the lines around them.
    replaced: Option<String>,
    /// Other rules that the lines allow, for lines that the first one would put at a depth that the file does not use.
    others: Vec<Rule>,
    depths: Depths,
    /// The width of one level in the file.
    unit: Option<usize>,
    /// The greatest width that divides the indentation of the file's lines; 0 if none of them is indented.
    step: usize,
}

/// Which depths a mapped line may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depths {
    /// Any.
    Any,
    /// Multiples of the file's unit, in spaces.
    MultiplesOf(usize),
}

/// What is known about the indentation of a request.
pub(super) struct IndentSample<'s> {
    /// The lines that request and file share.
    pub(super) pairs: &'s [IndentPair],
    /// The indentations of the added lines.
    pub(super) added: &'s [&'s str],
    /// The width of one level in the file, if it is indented with spaces.
    pub(super) file_unit: Option<usize>,
    /// Whether the new text is indented like the file, though the old text is not.
    pub(super) new_is_like_file: bool,
}

impl Indentation {
    /// Learns from lines that are in both.
    pub(super) fn learn(sample: &IndentSample<'_>) -> Self {
        let IndentSample { pairs, added, .. } = *sample;
        let depths = sample.depths();
        let learned = |rule: Option<Rule>| Self {
            rule,
            first: None,
            table: Vec::new(),
            slips: Vec::new(),
            correct: Vec::new(),
            replaced: correct_base(pairs),
            others: Vec::new(),
            depths,
            unit: sample.file_unit,
            step: pairs.iter().map(|pair| pair.file.len()).fold(0, gcd),
        };
        if sample.new_text_is_right() {
            return learned(Some(Rule::Same));
        }
        if pairs.len() == 1 && is_one_column_off(&pairs[0]) {
            return Self { slips: slips_of(pairs), ..learned(Some(Rule::Same)) };
        }
        let candidates = candidate_rules(pairs, added);
        let mut fitting = candidates.into_iter().filter(|rule| pairs.iter().all(|pair| follows(pair, rule)));
        if let Some(rule) = fitting.next() {
            return Self { others: fitting.collect(), ..learned(Some(rule)) };
        }
        // Lines at a single depth do not show how deeper lines should be indented.
        if let Some(depth) = flattened_to(pairs)
            && added.iter().any(|indent| *indent != depth)
        {
            return Self { table: table_of(pairs), ..learned(None) };
        }
        // Models often strip the indentation of the first line, right after the opening quote.
        if let [first, rest @ ..] = pairs
            && first.request.is_empty()
            && !first.file.is_empty()
            && let Some(rule) = rule_for(rest, added)
        {
            let first = Some((first.request.clone(), first.file.clone()));
            return Self { first, ..learned(Some(rule)) };
        }
        // A line that is off by one column is a typo, not a rule.
        let regular: Vec<IndentPair> =
            pairs.iter().filter(|pair| !is_one_column_off(pair)).cloned().collect();
        let slips = slips_of(pairs);
        let is_contradicted = |(slip, _): &(String, String)| regular.iter().any(|pair| pair.request == *slip);
        if !slips.is_empty()
            && !regular.is_empty()
            && !slips.iter().any(is_contradicted)
            && let Some(rule) = rule_for(&regular, added)
        {
            let correct = regular.iter().map(|pair| pair.request.clone()).collect();
            return Self { slips, correct, ..learned(Some(rule)) };
        }
        Self { table: table_of(pairs), ..learned(majority_rule(pairs, added)) }
    }

    /// The indentation of an added line; `None` if the pairs do not determine it. `is_first` marks the request's first
    /// line.
    pub(super) fn apply(&self, indent: &str, is_first: bool) -> Option<String> {
        let is_replacement = |base: &String| indent.starts_with(base.as_str());
        self.mapped(indent, is_first)
            .or_else(|| self.replaced.as_ref().filter(|base| is_replacement(base)).map(|_| indent.to_owned()))
    }

    fn mapped(&self, indent: &str, is_first: bool) -> Option<String> {
        if let Some((request, file)) = &self.first
            && is_first
            && indent == request
        {
            return Some(file.clone());
        }
        if let Some(moved) = self.without_slip(indent) {
            return moved;
        }
        match (&self.rule, self.look_up(indent)) {
            // Some lines break the rule: use tabs or spaces as the lines with this very indentation do.
            (Some(_), Some(file)) if uses_other_char(indent, file) => Some(file.to_owned()),
            // If a line with this very indentation contradicts the rule, the result is undetermined.
            (Some(rule), _) => self.at_known_depth(rule, indent).filter(|to| {
                self.table.iter().filter(|(request, _)| request == indent).all(|(_, file)| file == to)
            }),
            (None, file) => file.map(str::to_owned),
        }
    }

    /// The indentation of a line that was written with the same slip as an old line, or below such a line.
    fn without_slip(&self, indent: &str) -> Option<Option<String>> {
        if let Some((_, file)) = self.slips.iter().find(|(request, _)| request == indent) {
            // The slip of one line may be the right depth of another: beside a comment whose second line should be at 5 and is
            // at 4, code at 4 is right.
            return Some(self.regular_depth(indent, file).map(|_| file.clone()));
        }
        if self.correct.iter().any(|correct| correct == indent) {
            return None;
        }
        let (request, file) = self.slips.iter().find(|(request, _)| indent.starts_with(request.as_str()))?;
        let moved = format!("{file}{}", &indent[request.len()..]);
        self.regular_depth(indent, &moved)
    }

    /// Which of two readings of a line below a slip is at a regular depth: as sent (`None`), or moved along with the line above
    /// it. `Some(None)` if neither is, or if nothing tells them apart.
    ///
    /// In a file whose unit is unknown, the lines of the place decide: if they are at 0 and 2, a line at 4 is more regular than
    /// one at 3.
    fn regular_depth(&self, sent: &str, moved: &str) -> Option<Option<String>> {
        let regularity = |indent: &str| match self.unit {
            Some(unit) => usize::from(indent.len().is_multiple_of(unit)),
            None if self.step == 0 => 0,
            None => gcd(self.step, indent.len()),
        };
        match regularity(sent).cmp(&regularity(moved)) {
            Ordering::Greater => None,
            Ordering::Less => Some(Some(moved.to_owned())),
            Ordering::Equal => Some(None),
        }
    }

    /// What a rule makes of an indentation, or what another rule does if that is a depth that the file does not use.
    fn at_known_depth(&self, rule: &Rule, indent: &str) -> Option<String> {
        if *rule == Rule::Same {
            return Some(indent.to_owned());
        }
        rule.apply(indent)?;
        std::iter::once(rule).chain(&self.others).find_map(|rule| self.allowed(rule, indent))
    }

    fn allowed(&self, rule: &Rule, indent: &str) -> Option<String> {
        let is_allowed = |to: &String| match self.depths {
            Depths::MultiplesOf(unit) => to.contains('\t') || to.len().is_multiple_of(unit),
            Depths::Any => true,
        };
        rule.apply(indent).filter(is_allowed)
    }

    /// The file's version of an indentation, if it is always the same.
    fn look_up(&self, indent: &str) -> Option<&str> {
        let mut found = self.table.iter().filter(|(request, _)| request == indent);
        let (_, file) = found.next()?;
        found.all(|(_, other)| other == file).then_some(file)
    }
}

impl IndentSample<'_> {
    /// Whether the old text lost its indentation and the new text did not: the two share no line, and the new text starts at
    /// the file's depth.
    fn new_text_is_right(&self) -> bool {
        let base =
            |indents: &mut dyn Iterator<Item = &str>| indents.map(str::to_owned).min_by_key(String::len);
        let old = base(&mut self.pairs.iter().map(|pair| pair.request.as_str()));
        let file = base(&mut self.pairs.iter().map(|pair| pair.file.as_str()));
        let new = base(&mut self.added.iter().copied());
        let shares_no_line = self.pairs.iter().all(|pair| pair.removed);
        self.new_is_like_file || (shares_no_line && new.is_some() && new == file && new != old)
    }

    /// The depths that the file uses, as far as the shared lines keep to its unit. A request with lines that are aligned to
    /// something else may have any.
    fn depths(&self) -> Depths {
        let keeps_to =
            |unit: usize, indent: &str| !indent.contains('\t') && indent.len().is_multiple_of(unit);
        let requested =
            || self.pairs.iter().map(|pair| pair.request.as_str()).chain(self.added.iter().copied());
        let is_regular = common_unit(requested()) > 1 || self.pairs.len() == 1;
        match self.file_unit {
            Some(unit) if is_regular && self.pairs.iter().all(|pair| keeps_to(unit, &pair.file)) => {
                Depths::MultiplesOf(unit)
            }
            _ => Depths::Any,
        }
    }
}

/// The indentation of the request's lines, if they all have the same one and the file has them at several depths.
fn flattened_to(pairs: &[IndentPair]) -> Option<&str> {
    let (first, rest) = pairs.split_first()?;
    let is_flat = rest.iter().all(|pair| pair.request == first.request);
    (is_flat && rest.iter().any(|pair| pair.file != first.file)).then_some(first.request.as_str())
}

fn table_of(pairs: &[IndentPair]) -> Vec<(String, String)> {
    pairs.iter().map(|pair| (pair.request.clone(), pair.file.clone())).collect()
}

/// Whether a line is indented by one space too many or too few.
fn is_one_column_off(pair: &IndentPair) -> bool {
    pair.request.len().abs_diff(pair.file.len()) == 1
        && !uses_other_char(&pair.request, &pair.file)
        && !pair.file.contains('\t')
}

/// The smallest indentation of the removed lines, if it is not empty and the file has the same for each of them.
fn correct_base(pairs: &[IndentPair]) -> Option<String> {
    let removed = || pairs.iter().filter(|pair| pair.removed);
    let base = removed().map(|pair| &pair.file).min_by_key(|indent| indent.len())?;
    (!base.is_empty()
        && removed().all(|pair| pair.request == pair.file && pair.file.starts_with(base.as_str())))
    .then(|| base.clone())
}

/// The indentations that are off by one column, except those that are correct in other lines.
fn slips_of(pairs: &[IndentPair]) -> Vec<(String, String)> {
    let is_right = |indent: &String| pairs.iter().any(|pair| pair.file == *indent && pair.request == *indent);
    let slips = pairs.iter().filter(|pair| is_one_column_off(pair) && !is_right(&pair.request));
    slips.map(|pair| (pair.request.clone(), pair.file.clone())).collect()
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
        let requested = || pairs.iter().map(|pair| pair.request.as_str()).chain(added.iter().copied());
        let has_tabs = requested().any(|indent| indent.contains('\t'));
        let unit =
            (!has_tabs).then(|| common_unit(requested().filter_map(|indent| indent.strip_prefix(from))));
        Rule::Shift { from: from.to_owned(), to: pair.file.clone(), unit }
    });
    let outermost =
        pairs.iter().filter(|pair| !pair.request.is_empty()).min_by_key(|pair| pair.request.len());
    let units = outermost.and_then(|pair| unit_rule(&pair.request, &pair.file));
    // If only the first line lost its indentation, that does not show another unit.
    let is_only_first_off = pairs.iter().skip(1).all(|pair| pair.request == pair.file);
    let base = pairs.iter().find(|pair| pair.request == from && !is_only_first_off);
    let shifted_units = base.and_then(|base| {
        let deeper = |pair: &IndentPair| {
            let (request, file) = (pair.request.strip_prefix(from)?, pair.file.strip_prefix(&*base.file)?);
            Some((request.to_owned(), file.to_owned())).filter(|(request, _)| !request.is_empty())
        };
        let (request, file) = pairs.iter().filter_map(deeper).min_by_key(|(request, _)| request.len())?;
        let deeper = unit_rule(&request, &file).filter(|_| from != base.file && request != file)?;
        Some(Rule::ShiftUnits { from: from.to_owned(), to: base.file.clone(), deeper: Box::new(deeper) })
    });
    // Between tabs and spaces the depth matters, otherwise the offset.
    let changes_char = matches!(&shift, Some(Rule::Shift { from, to, .. }) if uses_other_char(from, to));
    match changes_char {
        true => rules.extend(units.into_iter().chain(shift)),
        false => rules.extend(shift.into_iter().chain(units)),
    }
    rules.extend(shifted_units);
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
            // Nobody indents by one space.
            if !long.is_multiple_of(short) || request.len() == 1 {
                return None;
            }
            (request.len() / short, file.len() / short)
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
                    let kept = to.len().checked_sub(missing).filter(|_| !uses_other_char(from, to))?;
                    // Other whitespace than spaces and tabs takes several bytes.
                    to.get(..kept).map(str::to_owned)
                }
            },
            Self::Units { from, to } => {
                let depth = indent.len() / from.len();
                let fits = indent.len().is_multiple_of(from.len()) && from.repeat(depth) == indent;
                fits.then(|| to.repeat(depth))
            }
            Self::ShiftUnits { from, to, deeper } => {
                let rest = indent.strip_prefix(from.as_str())?;
                Some(format!("{to}{}", deeper.apply(rest)?))
            }
        }
    }
}

/// Writes deeper indentation with the file's character.
fn convert_deeper(to: &str, rest: &str, unit: Option<usize>) -> String {
    match (indent_char_or_space(to), indent_char_or_space(rest), unit) {
        (Some('\t'), Some(' '), Some(unit)) if !to.is_empty() && rest.len().is_multiple_of(unit) => {
            "\t".repeat(rest.len() / unit)
        }
        (Some(' '), Some('\t'), _) if !to.is_empty() => " ".repeat(rest.len() * DEFAULT_TAB_WIDTH),
        _ => rest.to_owned(),
    }
}

pub(super) fn gcd(mut a: usize, mut b: usize) -> usize {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The greatest width that divides all these indentations.
fn common_unit<'a>(indents: impl Iterator<Item = &'a str>) -> usize {
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
pub(super) fn uses_other_char(a: &str, b: &str) -> bool {
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
        Indentation::learn(&IndentSample { pairs: &pairs, added, file_unit: None, new_is_like_file: false })
    }

    /// What becomes of the added lines of a request whose lines are all replaced, in a file with levels of four spaces.
    fn replaced(pairs: &[(&str, &str)], added: &[&str]) -> Vec<Option<usize>> {
        let pairs: Vec<IndentPair> = pairs
            .iter()
            .map(|(request, file)| IndentPair {
                removed: true,
                request: (*request).into(),
                file: (*file).into(),
            })
            .collect();
        let learned = Indentation::learn(&IndentSample {
            pairs: &pairs,
            added,
            file_unit: Some(4),
            new_is_like_file: false,
        });
        added.iter().map(|indent| learned.apply(indent, false).map(|indent| indent.len())).collect()
    }

    #[test]
    fn keeps_to_the_depths_of_the_file() {
        // The old text lost its indentation, the new text did not.
        assert_eq!(replaced(&[("", "        ")], &["        ", "            "]), [Some(8), Some(12)]);
        assert_eq!(replaced(&[("", "    "), ("", "        ")], &["    ", "        "]), [Some(4), Some(8)]);
        // Both lost it.
        assert_eq!(replaced(&[("", "    ")], &["", "    "]), [Some(4), Some(8)]);
        // One column off, in both texts or only in the old one.
        assert_eq!(replaced(&[("   ", "    ")], &["   "]), [Some(4)]);
        assert_eq!(replaced(&[("   ", "    ")], &["    ", "        "]), [Some(4), Some(8)]);
        assert_eq!(replaced(&[("   ", "    ")], &["   ", "        "]), [Some(4), Some(8)]);
        // Two spaces for four.
        assert_eq!(replaced(&[("  ", "    ")], &["  ", "    "]), [Some(4), Some(8)]);
        assert_eq!(replaced(&[("    ", "        ")], &["    ", "      "]), [Some(8), Some(12)]);
        assert_eq!(replaced(&[("", ""), ("   ", "    ")], &["    "]), [Some(4)]);
        assert_eq!(replaced(&[("", ""), ("     ", "    ")], &["     ", "         "]), [Some(4), Some(8)]);
        // A depth that the file does not use.
        assert_eq!(replaced(&[("    ", "        ")], &["     "]), [None]);
        // All lines at one depth, in both texts or only in the old one.
        let flat = [("", "    "), ("", "        "), ("", "        ")];
        assert_eq!(replaced(&flat, &["", "    "]), [None, None]);
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
    #[case::another_unit_and_further_out(&[("", "        "), ("  ", "            "), ("    ", "                ")], "      ", Some("                    "))]
    #[case::another_unit_in_tabs(&[("", "\t\t"), ("  ", "\t\t\t")], "    ", Some("\t\t\t\t"))]
    #[case::one_line_off(&[("  ", "  "), ("   ", "    "), ("    ", "    ")], "      ", Some("      "))]
    #[case::off_in_pairs(&[("  ", ""), ("", ""), ("    ", "  "), ("", "")], "  ", None)]
    #[case::single_typo(&[("   ", "    ")], "    ", Some("    "))]
    #[case::typo_next_to_unindented_lines(&[("", ""), ("", ""), ("", ""), ("     ", "    ")], "    ", Some("    "))]
    #[case::below_a_typo(&[("", ""), ("  ", "  "), (" ", "  ")], "   ", Some("    "))]
    #[case::below_a_typo_at_any_depth(&[("", ""), (" ", "")], "   ", None)]
    #[case::typo_of_a_comment(&[("    ", "    "), ("    ", "    "), ("     ", "     "), ("   ", "    ")], "    ", Some("    "))]
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
