//! Reads Git's configuration files. What is not understood is skipped.

use std::iter::Peekable;
use std::str::Chars;

/// One setting. Section and key are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) section: String,
    /// Empty if there is none.
    pub(crate) subsection: String,
    pub(crate) key: String,
    pub(crate) value: String,
}

/// The settings in a configuration file, in order.
pub(crate) fn parse(text: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    let (mut section, mut subsection) = (String::new(), String::new());
    let mut chars = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    while let Some(&next) = chars.peek() {
        match next {
            '[' => (section, subsection) = parse_header(&mut chars),
            '#' | ';' => skip_line(&mut chars),
            next if next.is_alphanumeric() => {
                let key = take_while(&mut chars, |c| c.is_alphanumeric() || c == '-').to_lowercase();
                take_while(&mut chars, |c| c == ' ' || c == '\t');
                let value = match chars.next_if_eq(&'=') {
                    Some(_) => parse_value(&mut chars),
                    None => "true".into(),
                };
                settings.push(Setting {
                    section: section.clone(),
                    subsection: subsection.clone(),
                    key,
                    value,
                });
            }
            _ => {
                chars.next();
            }
        }
    }
    settings
}

/// Parses `[section "subsection"]`, and returns both.
fn parse_header(chars: &mut Peekable<Chars<'_>>) -> (String, String) {
    chars.next();
    let section = take_while(chars, |c| c.is_alphanumeric() || c == '-').to_lowercase();
    // `[section.subsection]` is an older form.
    let mut subsection = match chars.next_if_eq(&'.') {
        Some(_) => take_while(chars, |c| !matches!(c, ']' | '"' | '\n')),
        None => String::new(),
    };
    let mut is_quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' if is_quoted => subsection.extend(chars.next()),
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => break,
            '\n' => break,
            c if is_quoted => subsection.push(c),
            _ => {}
        }
    }
    (section, subsection)
}

/// Parses a value to the end of its line, which a backslash continues.
fn parse_value(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut value = String::new();
    // The length up to the last character that is not an unquoted space.
    let mut kept = 0;
    let mut is_quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '\n' => break,
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => {
                skip_line(chars);
                break;
            }
            '\\' => {
                match chars.next() {
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('b') => drop(value.pop()),
                    Some('\r') => drop(chars.next_if_eq(&'\n')),
                    Some('\n') | None => {}
                    Some(other) => value.push(other),
                }
                kept = value.len();
            }
            c if c.is_whitespace() && !is_quoted => {
                if !value.is_empty() {
                    value.push(c);
                }
            }
            c => {
                value.push(c);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    value
}

fn skip_line(chars: &mut Peekable<Chars<'_>>) {
    chars.find(|c| *c == '\n');
}

fn take_while(chars: &mut Peekable<Chars<'_>>, accept: impl Fn(char) -> bool) -> String {
    std::iter::from_fn(|| chars.next_if(|c| accept(*c))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_git_reads() {
        let text = "; comment\n[core] hooksPath = tools/hooks ; where\n\tbare\n[includeIf \"gitdir:~/\\\"x]\\\"/\"]\n\
                    path = \"a # b.inc\"  \n[alias]\nx = \"!sh \\\n  -c \\\"tools/x\\\"\"\n[filter.old]\nclean=a\\tb\n";
        let expected = [
            ("core", "", "hookspath", "tools/hooks"),
            ("core", "", "bare", "true"),
            ("includeif", "gitdir:~/\"x]\"/", "path", "a # b.inc"),
            ("alias", "", "x", "!sh   -c \"tools/x\""),
            ("filter", "old", "clean", "a\tb"),
        ];
        let expected = expected.map(|(section, subsection, key, value)| Setting {
            section: section.into(),
            subsection: subsection.into(),
            key: key.into(),
            value: value.into(),
        });
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn survives_nonsense() {
        for text in ["[", "[a", "[a \"", "a", "a =", "a = \\", "a = \"", "=\n=", "[]\n\u{0}\n] x = y"] {
            parse(text);
        }
    }
}
