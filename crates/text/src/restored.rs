//! Composes steps of which some put back what others removed.
//!
//! Text that was removed and put back is the same text again. [`Splices::then`] cannot know that: if two lines were removed
//! and put back with a new line between them, it says that two lines were replaced by three. Here, only the line between
//! them is inserted, so that a change of the two lines still has a place.

use crate::splice::{SplicesBuilder, advance};
use crate::{Piece, Span, Splices};

/// A step of [`compose_restoring`].
#[derive(Debug, Clone)]
pub struct Step<'a> {
    /// What it does to the text after the step before.
    pub splices: &'a Splices,
    /// The earlier steps that it reverts, by their index. Where it inserts what one of them removed, it restores that text.
    pub reverts: Vec<usize>,
}

/// The splices that turn `base` into the text after all steps, in which restored text counts as kept.
///
/// # Panics
/// If a step does not apply to the result of the one before.
pub fn compose_restoring(base: &[u8], steps: &[Step<'_>]) -> Splices {
    let mut trace = Trace::new(base);
    for step in steps {
        trace.apply(step);
    }
    trace.finish()
}

/// A text as spans of everything that was ever in it, so that text keeps its identity while it is removed.
struct Trace {
    /// The old text, then what each step inserted.
    bytes: Vec<u8>,
    base_len: usize,
    text: Vec<Span>,
    /// For each step, what each of its splices removed.
    removed: Vec<Vec<Vec<Span>>>,
}

impl Trace {
    fn new(base: &[u8]) -> Self {
        Self {
            bytes: base.to_vec(),
            base_len: base.len(),
            text: vec![Span::new(0, base.len())],
            removed: Vec::new(),
        }
    }

    fn apply(&mut self, step: &Step<'_>) {
        let text = std::mem::take(&mut self.text);
        let len = text.iter().map(|span| span.len()).sum();
        assert_eq!(step.splices.base_len(), len, "each step must apply to the result of the one before");
        let removed_by = |&index: &usize| self.removed.get(index).into_iter().flatten();
        let mut restorable: Vec<Vec<Span>> = step.reverts.iter().flat_map(removed_by).cloned().collect();
        let mut pieces = text.into_iter().filter(|span| !span.is_empty()).map(Piece::Keep).peekable();
        let (mut used, mut at) = (0, 0);
        let mut removed = Vec::new();
        for splice in step.splices.iter() {
            let mut gone = Vec::new();
            advance(&mut pieces, &mut used, splice.at.start() - at, |piece| self.text.extend(kept(piece)));
            advance(&mut pieces, &mut used, splice.at.len(), |piece| gone.extend(kept(piece)));
            at = splice.at.end();
            removed.push(gone);
            match restorable.iter().position(|spans| self.is_text_of(spans, &splice.insert)) {
                Some(found) => self.text.extend(restorable.remove(found)),
                None => self.insert(&splice.insert),
            }
        }
        advance(&mut pieces, &mut used, len - at, |piece| self.text.extend(kept(piece)));
        self.removed.push(removed);
    }

    fn insert(&mut self, bytes: &[u8]) {
        // An empty span would begin at the end of the old text, as if it were part of it.
        if bytes.is_empty() {
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.text.push(Span::new(start, self.bytes.len()));
    }

    fn is_text_of(&self, spans: &[Span], mut bytes: &[u8]) -> bool {
        spans.iter().all(|span| match bytes.strip_prefix(span.of(&self.bytes)) {
            Some(rest) => {
                bytes = rest;
                true
            }
            None => false,
        }) && bytes.is_empty()
    }

    /// Restored text that is behind what followed it counts as inserted.
    fn finish(self) -> Splices {
        let mut out = SplicesBuilder::new(self.base_len);
        let mut at = 0;
        for &span in &self.text {
            if span.end() <= self.base_len && span.start() >= at {
                at = span.end();
                out.push(Piece::Keep(span));
            } else {
                out.push(Piece::Insert(span.of(&self.bytes)));
            }
        }
        out.finish()
    }
}

fn kept(piece: Piece<'_>) -> Option<Span> {
    match piece {
        Piece::Keep(span) => Some(span),
        Piece::Insert(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Splice;
    use proptest::prelude::*;

    /// Replaces the text marked by its position and length.
    fn replace(text: &[u8], at: usize, len: usize, insert: &str) -> Splices {
        Splices::one(text.len(), Span::new(at, at + len), insert.as_bytes().to_vec())
    }

    #[test]
    fn text_that_is_put_back_around_a_new_line_is_kept() {
        let base = b"a b c";
        let insert = replace(base, 2, 0, "new ");
        let after = insert.apply(base);
        let (remove_all, put_back) = (replace(&after, 0, 9, ""), replace(b"", 0, 0, "a new b c"));
        let step = |splices, reverts: &[usize]| Step { splices, reverts: reverts.to_vec() };
        let steps = [step(&insert, &[]), step(&remove_all, &[]), step(&put_back, &[1])];
        assert_eq!(compose_restoring(base, &steps), insert);
        // If the same text was typed again, nothing says that it is the old one.
        let steps = [step(&insert, &[]), step(&remove_all, &[]), step(&put_back, &[])];
        assert_eq!(compose_restoring(base, &steps), replace(base, 0, 5, "a new b c"));
    }

    #[test]
    fn text_that_is_put_back_elsewhere_is_inserted() {
        let base = b"one two";
        let (remove, put_back) = (replace(base, 0, 4, ""), replace(b"two", 3, 0, "one "));
        let steps =
            [Step { splices: &remove, reverts: vec![] }, Step { splices: &put_back, reverts: vec![0] }];
        let composed = compose_restoring(base, &steps);
        assert_eq!(composed.apply(base), b"twoone ");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Some steps are the exact inverse of the step before.
        #[test]
        fn the_outcome_is_that_of_the_steps(
            base in "[ab]{0,12}",
            edits in proptest::collection::vec((any::<u8>(), 0usize..5, "[abc]{0,4}", any::<bool>()), 0..8),
        ) {
            let mut texts = vec![base.clone().into_bytes()];
            let mut steps: Vec<(Splices, Vec<usize>)> = Vec::new();
            for (at, len, insert, undoes) in edits {
                let text = texts.last().unwrap();
                let step = match steps.last().filter(|_| undoes) {
                    Some((last, _)) => (last.invert(&texts[texts.len() - 2]), vec![steps.len() - 1]),
                    None => {
                        let start = usize::from(at) * (text.len() + 1) / 256;
                        let at = Span::new(start, (start + len).min(text.len()));
                        let splice = Splice { at, insert: insert.into_bytes().into() };
                        (Splices::new(text.len(), vec![splice]).unwrap(), vec![])
                    }
                };
                texts.push(step.0.apply(text));
                steps.push(step);
            }
            let given: Vec<Step<'_>> =
                steps.iter().map(|(splices, reverts)| Step { splices, reverts: reverts.clone() }).collect();
            let composed = compose_restoring(base.as_bytes(), &given);
            prop_assert_eq!(&composed.apply(base.as_bytes()), texts.last().unwrap());
            let plain = steps.iter().fold(Splices::none(base.len()), |all, (step, _)| all.then(step));
            let removed = |splices: &Splices| splices.iter().map(|splice| splice.at.len()).sum::<usize>();
            prop_assert!(removed(&composed) <= removed(&plain), "at least as much is kept");
        }
    }
}
