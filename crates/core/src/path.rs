//! Paths in requests: relative to the root, checked before anything is opened.
//!
//! This check gives early and clear errors; it is not the security boundary. The workspace's open
//! directory handle keeps edits inside the root.

mod windows_names;

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use slipstitch_text::file_name::canonical_text;

/// A file's path relative to the root: separated by `/`, without `.` and `..`, never empty. With
/// several roots, paths outside the first one are absolute. Names that are not UTF-8 are text too, see
/// [`slipstitch_text::file_name`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct FilePath(String);

/// A root as callers may write it at the start of absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootName {
    /// The root as written in absolute paths.
    pub name: String,
    /// The prefix of [`FilePath`]s in this root; empty for the first root.
    pub prefix: String,
    /// Whether names follow the rules of Windows.
    pub has_windows_names: bool,
}

impl RootName {
    /// A name of the first root.
    pub fn first(name: impl Into<String>) -> Self {
        Self { name: name.into(), prefix: String::new(), has_windows_names: false }
    }

    /// A name of another root, whose path without symlinks is `real`.
    pub fn other(name: impl Into<String>, real: &str) -> Self {
        let prefix = format!("{}/", real.trim_end_matches('/'));
        Self { name: name.into(), prefix, has_windows_names: false }
    }

    /// Sets whether names follow the rules of Windows. The root's own name has a drive and `/` between names then.
    pub fn with_windows_names(mut self, has_windows_names: bool) -> Self {
        self.has_windows_names = has_windows_names;
        self
    }
}

/// Why a text is not a usable path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The path is empty.
    #[error("the path is empty")]
    Empty,
    /// The path contains a NUL character, which no file name can.
    #[error("the path contains a NUL character")]
    Nul,
    /// The path is the root itself, or ends in a slash.
    #[error("`{0}` is a folder, not a file")]
    Folder(String),
    /// The path is outside the root.
    #[error("`{path}` is outside the project root{}", quoted_root(root))]
    Outside {
        /// The path as given.
        path: String,
        /// The root, or all of them; empty if there is no name for it.
        root: String,
    },
    /// The path is absolute, and the dialect accepts only relative ones.
    #[error("`{path}` is absolute; only paths relative to the root are accepted")]
    Absolute {
        /// The path as given.
        path: String,
    },
    /// The path contains `..`, whose meaning depends on symlinks.
    #[error("`{path}` contains `..`")]
    Parent {
        /// The path as given.
        path: String,
        /// The path without `..`, if no symlink is involved.
        plain: String,
    },
    /// The system gives a name in the path another meaning, or does not allow it.
    #[error("`{path}` cannot be used: {reason}")]
    BadName {
        /// The path as given.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Whether a dialect accepts absolute paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absolute {
    /// Accept absolute paths inside a root.
    InsideRoot,
    /// Refuse absolute paths.
    Refused,
}

impl FilePath {
    /// Parses the path of a file. Strips the root from an absolute path.
    pub fn parse(text: &str, roots: &[RootName], absolute: Absolute) -> Result<Self, PathError> {
        let (plain, folder) = Self::normalize(text, roots, absolute)?;
        if plain.is_empty() || folder {
            return Err(PathError::Folder(text.into()));
        }
        Ok(Self(plain))
    }

    /// Parses the path of a file or folder; `None` is the root.
    pub fn parse_folder(
        text: &str,
        roots: &[RootName],
        absolute: Absolute,
    ) -> Result<Option<Self>, PathError> {
        let (plain, _) = Self::normalize(text, roots, absolute)?;
        Ok(Some(Self(plain)).filter(|path| !path.0.is_empty()))
    }

    /// The path relative to the root, and whether its form implies a folder.
    fn normalize(text: &str, roots: &[RootName], absolute: Absolute) -> Result<(String, bool), PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        let text = &*canonical_text(text);
        let has_windows_names = roots.iter().any(|root| root.has_windows_names);
        let spelled = match has_windows_names {
            true => Cow::Owned(
                windows_names::normalize(text)
                    .map_err(|reason| PathError::BadName { path: text.into(), reason })?,
            ),
            false => Cow::Borrowed(text),
        };
        let is_absolute =
            spelled.starts_with('/') || (has_windows_names && windows_names::has_drive(&spelled));
        let strip_root = if has_windows_names { windows_names::strip_root } else { strip_root };
        let (prefix, relative) = if is_absolute {
            match absolute {
                Absolute::Refused => return Err(PathError::Absolute { path: text.into() }),
                Absolute::InsideRoot => roots
                    .iter()
                    .filter_map(|root| Some((root.prefix.as_str(), strip_root(&spelled, &root.name)?)))
                    // For nested roots, the inner one.
                    .min_by_key(|(_, rest)| rest.len())
                    .ok_or_else(|| outside(text, roots))?,
            }
        } else {
            ("", &*spelled)
        };
        let mut names: Vec<&str> = Vec::new();
        let mut has_parent = false;
        for name in relative.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    has_parent = true;
                    if names.pop().is_none() {
                        return Err(outside(text, roots));
                    }
                }
                name => names.push(name),
            }
        }
        let plain = match names.is_empty() {
            true => prefix.trim_end_matches('/').to_owned(),
            false => format!("{prefix}{}", names.join("/")),
        };
        if has_parent {
            return Err(PathError::Parent { path: text.into(), plain });
        }
        let folder = names.is_empty() || relative.ends_with('/') || relative.ends_with("/.");
        Ok((plain, folder))
    }

    /// The root itself, for messages.
    pub fn root() -> Self {
        Self(".".into())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last name of the path.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Restores a path that was checked before it was stored.
    pub fn from_record(text: &str) -> Result<Self, PathError> {
        match text.strip_prefix('/') {
            None => Self::parse(text, &[], Absolute::Refused),
            Some(rest) => Self::parse(rest, &[], Absolute::Refused).map(|path| Self(format!("/{path}"))),
        }
    }

    /// Whether the path is absolute, that is, in a root other than the first.
    pub fn is_absolute(&self) -> bool {
        self.0.starts_with('/')
    }
}

