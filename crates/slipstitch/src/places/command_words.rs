//! Splits the commands of Git's configuration into words, as a shell would.
//!
//! Nothing is run or expanded, so a command that computes its paths is understood in part only: of `$(pwd)/tools/x.sh`,
//! `/tools/x.sh` is known. What it leads to is then protected by how its path ends.

use std::iter::Peekable;
use std::path::{Component, Path, PathBuf};
use std::str::Chars;

/// The words of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CommandWords {
    pub(super) words: Vec<String>,
    /// Whether the command computes paths, or runs in a folder that it computes.
    pub(super) is_dynamic: bool,
    /// The folder that it changes to, if that is known.
    pub(super) folder: Option<String>,
}

impl CommandWords {
    /// Splits a command. A quotation mark that is never closed ends with the command.
    pub(super) fn parse(command: &str) -> Self {
        let mut found = Self::default();
        found.add(command, 0);
        found.folder = folder_of(command).filter(|_| !found.is_dynamic);
        found.is_dynamic |= found.words.iter().any(|word| match word.as_str() {
            "cd" => found.folder.is_none(),
            word => matches!(word, "pushd" | "chdir" | "-C" | "eval"),
        });
        found
    }

    fn add(&mut self, command: &str, depth: usize) {
        let mut word = String::new();
        let mut chars = command.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\'' => {
                    let quoted: String = chars.by_ref().take_while(|c| *c != '\'').collect();
                    // `sh -c '…'` runs what is quoted.
                    self.add_quoted(&quoted, depth);
                    word += &quoted;
                }
                '"' => {
                    let quoted = self.parse_double_quoted(&mut chars);
                    self.add_quoted(&quoted, depth);
                    word += &quoted;
                }
                '\\' => match chars.next() {
                    Some('\n') | None => {}
                    Some(escaped) => word.push(escaped),
                },
                '$' => {
                    self.skip_variable(&mut chars);
                    self.end_word(&mut word);
                }
                '*' | '?' | '[' | '{' => {
                    // The folder may contain what is run.
                    self.is_dynamic = true;
                    self.end_word(&mut word);
                }
                '`' => {
                    self.is_dynamic = true;
                    self.end_word(&mut word);
                }
                ';' | '&' | '|' | '(' | ')' | '<' | '>' => self.end_word(&mut word),
                c if c.is_whitespace() => self.end_word(&mut word),
                c => word.push(c),
            }
        }
        self.end_word(&mut word);
    }

    /// The text up to the closing mark. Substitutions in it are dropped, and end a word.
    fn parse_double_quoted(&mut self, chars: &mut Peekable<Chars<'_>>) -> String {
        let mut quoted = String::new();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => match chars.next() {
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => quoted.push(escaped),
                    Some('\n') | None => {}
                    Some(other) => quoted.extend(['\\', other]),
                },
                '$' => {
                    self.skip_variable(chars);
                    self.end_word(&mut quoted);
                }
                '`' => {
                    self.is_dynamic = true;
                    self.end_word(&mut quoted);
                }
                c => quoted.push(c),
            }
        }
        quoted
    }

    /// Adds the words of a quoted text too, as it may be a command itself.
    fn add_quoted(&mut self, quoted: &str, depth: usize) {
        const MAX_DEPTH: usize = 3;
        if depth < MAX_DEPTH && quoted.contains(|c: char| c.is_whitespace() || ";&|()<>`$\"'".contains(c)) {
            self.add(quoted, depth + 1);
        }
    }

    /// Skips the name of a variable after `$`. What is in `$(…)` is a command like any other.
    fn skip_variable(&mut self, chars: &mut Peekable<Chars<'_>>) {
        self.is_dynamic = true;
        if chars.next_if_eq(&'{').is_some() {
            chars.by_ref().take_while(|c| *c != '}').for_each(drop);
        } else {
            while chars.next_if(|c| c.is_alphanumeric() || *c == '_').is_some() {}
        }
    }

    fn end_word(&mut self, word: &mut String) {
        let word = std::mem::take(word);
        // `NAME=path`, `--option=path` and `PATH=one:two` name paths as well.
        let parts: Vec<&str> = word.split(['=', ':']).collect();
        let all = std::iter::once(word.as_str()).chain(parts.into_iter().skip_while(|part| *part == word));
        for part in all.filter(|part| !part.is_empty()) {
            if !self.words.iter().any(|known| known == part) {
                self.words.push(part.to_owned());
            }
        }
    }

    /// How the paths of what the words lead to may end, if the command is dynamic.
    pub(super) fn endings(&self) -> impl Iterator<Item = PathBuf> {
        let words = self.words.iter().filter(|_| self.is_dynamic);
        words.filter_map(|word| path_ending(Path::new(word)))
    }
}

