//! Requests that must be refused.

use super::certainty::{by_content, folded_lines, is_unrelated, occurrences};
use super::content::{different_line, elided, typo};
use super::draft::{Draft, Role, Row, words};
use super::form::{
    first_line_stripped, look_alikes_in_request, shift, tabs_and_spaces, trailing_whitespace_in_request,
};
use super::kinds::Maker;
use super::random::Random;
use super::transport::{Texts, fence, line_numbers};

/// A request, and the file that it must not change.
pub(crate) type Refusal = (Draft, Texts);

/// A draft with some context.
fn plain(maker: &Maker<'_>, random: &mut Random) -> Option<Draft> {
    let (lead, trail) = (random.from(1, 3), random.from(1, 3));
    Draft::of(maker.file, lead, trail, random)
}

/// A draft whose lines occur in the file a second time.
fn doubled(maker: &Maker<'_>, random: &mut Random) -> Option<Draft> {
    let mut draft = plain(maker, random)?;
    copy_elsewhere(&mut draft, random)?;
    Some(draft)
}

fn copy_elsewhere(draft: &mut Draft, random: &mut Random) -> Option<()> {
    let old = draft.rows.iter().filter(|row| row.role != Role::Added);
    let copy: Vec<String> = old.filter_map(|row| row.file.clone()).collect();
    put_elsewhere(draft, copy, random)
}

/// Inserts lines into the file, well before or after the hunk.
fn put_elsewhere(draft: &mut Draft, lines: Vec<String>, random: &mut Random) -> Option<()> {
    let head = random.chance(50);
    let side = if head { &mut draft.head } else { &mut draft.tail };
    // Not next to the hunk, and sometimes at an end of the file.
    let at = random.below(side.len().checked_sub(3)?);
    let at = if head { at } else { side.len() - at };
    side.splice(at..at, lines);
    Some(())
}

pub(crate) fn ambiguous(maker: &Maker<'_>, random: &mut Random) -> Option<Refusal> {
    let draft = doubled(maker, random)?;
    let texts = draft.request();
    Some((draft, texts))
}

/// Damaged text that occurs twice.
pub(crate) fn near_ambiguous(maker: &Maker<'_>, random: &mut Random) -> Option<Refusal> {
    let mut draft = doubled(maker, random)?;
    let damages = [
        typo,
        shift,
        tabs_and_spaces,
        trailing_whitespace_in_request,
        look_alikes_in_request,
        first_line_stripped,
    ];
    let texts = match random.below(damages.len() + 2) {
        0 => {
            let texts = draft.request();
            line_numbers(&mut draft, texts, random)?
        }
        1 => {
            let texts = draft.request();
            fence(&mut draft, texts, random)?
        }
        number => damages[number - 2](&mut draft, random).then(|| draft.request())?,
    };
    Some((draft, texts))
}

/// An elision between lines that occur twice.
pub(crate) fn elision(maker: &Maker<'_>, random: &mut Random) -> Option<Refusal> {
    let mut draft = Draft::of(maker.file, random.from(8, 12), 2, random)?;
    copy_elsewhere(&mut draft, random)?;
    elided(&mut draft, random).then(|| (draft.clone(), draft.request()))
}

/// A third word where the file has two, each equally similar to it.
pub(crate) fn sibling(maker: &Maker<'_>, random: &mut Random) -> Option<Refusal> {
    let mut draft = plain(maker, random)?;
    let &at = random.pick(&draft.context(8))?;
    let text = draft.rows[at].file.clone()?;
    let &(_, to) = random.pick(&words(&text, 4))?;
    let with = |end: &str| format!("{}{end}{}", &text[..to], &text[to..]);
    let forms = [["_red", "_big", "_own"], ["One", "Two", "Six"], ["s", "d", "r"]];
    let [here, there, asked] = forms[random.below(forms.len())];
    draft.rows[at].file = Some(with(here));
    draft.rows[at].show(&with(asked));
    let copy: Vec<String> = (0..draft.rows.len())
        .filter(|&row| draft.rows[row].role != Role::Added)
        .filter_map(|row| if row == at { Some(with(there)) } else { draft.rows[row].file.clone() })
        .collect();
    put_elsewhere(&mut draft, copy, random)?;
    let texts = draft.request();
    Some((draft, texts))
}

/// Text from another file.
pub(crate) fn absent(maker: &Maker<'_>, random: &mut Random) -> Option<Refusal> {
    let other = Draft::of(maker.other, random.from(1, 3), random.from(1, 3), random)?;
    let draft = plain(maker, random)?;
    let old = folded_lines(other.rows.iter().filter_map(Row::old_content));
    let lines = folded_lines(draft.lines([Role::Context, Role::Removed]));
    is_unrelated(&old, &lines).then(|| (draft, other.request()))
}

pub(crate) fn blank(maker: &Maker<'_>, random: &mut Random) -> Option<Refusal> {
    let draft = plain(maker, random)?;
    let old = ["", " ", "    ", "\n", "\n\n", "\t", "  \n", "\r\n"][random.below(8)];
    let new = draft.request().1;
    Some((draft, (old.into(), new)))
}

/// An edit that is already applied.
pub(crate) fn already_applied(maker: &Maker<'_>, random: &mut Random) -> Option<Refusal> {
    let mut draft = plain(maker, random)?;
    if !by_content(&draft) {
        return None;
    }
    let texts = draft.request();
    let after = folded_lines(draft.lines([Role::Context, Role::Added]));
    let (old, new) = (folded_lines(texts.0.split('\n')), folded_lines(texts.1.split('\n')));
    let adds_lines = draft.rows.iter().any(|row| row.role == Role::Added);
    draft.rows.retain(|row| row.role != Role::Removed);
    draft.rows.iter_mut().for_each(|row| row.role = Role::Context);
    (adds_lines && occurrences(&after, &old).is_empty() && occurrences(&after, &new).len() == 1)
        .then_some((draft, texts))
}

/// A removed line that differs from the file.
pub(crate) fn different_removed_line(maker: &Maker<'_>, random: &mut Random) -> Option<Refusal> {
    let mut draft = plain(maker, random)?;
    if !different_line(&mut draft, random) {
        return None;
    }
    let texts = draft.request();
    Some((draft, texts))
}
