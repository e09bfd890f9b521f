//! Recognises lines that name an item: `fn load(…) {`, `class A:`, `[section]`, `## Title`.
//!
//! The same body under a different heading is a different place. `def get_user():` and `def set_user():` are over 90 %
//! similar and may have nearly the same body, so similarity alone would take one for the other. A line that names an
//! item therefore never counts as drifted context, unless the names differ by a typo.
//!
//! A line that starts with a single `#` is not a heading. In most languages it is a comment, and comments are the
//! lines that models paraphrase most (`# returns the first error`, `# gives back the first error`). Treating them as
//! headings would refuse those requests. Top-level Markdown headings are lost with them, which is safe:
//! they are compared like any other context line.

use super::alignment::indent;
use super::script::Script;

/// Keywords that are followed by a name.
const KEYWORDS: &[&str] = &[
    "def",
    "class",
    "fn",
    "func",
    "function",
    "struct",
    "enum",
    "trait",
    "impl",
    "interface",
    "type",
    "mod",
    "module",
    "namespace",
    "union",
    "macro_rules",
    "sub",
    "proc",
    "record",
    "object",
    "protocol",
    "extension",
];

/// Words that may precede those keywords.
const MODIFIERS: &[&str] = &[
    "pub",
    "crate",
    "async",
    "export",
    "default",
    "static",
    "public",
    "private",
    "protected",
    "internal",
    "abstract",
    "final",
    "sealed",
    "const",
    "unsafe",
    "extern",
    "C",
    "virtual",
    "override",
    "open",
    "inline",
    "declare",
    "partial",
];

/// Words that start a definition in SQL.
const SQL: &[&str] = &["CREATE", "ALTER", "TABLE", "VIEW", "INDEX", "FUNCTION", "PROCEDURE", "TRIGGER"];

/// Words that open a block without naming anything.
const CONTROL: &[&str] =
    &["if", "for", "while", "switch", "catch", "match", "with", "return", "using", "lock", "when"];

/// Whether a line names an item.
pub(super) fn names_item(line: &str) -> bool {
    item_name(line).is_some()
}

/// The lines above the change that name a block around it, innermost first. A named block that ends before the change does not
/// count: its heading is indented as much as the change, or as the next heading.
pub(super) fn rows_naming_blocks_around_change(script: &Script) -> Vec<usize> {
    let change = script.first_change();
    let mut depth = script.rows.get(change).map_or(0, |row| indent(&row.text).len());
    let mut is_section = true;
    let mut found = Vec::new();
    for (number, row) in script.rows[..change].iter().enumerate().rev() {
        let width = indent(&row.text).len();
        // `## Title` and `[section]` are followed by lines of the same depth.
        let is_around = width < depth || (is_section && width == depth && !opens_block(&row.text));
        if is_around && names_item(&row.text) {
            found.push(number);
            (depth, is_section) = (width, false);
        }
    }
    found
}

/// Whether a line opens a block that continues below it.
pub(super) fn opens_block(line: &str) -> bool {
    line.trim_end().ends_with(['{', ':', '(', '[']) || line.trim_end().ends_with("=>")
}

/// The name of the item that a line introduces.
pub(super) fn item_name(line: &str) -> Option<&str> {
    let line = line.trim();
    if is_comment(line) && !line.starts_with("##") {
        return None;
    }
    if let Some(form) = line.strip_prefix("(cl-def").or_else(|| line.strip_prefix("(def")) {
        return form
            .split([' ', '(', ')'])
            .filter(|word| !word.is_empty())
            .nth(usize::from(!form.starts_with(' ')));
    }
    if line.starts_with("##") {
        let title = line.trim_start_matches('#');
        return title.split(['(', '[']).next().map(str::trim).filter(|title| !title.is_empty());
    }
    if line.starts_with('[') && line.ends_with(']') {
        return Some(line.trim_matches(['[', ']']));
    }
    let is_list_item = line.starts_with("- ") || line.starts_with("* ");
    let mut words =
        line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').filter(|word| !word.is_empty());
    let first = words.find(|word| !MODIFIERS.contains(word))?;
    if SQL.contains(&first) {
        return words.find(|word| {
            !SQL.contains(word) && !matches!(*word, "IF" | "NOT" | "EXISTS" | "OR" | "REPLACE")
        });
    }
    if !KEYWORDS.contains(&first) || is_list_item {
        return opened_name(line).or_else(|| declared_function(line));
    }
    let rest = line[line.find(first)? + first.len()..].trim_start();
    match first {
        "impl" => Some(rest.trim_end_matches(['{', ' '])),
        // The method's receiver precedes its name.
        "func" if rest.starts_with('(') => opened_name(rest.split_once(')')?.1),
        _ => words.next(),
    }
}

