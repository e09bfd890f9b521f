//! An edit with a known answer: the file, the lines that the request shows, and what must come of them.

use super::random::Random;

/// What becomes of a line of the hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Context,
    Removed,
    Added,
}

/// A line of the hunk.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) fate: Fate,
    /// In the file, or in what is to come of it; `None` if only the request has it.
    pub(crate) file: Option<String>,
    /// In the old text and in the new one, as far as its fate lets it stand there; `None` if it was left out.
    pub(crate) old: Option<String>,
    pub(crate) new: Option<String>,
}

impl Row {
    pub(crate) fn new(fate: Fate, text: &str) -> Self {
        let text = Some(text.to_owned());
        Self { fate, file: text.clone(), old: text.clone(), new: text }
    }

    /// Shows another text in old and new.
    pub(crate) fn show(&mut self, text: &str) {
        (self.old, self.new) = (Some(text.to_owned()), Some(text.to_owned()));
    }

    /// The old text's line if it says something and the file must have it.
    pub(crate) fn says(&self) -> Option<&str> {
        self.old.as_deref().filter(|text| self.fate != Fate::Added && !text.trim().is_empty())
    }
}

/// An edit in the making.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) tail: Vec<String>,
    /// How lines end in and around the hunk, and how the first lines of the file do.
    pub(crate) newline: &'static str,
    pub(crate) far: (usize, &'static str),
    pub(crate) final_newline: bool,
}

/// Rendered that no file of the corpus uses as names.
const FRESH: &[&str] = &["quince", "marrow", "sorrel", "damson", "fennel", "medlar", "lovage", "turnip"];

/// The blanks that a line starts with.
pub(crate) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Where the words of a line are that are at least `least` letters long.
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

/// A line with one of its words replaced by a new one.
fn renamed(line: &str, random: &mut Random) -> Option<String> {
    let (from, to) = *random.pick(&words(line, 3))?;
    let fresh = random.pick(FRESH)?;
    Some(format!("{}{fresh}{}", &line[..from], &line[to..]))
}

/// Changes the last line but one as well, so that the request changes two places.
fn change_once_more(rows: &mut Vec<Row>, random: &mut Random) {
    let at = rows.len() - 2;
    if let Some(line) = rows[at].says().and_then(|line| renamed(line, random)) {
        rows[at].fate = Fate::Removed;
        rows.insert(at + 1, Row::new(Fate::Added, &line));
    }
}

impl Draft {
    /// Replaces, inserts or deletes some lines of a file, with so many lines of context before and after.
    pub(crate) fn of(file: &[String], lead: usize, trail: usize, random: &mut Random) -> Option<Self> {
        let gone = random.from(0, 3);
        let start = random.below(file.len().checked_sub(lead + gone + trail)?);
        let (first, last) = (start + lead, start + lead + gone);
        let end = last + trail;
        let mut rows: Vec<Row> =
            file[start..first].iter().map(|line| Row::new(Fate::Context, line)).collect();
        rows.extend(file[first..last].iter().map(|line| Row::new(Fate::Removed, line)));
        let filled = |row: &Row| row.says().is_some();
        if !rows.first().is_some_and(filled)
            || !rows[lead..].iter().all(filled)
            || file[end - 1].trim().is_empty()
        {
            return None;
        }
        let pattern = if gone > 0 { &file[first..last] } else { &file[first - 1..first] };
        let come = if gone > 0 { random.from(0, 3) } else { random.from(1, 3) };
        for number in 0..come {
            let line = renamed(&pattern[number.min(pattern.len() - 1)], random)?;
            rows.push(Row::new(Fate::Added, &line));
            if random.chance(15) && !line.contains('|') {
                rows.push(Row::new(Fate::Added, ""));
            }
            if random.chance(20) {
                rows.push(Row::new(Fate::Added, &format!("{}    {}", indent(&line), line.trim_start())));
            }
        }
        rows.extend(file[last..end].iter().map(|line| Row::new(Fate::Context, line)));
        if trail >= 3 && random.chance(30) {
            change_once_more(&mut rows, random);
        }
        let said: usize = rows.iter().filter_map(Row::says).map(|line| line.trim().len()).sum();
        (said >= 16).then(|| Self {
            head: file[..start].to_vec(),
            rows,
            tail: file[end..].to_vec(),
            newline: "\n",
            far: (0, "\n"),
            final_newline: true,
        })
    }

    /// The lines of the file, before or after the edit.
    pub(crate) fn lines(&self, fates: [Fate; 2]) -> Vec<&str> {
        let hunk =
            self.rows.iter().filter(|row| fates.contains(&row.fate)).filter_map(|row| row.file.as_ref());
        self.head.iter().chain(hunk).chain(&self.tail).map(String::as_str).collect()
    }

    fn text(&self, fates: [Fate; 2]) -> String {
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
        self.text([Fate::Context, Fate::Removed])
    }

    pub(crate) fn after(&self) -> String {
        self.text([Fate::Context, Fate::Added])
    }

    /// The old and the new text of the request.
    pub(crate) fn request(&self) -> (String, String) {
        let old = self.rows.iter().filter(|row| row.fate != Fate::Added).filter_map(|row| row.old.as_deref());
        let new =
            self.rows.iter().filter(|row| row.fate != Fate::Removed).filter_map(|row| row.new.as_deref());
        (old.collect::<Vec<_>>().join("\n"), new.collect::<Vec<_>>().join("\n"))
    }

    /// The rows that the request shows and that say something.
    pub(crate) fn shown(&mut self) -> Vec<&mut Row> {
        self.rows
            .iter_mut()
            .filter(|row| row.old.as_deref().is_some_and(|text| !text.trim().is_empty()))
            .collect()
    }

    /// Rows that stay, say something, and are not the only ones that do.
    pub(crate) fn context(&self, least: usize) -> Vec<usize> {
        let stays = |row: &Row| {
            row.fate == Fate::Context && row.says().is_some_and(|text| text.trim().len() >= least)
        };
        (0..self.rows.len()).filter(|&at| stays(&self.rows[at])).collect()
    }
}