/// The folder of a command such as `cd tools && ./run.sh`: it changes to one folder only, whose name is written plainly.
fn folder_of(command: &str) -> Option<String> {
    let [_, rest] = command.split("cd ").collect::<Vec<_>>()[..] else { return None };
    let end = rest.find(|c: char| !c.is_alphanumeric() && !"._/-".contains(c))?;
    let (folder, rest) = rest.split_at(end);
    let is_plain = !folder.is_empty() && !folder.starts_with(['-', '/']) && !folder.contains("..");
    let ends = rest.trim_start().starts_with("&&") || rest.starts_with(';');
    (is_plain && ends).then(|| folder.to_owned())
}

/// What is left of a path after the last part that leads up.
fn path_ending(path: &Path) -> Option<PathBuf> {
    let mut ending = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => ending.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => ending.clear(),
        }
    }
    (ending != Path::new("")).then_some(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_a_shell_splits_them() {
        for (command, words, is_dynamic) in [
            ("'my tools/clean.sh' %f", &["my", "tools/clean.sh", "my tools/clean.sh", "%f"][..], false),
            ("sh plain.sh", &["sh", "plain.sh"], false),
            ("tools/d.sh<x", &["tools/d.sh", "x"], false),
            (r"tools/a\ b.sh", &["tools/a b.sh"], false),
            ("(tools/v.sh)", &["tools/v.sh"], false),
            ("a&&b||c;d|e>f", &["a", "b", "c", "d", "e", "f"], false),
            ("`tools/t.sh`", &["tools/t.sh"], true),
            ("cd tools && ./q.sh", &["cd", "tools", "./q.sh"], false),
            ("cd $X && ./q.sh", &["cd", "./q.sh"], true),
            ("cd a && cd b && ./q.sh", &["cd", "a", "b", "./q.sh"], true),
            ("cd ../a; ./q.sh", &["cd", "../a", "./q.sh"], true),
            ("git -C tools log", &["git", "-C", "tools", "log"], true),
            ("X=tools/w.sh run", &["X=tools/w.sh", "X", "tools/w.sh", "run"], false),
            ("sh -c \"sh in.sh\"", &["sh", "-c", "in.sh", "sh in.sh"], false),
            ("\"$TOP/a b.sh\"", &["/a", "b.sh", "/a b.sh"], true),
            ("${TOP}/tools/u.sh", &["/tools/u.sh"], true),
            ("'open", &["open"], false),
        ] {
            let found = CommandWords::parse(command);
            assert_eq!(
                (found.words.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), found.is_dynamic),
                (words, is_dynamic),
                "{command}"
            );
        }
    }

    #[test]
    fn a_dynamic_command_is_known_by_how_its_paths_end() {
        let endings = |command: &str| CommandWords::parse(command).endings().collect::<Vec<_>>();
        assert_eq!(endings("$X/../tools/./z.sh"), [Path::new("tools/z.sh")]);
        assert_eq!(endings("tools/z.sh"), Vec::<PathBuf>::new());
        assert!(
            endings("$(git rev-parse --show-toplevel)/tools/z.sh").contains(&PathBuf::from("tools/z.sh"))
        );
    }
}
