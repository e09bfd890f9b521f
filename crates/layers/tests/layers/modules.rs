//! The graph of a crate's modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::Sources;
use crate::tokens::{Token, tokenize};

/// How many places of an edge a problem lists.
const MAX_PLACES: usize = 3;

/// Which modules of a crate use which of their siblings, and where.
///
/// The graph follows paths that start with `crate`, `super` or `self` outside test code. A use counts at the level where
/// the two paths part: if `find::hunk::scope` uses `find::text::fold`, then `find::hunk` uses `find::text`. A module and
/// its parent may use each other: they are one part, seen from outside. A name that a parent imports or re-exports
/// counts as a use of the module that it comes from, so a cycle cannot hide behind a re-export.
#[derive(Default)]
pub(crate) struct Graph {
    modules: BTreeSet<String>,
    edges: BTreeMap<(String, String), Vec<Place>>,
    globs: Vec<Place>,
}

/// A file and a line in it.
#[derive(Clone)]
struct Place {
    file: PathBuf,
    line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "src/{}:{}", self.file.display(), self.line)
    }
}

impl Graph {
    /// The graph of a crate's sources: of its library and of its program, if it has both.
    pub(crate) fn of(sources: &Sources) -> Self {
        let mut graph = Self::default();
        for root in ["lib.rs", "main.rs"] {
            if sources.contains_key(Path::new(root)) {
                let mut reader = Reader::new(sources);
                reader.read_file(Path::new(root), &[]);
                graph.add(reader);
            }
        }
        graph
    }

    fn add(&mut self, reader: Reader<'_>) {
        for Use { module, path, place } in &reader.uses {
            match reader.target(module, path.clone()) {
                Target::Sibling { user, used } => {
                    let edge = (user.join("::"), used.join("::"));
                    self.edges.entry(edge).or_default().push(place.clone());
                }
                Target::Everything => self.globs.push(place.clone()),
                Target::Relative => {}
            }
        }
        self.modules.extend(reader.modules.iter().map(|module| module.join("::")));
    }

    pub(crate) fn has_module(&self, name: &str) -> bool {
        self.modules.contains(name)
    }

    /// The edges to a module, described.
    pub(crate) fn users_of(&self, module: &str) -> Vec<String> {
        self.edges.keys().filter(|(_, used)| used == module).map(|edge| self.describe(edge)).collect()
    }

    /// Every group of modules that depend on each other, with the edges between them; and glob imports of a parent, which
    /// would hide edges.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> =
            self.globs.iter().map(|place| format!("glob import of a parent module at {place}")).collect();
        let reachable: BTreeMap<&String, BTreeSet<&String>> =
            self.modules.iter().map(|module| (module, self.reachable(module))).collect();
        let connected = |a: &String, b: &String| reachable[a].contains(b) && reachable[b].contains(a);
        let mut grouped: BTreeSet<&String> = BTreeSet::new();
        for module in &self.modules {
            if grouped.contains(module) || !reachable[module].contains(module) {
                continue;
            }
            let group: Vec<&String> = self.modules.iter().filter(|other| connected(module, other)).collect();
            let inside = |(user, used): &&(String, String)| group.contains(&user) && group.contains(&used);
            let edges: Vec<String> =
                self.edges.keys().filter(inside).map(|edge| self.describe(edge)).collect();
            let names: Vec<&str> = group.iter().map(|name| name.as_str()).collect();
            problems.push(format!("cycle between {}:\n{}", names.join(", "), edges.join("\n")));
            grouped.extend(group);
        }
        problems
    }

    /// The modules that a module depends on, directly or not.
    fn reachable(&self, module: &String) -> BTreeSet<&String> {
        let (mut found, mut pending) = (BTreeSet::new(), vec![module]);
        while let Some(next) = pending.pop() {
            for (_, used) in self.edges.keys().filter(|(user, _)| user == next) {
                if found.insert(used) {
                    pending.push(used);
                }
            }
        }
        found
    }

    fn describe(&self, edge: &(String, String)) -> String {
        let places = &self.edges[edge];
        let mut shown: Vec<String> = places.iter().take(MAX_PLACES).map(Place::to_string).collect();
        if places.len() > MAX_PLACES {
            shown.push(format!("{} more", places.len() - MAX_PLACES));
        }
        format!("  {} -> {} ({})", edge.0, edge.1, shown.join(", "))
    }
}

/// A path in the code of a module, from the crate root.
struct Use {
    module: Vec<String>,
    path: Vec<String>,
    place: Place,
}

