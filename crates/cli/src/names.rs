//! Names of files in what people read. A name may hold anything but NUL and `/`: line ends that make one line look like two,
//! or characters that a terminal obeys. JSON has them as they are.

use std::ffi::{OsStr, OsString};

use slipstitch::core::report::Report;

/// Text with its line ends and other control characters written as escapes.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().fold(String::new(), |mut line, character| {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
        line
    })
}

/// Codes whose message has lines of its own: what the parsers of arguments and of settings say.
const LAID_OUT: &[&str] = &["usage", "bad_config"];

/// Codes whose hint ends with lines of a file.
const WITH_LINES: &[&str] = &["unexpected_lines", "unsafe_config"];

/// How the variables start that name files and sessions.
const VARIABLES: &[&str] = &["SLIPSTITCH_", "XDG_", "HOME"];

/// A report's message. It is one line, whatever it names: a name that was refused is in no list, and it may hold
/// quotes of its own.
pub(crate) fn message(report: &Report) -> String {
    match LAID_OUT.contains(&report.code()) {
        true => Odd::named_by_caller().escaped(&report.message),
        false => one_line(&report.message),
    }
}

/// A report's hint: one line, or a line and then what is to be copied.
pub(crate) fn hint(report: &Report) -> Option<String> {
    let hint = report.hint.as_deref()?;
    Some(match WITH_LINES.contains(&report.code()) {
        true => Odd::of(report).escaped(hint),
        false => one_line(hint),
    })
}

/// Names that cannot be printed as they are.
pub(crate) struct Odd(Vec<String>);

impl Odd {
    /// Those of a report's files.
    pub(crate) fn of(report: &Report) -> Self {
        let files = report.files.iter().flat_map(|file| [Some(&file.path), file.moved_to.as_ref()]).flatten();
        let failures = report.failures.iter().map(|failure| &failure.path);
        let conflicts = report.conflicts.iter().map(|conflict| &conflict.path);
        Self::among(files.chain(failures).chain(conflicts).map(ToString::to_string))
    }

    /// Those that this process was started with: its arguments and the values in them, its variables, its folder.
    pub(crate) fn named_by_caller() -> Self {
        let text = |given: OsString| given.to_string_lossy().into_owned();
        let arguments = std::env::args_os().skip(1).map(text).flat_map(|argument| {
            let value = argument.split_once('=').map(|(_, value)| value.to_owned());
            [Some(argument), value]
        });
        let ours = |name: &OsStr| VARIABLES.iter().any(|start| text(name.to_owned()).starts_with(start));
        let variables = std::env::vars_os().filter(|(name, _)| ours(name)).map(|(_, value)| text(value));
        let folder = std::env::current_dir().ok().map(|folder| text(folder.into()));
        Self::among(arguments.flatten().chain(variables).chain(folder))
    }

    /// Those of these names.
    pub(crate) fn among(names: impl Iterator<Item = String>) -> Self {
        // Blanks and line ends alone are everywhere, and name nothing.
        let odd = |name: &String| name.chars().any(char::is_control) && !name.trim().is_empty();
        let mut names: Vec<String> = names.filter(odd).collect();
        // A name that another one begins with must not be replaced first.
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        Self(names)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Text with these names written as escapes.
    pub(crate) fn escaped(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, name| text.replace(name, &one_line(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstitch::core::outcome::Status;

    #[test]
    fn only_the_message_of_a_parser_has_lines() {
        let said = |code| message(&Report::custom(Status::Invalid, code, "`a`\nb` is\twrong"));
        assert_eq!(said("outside_root"), "`a`\\nb` is\\twrong");
        assert_eq!(said("usage"), "`a`\nb` is\twrong");
    }

    #[test]
    fn only_a_hint_with_lines_of_a_file_has_lines() {
        let said = |code| hint(&Report::custom(Status::Refused, code, "").hint("now:\n\ta"));
        assert_eq!(said("nothing_to_undo").as_deref(), Some("now:\\n\\ta"));
        assert_eq!(said("unexpected_lines").as_deref(), Some("now:\n\ta"));
    }

    #[test]
    fn names_are_found_in_text_and_blanks_are_no_names() {
        let odd = |names: &[&str]| Odd::among(names.iter().map(ToString::to_string));
        assert!(odd(&["plain", "\n", " \t"]).is_empty());
        assert_eq!(odd(&["a\nb", "a\nb\nc"]).escaped("a\nb\nc\na\nb\n"), "a\\nb\\nc\na\\nb\n");
    }

    #[test]
    fn a_line_has_no_control_characters() {
        assert_eq!(one_line("a\r\nb\u{9b}é"), "a\\r\\nb\\u{9b}é");
    }
}
