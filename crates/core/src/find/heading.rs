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
use super::script::{Role, Row, Script};

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
    "fun",
    "actor",
    "defp",
    "defmodule",
    "defmacro",
    "defmacrop",
    "defprotocol",
    "newtype",
    "data",
    "instance",
    "procedure",
    "subroutine",
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
    "local",
    "suspend",
    "companion",
    "operator",
    "infix",
    "mutating",
    "fileprivate",
    "readonly",
    "constexpr",
];

/// Words that start a definition in SQL.
const SQL: &[&str] = &["CREATE", "ALTER", "TABLE", "VIEW", "INDEX", "FUNCTION", "PROCEDURE", "TRIGGER"];

/// Commands of TeX that start a part of the text.
const TEX: &[&str] =
    &["part", "chapter", "section", "subsection", "subsubsection", "paragraph", "begin", "frametitle"];

/// Words that open a block without naming anything.
const CONTROL: &[&str] = &[
    "if", "for", "while", "switch", "catch", "match", "with", "return", "using", "lock", "when", "until",
    "unless", "else", "elif", "elsif", "elseif", "do", "try", "except", "finally", "loop", "unsafe", "async",
    "await", "move", "case", "default", "begin", "rescue", "ensure", "select", "go", "defer", "foreach",
    "guard", "repeat", "let", "where",
];

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
        // `## Title` and `[section]` are followed by lines of the same depth. `mod a;` is followed by something else.
        let starts_section = !opens_block(&row.text) && !row.text.trim_end().ends_with(';');
        let is_around = width < depth
            || (is_section
                && width == depth
                && starts_section
                && !script.rows.get(change).is_some_and(|changed| is_next_section(&row.text, changed)));
        if is_around && names_item(&row.text) && !is_complete(&row.text) {
            found.push(number);
            (depth, is_section) = (width, false);
        }
    }
    found
}

/// Whether a removed row is the heading of the section after the one that a line starts.
fn is_next_section(line: &str, changed: &Row) -> bool {
    let (line, next) = (line.trim(), changed.text.trim());
    let level = |text: &str| text.len() - text.trim_start_matches('#').len();
    let is_section = |text: &str| text.starts_with("##") || (text.starts_with('[') && text.ends_with(']'));
    changed.role == Role::Removed && is_section(line) && is_section(next) && level(next) <= level(line)
}

/// Whether the block that a row above the change names ends before the change: on its line, at a closing bracket, or where the
/// next block begins.
pub(super) fn ends_before_change(script: &Script, row: usize) -> bool {
    let text = &script.rows[row].text;
    let ends_block = |other: &Row| {
        let line = other.text.trim();
        let is_end = line.starts_with(['}', ')', ']']) || line == "end" || line == "fi" || names_item(line);
        !other.blank && is_end && indent(&other.text).len() <= indent(text).len()
    };
    let change = script.first_change();
    let is_followed = script.rows.get(change).is_some_and(|changed| is_next_section(text, changed));
    is_complete(text) || is_followed || (row < change && script.rows[row + 1..change].iter().any(ends_block))
}

/// Whether a line has the item that it names as a whole: `fn f() {}`.
pub(super) fn is_complete(line: &str) -> bool {
    let line = line.trim().trim_end_matches([';', ',']);
    // `\section{Use}` is followed by the section.
    !line.starts_with('\\')
        && line.contains('{')
        && line.ends_with('}')
        && line.matches('{').count() == line.matches('}').count()
}

