//! Sets of globs that a path, or one of the folders above it, can match.
//!
//! Almost all globs are names, or the end of a path, with at most a `*` in a name. Those are compared as they are: every
//! process has hundreds of them, and compiling them would take longer than a small edit. Only what else a user writes is
//! compiled.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::fold;

/// An invalid glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the glob `{glob}` cannot be used: {reason}")]
pub struct GlobError {
    /// The glob.
    pub glob: String,
    /// What is wrong with it.
    pub reason: String,
}

/// A set of globs.
#[derive(Debug, Clone, Default)]
pub(super) struct PathGlobs {
    /// Plain names, in any folder.
    names: Vec<Cow<'static, str>>,
    /// The key of each plain name. Almost no name of a path has one of these keys, and comparing numbers is quick.
    keys: Vec<u32>,
    /// Names with a `*`, and several names that end a path.
    endings: Vec<Ending>,
    /// A name that matches one of the endings ends with one of these bytes, or starts with one of the others. Most names of a path
    /// do neither, and need not be compared.
    last_bytes: ByteSet,
    first_bytes: ByteSet,
    others: GlobSet,
}

/// A set of bytes.
#[derive(Debug, Clone, Copy, Default)]
struct ByteSet([u64; 4]);

impl ByteSet {
    const ALL: Self = Self([u64::MAX; 4]);

    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    fn add_all(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    fn contains(self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }
}

/// A name with a `*`, or several names that end a path.
#[derive(Debug, Clone)]
struct Ending {
    text: Cow<'static, str>,
    /// Where the last name starts.
    last: usize,
    /// Where the `*` of the last name is.
    star: Option<usize>,
    /// The byte that every match of the last name ends with, if it is always the same.
    last_byte: Option<u8>,
}

impl PathGlobs {
    /// The built-in globs: lower case, and none that must be compiled, which a test shows.
    pub(super) fn builtin(globs: impl IntoIterator<Item = &'static str>) -> Self {
        let mut set = Self::default();
        for glob in globs {
            set.add_ending(Cow::Borrowed(glob.strip_prefix("**/").unwrap_or(glob)));
        }
        set
    }

    pub(super) fn new<T: AsRef<str>>(globs: &[T]) -> Result<Self, GlobError> {
        let mut set = Self::default();
        let mut others = GlobSetBuilder::new();
        for glob in globs.iter().map(AsRef::as_ref) {
            let failed = |reason: String| GlobError { glob: glob.into(), reason };
            let path = glob.trim_start_matches("./").trim_end_matches('/');
            if path.trim_start_matches('/').is_empty() {
                return Err(failed("it matches nothing".into()));
            }
            if path.starts_with('!') {
                return Err(failed("`!` is not supported; put such globs into `except`".into()));
            }
            let ending = if path.contains('/') { path.strip_prefix("**/") } else { Some(path) };
            if let Some(ending) = ending.map(fold::glob).filter(|ending| is_simple(ending)) {
                set.add_ending(Cow::Owned(ending));
                continue;
            }
            let path = match path.strip_prefix('/') {
                Some(from_root) => fold::glob(from_root),
                None if path.contains('/') => fold::glob(path),
                None => format!("**/{}", fold::glob(path)),
            };
            let glob = GlobBuilder::new(&path).literal_separator(true).build();
            others.add(glob.map_err(|error| failed(error.kind().to_string()))?);
        }
        set.others =
            others.build().map_err(|error| GlobError { glob: String::new(), reason: error.to_string() })?;
        Ok(set)
    }

    /// Adds the globs of another set, none of which had to be compiled.
    pub(super) fn add_builtin(&mut self, other: Self) {
        self.names.extend(other.names);
        self.keys.extend(other.keys);
        self.endings.extend(other.endings);
        self.last_bytes.add_all(other.last_bytes);
        self.first_bytes.add_all(other.first_bytes);
    }

