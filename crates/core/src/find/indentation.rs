//! From the request's indentation to the file's: what the lines that both have say about the lines that only
//! the request has.

use super::seats::{IndentPair, indent};

/// How many blanks a tab of the request stands for where nothing says it.
const USUAL_UNIT: usize = 4;

/// A way from the request's indentation to the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    /// As it is.
    Same,
    /// Another start; what lies deeper is kept, in the file's own unit.
    Shift { from: String, to: String, unit: usize },
    /// Another unit.
    Units { from: String, to: String },
}

/// How the lines of one request are indented anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Indentation {
    rule: Option<Rule>,
    /// The first line of the request stands alone: its indentation was cut off.
    first: Option<(String, String)>,
    /// What each indentation of the request is in the file, where no rule says it.
    table: Vec<(String, String)>,
}

impl Indentation {
    /// Learns from lines that are in both. `come` are the indentations of the new lines.
    pub(super) fn learn(pairs: &[IndentPair], come: &[&str]) -> Self {
        if let [pair] = pairs
            && pair.wanted.len().abs_diff(pair.there.len()) == 1
            && !other_kind(&pair.wanted, &pair.there)
            && !pair.there.contains('\t')
        {
            // A single line that is off by a column is a slip, not a shift.
            return Self { rule: Some(Rule::Same), first: None, table: Vec::new() };
        }
        if let Some(rule) = rule_for(pairs, come) {
            return Self { rule: Some(rule), first: None, table: Vec::new() };
        }
        // The first line lost its indentation to the quotation mark before it.
        if let [first, rest @ ..] = pairs
            && first.wanted.is_empty()
            && let Some(rule) = rule_for(rest, come)
        {
            let first = Some((first.wanted.clone(), first.there.clone()));
            return Self { rule: Some(rule), first, table: Vec::new() };
        }
        let table = pairs.iter().map(|pair| (pair.wanted.clone(), pair.there.clone())).collect();
        Self { rule: most(pairs, come), first: None, table }
    }

    /// The indentation of a new line; `None` if the pairs do not say it. `leads` says that it is the
    /// request's first line.
    pub(super) fn apply(&self, indent: &str, leads: bool) -> Option<String> {
        if let Some((wanted, there)) = &self.first
            && leads
            && indent == wanted
        {
            return Some(there.clone());
        }
        match (&self.rule, self.looked_up(indent)) {
            // Not all lines follow the rule: tabs and blanks are as the line's own like has them.
            (Some(_), Some(there)) if other_kind(indent, there) => Some(there.to_owned()),
            // And what speaks against it for this very indentation leaves it open.
            (Some(rule), _) => rule.apply(indent).filter(|to| {
                self.table.iter().filter(|(wanted, _)| wanted == indent).all(|(_, there)| there == to)
            }),
            (None, there) => there.map(str::to_owned),
        }
    }

    /// A new line with the file's indentation; `None` if the pairs do not say it.
    pub(super) fn of_line(&self, line: &str) -> Option<String> {
        let indent = indent(line);
        let body = &line[indent.len()..];
        if body.is_empty() { Some(line.to_owned()) } else { Some(self.apply(indent, false)? + body) }
    }

    /// What an indentation of the request is in the file, if it is always the same.
    fn looked_up(&self, indent: &str) -> Option<&str> {
        let mut found = self.table.iter().filter(|(wanted, _)| wanted == indent);
        let (_, there) = found.next()?;
        found.all(|(_, other)| other == there).then_some(there)
    }
}

/// The rule that all pairs follow.
fn rule_for(pairs: &[IndentPair], come: &[&str]) -> Option<Rule> {
    candidates(pairs, come).into_iter().find(|rule| pairs.iter().all(|pair| follows(pair, rule)))
}