/// Whether no change is inside a block that a row may open: no change is below the row, or a line above the next change is less
/// deep than the row or closes its block. Lines of a section are no deeper than its heading, so their depth shows nothing.
pub(super) fn is_beside_changes(script: &Script, row: usize) -> bool {
    let below = &script.rows[row + 1..];
    let Some(change) = below.iter().position(|row| row.role != Role::Context) else { return true };
    let text = &script.rows[row].text;
    let depth = indent(text).len();
    let is_closed = |other: &Row| {
        let width = indent(&other.text).len();
        !other.blank && (width < depth || (width == depth && other.text.trim().starts_with(['}', ')', ']'])))
    };
    opens_block(text) && below[..change].iter().any(is_closed)
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
    if let Some(command) = line.strip_prefix('\\').filter(|_| line.ends_with('}')) {
        let name = command.split('{').next().unwrap_or_default();
        return TEX.contains(&name.trim_end_matches('*')).then_some(line);
    }
    // A step of a workflow or a playbook.
    if let Some(name) = line.strip_prefix("- name:").or_else(|| line.strip_prefix("- id:")) {
        return Some(name.trim()).filter(|name| !name.is_empty());
    }
    // A signature in Haskell.
    if let Some((name, _)) = line.split_once(" :: ")
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '\''))
    {
        return Some(name).filter(|name| name.starts_with(|c: char| c.is_lowercase() || c == '_'));
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
    let after = &line[line.find(first)? + first.len()..];
    if !KEYWORDS.contains(&first) || is_list_item || !is_definition(first, after) {
        return opened_name(line).or_else(|| declared_function(line));
    }
    let rest = after.trim_start();
    match first {
        "impl" | "instance" => Some(rest.trim_end_matches("where").trim_end_matches(['{', ' '])),
        // The method's receiver precedes its name.
        "func" if rest.starts_with('(') => opened_name(rest.split_once(')')?.1),
        // `module "network" {`
        _ if rest.starts_with('"') => opened_name(line),
        _ => defined_name(rest),
    }
}

/// What tells a line that encloses a block from others like it, in any language; `None` for lines such as `if a:`, which
/// name nothing.
pub(super) fn block_name(line: &str) -> Option<String> {
    let line = line.trim();
    // `function(load a)` is how CMake defines one.
    let called = || leading_name(line).filter(|name| !KEYWORDS.contains(name) && *name != "macro");
    if let Some(name) = item_name(line).or_else(called) {
        return Some(name).filter(|name| !CONTROL.contains(name)).map(str::to_owned);
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let words = |text: &str, count: usize| -> Vec<String> {
        text.split(|c| !is_word(c))
            .filter(|word| word.contains(char::is_alphanumeric))
            .take(count)
            .map(str::to_owned)
            .collect()
    };
    let named = match line.split_once(" = ") {
        _ if is_comment(line) || is_anonymous_function(line) => return None,
        // A tag is known by its name and what identifies it.
        _ if line.starts_with('<') && line.contains('=') => {
            let id = ["id=", "name=", "key="].iter().find_map(|key| line.split_once(key));
            [words(line, 1), id.map_or_else(Vec::new, |(_, value)| words(value, 1))].concat()
        }
        Some((assigned, _)) => words(assigned, usize::MAX),
        None if line.contains(['(', '=']) => words(line, 2),
        None => words(line, usize::MAX),
    };
    // `let load x =` names something.
    let is_control = named.first().is_some_and(|first| first != "let" && CONTROL.contains(&first.as_str()));
    (!named.is_empty() && !is_control).then(|| named.join(" "))
}

/// Whether a line opens a function without a name, whose parameters are not a name either: `(a, b) => {`, `function (a) {`,
/// `|a| {`.
fn is_anonymous_function(line: &str) -> bool {
    let parameters = line.strip_prefix("function").map_or(line, str::trim_start);
    let is_arrow = line.starts_with('(') && line.contains("=>");
    is_arrow || (parameters.starts_with(['(', '|']) && line.ends_with('{'))
}

/// Whether two lines name different blocks.
pub(super) fn names_other_block(request: &str, file: &str) -> bool {
    matches!((block_name(request), block_name(file)), (Some(request), Some(file)) if !is_same_name(&request, &file))
}

/// Whether two lines name different items, or only one of them names an item.
pub(super) fn names_other_item(request: &str, file: &str) -> bool {
    match (item_name(request), item_name(file)) {
        (Some(request), Some(file)) => !is_same_name(request, file),
        (request, file) => request.is_some() != file.is_some(),
    }
}

/// Whether two names are the same. How a name is quoted and escaped is its form: `[a."b"]` and `[a.'b']`.
fn is_same_name(one: &str, other: &str) -> bool {
    let spelling = |name: &str| -> Vec<char> {
        name.chars().filter(|c| !matches!(c, '"' | '\'' | '`' | '\\')).collect()
    };
    one == other || spelling(one) == spelling(other)
}

/// Whether a keyword introduces a name, and is not a name itself (`type: text`, `data = {`) or a word of a sentence.
fn is_definition(keyword: &str, after: &str) -> bool {
    let rest = after.trim_start();
    after.starts_with([' ', '\t', '!', '*', '('])
        && !rest.starts_with(['=', ':'])
        && match keyword {
            "data" | "instance" | "newtype" | "actor" => {
                rest.starts_with(char::is_uppercase) || rest.starts_with("class ")
            }
            "fun" => rest.contains('('),
            _ => true,
        }
}

/// The name at the start of what follows a keyword, with the names that qualify it: `self.load`, `M:load`, `String.load`.
fn defined_name(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['!', '*', ' ']);
    let is_name =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '$' | '-' | '?' | '!' | '\\');
    let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    // `class A:` and `extension A: B`, but `A::B`.
    let name = rest[..end].trim_end_matches([':', '-', '.']);
    match name {
        // `enum class A`, `data class A`.
        "class" | "struct" | "object" | "interface"
            if rest[end..].trim_start().starts_with(char::is_alphabetic) =>
        {
            defined_name(rest[end..].trim_start())
        }
        name => Some(name).filter(|name| !name.is_empty()),
    }
}

