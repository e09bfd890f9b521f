//! Rust source as identifiers and punctuation, without comments and literals.

/// An identifier, `::`, or a single punctuation character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'s> {
    pub(crate) text: &'s str,
    /// The line it is on, counting from 1.
    pub(crate) line: usize,
}

/// Splits source into tokens.
pub(crate) fn tokenize(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line, mut counted) = (0, 1, 0);
    while let Some(next) = source[at..].chars().next() {
        line += source[counted..at].matches('\n').count();
        counted = at;
        let rest = &source[at..];
        let length = literal_or_comment(rest).unwrap_or_else(|| {
            let length = match identifier(rest) {
                0 if rest.starts_with("::") => 2,
                0 => next.len_utf8(),
                length => length,
            };
            if !next.is_whitespace() && !next.is_ascii_digit() {
                // A raw identifier is the same name.
                tokens.push(Token { text: rest[..length].trim_start_matches("r#"), line });
            }
            length
        });
        at += length;
    }
    tokens
}

/// The length of the identifier or number that the text starts with.
fn identifier(text: &str) -> usize {
    let body = text.strip_prefix("r#").unwrap_or(text);
    let end = body.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(body.len());
    if end == 0 { 0 } else { text.len() - body.len() + end }
}

/// The length of the comment, string, character or lifetime that the text starts with.
fn literal_or_comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment(text));
    }
    if text.starts_with('\'') {
        return Some(character_or_lifetime(text));
    }
    let prefix = text.find(|c: char| !matches!(c, 'b' | 'c' | 'r'))?;
    let (prefix, body) = text.split_at(prefix.min(2));
    if prefix.ends_with('r') {
        let hashes = body.len() - body.trim_start_matches('#').len();
        let quoted = body[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", &body[..hashes]);
        return Some(prefix.len() + hashes + 1 + quoted.find(&end).map_or(quoted.len(), |at| at + end.len()));
    }
    Some(prefix.len() + 1 + until_unescaped('"', body.strip_prefix('"')?))
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

fn character_or_lifetime(text: &str) -> usize {
    let body = &text[1..];
    let mut chars = body.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), _) => 1 + until_unescaped('\'', body),
        (Some(only), Some('\'')) => 2 + only.len_utf8(),
        _ => 1 + identifier(body),
    }
}

/// The length up to and including the first `end` without a backslash before it.
fn until_unescaped(end: char, text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == end => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[test]
fn skips_comments_and_literals() {
    let source = r####"
        use a::b; // crate::x
        /* crate::y /* nested */ */ fn f<'a>(s: &'a str) {
            let _ = ("crate::z \" \\", r#"crate:: " "#, b"x", br"\", 'c', '\'', '"', b'\\', 1.5e3);
            r#type
        }
    "####;
    let texts: Vec<&str> = tokenize(source).iter().map(|token| token.text).collect();
    let expected = "use a :: b ; fn f < > ( s : & str ) { let _ = ( , , , , , , , b , . ) ; type }";
    assert_eq!(texts.join(" "), expected);
}

#[test]
fn counts_lines() {
    let lines: Vec<usize> = tokenize("a\n/* \n */ b \"\n\n\" c").iter().map(|token| token.line).collect();
    assert_eq!(lines, [1, 3, 5]);
}
