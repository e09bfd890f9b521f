//! An edit with a known result: the file, the lines that the request shows, and the expected file.

use super::random::Random;

/// What happens to a line of the hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Context,
    Removed,
    Added,
}

/// A line of the hunk.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) role: Role,
    /// In the file before or after the edit; `None` if only the request has it.
    pub(crate) file: Option<String>,
    /// In the old and in the new text, if its role allows; `None` if left out.
    pub(crate) old: Option<String>,
    pub(crate) new: Option<String>,
}

impl Row {
    pub(crate) fn new(role: Role, text: &str) -> Self {
        let text = Some(text.to_owned());
        Self { role, file: text.clone(), old: text.clone(), new: text }
    }

    /// Changes the line in both texts.
    pub(crate) fn show(&mut self, text: &str) {
        (self.old, self.new) = (Some(text.to_owned()), Some(text.to_owned()));
    }

    /// The line of the old text, if it is not blank and the file must contain it.
    pub(crate) fn old_content(&self) -> Option<&str> {
        self.old.as_deref().filter(|text| self.role != Role::Added && !text.trim().is_empty())
    }
}

/// An edit to be damaged.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) tail: Vec<String>,
    /// The line ending in and around the hunk, and that of the first lines of the file.
    pub(crate) newline: &'static str,
    pub(crate) far: (usize, &'static str),
    pub(crate) final_newline: bool,
}

/// Words that no file of the corpus uses as names.
const FRESH: &[&str] = &["quince", "marrow", "sorrel", "damson", "fennel", "medlar", "lovage", "turnip"];

/// The whitespace at the start of a line.
pub(crate) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The spans of the words with at least `least` letters.
pub(crate) fn words(line: &str, least: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
        match (start, c.is_ascii_alphabetic()) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                if at - from >= least {
                    found.push((from, at));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// A line with one word replaced by a new one.
fn renamed(line: &str, random: &mut Random) -> Option<String> {
    let (from, to) = *random.pick(&words(line, 3))?;
    let fresh = random.pick(FRESH)?;
    Some(format!("{}{fresh}{}", &line[..from], &line[to..]))
}

/// Changes the second to last line as well, so that the request changes two places.
fn change_once_more(rows: &mut Vec<Row>, random: &mut Random) {
    let at = rows.len() - 2;
    if let Some(line) = rows[at].old_content().and_then(|line| renamed(line, random)) {
        rows[at].role = Role::Removed;
        rows.insert(at + 1, Row::new(Role::Added, &line));
    }
}

impl Draft {
    /// Replaces, inserts or deletes some lines of a file, with `lead` lines of context before and `trail` after.
    pub(crate) fn of(file: &[String], lead: usize, trail: usize, random: &mut Random) -> Option<Self> {
        let removed = random.from(0, 3);
        let start = random.below(file.len().checked_sub(lead + removed + trail)?);
        let (first, last) = (start + lead, start + lead + removed);
        let end = last + trail;
        let mut rows: Vec<Row> =
            file[start..first].iter().map(|line| Row::new(Role::Context, line)).collect();
        rows.extend(file[first..last].iter().map(|line| Row::new(Role::Removed, line)));
        let filled = |row: &Row| row.old_content().is_some();
        if !rows.first().is_some_and(filled)
            || !rows[lead..].iter().all(filled)
            || file[end - 1].trim().is_empty()
        {
            return None;
        }
        let pattern = if removed > 0 { &file[first..last] } else { &file[first - 1..first] };
        let added = if removed > 0 { random.from(0, 3) } else { random.from(1, 3) };
        for number in 0..added {
            let line = renamed(&pattern[number.min(pattern.len() - 1)], random)?;
            rows.push(Row::new(Role::Added, &line));
            if random.chance(15) && !line.contains('|') {
                rows.push(Row::new(Role::Added, ""));
            }
            if random.chance(20) {
                rows.push(Row::new(Role::Added, &format!("{}    {}", indent(&line), line.trim_start())));
            }
        }
        rows.extend(file[last..end].iter().map(|line| Row::new(Role::Context, line)));
        if trail >= 3 && random.chance(30) {
            change_once_more(&mut rows, random);
        }
        let content: usize = rows.iter().filter_map(Row::old_content).map(|line| line.trim().len()).sum();
        (content >= 16).then(|| Self {
            head: file[..start].to_vec(),
            rows,
            tail: file[end..].to_vec(),
            newline: "\n",
            far: (0, "\n"),
            final_newline: true,
        })
    }

    /// The lines of the file, before or after the edit.
    pub(crate) fn lines(&self, fates: [Role; 2]) -> Vec<&str> {
        let hunk =
            self.rows.iter().filter(|row| fates.contains(&row.role)).filter_map(|row| row.file.as_ref());
        self.head.iter().chain(hunk).chain(&self.tail).map(String::as_str).collect()
    }

    fn text(&self, fates: [Role; 2]) -> String {
        let lines = self.lines(fates);
        let mut text = String::new();
        for (number, line) in lines.iter().enumerate() {
            text.push_str(line);
            if number + 1 < lines.len() || self.final_newline {
                text.push_str(if number < self.far.0 { self.far.1 } else { self.newline });
            }
        }
        text
    }

    pub(crate) fn before(&self) -> String {
        self.text([Role::Context, Role::Removed])
    }

    pub(crate) fn after(&self) -> String {
        self.text([Role::Context, Role::Added])
    }

    /// The old and the new text of the request.
    pub(crate) fn request(&self) -> (String, String) {
        let old = self.rows.iter().filter(|row| row.role != Role::Added).filter_map(|row| row.old.as_deref());
        let new =
            self.rows.iter().filter(|row| row.role != Role::Removed).filter_map(|row| row.new.as_deref());
        (old.collect::<Vec<_>>().join("\n"), new.collect::<Vec<_>>().join("\n"))
    }

    /// The non-blank rows that the request shows.
    pub(crate) fn shown(&mut self) -> Vec<&mut Row> {
        self.rows
            .iter_mut()
            .filter(|row| row.old.as_deref().is_some_and(|text| !text.trim().is_empty()))
            .collect()
    }

    /// The context rows with at least `least` characters.
    pub(crate) fn context(&self, least: usize) -> Vec<usize> {
        let is_context = |row: &Row| {
            row.role == Role::Context && row.old_content().is_some_and(|text| text.trim().len() >= least)
        };
        (0..self.rows.len()).filter(|&at| is_context(&self.rows[at])).collect()
    }
}
