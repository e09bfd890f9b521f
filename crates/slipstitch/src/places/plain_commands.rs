//! Commands that cannot run a file because one of their words names it.
//!
//! Git's configuration is full of commands whose words are no files: `!gh auth git-credential`, `git-lfs clean -- %f`,
//! `!f() { git push origin "$1"; }; f`. If every word of them counted as a path, a project with a folder `auth` or `clean` could
//! not be edited without a question. So a command is ignored if each program in it is known to run nothing that its
//! words name. One unknown program, or an option that names something to run, and all words count.

use std::iter::Peekable;
use std::str::Chars;

/// Programs that run no file named by their arguments, and the starts of words with which they do.
const PROGRAMS: &[(&[&str], &[&str])] = &[
    (
        &["git"],
        &[
            "-c",
            "-C",
            "-x",
            "--exec",
            "--config",
            "--git-dir",
            "--work-tree",
            "--open-files",
            "--extcmd",
            "--upload-pack",
            "--receive-pack",
            "--template",
            "foreach",
            "run",
            "filter-branch",
            "bisect",
            "difftool",
            "mergetool",
            "config",
            "hook",
            "for-each-repo",
            "-O",
        ],
    ),
    (
        &["git-lfs", "gh", "glab", "hub", "gpg", "gpg2", "delta", "difft", "diff-so-fancy", "meld", "kdiff3"],
        &["-c"],
    ),
    (
        &[
            "cat", "less", "more", "head", "tail", "sort", "uniq", "wc", "cut", "tr", "tee", "column", "nl",
            "tac",
        ],
        &[],
    ),
    (&["grep", "egrep", "fgrep", "diff", "cmp"], &["-f", "--file"]),
    (&["rg"], &["--pre", "-f"]),
    (
        &[
            "echo", "printf", "true", "false", ":", "test", "[", "[[", "read", "return", "exit", "shift",
            "local",
        ],
        &[],
    ),
    (
        &["pwd", "cd", "pushd", "popd", "ls", "basename", "dirname", "date", "sleep", "mkdir", "touch", "rm"],
        &[],
    ),
    (&["vi", "vim", "nvim", "vimdiff", "nano", "micro", "hx"], &["-S", "-s", "-u", "-c", "-V", "+"]),
    (
        &["code", "codium", "cursor", "zed", "subl", "emacsclient"],
        &["-e", "--eval", "--install", "--extension"],
    ),
    (&["open", "xdg-open", "pbcopy", "pbpaste", "xclip", "xsel", "wl-copy", "clip.exe"], &["-a", "-l"]),
    // A target, not an option.
    (&["make", "just"], &["-"]),
    (
        &["npm", "yarn", "pnpm", "cargo"],
        &["-C", "--prefix", "--config", "exec", "dlx", "-f", "--cwd", "node"],
    ),
];

/// Where programs of the system are.
const SYSTEM_FOLDERS: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/snap/bin"];
/// Words after which the program follows.
const PREFIXES: &[&str] =
    &["if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "command", "time", "xargs"];
/// Words that end a statement and may stand alone.
const ENDS: &[&str] = &["fi", "done", "esac"];
/// How deeply substitutions may be nested.
const MAX_DEPTH: usize = 8;

/// Whether a shell command runs only programs for which the words of the command name nothing to run.
pub(super) fn runs_no_named_file(command: &str) -> bool {
    Parser { chars: command.chars().peekable(), functions: Vec::new(), depth: 0 }.parse_until(None)
}

struct Parser<'a> {
    chars: Peekable<Chars<'a>>,
    /// The functions that the command defines; what they run is examined where they are defined.
    functions: Vec<String>,
    depth: usize,
}