    fn add_ending(&mut self, ending: Cow<'static, str>) {
        let bytes = ending.as_bytes();
        let last = memchr::memrchr(b'/', bytes).map_or(0, |slash| slash + 1);
        let star = memchr::memchr(b'*', &bytes[last..]).map(|star| last + star);
        match (last, star) {
            (0, None) => {
                self.keys.push(key(&ending));
                self.names.push(ending);
            }
            _ => {
                let last_byte = bytes.last().copied().filter(|&byte| byte != b'*');
                match (last_byte, bytes.get(last).filter(|&&first| first != b'*')) {
                    (Some(byte), _) => self.last_bytes.add(byte),
                    (None, Some(&byte)) => self.first_bytes.add(byte),
                    (None, None) => self.first_bytes = ByteSet::ALL,
                }
                self.endings.push(Ending { text: ending, last, star, last_byte });
            }
        }
    }

    fn has_name(&self, name: &str) -> bool {
        self.keys.contains(&key(name)) && self.names.iter().any(|glob| glob == name)
    }

    /// Whether a folded path or one of its parents matches.
    pub(super) fn matches(&self, path: &str) -> bool {
        self.matches_split(path, &path.split('/').collect::<Vec<_>>())
    }

    /// Like [`Self::matches`], for a path that is already split into names.
    pub(super) fn matches_split(&self, path: &str, names: &[&str]) -> bool {
        self.matches_names(names, 0)
            || !self.others.is_empty() && parents(path).any(|path| self.others.is_match(path))
    }

    /// Whether a folded path with these names matches, or one of its parents below the first `skipped` names. Globs that had to
    /// be compiled are not checked.
    pub(super) fn matches_names(&self, names: &[&str], skipped: usize) -> bool {
        let may_end = |name: &str| match name.as_bytes() {
            [] => true,
            [first, ..] if self.first_bytes.contains(*first) => true,
            [.., last] => self.last_bytes.contains(*last),
        };
        let ends = |name: &str, above: &[&str]| {
            may_end(name)
                && self.endings.iter().any(|ending| ending.is_last(name) && ending.matches_before(above))
        };
        let mut names_above = names.iter().enumerate().skip(skipped);
        names_above.any(|(at, name)| self.has_name(name) || ends(name, &names[..at]))
    }

    /// Whether a glob of several names begins with one of these.
    pub(super) fn continues_after(&self, names: &[&str]) -> bool {
        let begins = |ending: &Ending| {
            let before = ending.text[..ending.last].split('/').filter(|name| !name.is_empty());
            before.into_iter().any(|glob| names.iter().any(|name| matches_name(glob, name)))
        };
        self.endings.iter().any(begins)
    }
}

/// A cheap hash of a name: equal names have equal keys.
fn key(name: &str) -> u32 {
    let bytes = name.as_bytes();
    let [first, middle, last] = [0, bytes.len() / 2, bytes.len().saturating_sub(1)]
        .map(|at| bytes.get(at).copied().map_or(0, u32::from));
    (bytes.len() as u32) << 24 | first << 16 | middle << 8 | last
}

/// The folders above a path from the outermost, and the path itself.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).chain([path])
}

impl Ending {
    /// Whether a name matches the last name of the glob.
    fn is_last(&self, name: &str) -> bool {
        if self.last_byte.is_some() && self.last_byte != name.bytes().next_back() {
            return false;
        }
        match self.star {
            None => &self.text[self.last..] == name,
            Some(star) => matches_star(&self.text[self.last..star], &self.text[star + 1..], name),
        }
    }

    /// Whether the other names of the glob are the last of these.
    fn matches_before(&self, names: &[&str]) -> bool {
        let Some(before) = self.last.checked_sub(1).map(|slash| &self.text[..slash]) else { return true };
        let mut names = names.iter().rev();
        before.rsplit('/').all(|glob| names.next().is_some_and(|name| matches_name(glob, name)))
    }
}

