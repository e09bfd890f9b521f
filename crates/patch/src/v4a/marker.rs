//! The `***` lines of a V4A patch.

/// A `***` line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker<'a> {
    /// `*** Begin Patch`
    Begin,
    /// `*** End Patch`
    End,
    /// `*** Add File: path`
    Add(&'a str),
    /// `*** Delete File: path`
    Delete(&'a str),
    /// `*** Update File: path`
    Update(&'a str),
    /// `*** Move to: path`
    MoveTo(&'a str),
    /// `*** End of File`
    EndOfFile,
}

impl<'a> Marker<'a> {
    /// Parses a line that starts with `***`, in any spacing and case.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let mut text = line.strip_prefix("***")?.trim();
        while let Some(shorter) = text.strip_suffix("***") {
            text = shorter.trim_end();
        }
        let is = |name: &str| text.eq_ignore_ascii_case(name);
        if is("Begin Patch") {
            return Some(Self::Begin);
        }
        if is("End Patch") || is("End of Patch") {
            return Some(Self::End);
        }
        if is("End of File") {
            return Some(Self::EndOfFile);
        }
        let (name, path) = text.split_once(':')?;
        let is = |words: &str| name.trim_end().eq_ignore_ascii_case(words);
        let path = unquote(path.trim());
        if is("Add File") || is("Create File") || is("New File") {
            Some(Self::Add(path))
        } else if is("Delete File") || is("Remove File") {
            Some(Self::Delete(path))
        } else if ["Update File", "Modify File", "Edit File", "Change File"].into_iter().any(is) {
            Some(Self::Update(path))
        } else if is("Move to") || is("Move File to") {
            Some(Self::MoveTo(path))
        } else {
            None
        }
    }

    /// Whether the line is written exactly as the format requires, apart from trailing whitespace.
    pub(crate) fn is_canonical(self, line: &str) -> bool {
        let line = line.trim_end();
        match self {
            Self::Begin => line == "*** Begin Patch",
            Self::End => line == "*** End Patch",
            Self::EndOfFile => line == "*** End of File",
            Self::Add(path) => is_header(line, "*** Add File: ", path),
            Self::Delete(path) => is_header(line, "*** Delete File: ", path),
            Self::Update(path) => is_header(line, "*** Update File: ", path),
            Self::MoveTo(path) => is_header(line, "*** Move to: ", path),
        }
    }

    /// Whether the marker starts a file section.
    pub(crate) fn starts_file(self) -> bool {
        matches!(self, Self::Add(_) | Self::Delete(_) | Self::Update(_))
    }
}

fn is_header(line: &str, header: &str, path: &str) -> bool {
    line.strip_prefix(header) == Some(path)
}

/// Whether a line that is no marker may be a misspelled one: it has a colon or the word `file` or
/// `patch` after a few words. Other lines that start with `***` are lines of the file.
pub(super) fn looks_misspelled(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("*** ") else { return false };
    let is_name = |word: &str| {
        let word = word.trim_end_matches(':');
        word.eq_ignore_ascii_case("file") || word.eq_ignore_ascii_case("patch")
    };
    rest.starts_with(|c: char| c.is_ascii_alphabetic())
        && rest.split_whitespace().take(3).any(|word| word.ends_with(':') || is_name(word))
}

/// Strips the quotes or backticks that models put around a path, and a colon or `***` after it. A path that is only `***`
/// becomes empty: printed, it would read as the end of the marker.
fn unquote(mut path: &str) -> &str {
    loop {
        let is_quoted = ['`', '"', '\''].into_iter().any(|quote| is_quoted(path, quote));
        let without_colon = path.strip_suffix(':').filter(|rest| !rest.is_empty());
        path = match without_colon.or_else(|| path.strip_suffix("***")) {
            Some(rest) => rest.trim_end(),
            None if is_quoted => path[1..path.len() - 1].trim(),
            None => return path,
        };
    }
}

fn is_quoted(path: &str, quote: char) -> bool {
    path.len() > 2 && path.starts_with(quote) && path.ends_with(quote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("*** Begin Patch", Marker::Begin, true)]
    #[case("*** End Patch  ", Marker::End, true)]
    #[case("***Begin Patch", Marker::Begin, false)]
    #[case("*** Begin Patch ***", Marker::Begin, false)]
    #[case("*** Update File: my file.py", Marker::Update("my file.py"), true)]
    #[case("*** update file:x.py", Marker::Update("x.py"), false)]
    #[case("*** Add File: `x.py`", Marker::Add("x.py"), false)]
    #[case("*** Move to: a: b", Marker::MoveTo("a: b"), true)]
    #[case("*** Update File: b***:", Marker::Update("b"), false)]
    #[case("*** Update File:***:", Marker::Update(""), false)]
    #[case("*** Update File: '***'", Marker::Update(""), false)]
    #[case("*** End of File\r", Marker::EndOfFile, true)]
    fn parses_markers_in_any_spacing(
        #[case] line: &str,
        #[case] marker: Marker<'_>,
        #[case] canonical: bool,
    ) {
        assert_eq!(Marker::parse(line), Some(marker));
        assert_eq!(marker.is_canonical(line), canonical);
    }

    #[rstest]
    #[case(" *** Begin Patch")]
    #[case("*** a/x\t2024")]
    #[case("*** 1,2 ****")]
    #[case("** Begin Patch")]
    fn ignores_other_lines(#[case] line: &str) {
        assert_eq!(Marker::parse(line), None);
    }
}