/// The name of a function whose opening brace is on the next line: `static int f(int a)` in C, `f()` in a shell.
fn declared_function(line: &str) -> Option<&str> {
    let head = line.strip_suffix(')')?.split_once('(')?.0.trim_end();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name = head.rsplit(|c: char| !is_word(c)).next().filter(|name| !name.is_empty())?;
    let before = head[..head.len() - name.len()].trim();
    // A shell function has no parameters; any other call without a type before it is a statement.
    let typed = before
        .split_whitespace()
        .next()
        .is_some_and(|word| !CONTROL.contains(&word) && !word.contains(['.', '=']));
    let is_shell = before.is_empty() && (line.ends_with("()") || line.ends_with(" ( )"));
    ((typed || is_shell) && !CONTROL.contains(&name)).then_some(name)
}

/// The name of the block that a line opens: `int f(int a) {`, `const f = () => {`, `.rule {`, `"key": {`, `key:`.
fn opened_name(line: &str) -> Option<&str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '"' | '\'');
    if let Some(key) = line.strip_suffix(':') {
        return Some(key).filter(|key| !key.is_empty() && key.chars().all(is_name));
    }
    let head = line.strip_suffix('{').or_else(|| line.strip_suffix("=>"))?.trim_end();
    if head.starts_with(['.', '#', '@', ':']) {
        return Some(head);
    }
    if let Some(key) = head.strip_suffix([':', '=']).map(str::trim_end) {
        return key.rsplit(' ').next().filter(|key| key.chars().all(is_name));
    }
    let assigned = head.split_once(" = ").map(|(name, _)| name).and_then(|name| name.rsplit(' ').next());
    let called = head.split_once('(').map(|(name, _)| name.trim_end());
    let called = called.and_then(|name| name.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next());
    assigned.or(called).filter(|name| !name.is_empty() && !CONTROL.contains(name))
}

/// Whether a line is a comment.
pub(super) fn is_comment(line: &str) -> bool {
    const MARKERS: &[&str] =
        &["//", "#", "--", ";", "/*", "*", "%", "<!--", "\"\"\"", "'''", "(*", "{-", "REM "];
    // `#[derive]`, `#include` and `*pointer = 1` are code.
    const CODE: &[&str] =
        &["#[", "#!", "#include", "#define", "#if", "#el", "#end", "#pragma", "#undef", "--flag"];
    let line = line.trim();
    let marked = MARKERS.iter().any(|marker| line.starts_with(marker))
        && !CODE.iter().any(|code| line.starts_with(code));
    marked && !(line.starts_with('*') && line[1..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The name before the first parenthesis, if a line starts with it: `f` in `f(a, b)` and `f ()`.
pub(super) fn leading_name(line: &str) -> Option<&str> {
    let (name, _) = line.trim().split_once('(')?;
    let name = name.trim_end();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("def load(self):", Some("load"))]
    #[case("pub fn read(&self) {", Some("read"))]
    #[case("func (s *Server) Stop() {", Some("Stop"))]
    #[case("impl Display for Right {", Some("Display for Right"))]
    #[case("[dependencies.serde]", Some("dependencies.serde"))]
    #[case("## Usage", Some("Usage"))]
    #[case("int add(int a) {", Some("add"))]
    #[case("static int foo_add(struct foo *a)", Some("foo_add"))]
    #[case("build() {", Some("build"))]
    #[case("build()", Some("build"))]
    #[case("build ()", Some("build"))]
    #[case("(cl-defun count (queue &key n)", Some("count"))]
    #[case("(defun load-file (name)", Some("load-file"))]
    #[case("CREATE TABLE users (", Some("users"))]
    #[case("const add = (a) => {", Some("add"))]
    #[case(".menu {", Some(".menu"))]
    #[case("\"dev\": {", Some("\"dev\""))]
    #[case("staging:", Some("staging"))]
    #[case("# why this is so", None)]
    #[case("// fn old(a) {", None)]
    #[case("- it is of type a", None)]
    #[case("- type utilities, such as parsers", None)]
    #[case("- class:", None)]
    #[case("if (ready) {", None)]
    #[case("return add(a)", None)]
    #[case("foo_add(a);", None)]
    #[case("x = 1", None)]
    fn finds_the_name_of_an_item(#[case] line: &str, #[case] name: Option<&str>) {
        assert_eq!(item_name(line), name);
    }

    #[test]
    fn comments_are_not_directives() {
        for line in ["// a", "# a", "-- a", "* a", "/* a */"] {
            assert!(is_comment(line), "{line}");
        }
        for line in ["#include <a>", "#[test]", "*p = 1", "a // b"] {
            assert!(!is_comment(line), "{line}");
        }
    }
}