/// What a path from the crate root leads to, seen from the module that uses it.
enum Target {
    /// The modules of one parent in which the user and the used item lie.
    Sibling { user: Vec<String>, used: Vec<String> },
    /// The user itself, its parents' own items, or something inside the user.
    Relative,
    /// Everything in a parent: `crate::*` or `super::*`.
    Everything,
}

/// How many re-exports of re-exports are followed.
const MAX_REEXPORTS: usize = 8;

/// Reads a crate from its root, module by module.
struct Reader<'s> {
    sources: &'s Sources,
    uses: Vec<Use>,
    /// The names that each module imports or re-exports, with their paths as written.
    imports: BTreeMap<Vec<String>, Vec<String>>,
    modules: BTreeSet<Vec<String>>,
}

impl<'s> Reader<'s> {
    fn new(sources: &'s Sources) -> Self {
        Self { sources, uses: Vec::new(), imports: BTreeMap::new(), modules: BTreeSet::new() }
    }

    fn target(&self, user: &[String], mut path: Vec<String>) -> Target {
        for _ in 0..MAX_REEXPORTS {
            let common = user.iter().zip(&path).take_while(|(a, b)| a == b).count();
            if common == user.len() || common == path.len() {
                return Target::Relative;
            }
            if path[common] == "*" {
                return Target::Everything;
            }
            let used = path[..=common].to_vec();
            if self.modules.contains(&used) {
                return Target::Sibling { user: user[..=common].to_vec(), used };
            }
            let Some(source) = self.imported_path(&used) else { return Target::Relative };
            path.splice(..=common, source);
        }
        Target::Relative
    }

    /// The path from the crate root of a name that a module imports; `None` if it comes from another crate or is the
    /// module's own.
    fn imported_path(&self, name: &[String]) -> Option<Vec<String>> {
        let path = self.imports.get(name)?;
        let module = &name[..name.len() - 1];
        absolute(module, path).or_else(|| {
            let child = [module, &path[..1]].concat();
            let is_child = self.modules.contains(&child) && child != name;
            is_child.then(|| [module, path].concat())
        })
    }

    fn read_file(&mut self, file: &Path, module: &[String]) {
        let Some(source) = self.sources.get(file) else { return };
        let tokens = tokenize(source);
        let mut scope = Scope { file, module: module.to_vec(), inline: Vec::new() };
        self.read_tokens(&tokens, &mut scope);
    }

    fn read_tokens(&mut self, tokens: &[Token<'s>], scope: &mut Scope<'_>) {
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
        let (mut at, mut depth) = (0, 0_usize);
        while at < tokens.len() {
            match text(at) {
                "#" if text(at + 1) == "[" => {
                    let end = closing(tokens, at + 1);
                    let attribute = &tokens[at + 2..end];
                    if is_test(attribute) {
                        at = item_end(tokens, end + 1);
                        continue;
                    }
                }
                "mod" if text(at + 2) == ";" => self.read_child(text(at + 1), scope),
                "mod" if text(at + 2) == "{" => {
                    scope.enter(text(at + 1), depth);
                    self.declare(&scope.module);
                    // The brace is counted in the next round.
                    at += 1;
                }
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    scope.leave(depth);
                }
                "use" => {
                    let mut tree = UseTree { tokens, at: at + 1, found: Vec::new() };
                    tree.read(&[]);
                    at = tree.at;
                    self.add_imports(tree.found, scope);
                    continue;
                }
                "crate" | "super" | "self" if text(at + 1) == "::" && (at == 0 || text(at - 1) != "::") => {
                    let line = tokens[at].line;
                    let mut path = vec![text(at).to_owned()];
                    while text(at + 1) == "::" && is_name(text(at + 2)) {
                        at += 2;
                        path.push(text(at).to_owned());
                    }
                    self.add_use(&path, line, scope);
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn declare(&mut self, module: &[String]) {
        self.modules.insert(module.to_vec());
    }

    /// Reads the module that `mod name;` declares.
    fn read_child(&mut self, name: &str, scope: &Scope<'_>) {
        let mut module = scope.module.clone();
        module.push(name.to_owned());
        self.declare(&module);
        let path: PathBuf = module.iter().collect();
        let candidates = [path.with_extension("rs"), path.join("mod.rs")];
        if let Some(file) = candidates.iter().find(|file| self.sources.contains_key(*file)) {
            self.read_file(file, &module);
        }
    }

    fn add_imports(&mut self, imports: Vec<Import>, scope: &Scope<'_>) {
        for Import { path, name, line } in imports {
            self.add_use(&path, line, scope);
            let mut imported = scope.module.clone();
            imported.push(name);
            self.imports.insert(imported, path);
        }
    }

    fn add_use(&mut self, path: &[String], line: usize, scope: &Scope<'_>) {
        if let Some(path) = absolute(&scope.module, path) {
            let place = Place { file: scope.file.to_owned(), line };
            self.uses.push(Use { module: scope.module.clone(), path, place });
        }
    }
}

/// The module that the tokens belong to.
struct Scope<'a> {
    file: &'a Path,
    module: Vec<String>,
    /// The depths of braces outside the `mod name { … }` that are open.
    inline: Vec<usize>,
}

impl Scope<'_> {
    fn enter(&mut self, name: &str, depth: usize) {
        self.module.push(name.to_owned());
        self.inline.push(depth);
    }

    fn leave(&mut self, depth: usize) {
        if self.inline.last() == Some(&depth) {
            self.inline.pop();
            self.module.pop();
        }
    }
}

/// A path in a module as a path from the crate root; `None` for one that starts with a crate's or a child's name.
fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut base = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" => module.to_vec(),
        "super" => module[..module.len().saturating_sub(1)].to_vec(),
        _ => return None,
    };
    for name in &path[1..] {
        match name.as_str() {
            "super" => drop(base.pop()),
            name => base.push(name.to_owned()),
        }
    }
    Some(base)
}

