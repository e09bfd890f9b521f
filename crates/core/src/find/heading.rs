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

/// Words that open a block without naming anything.
const CONTROL: &[&str] =
    &["if", "for", "while", "switch", "catch", "match", "with", "return", "using", "lock", "when"];

/// Whether two lines name different items or open different blocks, beyond a typo.
pub(super) fn is_different_item(a: &str, b: &str) -> bool {
    match (item_name(a), item_name(b)) {
        (Some(a), Some(b)) => a != b && !differ_by_typos(a, b),
        (None, None) if !opens_block(a) && !opens_block(b) => false,
        _ => !differ_by_typos(a, b),
    }
}

/// Whether a line opens a block that continues below it.
pub(super) fn opens_block(line: &str) -> bool {
    line.trim_end().ends_with(['{', ':', '(', '[']) || line.trim_end().ends_with("=>")
}

/// Whether two lines have the same words except for typos.
fn differ_by_typos(a: &str, b: &str) -> bool {
    let words = |line: &'_ str| -> Vec<String> {
        let parts = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (a, b) = (words(a), words(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || is_typo(a, b))
}

/// The name of the item that a line introduces.
fn item_name(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with("##") {
        let title = line.trim_start_matches('#');
        return title.split(['(', '[']).next().map(str::trim).filter(|title| !title.is_empty());
    }
    if line.starts_with('[') && line.ends_with(']') {
        return Some(line.trim_matches(['[', ']']));
    }
    let mut words =
        line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').filter(|word| !word.is_empty());
    let first = words.find(|word| !MODIFIERS.contains(word))?;
    if !KEYWORDS.contains(&first) {
        return opened_name(line);
    }
    let rest = line[line.find(first)? + first.len()..].trim_start();
    match first {
        "impl" => Some(rest.trim_end_matches(['{', ' '])),
        // The method's receiver precedes its name.
        "func" if rest.starts_with('(') => opened_name(rest.split_once(')')?.1),
        _ => words.next(),
    }
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

/// Whether two words differ by a typo: one letter too many or too few, two swapped, or another case.
fn is_typo(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.chars().count() < 4 {
        return false;
    }
    if short.eq_ignore_ascii_case(long) {
        return true;
    }
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    let front = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    let (rest, long_rest) = (&short[front..], &long[front..]);
    match long.len() - short.len() {
        0 => {
            rest.len() >= 2
                && rest[0] == long_rest[1]
                && rest[1] == long_rest[0]
                && rest[2..] == long_rest[2..]
        }
        1 => *rest == long_rest[1..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::is_different_item;

    #[rstest]
    #[case("def b():", "def a():", true)]
    #[case("def get_user(id):", "def set_user(id):", true)]
    #[case("pub fn read(&self) {", "pub fn raed(&self) {", false)]
    #[case("func (s *Server) Stop() {", "func (s *Server) Start() {", true)]
    #[case("impl Display for Right {", "impl Display for Light {", true)]
    #[case("def save_all(x):", "def save(x):", true)]
    #[case("fn f(a: u8) {", "fn f(a: u16, b: u8) {", false)]
    #[case("if not ready:", "if ready:", true)]
    #[case("case Delete:", "case Create:", true)]
    #[case("class Parser:", "class Parsers:", false)]
    #[case("[dependencies.serde]", "[dependencies.regex]", true)]
    #[case("## Usage", "## Install", true)]
    #[case("### `Pool.request(options)`", "### `Pool.request(new_options)`", false)]
    #[case("# why this is so", "# why that was so", false)]
    #[case("- it is of type a", "- it is of type b", false)]
    #[case("# gives back the first error", "# returns the first error", false)]
    #[case("int add(int a) {", "int sub(int a) {", true)]
    #[case("const add = (a) => {", "const sub = (a) => {", true)]
    #[case(".menu {", ".list {", true)]
    #[case("\"dev\": {", "\"prod\": {", true)]
    #[case("staging:", "production:", true)]
    #[case("x = 1", "y = 1", false)]
    fn tells_renamed_items_from_typos(#[case] a: &str, #[case] b: &str, #[case] different: bool) {
        assert_eq!(is_different_item(a, b), different);
    }
}