/// The name of a function whose opening brace is on the next line: `static int f(int a)` in C, `f()` in a shell.
fn declared_function(line: &str) -> Option<&str> {
    let head = line.strip_suffix(')')?.split_once('(')?.0.trim_end();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name = head.rsplit(|c: char| !is_word(c)).next().filter(|name| !name.is_empty())?;
    let before = head[..head.len() - name.len()].trim();
    // A shell function has no parameters; any other call without a type before it is a statement, and one after an operator
    // is part of an expression: `? f(a)`, `a = f(b)`.
    let typed = before.split_whitespace().next().is_some_and(|word| {
        let is_type = word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '~' | '@' | '['));
        is_type && !CONTROL.contains(&word) && !word.contains('.') && !before.contains('=')
    });
    let is_shell = before.is_empty() && (line.ends_with("()") || line.ends_with(" ( )"));
    ((typed || is_shell) && !CONTROL.contains(&name)).then_some(name)
}

/// The name of the block that a line opens: `int f(int a) {`, `const f = () => {`, `.rule {`, `"key": {`, `key:`.
fn opened_name(line: &str) -> Option<&str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '"' | '\'');
    if line.starts_with("case ") && line.ends_with(':') {
        return Some(line);
    }
    if let Some(key) = line.strip_suffix(':') {
        return Some(key).filter(|key| !key.is_empty() && key.chars().all(is_name));
    }
    if let Some(name) = labelled_block(line).or_else(|| assigned_function(line)) {
        return Some(name);
    }
    let head = line.strip_suffix('{').or_else(|| line.strip_suffix("=>"))?.trim_end();
    if head.starts_with(['.', '#', '@', ':']) {
        return Some(head);
    }
    if let Some(key) = head.strip_suffix([':', '=']).map(str::trim_end) {
        return assigned_name(key).filter(|key| key.chars().all(is_name));
    }
    let assigned = head.split_once(" = ").and_then(|(target, _)| assigned_name(target));
    let called = head.split_once('(').map(|(name, _)| name.trim_end());
    let called = called.and_then(|name| name.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next());
    let named = assigned.or(called).filter(|name| !name.is_empty() && !CONTROL.contains(name));
    // `message Request {`, `location /api {`, `resource "bucket" "logs" {`, `table td {`.
    let is_plain = !head.contains(['(', '=', '}', '|']) && head.starts_with(char::is_alphabetic);
    let first = head.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    named.or_else(|| Some(head).filter(|_| is_plain && !CONTROL.contains(&first)))
}

