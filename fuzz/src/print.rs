//! Prints patches as text, so that tests can parse them again. The product only parses patches; the printer is
//! written against the public API to be independent of the parsers it checks.

use slipstitch_patch::{Action, FilePatch, Format, Hunk, HunkLine, Patch, Role};

/// The largest line number that the parsers accept.
const MAX_LINE: usize = u32::MAX as usize;

/// Prints the patch in its own format. Parsing the text gives the same patch.
///
/// Changes without a path come first, so that they are not taken for changes of the file before.
pub fn print(patch: &Patch) -> String {
    let (unnamed, named): (Vec<_>, Vec<_>) = patch.files.iter().partition(|file| file.path.is_none());
    let files: Vec<&FilePatch> = unnamed.into_iter().chain(named).collect();
    let mut out = String::new();
    match patch.format {
        Format::Unified => files.iter().for_each(|file| print_unified(file, &mut out)),
        Format::V4a => {
            out.push_str("*** Begin Patch\n");
            files.iter().for_each(|file| print_v4a(file, &mut out));
            out.push_str("*** End Patch\n");
        }
        Format::SearchReplace => files.iter().for_each(|file| print_blocks(file, &mut out)),
    }
    out
}

fn print_lines(hunk: &Hunk, crlf: bool, out: &mut String) {
    for line in &hunk.lines {
        out.push(match line.role {
            Role::Context => ' ',
            Role::Removed => '-',
            Role::Added => '+',
        });
        out.push_str(&line.text);
        out.push_str(line_ending(line, crlf));
    }
}

fn line_ending(line: &HunkLine, crlf: bool) -> &'static str {
    match (line.newline, crlf) {
        (true, false) => "\n",
        (true, true) => "\r\n",
        (false, _) => "\n\\ No newline at end of file\n",
    }
}

/// Prints the lines of a new file and returns their number.
fn print_added(content: &str, out: &mut String) -> usize {
    let mut count = 0;
    for line in content.split_inclusive('\n') {
        out.push('+');
        out.push_str(line);
        count += 1;
    }
    if !content.is_empty() && !content.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
    count
}

fn counts(hunk: &Hunk) -> (usize, usize) {
    (hunk.old_lines().count(), hunk.new_lines().count())
}

fn print_v4a(file: &FilePatch, out: &mut String) {
    let path = file.path.as_deref().unwrap_or_default();
    match &file.action {
        Action::Create { content, .. } => {
            out.push_str(&format!("*** Add File: {path}\n"));
            print_added(content, out);
        }
        Action::Delete { hunks, .. } => {
            out.push_str(&format!("*** Delete File: {path}\n"));
            hunks.iter().for_each(|hunk| print_lines(hunk, file.crlf, out));
        }
        Action::Update { hunks, move_to, .. } => {
            out.push_str(&format!("*** Update File: {path}\n"));
            if let Some(to) = move_to {
                out.push_str(&format!("*** Move to: {to}\n"));
            }
            hunks.iter().for_each(|hunk| print_v4a_hunk(hunk, file.crlf, out));
        }
        Action::Replace { .. } => {}
    }
}

fn print_v4a_hunk(hunk: &Hunk, crlf: bool, out: &mut String) {
    let (old, new) = counts(hunk);
    match hunk.line {
        Some(line) => out.push_str(&format!("@@ -{line},{old} +{line},{new} @@\n")),
        None if hunk.scopes.is_empty() => out.push_str("@@\n"),
        None => {}
    }
    for scope in &hunk.scopes {
        let close = if scope.ends_with("@@") { " @@" } else { "" };
        out.push_str(&format!("@@ {scope}{close}\n"));
    }
    print_lines(hunk, crlf, out);
    if hunk.at_end {
        out.push_str("*** End of File\n");
    }
}

fn print_unified(file: &FilePatch, out: &mut String) {
    if let Some(path) = &file.path {
        print_unified_headers(path, &file.action, out);
    }
    match &file.action {
        Action::Create { content, .. } if !content.is_empty() => {
            let mut body = String::new();
            let count = print_added(content, &mut body);
            out.push_str(&format!("@@ -0,0 +{} @@\n", side(0, count)));
            out.push_str(&body);
        }
        Action::Delete { hunks, .. } | Action::Update { hunks, .. } => {
            print_unified_hunks(hunks, file.crlf, out);
        }
        Action::Create { .. } | Action::Replace { .. } => {}
    }
}

fn print_unified_headers(path: &str, action: &Action, out: &mut String) {
    let new = match action {
        Action::Update { move_to: Some(to), .. } => to,
        _ => path,
    };
    out.push_str(&format!("diff --git {} {}\n", quote("a/", path), quote("b/", new)));
    let (mut old_name, mut new_name) = (header_name("a/", path), header_name("b/", new));
    let has_lines = match action {
        Action::Create { content, executable } => {
            out.push_str(&format!("new file mode {}\n", mode(*executable)));
            old_name = "/dev/null".into();
            !content.is_empty()
        }
        Action::Delete { hunks, executable } => {
            out.push_str(&format!("deleted file mode {}\n", mode(*executable)));
            new_name = "/dev/null".into();
            !hunks.is_empty()
        }
        Action::Update { hunks, move_to, executable } => {
            if let Some(executable) = executable {
                out.push_str(&format!("old mode {}\nnew mode {}\n", mode(!executable), mode(*executable)));
            }
            if move_to.is_some() {
                out.push_str(&format!("rename from {}\nrename to {}\n", quote("", path), quote("", new)));
            }
            !hunks.is_empty()
        }
        Action::Replace { .. } => false,
    };
    if has_lines {
        out.push_str(&format!("--- {old_name}\n+++ {new_name}\n"));
    }
}

