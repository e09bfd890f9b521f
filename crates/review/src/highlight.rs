//! Syntax colours, reduced to the few that stay readable on red and green.

use std::path::Path;
use std::sync::OnceLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::line_part::{Class, Part};

/// Longer texts are shown without colours: highlighting is slower than everything else on the page.
const MAX_LINES: usize = 3_000;
const MAX_LINE_BYTES: usize = 2_000;

/// Scopes and their classes; the innermost scope that is listed counts.
const CLASSES: &[(&str, Class)] = &[
    ("comment", Class::Comment),
    ("string", Class::String),
    ("constant.numeric", Class::Number),
    ("constant.language", Class::Number),
    ("constant.character", Class::String),
    ("keyword", Class::Keyword),
    ("storage", Class::Keyword),
    ("entity.name", Class::Name),
];

/// Highlights the lines of one file.
pub(crate) struct Highlighter<'a> {
    syntax: Option<&'a SyntaxReference>,
}

impl Highlighter<'static> {
    /// Chooses the syntax by the file's name.
    pub(crate) fn for_path(path: &str) -> Self {
        let set = syntaxes();
        let path = Path::new(path);
        let by_name = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| set.find_syntax_by_extension(name));
        let by_ending = || {
            path.extension()
                .and_then(|ending| ending.to_str())
                .and_then(|ending| set.find_syntax_by_extension(ending))
        };
        Self { syntax: by_name.or_else(by_ending) }
    }

    /// Splits lines into parts by class.
    pub(crate) fn mark<'l>(&self, lines: impl Iterator<Item = &'l str> + Clone) -> Vec<Vec<Part>> {
        let plain = |line: &str| vec![Part { text: line.to_owned(), is_changed: false, class: None }];
        let is_short = lines.clone().take(MAX_LINES + 1).count() <= MAX_LINES;
        let Some(syntax) = self.syntax.filter(|_| is_short) else { return lines.map(plain).collect() };
        let mut state = ParseState::new(syntax);
        let mut stack = ScopeStack::new();
        let mut mark_line = |line: &str| {
            if line.len() > MAX_LINE_BYTES {
                return plain(line);
            }
            let with_newline = format!("{line}\n");
            match state.parse_line(&with_newline, syntaxes()) {
                Ok(parsed) => split_line(line, &parsed, &mut stack).unwrap_or_else(|| plain(line)),
                Err(_) => plain(line),
            }
        };
        lines.map(&mut mark_line).collect()
    }
}

fn split_line(
    line: &str,
    operations: &[(usize, syntect::parsing::ScopeStackOp)],
    stack: &mut ScopeStack,
) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    let mut at = 0;
    let mut push = |text: &str, class: Option<Class>| match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.class == class => last.text.push_str(text),
        _ => parts.push(Part { text: text.to_owned(), is_changed: false, class }),
    };
    for (offset, operation) in operations {
        let offset = (*offset).min(line.len());
        push(line.get(at..offset)?, class_of(stack));
        at = offset;
        stack.apply(operation).ok()?;
    }
    push(line.get(at..)?, class_of(stack));
    Some(parts)
}

fn class_of(stack: &ScopeStack) -> Option<Class> {
    let classes = classes();
    stack.as_slice().iter().rev().find_map(|scope| {
        classes.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, class)| *class)
    })
}

fn classes() -> &'static [(Scope, Class)] {
    static PARSED: OnceLock<Vec<(Scope, Class)>> = OnceLock::new();
    PARSED.get_or_init(|| {
        CLASSES.iter().filter_map(|(name, class)| Some((Scope::new(name).ok()?, *class))).collect()
    })
}

/// Loaded when the first diff is shown.
fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(SyntaxSet::load_defaults_newlines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_classes_and_keep_the_text() {
        let lines = ["def send(self):  # go", "    return \"x\" + 12"];
        let marked = Highlighter::for_path("a.py").mark(lines.into_iter());
        for (parts, line) in marked.iter().zip(lines) {
            assert_eq!(parts.iter().map(|part| part.text.as_str()).collect::<String>(), line);
        }
        let class = |line: usize, text: &str| {
            marked[line].iter().find(|part| part.text.contains(text)).and_then(|part| part.class)
        };
        assert_eq!(class(0, "def"), Some(Class::Keyword));
        assert_eq!(class(0, "go"), Some(Class::Comment));
        assert_eq!(class(1, "x"), Some(Class::String));
        assert_eq!(class(1, "12"), Some(Class::Number));
        let plain = Highlighter::for_path("a.unknown").mark(["x"].into_iter());
        assert_eq!(plain[0][0].class, None);
    }
}