/// The name in what a value is assigned to: `const a`, `let a: A`.
fn assigned_name(target: &str) -> Option<&str> {
    let untyped = target.split_once(": ").map_or(target, |(name, _)| name);
    untyped.rsplit(' ').next()
}

/// The name of a block with a text for a name: `it("works", () => {`, `test "works" do`, `task :build do`.
fn labelled_block(line: &str) -> Option<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let opens = opens_block(line) || line.ends_with(" do") || line.contains(" do |") || line.ends_with("->");
    let word =
        line.find(|c| !is_word(c)).filter(|&end| opens && end > 0 && !CONTROL.contains(&&line[..end]))?;
    // `resource "bucket" "logs" {` has several; all of them are its name.
    if line[word..].starts_with(' ') && line.ends_with('{') {
        return None;
    }
    let label = line[word..].trim_start_matches([' ', '(']);
    let start = line.len() - label.len();
    let quote = label.chars().next()?;
    let end = match quote {
        '"' | '\'' | '`' => 1 + label[1..].find(quote)? + 1,
        ':' if line.contains(" do") => label[1..].find(|c| !is_word(c)).map_or(label.len(), |end| end + 1),
        _ => return None,
    };
    Some(&line[..start + end]).filter(|_| start > word)
}

/// The name that a function is assigned to: `M.load = function(a)`, `load: function (a) {`, `load <- function(a) {`.
fn assigned_function(line: &str) -> Option<&str> {
    let (before, value) = line.split_once("function")?;
    let before = before.trim_end().trim_end_matches("async").trim_end();
    let name = ["<-", "=", ":"].iter().find_map(|mark| before.strip_suffix(mark))?;
    let is_function = value.trim_start().starts_with('(') && !value.trim_end().ends_with("end");
    name.split_whitespace().last().filter(|_| is_function)
}