/// The roots for messages, one name each.
pub(crate) fn describe_roots(roots: &[RootName]) -> String {
    let mut shown: Vec<&RootName> = Vec::new();
    for root in roots {
        if shown.iter().all(|other| other.prefix != root.prefix) {
            shown.push(root);
        }
    }
    shown.iter().map(|root| root.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn outside(path: &str, roots: &[RootName]) -> PathError {
    PathError::Outside { path: path.into(), root: describe_roots(roots) }
}

fn quoted_root(root: &str) -> String {
    if root.is_empty() { String::new() } else { format!(" `{root}`") }
}

/// Strips `root` from `path`, if `path` is inside it.
fn strip_root<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let root = root.trim_end_matches('/');
    let rest = path.strip_prefix(root)?;
    rest.strip_prefix('/').or(if rest.is_empty() { Some("") } else { None })
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PathError {
    /// What the caller should do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Empty | Self::Nul => "Give the file's path relative to the root.".into(),
            Self::Folder(_) => "Give the path of a file in it.".into(),
            Self::Outside { .. } => {
                "Only files inside the root can be used; give a path relative to it.".into()
            }
            Self::BadName { .. } => {
                "Give another name, or the file's usual path relative to the root.".into()
            }
            Self::Absolute { .. } => "Give the path relative to the root, without a leading `/`.".into(),
            Self::Parent { plain, .. } => {
                format!("Write it without `..`; if no symlink is involved that is `{plain}`.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// Two names of one root; messages use the first.
    const ROOTS: &str = "/elsewhere";

    #[rstest]
    #[case("a.txt", Ok("a.txt"))]
    #[case("./a//b/./c", Ok("a/b/c"))]
    #[case("/root/a", Ok("a"))]
    #[case("/root", Err(PathError::Folder("/root".into())))]
    #[case("/rootless/a", Err(PathError::Outside { path: "/rootless/a".into(), root: ROOTS.into() }))]
    #[case("/etc/passwd", Err(PathError::Outside { path: "/etc/passwd".into(), root: ROOTS.into() }))]
    #[case("../a", Err(PathError::Outside { path: "../a".into(), root: ROOTS.into() }))]
    #[case("a/../../b", Err(PathError::Outside { path: "a/../../b".into(), root: ROOTS.into() }))]
    #[case("a/../b", Err(PathError::Parent { path: "a/../b".into(), plain: "b".into() }))]
    #[case("", Err(PathError::Empty))]
    #[case("a\0b", Err(PathError::Nul))]
    #[case("a/", Err(PathError::Folder("a/".into())))]
    #[case(".", Err(PathError::Folder(".".into())))]
    #[case("a\\b", Ok("a\\b"))]
    fn parses_and_rejects_paths(#[case] text: &str, #[case] want: Result<&str, PathError>) {
        let got = FilePath::parse(
            text,
            &[RootName::first("/elsewhere"), RootName::first("/root/")],
            Absolute::InsideRoot,
        );
        assert_eq!(got, want.map(|w| FilePath(w.into())));
    }

    #[test]
    fn paths_in_other_roots_are_absolute() {
        let roots = [
            RootName::first("/one"),
            RootName::other("/two", "/real"),
            RootName::other("/one/in", "/one/in"),
        ];
        let parse = |text: &str| FilePath::parse(text, &roots, Absolute::InsideRoot).map(|path| path.0);
        assert_eq!(parse("/one/a").unwrap(), "a");
        assert_eq!(parse("/two/a/./b").unwrap(), "/real/a/b");
        assert_eq!(parse("/one/in/a").unwrap(), "/one/in/a");
        assert_eq!(parse("/two"), Err(PathError::Folder("/two".into())));
        let root = "/one, /two, /one/in".into();
        assert_eq!(parse("/two/../x"), Err(PathError::Outside { path: "/two/../x".into(), root }));
        assert_eq!(FilePath::from_record("/real/a").unwrap().as_str(), "/real/a");
        assert!(FilePath::from_record("/").is_err() && FilePath::from_record("//a").is_err());
    }

    #[test]
    fn rejects_absolute_paths_on_request() {
        assert!(matches!(
            FilePath::parse("/root/a", &[RootName::first("/root")], Absolute::Refused),
            Err(PathError::Absolute { .. })
        ));
    }
}