/// The rule that nearly all pairs follow, the lines that go among them: single lines of context may be
/// indented by mistake.
fn most(pairs: &[IndentPair], come: &[&str]) -> Option<Rule> {
    let mut rules = candidates(pairs, come);
    for pair in pairs {
        rules.extend(candidates(std::slice::from_ref(pair), come));
    }
    // Lines without indentation say that nothing changes, and nothing about any other rule.
    let counts = |pair: &&IndentPair, rule: &Rule| {
        follows(pair, rule) && (*rule == Rule::Same || !(pair.wanted.is_empty() && pair.there.is_empty()))
    };
    let (followers, rule) = rules
        .into_iter()
        .map(|rule| (pairs.iter().filter(|pair| counts(pair, &rule)).count(), rule))
        .rev()
        .max_by_key(|(followers, _)| *followers)?;
    let gone = pairs.iter().filter(|pair| pair.gone).all(|pair| follows(pair, &rule));
    // What is copied is indented as it was, if nothing speaks for anything else.
    let enough = followers >= 2 && followers * 3 >= pairs.len() * 2;
    (gone && (enough || (rule == Rule::Same && followers >= 1))).then_some(rule)
}

fn follows(pair: &IndentPair, rule: &Rule) -> bool {
    rule.apply(&pair.wanted).is_some_and(|indent| indent == pair.there)
}

/// The rules that some pairs suggest, the plainest first.
fn candidates(pairs: &[IndentPair], come: &[&str]) -> Vec<Rule> {
    let mut rules = vec![Rule::Same];
    let Some(from) = common(pairs.iter().map(|pair| pair.wanted.as_str())) else { return rules };
    let shift = pairs.iter().find(|pair| pair.wanted == from).map(|pair| {
        let deeper = pairs.iter().map(|pair| pair.wanted.as_str()).chain(come.iter().copied());
        let unit = unit_of(deeper.filter_map(|indent| indent.strip_prefix(from)));
        Rule::Shift { from: from.to_owned(), to: pair.there.clone(), unit }
    });
    let outermost = pairs.iter().filter(|pair| !pair.wanted.is_empty()).min_by_key(|pair| pair.wanted.len());
    let units = outermost.and_then(|pair| units(&pair.wanted, &pair.there));
    // Where blanks stand for tabs the depth counts, elsewhere the distance does.
    let other_kind = matches!(&shift, Some(Rule::Shift { from, to, .. }) if other_kind(from, to));
    match other_kind {
        true => rules.extend(units.into_iter().chain(shift)),
        false => rules.extend(shift.into_iter().chain(units)),
    }
    rules
}

/// The unit of the request and that of the file, if one is a multiple of the other or both are of one kind.
fn units(wanted: &str, there: &str) -> Option<Rule> {
    let (kind, file_kind) = (kind(wanted)?, kind_of(there)?);
    if there.is_empty() {
        return None;
    }
    let (from, to) = match (kind, file_kind) {
        ('\t', _) => {
            let width = there.len().is_multiple_of(wanted.len()).then(|| there.len() / wanted.len())?;
            (1, width)
        }
        (_, '\t') => (wanted.len().is_multiple_of(there.len()).then(|| wanted.len() / there.len())?, 1),
        _ => {
            let (short, long) = (wanted.len().min(there.len()), wanted.len().max(there.len()));
            long.is_multiple_of(short).then_some((wanted.len(), there.len()))?
        }
    };
    Some(Rule::Units { from: kind.to_string().repeat(from), to: file_kind.to_string().repeat(to) })
}

impl Rule {
    fn apply(&self, indent: &str) -> Option<String> {
        match self {
            Self::Same => Some(indent.to_owned()),
            Self::Shift { from, to, unit } => match indent.strip_prefix(from.as_str()) {
                Some(rest) => Some(format!("{to}{}", in_kind_of(to, rest, *unit))),
                // A line that stands further out than all lines that both have.
                None => {
                    let missing = from.strip_prefix(indent)?.len();
                    (!other_kind(from, to) && missing <= to.len())
                        .then(|| to[..to.len() - missing].to_owned())
                }
            },
            Self::Units { from, to } => {
                let deep = indent.len() / from.len();
                let fits = indent.len().is_multiple_of(from.len()) && from.repeat(deep) == indent;
                fits.then(|| to.repeat(deep))
            }
        }
    }
}