impl Parser<'_> {
    /// Examines the commands up to `end`, or to the end of the text. What is computed becomes a `$` in its word.
    fn parse_until(&mut self, end: Option<char>) -> bool {
        self.depth += 1;
        let (mut words, mut word): (Vec<String>, String) = Default::default();
        let is_plain = loop {
            let next = self.chars.next();
            match next {
                None => break end.is_none() && self.end_command(&mut words, &mut word),
                Some(c) if Some(c) == end => break self.end_command(&mut words, &mut word),
                Some('\'') if !self.parse_single_quoted(&mut word) => break false,
                Some('\'') => {}
                Some('"') if !self.parse_quoted(&mut word) => break false,
                Some('"') => {}
                Some('\\') => word.extend(self.chars.next()),
                Some(c @ ('$' | '`')) if !self.parse_substitution(c, &mut word) => break false,
                Some('$' | '`') => {}
                Some('(') if words.is_empty() && self.chars.peek() == Some(&')') => {
                    self.chars.next();
                    self.functions.push(std::mem::take(&mut word));
                }
                Some(';' | '&' | '|' | '(' | ')' | '\n') => {
                    if !self.end_command(&mut words, &mut word) {
                        break false;
                    }
                }
                Some('<' | '>') => end_word(&mut words, &mut word),
                Some(c) if c.is_whitespace() => end_word(&mut words, &mut word),
                Some(c) => word.push(c),
            }
        };
        self.depth -= 1;
        is_plain
    }

    /// The rest of a text in single quotes.
    fn parse_single_quoted(&mut self, word: &mut String) -> bool {
        loop {
            match self.chars.next() {
                None => return false,
                Some('\'') => return true,
                Some(c) => word.push(c),
            }
        }
    }

    /// The rest of a text in double quotes.
    fn parse_quoted(&mut self, word: &mut String) -> bool {
        loop {
            match self.chars.next() {
                None => return false,
                Some('"') => return true,
                Some('\\') => word.extend(self.chars.next()),
                Some(c @ ('$' | '`')) if !self.parse_substitution(c, word) => return false,
                Some('$' | '`') => {}
                Some(c) => word.push(c),
            }
        }
    }

    /// The rest of `$…` or of a command in backticks.
    fn parse_substitution(&mut self, start: char, word: &mut String) -> bool {
        word.push('$');
        if self.depth >= MAX_DEPTH {
            return false;
        }
        if start == '`' {
            return self.parse_until(Some('`'));
        }
        if self.chars.next_if_eq(&'(').is_some() {
            return self.parse_until(Some(')'));
        }
        if self.chars.next_if_eq(&'{').is_some() {
            let inner: String = self.chars.by_ref().take_while(|c| *c != '}').collect();
            return !inner.contains(['$', '`']);
        }
        while self.chars.next_if(|c| c.is_alphanumeric() || "_@*#?".contains(*c)).is_some() {}
        true
    }

    /// Ends a command and says whether it is plain.
    fn end_command(&self, words: &mut Vec<String>, word: &mut String) -> bool {
        end_word(words, word);
        let words = std::mem::take(words);
        let mut rest = words.as_slice();
        loop {
            match rest {
                [] => return true,
                // `for name in words`: the words are no command.
                [first, ..] if first == "for" => return true,
                [first, others @ ..] if PREFIXES.contains(&first.as_str()) => {
                    let is_option = |word: &&String| {
                        first == "xargs"
                            && (word.starts_with('-') || word.chars().all(|c| c.is_ascii_digit()))
                    };
                    rest = &others[others.iter().take_while(is_option).count()..];
                }
                [first, others @ ..] if ENDS.contains(&first.as_str()) => rest = others,
                [first, others @ ..] if is_local_assignment(first) => rest = others,
                [program, arguments @ ..] => {
                    return self.functions.contains(program) || is_plain(program, arguments);
                }
            }
        }
    }
}

fn end_word(words: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

/// `name=value`. A name in capitals may be a variable that programs obey, such as `PATH`.
fn is_local_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
}

fn is_plain(program: &str, arguments: &[String]) -> bool {
    let program = match program.rsplit_once('/') {
        Some((folder, name)) if SYSTEM_FOLDERS.contains(&folder) => name,
        _ => program,
    };
    if program.starts_with("git-credential-") {
        return !program.contains(['/', '$']);
    }
    let known = PROGRAMS.iter().find(|(names, _)| names.contains(&program));
    known.is_some_and(|(_, exceptions)| {
        !arguments.iter().any(|word| exceptions.iter().any(|start| word.starts_with(start)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_commands_name_no_file_that_is_run() {
        for command in [
            "git log --pretty=format:'%C(auto)%h %s' main",
            "gh auth git-credential",
            "/usr/bin/gh auth git-credential",
            "git-lfs clean -- %f",
            "git-credential-store --file=secrets",
            "f() { git checkout -b \"$1\" main && git push origin \"$1\"; }; f",
            "f() { echo username=x; echo \"password=$TOKEN\"; }; f",
            "git branch --merged | grep -v '\\*\\|main' | xargs -n 1 git branch -d",
            "b=$(git symbolic-ref --short HEAD); git push origin $b",
            "cd \"${GIT_PREFIX:-.}\" && git ls-files | sort",
            "for b in main develop; do git fetch origin $b; done",
            "if git diff --quiet; then git pull; else echo dirty; fi",
            "code --wait --diff \"$LOCAL\" \"$REMOTE\"",
            "cargo test",
            "less -FRX",
        ] {
            assert!(runs_no_named_file(command), "{command}");
        }
    }

    #[test]
    fn everything_else_may_run_what_its_words_name() {
        for command in [
            "sh run.sh",
            "./run",
            "tools/gh auth",
            "/home/me/bin/gh auth",
            "/usr/bin/../../tmp/gh auth",
            "cat run.sh | sh",
            "git log && tools/x",
            "$EDITOR cat",
            "$1 cat",
            "\"$X/cat\" x",
            "`tools/x`",
            "echo \"$(sh run)\"",
            "echo ${X:-$(sh run)}",
            "echo `sh run`",
            "xargs sh run",
            "xargs -I % sh %",
            "git rebase -x ./test.sh main",
            "git -c core.pager=x log",
            "git submodule foreach run.sh",
            "git bisect run test.sh",
            "PATH=tools:$PATH git log",
            "env git log",
            "f() { sh run; }; f",
            "{ sh run; }",
            "(sh run)",
            "git log; . run",
            "source run",
            "mytool auth",
            "echo 'open",
            "echo \"open",
            "echo $(git log",
            "vim -S run.vim",
        ] {
            assert!(!runs_no_named_file(command), "{command}");
        }
    }
}