/// One name that a `use` brings in.
struct Import {
    path: Vec<String>,
    name: String,
    line: usize,
}

/// Reads what follows `use`.
struct UseTree<'t, 's> {
    tokens: &'t [Token<'s>],
    at: usize,
    found: Vec<Import>,
}

impl UseTree<'_, '_> {
    fn text(&self) -> &str {
        self.tokens.get(self.at).map_or(";", |token| token.text)
    }

    /// Reads one path or group, up to the `,`, `}` or `;` after it.
    fn read(&mut self, prefix: &[String]) {
        let mut path = prefix.to_vec();
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        loop {
            match self.text() {
                "{" => return self.read_group(&path),
                "self" if path.len() > prefix.len() || !prefix.is_empty() => {}
                "as" => {
                    self.at += 1;
                    let name = self.text().to_owned();
                    self.at += 1;
                    return self.found.push(Import { path, name, line });
                }
                "," | "}" | ";" => break,
                "::" => {}
                name => path.push(name.to_owned()),
            }
            self.at += 1;
        }
        if let Some(name) = path.last().cloned() {
            self.found.push(Import { path, name, line });
        }
    }

    fn read_group(&mut self, prefix: &[String]) {
        self.at += 1;
        while !matches!(self.text(), "}" | ";") {
            self.read(prefix);
            if self.text() == "," {
                self.at += 1;
            }
        }
        if self.text() == "}" {
            self.at += 1;
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether an attribute limits an item to tests: `test`, `cfg(test)` or `cfg(all(test, …))`.
pub(crate) fn is_test(attribute: &[Token<'_>]) -> bool {
    let texts: Vec<&str> = attribute.iter().map(|token| token.text).collect();
    match texts[..] {
        ["test"] | ["cfg", "(", "test", ")"] => true,
        ["cfg", "(", "all", "(", ref conditions @ ..] => {
            conditions.contains(&"test") && !conditions.contains(&"not")
        }
        _ => false,
    }
}

/// The index of the bracket that closes the one at `open`.
pub(crate) fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// The index after the item, field or statement that starts at `at`, including its other attributes.
pub(crate) fn item_end(tokens: &[Token<'_>], mut at: usize) -> usize {
    let mut is_field = None;
    while let Some(token) = tokens.get(at) {
        match token.text {
            "#" => {}
            "(" | "[" => at = closing(tokens, at),
            "{" => return closing(tokens, at) + 1,
            // The end of the enclosing block: the attribute was on its last field or expression.
            "}" => return at,
            ";" => return at + 1,
            "," if is_field == Some(true) => return at + 1,
            "pub" => {}
            // A field is a name and a colon; commas inside items are no ends.
            _ if is_field.is_none() => {
                is_field = Some(tokens.get(at + 1).is_some_and(|next| next.text == ":"))
            }
            _ => {}
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problems of a crate made of these files.
    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let sources = files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
        Graph::of(&sources).problems()
    }

    const LIB: (&str, &str) = ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::inner::{B, C as D};\n");

    #[test]
    fn accepts_modules_that_depend_one_way() {
        let a = ("a.rs", "use crate::b::x;\npub struct A;\n#[cfg(test)]\nmod tests { use crate::A; }");
        let b = (
            "b.rs",
            "pub mod inner;\n// crate::a\nconst S: &str = \"crate::a\";\n#[cfg(test)]\nfn t() { crate::a::x() }\n",
        );
        let inner = (
            "b/inner.rs",
            "use super::inner::C;\nuse std::{fmt, crate_like::a};\npub(crate) fn f(a: u8) {}\n",
        );
        assert_eq!(problems(&[LIB, a, b, inner]), [""; 0]);
    }

    #[test]
    fn finds_the_edge_that_closes_a_cycle() {
        let a = ("a.rs", "use crate::b::x;\n");
        for (file, edge) in [
            ("use crate::a;", "src/b.rs:1"),
            ("\nuse crate::{a::{self, A}};", "src/b.rs:2"),
            ("use super::a::A;", "src/b.rs:1"),
            ("fn f() {\n crate::a::f() }", "src/b.rs:2"),
            ("fn f() -> super::A {}", "src/b.rs:1"),
            ("use crate::A;", "src/b.rs:1"),
            ("mod c { fn f() { super::super::a::f() } }", "src/b.rs:1"),
            ("#[cfg(test)]\nuse crate::a::T;\nuse crate::a::A;", "src/b.rs:3"),
            ("#[cfg(not(test))]\nuse crate::a::A;", "src/b.rs:2"),
            ("struct B { #[cfg(test)] pub(crate) t: u8, a: crate::a::A }", "src/b.rs:1"),
            ("#[error(\"{}\", crate::a::f())]\nstruct B;", "src/b.rs:1"),
        ] {
            let found = problems(&[LIB, a, ("b.rs", file)]);
            assert_eq!(found.len(), 1, "{file}: {found:?}");
            assert!(found[0].contains("cycle between a, b:"), "{file}: {found:?}");
            assert!(found[0].contains("  a -> b (src/a.rs:1)"), "{file}: {found:?}");
            assert!(found[0].contains(&format!("  b -> a ({edge}")), "{file}: {found:?}");
        }
    }

    #[test]
    fn follows_nested_modules_and_longer_cycles() {
        let lib = ("lib.rs", "mod a; mod b; mod c; mod d;");
        let files = [
            lib,
            ("a/mod.rs", "mod deep;"),
            ("a/deep.rs", "use super::super::b::x;"),
            ("b.rs", "use crate::c;"),
            ("c.rs", "fn f() { crate::a::g() }"),
            ("d.rs", "use crate::{a, b, c};"),
        ];
        let found = problems(&files);
        assert_eq!(
            found,
            [
                "cycle between a, b, c:\n  a -> b (src/a/deep.rs:1)\n  b -> c (src/b.rs:1)\n  c -> a (src/c.rs:1)"
            ]
        );
    }

    #[test]
    fn resolves_names_that_the_root_exports() {
        let a = ("a.rs", "use crate::D;\n");
        let b = ("b.rs", "use crate::A;\n");
        let found = problems(&[LIB, a, b]);
        assert_eq!(found, ["cycle between a, b:\n  a -> b (src/a.rs:1)\n  b -> a (src/b.rs:1)"]);
    }

    #[test]
    fn finds_cycles_of_nested_modules() {
        let lib = ("lib.rs", "mod a; mod b;");
        let found = problems(&[
            lib,
            ("a.rs", "pub mod c;\nmod d;\nuse c::{C, Other};\nmod e;\npub fn own() {}"),
            ("a/c.rs", "use super::d::D;\nuse super::own;\nuse crate::b;"),
            ("a/d.rs", "use super::C;\nuse super::e;"),
            ("a/e.rs", "use crate::a::own;\nmod inner;"),
            ("a/e/inner.rs", "use super::super::own;\nuse super::Nothing;"),
        ]);
        assert_eq!(
            found,
            ["cycle between a::c, a::d:\n  a::c -> a::d (src/a/c.rs:1)\n  a::d -> a::c (src/a/d.rs:1)"]
        );
    }

    #[test]
    fn a_use_counts_where_the_paths_part() {
        let found = problems(&[
            ("lib.rs", "mod a;"),
            ("a.rs", "mod b;\nmod c;"),
            ("a/b.rs", "mod deep;"),
            ("a/b/deep.rs", "use super::super::c::x;"),
            ("a/c.rs", "use super::b::y;"),
        ]);
        assert_eq!(
            found,
            ["cycle between a::b, a::c:\n  a::b -> a::c (src/a/b/deep.rs:1)\n  a::c -> a::b (src/a/c.rs:1)"]
        );
    }

    #[test]
    fn rejects_glob_imports_of_parents() {
        let found =
            problems(&[LIB, ("a.rs", "use crate::*;"), ("b.rs", "mod c { use super::*; }\nuse c::*;")]);
        assert_eq!(
            found,
            ["glob import of a parent module at src/a.rs:1", "glob import of a parent module at src/b.rs:1"]
        );
    }
}