/// Deeper indentation in the kind of blank that the file uses.
fn in_kind_of(to: &str, rest: &str, unit: usize) -> String {
    match (kind_of(to), kind_of(rest)) {
        (Some('\t'), Some(' ')) if !to.is_empty() && rest.len().is_multiple_of(unit) => {
            "\t".repeat(rest.len() / unit)
        }
        (Some(' '), Some('\t')) if !to.is_empty() => " ".repeat(rest.len() * USUAL_UNIT),
        _ => rest.to_owned(),
    }
}

/// The most blanks that all of some indentations are multiples of.
fn unit_of<'a>(indents: impl Iterator<Item = &'a str>) -> usize {
    let gcd = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    match indents.map(str::len).fold(0, gcd) {
        0 => USUAL_UNIT,
        unit => unit,
    }
}

/// What all of some texts start with.
fn common<'a>(mut texts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let first = texts.next()?;
    Some(texts.fold(first, |common, text| {
        let same =
            common.chars().zip(text.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
        &common[..same]
    }))
}

/// The one kind of blank that an indentation is made of.
fn kind(indent: &str) -> Option<char> {
    let first = indent.chars().next()?;
    (matches!(first, ' ' | '\t') && indent.chars().all(|c| c == first)).then_some(first)
}

/// The same, with blanks for no indentation at all.
fn kind_of(indent: &str) -> Option<char> {
    if indent.is_empty() { Some(' ') } else { kind(indent) }
}

/// Whether one is made of blanks and the other of tabs.
fn other_kind(a: &str, b: &str) -> bool {
    matches!((kind(a), kind(b)), (Some(a), Some(b)) if a != b)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn learn(pairs: &[(&str, &str)], come: &[&str]) -> Indentation {
        let pairs: Vec<IndentPair> = pairs
            .iter()
            .map(|(wanted, there)| IndentPair {
                gone: false,
                wanted: (*wanted).into(),
                there: (*there).into(),
            })
            .collect();
        Indentation::learn(&pairs, come)
    }

    #[rstest]
    #[case::same(&[("  ", "  ")], "    ", Some("    "))]
    #[case::deeper_in_the_file(&[("", "    "), ("  ", "      ")], "  ", Some("      "))]
    #[case::further_out(&[("    ", "        ")], "", Some("    "))]
    #[case::no_room(&[("    ", "  ")], "", None)]
    #[case::tabs_in_the_file(&[("    ", "\t")], "        ", Some("\t\t"))]
    #[case::blanks_in_the_file(&[("\t", "  ")], "\t\t", Some("    "))]
    #[case::tabs_from_nothing(&[("", "\t")], "    ", Some("\t\t"))]
    #[case::another_unit(&[("", ""), ("  ", "    "), ("    ", "        ")], "      ", Some("            "))]
    #[case::one_line_astray(&[("  ", "  "), ("   ", "    "), ("    ", "    ")], "      ", Some("      "))]
    #[case::off_in_pairs(&[("  ", ""), ("", ""), ("    ", "  "), ("", "")], "  ", None)]
    #[case::a_slip_alone(&[("   ", "    ")], "    ", Some("    "))]
    #[case::a_slip_beside_lines_without(&[("", ""), ("", ""), ("", ""), ("     ", "    ")], "    ", Some("    "))]
    #[case::a_tab_by_mistake(&[("\t", "    "), ("    ", "    ")], "\t", Some("    "))]
    #[case::no_rule(&[("  ", "    "), ("  ", " ")], "  ", None)]
    fn what_pairs_say(#[case] pairs: &[(&str, &str)], #[case] indent: &str, #[case] want: Option<&str>) {
        assert_eq!(learn(pairs, &[indent]).apply(indent, false).as_deref(), want);
    }

    #[test]
    fn a_first_line_without_indentation() {
        let learned = learn(&[("", "    "), ("        ", "        ")], &[]);
        assert_eq!(learned.apply("", true).as_deref(), Some("    "));
        assert_eq!(learned.apply("    ", true).as_deref(), Some("    "));
        assert_eq!(learned.apply("        ", false).as_deref(), Some("        "));
    }
}