fn mode(executable: bool) -> &'static str {
    if executable { "100755" } else { "100644" }
}

/// The path for `---` and `+++`: a tab ends one with spaces.
fn header_name(prefix: &str, path: &str) -> String {
    let name = quote(prefix, path);
    if path.contains(' ') && !name.starts_with('"') { format!("{name}\t") } else { name }
}

/// Quotes a path as git does, if needed.
fn quote(prefix: &str, path: &str) -> String {
    let special = |c: char| c.is_control() || matches!(c, '"' | '\\');
    let edge = |c: char| c.is_whitespace();
    if !path.contains(special) && !path.starts_with(edge) && !path.ends_with(edge) {
        return format!("{prefix}{path}");
    }
    let mut out = format!("\"{prefix}");
    for c in path.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("\\{byte:03o}")));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn print_unified_hunks(hunks: &[Hunk], crlf: bool, out: &mut String) {
    let before: Vec<_> = hunks.iter().map(lines_before).collect();
    // Overlapping hunks are not a valid diff, so any numbers will do.
    let after = lines_before_after(hunks).unwrap_or_else(|| before.clone());
    for ((hunk, before), after) in hunks.iter().zip(before).zip(after) {
        let (old, new) = counts(hunk);
        out.push_str(&match (before, after) {
            (Some(before), Some(after)) => format!("@@ -{} +{} @@\n", side(before, old), side(after, new)),
            _ => unplaced_header(hunk),
        });
        print_lines(hunk, crlf, out);
    }
}

/// The number of lines above a hunk that has a line number.
fn lines_before(hunk: &Hunk) -> Option<usize> {
    let line = hunk.line?;
    Some(if counts(hunk).0 == 0 { line } else { line.saturating_sub(1) })
}

/// The number of lines above each hunk after all are applied; `None` if two hunks overlap.
fn lines_before_after(hunks: &[Hunk]) -> Option<Vec<Option<usize>>> {
    let mut order: Vec<(usize, usize, usize)> = hunks
        .iter()
        .enumerate()
        .filter_map(|(index, hunk)| Some((lines_before(hunk)?, counts(hunk).0, index)))
        .collect();
    order.sort_unstable();
    let mut after = vec![None; hunks.len()];
    let (mut end, mut removed, mut added) = (0_usize, 0_usize, 0_usize);
    for (before, old, index) in order {
        if before < end {
            return None;
        }
        after[index] = Some((before + added).saturating_sub(removed));
        end = before + old;
        removed += old;
        added += counts(&hunks[index]).1;
    }
    Some(after)
}

/// The header of a hunk without a line number: a bare one, or counts alone if its lines would be taken for
/// file headers.
fn unplaced_header(hunk: &Hunk) -> String {
    let ambiguous = hunk.lines.iter().any(|line| line.role == Role::Removed && line.text.starts_with("-- "));
    let (old, new) = counts(hunk);
    if ambiguous { format!("@@ -0,{old} +0,{new} @@\n") } else { "@@\n".into() }
}

/// `12,3`; a count of 1 is left out.
fn side(before: usize, count: usize) -> String {
    let start = if count == 0 { before } else { before + 1 }.min(MAX_LINE);
    if count == 1 { start.to_string() } else { format!("{start},{count}") }
}

fn print_blocks(file: &FilePatch, out: &mut String) {
    let Action::Replace { blocks } = &file.action else { return };
    for block in blocks {
        if let Some(path) = &file.path {
            out.push_str(&format!("`{path}`\n"));
        }
        out.push_str("<<<<<<< SEARCH\n");
        if let Some(line) = block.start_line {
            out.push_str(&format!(":start_line:{line}\n-------\n"));
        }
        print_block_text(&block.search, out);
        out.push_str("=======\n");
        print_block_text(&block.replace, out);
        out.push_str(">>>>>>> REPLACE\n");
    }
}

fn print_block_text(text: &str, out: &mut String) {
    for line in text.split_terminator('\n') {
        if looks_like_marker(line.trim_start_matches('\\')) {
            out.push('\\');
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// Whether a line of a file must be escaped in a block. An escape that is not needed stays in the text, so this must
/// be exact.
fn looks_like_marker(line: &str) -> bool {
    let is_hint = |name: &str| {
        line.trim_end()
            .strip_prefix(name)
            .map(str::trim)
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if is_hint(":start_line:") || is_hint(":end_line:") {
        return true;
    }
    let Some(first) = line.chars().next().filter(|c| "<=>-+".contains(*c)) else { return false };
    let rest = line.trim_start_matches(first);
    let word = rest.trim().trim_end_matches(['<', '>']).trim_end();
    let is = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    (5..=9).contains(&(line.len() - rest.len()))
        && (word.is_empty() || rest.starts_with([' ', '\t']))
        && match first {
            '<' => is(&["SEARCH", "ORIGINAL", "HEAD", ""]),
            '=' => word.is_empty(),
            '>' => !word.contains(char::is_whitespace),
            '-' => is(&["SEARCH"]),
            _ => is(&["REPLACE"]),
        }
}
