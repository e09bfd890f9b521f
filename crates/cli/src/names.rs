//! Names of files in what people read. A name may hold anything but NUL and `/`: line ends that make one line look like two,
//! or characters that a terminal obeys. JSON has them as they are.

use incise::core::report::Report;

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

/// The names of a report's files that cannot be printed as they are.
pub(crate) struct Odd(Vec<String>);

impl Odd {
    pub(crate) fn of(report: &Report) -> Self {
        let files = report.files.iter().flat_map(|file| [Some(&file.path), file.moved_to.as_ref()]).flatten();
        let failures = report.failures.iter().map(|failure| &failure.path);
        let conflicts = report.conflicts.iter().map(|conflict| &conflict.path);
        let names = files.chain(failures).chain(conflicts).map(ToString::to_string);
        let mut names: Vec<String> = names.filter(|name| name.chars().any(char::is_control)).collect();
        // A name that another one begins with must not be replaced first.
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        Self(names)
    }

    /// Text with these names written as escapes.
    pub(crate) fn escaped(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, name| text.replace(name, &one_line(name)))
    }

    /// The same for one sentence. What it quotes is one line, too: names that were refused are in no list.
    pub(crate) fn sentence(&self, text: &str) -> String {
        in_quotes(&self.escaped(text))
    }
}

/// Text in which everything between two backticks is one line.
fn in_quotes(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let last = parts.len() - 1;
    let one = |(number, part): (usize, &&str)| match number % 2 == 1 && number < last {
        true => one_line(part),
        false => (*part).to_owned(),
    };
    parts.iter().enumerate().map(one).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_stays_in_its_line() {
        assert_eq!(in_quotes("`a\nb\u{1b}[1m` is\nnot `x"), "`a\\nb\\u{1b}[1m` is\nnot `x");
        assert_eq!(in_quotes("plain\ntext"), "plain\ntext");
        assert_eq!(in_quotes("`a\tb`"), "`a\\tb`");
    }

    #[test]
    fn a_line_has_no_control_characters() {
        assert_eq!(one_line("a\r\nb\u{9b}é"), "a\\r\\nb\\u{9b}é");
    }
}
