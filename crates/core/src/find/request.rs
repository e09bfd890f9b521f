//! What is searched for: the readings of one request, and what is known about its place.

use super::script::{FileEnd, Script};
use crate::change::DifferenceKind;
use crate::transport::{Interpretation, interpretations};
use slipstitch_patch::{HunkRepair, Role};
use slipstitch_text::Span;

/// A request to find.
pub(super) struct SearchRequest {
    /// Its possible readings, fewest repairs first.
    pub(super) readings: Vec<Reading>,
    /// The reading that a diagnosis is about.
    meant: usize,
    /// How messages name it: `edit 2`, `Hunk 1`.
    pub(super) name: String,
    pub(super) place: PlaceHint,
    /// Whether every occurrence is meant, rather than a single one.
    pub(super) is_everywhere: bool,
}

/// What a request says about its place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PlaceHint {
    /// Only this part of the searchable text is searched.
    pub(super) within: Option<Span>,
    /// The line where it should start. Decides only between identical texts, or narrows the margin of a close match.
    pub(super) line: Option<usize>,
    /// The line that it must end with.
    pub(super) last: Option<usize>,
    /// Whether the caller looked at the searched part and chose it.
    pub(super) chosen: bool,
}

/// One interpretation of a request.
#[derive(Clone)]
pub(super) struct Reading {
    pub(super) script: Script,
    /// The damage that this reading repairs.
    pub(super) classes: Vec<DifferenceKind>,
    /// Old and new text, for a search inside lines; only for text that was sent as such.
    pub(super) snippet: Option<(String, String)>,
}

impl Reading {
    fn of_snippet(Interpretation { old, new, classes }: Interpretation) -> Self {
        Self { script: Script::of_snippet(&old, &new), classes, snippet: Some((old, new)) }
    }

    /// Readings with the same rank are equally likely. Whether context lines lack their marker is a question of form.
    pub(super) fn rank(&self) -> usize {
        self.classes.iter().filter(|&&class| class != DifferenceKind::BareContext).count()
    }

    /// Whether the old text is all blank, so that it would match anywhere.
    pub(super) fn is_blank(&self) -> bool {
        self.script.anchors().next().is_none()
    }
}

impl SearchRequest {
    /// A request that replaces `old` with `new`, both canonical.
    pub(super) fn of_snippet(name: String, old: &str, new: &str, place: PlaceHint) -> Self {
        let readings = interpretations(old, new).into_iter().map(Reading::of_snippet).collect();
        Self { readings, meant: 0, name, place, is_everywhere: false }
    }

    /// The same request for every occurrence of its old text.
    pub(super) fn everywhere(self, is_everywhere: bool) -> Self {
        Self { is_everywhere, ..self }
    }

    /// A request that applies a hunk. `variants` are its readings by the patch parser.
    pub(super) fn of_hunk(name: String, variants: &[HunkReading<'_>], place: PlaceHint) -> Self {
        let mut readings: Vec<Reading> = variants
            .iter()
            .map(|HunkReading { lines, repairs, file_end }| {
                let mut classes: Vec<DifferenceKind> =
                    repairs.iter().map(|&repair| class_of(repair)).collect();
                classes.dedup();
                Reading { script: Script::of_lines(lines.iter().copied(), *file_end), classes, snippet: None }
            })
            .collect();
        // Entities damage the lines of a hunk just as any other text, and so do escapes inside lines. The parser reads all other
        // damage, because it hides the markers of lines.
        if let Some(HunkReading { lines, .. }) = variants.first() {
            let text = |keep: fn(Role) -> bool| -> String {
                lines.iter().filter(|(role, _)| keep(*role)).map(|(_, text)| format!("{text}\n")).collect()
            };
            let (old, new) = (text(Role::is_old), text(Role::is_new));
            let is_inside_lines = |reading: &Interpretation| match reading.classes[..] {
                [DifferenceKind::Entities] => true,
                [DifferenceKind::Escapes] => {
                    let lines = |text: &str| text.matches('\n').count();
                    lines(&reading.old) == lines(&old) && lines(&reading.new) == lines(&new)
                }
                _ => false,
            };
            let repaired = interpretations(&old, &new).into_iter().filter(is_inside_lines);
            readings
                .extend(repaired.map(|reading| Reading { snippet: None, ..Reading::of_snippet(reading) }));
        }
        readings.sort_by_key(Reading::rank);
        Self { readings, meant: 0, name, place, is_everywhere: false }
    }

    /// The same request, with other knowledge of its place.
    pub(super) fn at(&self, place: PlaceHint) -> Self {
        Self {
            readings: self.readings.clone(),
            meant: self.meant,
            name: self.name.clone(),
            place,
            is_everywhere: self.is_everywhere,
        }
    }

    /// Old and new text of the request as sent.
    pub(super) fn texts(&self) -> (String, String) {
        let reading = &self.readings[0];
        match &reading.snippet {
            Some((old, new)) => (old.clone(), new.clone()),
            None => (reading.script.text(Role::is_old), reading.script.text(Role::is_new)),
        }
    }

    /// The old and new text as sent, unless the request is a hunk.
    pub(super) fn as_sent_snippet(&self) -> Option<(&str, &str)> {
        self.readings[0].snippet.as_ref().map(|(old, new)| (old.as_str(), new.as_str()))
    }

    /// The request as it was sent.
    pub(super) fn as_sent(&self) -> &Script {
        &self.readings[0].script
    }

    /// The reading that is probably meant.
    pub(super) fn meant(&self) -> &Reading {
        &self.readings[self.meant]
    }

    /// The request as it is probably meant: as sent, unless only another reading resembles the file.
    pub(super) fn as_meant(&self) -> &Script {
        &self.readings[self.meant].script
    }

    /// The same request, meant as one of its readings.
    pub(super) fn meant_as(&self, reading: usize) -> Self {
        Self { meant: reading, ..self.at(self.place) }
    }
}

/// One reading of a hunk.
pub(super) struct HunkReading<'h> {
    /// Its lines, with their roles.
    pub(super) lines: Vec<(Role, &'h str)>,
    /// The mistakes that the reading assumes.
    pub(super) repairs: &'h [HunkRepair],
    pub(super) file_end: FileEnd,
}

fn class_of(repair: HunkRepair) -> DifferenceKind {
    match repair {
        HunkRepair::BareContext | HunkRepair::MixedContext => DifferenceKind::BareContext,
        HunkRepair::EchoedLine => DifferenceKind::EchoedLine,
        HunkRepair::LiteralNewlines => DifferenceKind::Escapes,
        HunkRepair::LineNumbers => DifferenceKind::LineNumbers,
        _ => DifferenceKind::DiffMarkers,
    }
}