fn matches_name(glob: &str, name: &str) -> bool {
    match glob.split_once('*') {
        None => glob == name,
        Some((start, end)) => matches_star(start, end, name),
    }
}

/// Whether a name is `start`, anything, and `end`.
fn matches_star(start: &str, end: &str, name: &str) -> bool {
    name.len() >= start.len() + end.len() && name.ends_with(end) && name.starts_with(start)
}

/// Whether a glob has no other special character than one `*` in each name.
fn is_simple(glob: &str) -> bool {
    !glob.contains(['?', '[', ']', '{', '}', '\\'])
        && glob.split('/').all(|name| !name.is_empty() && name.matches('*').count() <= 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::names;
    use super::*;

    fn all_builtin() -> impl Iterator<Item = &'static str> {
        names::GROUPS.iter().flat_map(|group| group.globs).chain(names::EXCEPT).copied()
    }

    /// What a glob of ours means in the terms of `globset`.
    fn compiled(globs: &[&str]) -> GlobSet {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let floating = if glob.contains('/') { (*glob).to_owned() } else { format!("**/{glob}") };
            set.add(GlobBuilder::new(&floating).literal_separator(true).build().unwrap());
        }
        set.build().unwrap()
    }

    #[test]
    fn builtin_globs_are_folded_and_need_not_be_compiled() {
        for glob in all_builtin() {
            assert_eq!(fold::glob(glob), glob);
            assert!(is_simple(glob.strip_prefix("**/").unwrap_or(glob)), "{glob}");
            assert!(!glob.contains('/') || glob.starts_with("**/"), "{glob} is not relative to the root");
        }
    }

    #[test]
    fn unusual_globs_are_compiled() {
        let set = PathGlobs::new(&["a/b", "x?", "{p,q}.txt", "*a*b", "/top", "**/deep/*/end"]).unwrap();
        for path in ["a/b", "a/b/c", "z/xy", "z/q.txt/w", "1a2b", "top", "m/deep/n/end/o"] {
            assert!(set.matches(path), "{path}");
        }
        for path in ["z/a/b", "x", "r.txt", "1a2", "z/top", "m/deep/end"] {
            assert!(!set.matches(path), "{path}");
        }
    }

    proptest! {
        #[test]
        fn simple_globs_match_what_globset_matches(
            // Folded names do not end in dots.
            names in proptest::collection::vec("[a-c.]{0,2}[a-c]", 1..5),
            globs in proptest::collection::vec("(\\*\\*/)?[a-c.]{0,2}\\*?[a-c.]{1,2}(/[a-c]{1,2}\\*?)?", 1..4),
        ) {
            let path = names.join("/");
            let globs: Vec<String> = globs
                .into_iter()
                .map(|glob| if glob.contains('/') && !glob.starts_with("**/") { format!("**/{glob}") } else { glob })
                .collect();
            let globs: Vec<&str> = globs.iter().map(String::as_str).collect();
            let set = PathGlobs::new(&globs).unwrap();
            prop_assert!(set.others.is_empty());
            let expected = parents(&path).any(|path| compiled(&globs).is_match(path));
            prop_assert_eq!(set.matches(&path), expected, "{} {:?}", path, globs);
        }

        #[test]
        fn builtin_globs_match_what_globset_matches(
            glob in proptest::sample::select(all_builtin().collect::<Vec<_>>()),
            before in "([a-z]{1,2}/){0,2}", filling in "[a-z]{0,2}", after in "(/[a-z]{1,2}|[a-z])?",
        ) {
            let path = format!("{before}{}{after}", glob.strip_prefix("**/").unwrap_or(glob).replace('*', &filling));
            let globs: &'static [&'static str] = Box::leak(Box::new([glob]));
            let expected = parents(&path).any(|path| compiled(globs).is_match(path));
            prop_assert_eq!(PathGlobs::builtin(globs.iter().copied()).matches(&path), expected, "{}", path);
        }
    }
}