/// Whether a line is a comment.
pub(super) fn is_comment(line: &str) -> bool {
    const MARKERS: &[&str] =
        &["//", "#", "--", ";", "/*", "*", "%", "<!--", "\"\"\"", "'''", "(*", "{-", "REM "];
    // `#[derive]`, `#include` and `*pointer = 1` are code.
    const CODE: &[&str] =
        &["#[", "#!", "#include", "#define", "#if", "#el", "#end", "#pragma", "#undef", "--flag"];
    let line = line.trim();
    // `#menu a {` is a rule of a style sheet.
    let is_rule = || line.ends_with('{') && line[1..].starts_with(char::is_alphabetic);
    let marked = MARKERS.iter().any(|marker| line.starts_with(marker))
        && !CODE.iter().any(|code| line.starts_with(code))
        && !(line.starts_with('#') && is_rule());
    marked && !(line.starts_with('*') && line[1..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The name before the first parenthesis, if a line starts with it: `f` in `f(a, b)` and `f ()`.
pub(super) fn leading_name(line: &str) -> Option<&str> {
    let (name, _) = line.trim().split_once('(')?;
    let name = name.trim_end();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    (name.contains(char::is_alphanumeric) && name.chars().all(is_name)).then_some(name)
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
    #[case("const settings: Settings = {", Some("settings"))]
    #[case("let settings = {", Some("settings"))]
    #[case("export const load: Loader<A> = async (a) => {", Some("load"))]
    #[case(".menu {", Some(".menu"))]
    #[case("#menu h2 {", Some("#menu h2"))]
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
    #[case("? load(a)", None)]
    #[case("logger = logging.getLogger(name)", None)]
    #[case("x += add(a)", None)]
    #[case("&& load(a)", None)]
    #[case("+ load(a)", None)]
    #[case("~Store()", Some("Store"))]
    #[case("x = 1", None)]
    #[case("fun String.load(a: Int): Int {", Some("String.load"))]
    #[case("suspend fun load(a: Int) = 1", Some("load"))]
    #[case("data class User(", Some("User"))]
    #[case("enum class Color {", Some("Color"))]
    #[case("companion object {", None)]
    #[case("public mutating func load() -> Int {", Some("load"))]
    #[case("actor Store {", Some("Store"))]
    #[case("    public static function load(array $a): string", Some("load"))]
    #[case("namespace App\\Models;", Some("App\\Models"))]
    #[case("local function load(a)", Some("load"))]
    #[case("function M.load(a)", Some("M.load"))]
    #[case("function M:load(a)", Some("M:load"))]
    #[case("M.load = function(a)", Some("M.load"))]
    #[case("load: function (a) {", Some("load"))]
    #[case("load <- function(a) {", Some("load"))]
    #[case("module \"network\" {", Some("module \"network\""))]
    #[case("case LOAD:", Some("case LOAD:"))]
    #[case("function* load(a) {", Some("load"))]
    #[case("def self.load(a)", Some("self.load"))]
    #[case("def save!", Some("save!"))]
    #[case("defmodule App.Store do", Some("App.Store"))]
    #[case("defp load(a) do", Some("load"))]
    #[case("test \"loads\" do", Some("test \"loads\""))]
    #[case("it('loads', async () => {", Some("it('loads'"))]
    #[case("task :build do", Some("task :build"))]
    #[case("items.each do |item|", None)]
    #[case("load :: Int -> IO ()", Some("load"))]
    #[case("instance Show User where", Some("Show User"))]
    #[case("newtype Id = Id Int", Some("Id"))]
    #[case("build:", Some("build"))]
    #[case("- name: Build", Some("Build"))]
    #[case("- a: 1", None)]
    #[case("message Request {", Some("message Request"))]
    #[case("resource \"bucket\" \"logs\" {", Some("resource \"bucket\" \"logs\""))]
    #[case("location /api {", Some("location /api"))]
    #[case("table td {", Some("table td"))]
    #[case("macro_rules! list {", Some("list"))]
    #[case("class A(B):", Some("A"))]
    #[case("struct A::B {", Some("A::B"))]
    #[case("data = {", Some("data"))]
    #[case("data: {", Some("data"))]
    #[case("type: text", None)]
    #[case("data is read twice", None)]
    #[case("} else {", None)]
    #[case("else {", None)]
    #[case("loop {", None)]
    #[case("unsafe {", None)]
    #[case("let x = f(|a| {", Some("x"))]
    fn finds_the_name_of_an_item(#[case] line: &str, #[case] name: Option<&str>) {
        assert_eq!(item_name(line), name);
    }

    #[rstest]
    #[case("Host alpha", Some("Host alpha"))]
    #[case("let load x =", Some("let load"))]
    #[case("\\section{How to use it}", Some("\\section{How to use it}"))]
    #[case("<bean id=\"a\" class=\"b\">", Some("bean a"))]
    #[case("<div class=\"b\">", Some("div"))]
    #[case("- (void)load:(int)x {", Some("void load"))]
    #[case("load(x) ->", Some("load"))]
    #[case("function(load a)", Some("function load"))]
    #[case("total = sum(", Some("total"))]
    #[case("if(ready)", None)]
    #[case("except ValueError:", None)]
    #[case("except (KeyError, ValueError) as error:", None)]
    #[case("(endpoint, args) => (dispatch, state) => {", None)]
    #[case("function (error, data) {", None)]
    #[case("|a, b| {", None)]
    #[case("} else {", None)]
    #[case("# why", None)]
    fn names_the_block_that_a_line_encloses(#[case] line: &str, #[case] name: Option<&str>) {
        assert_eq!(block_name(line).as_deref(), name);
    }

    #[test]
    fn comments_are_not_directives() {
        for line in ["// a", "# a", "-- a", "* a", "/* a */", "# a {", "#a"] {
            assert!(is_comment(line), "{line}");
        }
        for line in ["#include <a>", "#[test]", "*p = 1", "a // b", "#menu a {"] {
            assert!(!is_comment(line), "{line}");
        }
    }
}
