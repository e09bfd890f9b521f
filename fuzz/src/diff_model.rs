//! Applies a unified diff in the form that reports print: every hunk exactly at its line.

use super::{Files, path};

/// The files after `diff`.
pub(super) fn apply(files: &Files, diff: &[u8]) -> Files {
    let diff = String::from_utf8_lossy(diff);
    let mut after = files.clone();
    let mut section: Vec<&str> = Vec::new();
    for line in diff.split_inclusive('\n') {
        // A line of a hunk starts with ` `, `-`, `+` or `\`.
        if line.starts_with("diff --git ") && !section.is_empty() {
            apply_section(&section, files, &mut after);
            section.clear();
        }
        section.push(line);
    }
    if !section.is_empty() {
        apply_section(&section, files, &mut after);
    }
    after
}

fn apply_section(section: &[&str], files: &Files, after: &mut Files) {
    let header = |start: &str| {
        let headers = section.iter().take_while(|line| !line.starts_with("@@ "));
        headers.filter_map(|line| line.strip_prefix(start)).map(|rest| rest.trim_end_matches('\n')).last()
    };
    let names = header("diff --git ").unwrap_or_default();
    let Some((old, new)) = split_names(names) else { return };
    let content = files.get(&path(&old)).cloned().unwrap_or_default();
    let text = String::from_utf8_lossy(&content);
    let body = section.iter().position(|line| line.starts_with("@@ ")).map_or(&[][..], |at| &section[at..]);
    let result = apply_hunks(&text, body);
    if header("rename from ").is_some() || header("deleted file mode ").is_some() {
        after.remove(&path(&old));
    }
    if header("deleted file mode ").is_none() {
        after.insert(path(&new), result.into_bytes());
    }
}

/// Both names of a `diff --git` line, unquoted.
fn split_names(names: &str) -> Option<(String, String)> {
    let mut found = Vec::new();
    let mut rest = names.trim_start();
    while !rest.is_empty() {
        let name = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (name, length) = unquote(quoted);
                rest = &quoted[length..];
                name
            }
            None => {
                let length = rest.find(' ').unwrap_or(rest.len());
                let name = rest[..length].to_owned();
                rest = &rest[length..];
                name
            }
        };
        found.push(name);
        rest = rest.trim_start();
    }
    match &found[..] {
        [old, new] => Some((old.get(2..)?.to_owned(), new.get(2..)?.to_owned())),
        _ => panic!("names in a diff header: {names:?}"),
    }
}

/// A C string without its opening quote, and the length up to and including the closing one.
fn unquote(quoted: &str) -> (String, usize) {
    let mut out = Vec::new();
    let bytes = quoted.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b'"' {
        if bytes[at] != b'\\' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        at += 1;
        match bytes[at] {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            digit @ b'0'..=b'7' => {
                let digits = &quoted[at..at + 3];
                out.push(u8::from_str_radix(digits, 8).unwrap_or(digit));
                at += 2;
            }
            other => out.push(other),
        }
        at += 1;
    }
    (String::from_utf8_lossy(&out).into_owned(), at + 1)
}

fn apply_hunks(text: &str, body: &[&str]) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut out = String::new();
    let mut next = 0;
    let mut at = 0;
    while at < body.len() {
        let (start, count) = old_range(body[at]);
        // `-3,0` is the position after line 3, `-3,1` is line 3.
        let first = if count == 0 { start } else { start - 1 };
        out.extend(lines[next..first].iter().copied());
        next = first;
        at += 1;
        while at < body.len() && !body[at].starts_with("@@ ") {
            let (mark, rest) = body[at].split_at(1);
            let lacks_newline = body.get(at + 1).is_some_and(|line| line.starts_with("\\ "));
            let line = if lacks_newline { rest.trim_end_matches('\n') } else { rest };
            match mark {
                " " | "-" => {
                    assert_eq!(lines.get(next), Some(&line), "a line of the diff is not in the file");
                    next += 1;
                    if mark == " " {
                        out.push_str(line);
                    }
                }
                "+" => out.push_str(line),
                _ => panic!("a line of a diff: {:?}", body[at]),
            }
            at += if lacks_newline { 2 } else { 1 };
        }
    }
    out.extend(lines[next..].iter().copied());
    out
}

/// The first line and the number of lines in the old file, from `@@ -1,2 +1,3 @@`.
fn old_range(header: &str) -> (usize, usize) {
    let range = header.trim_start_matches("@@ -").split(' ').next().unwrap_or_default();
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    match (start.parse(), count.parse()) {
        (Ok(start), Ok(count)) => (start, count),
        _ => panic!("a hunk header: {header:?}"),
    }
}
