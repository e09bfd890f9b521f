//! The kinds of cases, and how cases are generated.

use super::certainty::{by_content, by_margin, by_pieces};
use super::draft::Draft;
use super::random::Random;
use super::refusals::{self, Refusal};
use super::transport::Texts;
use super::{content, form, transport};

/// A request with a known result.
pub(crate) struct Case {
    pub(crate) kind: &'static str,
    pub(crate) before: String,
    pub(crate) old: String,
    pub(crate) new: String,
    /// `None` if it must be refused.
    pub(crate) expected: Option<String>,
    /// The text before and after the edited lines.
    pub(crate) head: String,
    pub(crate) tail: String,
}

/// The files that a case is generated from.
pub(crate) struct Maker<'a> {
    pub(crate) file: &'a [String],
    pub(crate) other: &'a [String],
}

type RowDamage = fn(&mut Draft, &mut Random) -> bool;
type TextDamage = fn(&mut Draft, Texts, &mut Random) -> Option<Texts>;

/// How the cases of a kind are generated.
enum Recipe {
    /// Lines are damaged; the place is unique by content.
    Form(RowDamage),
    /// Words are damaged; the place is ahead of any other by a margin.
    Content(RowDamage),
    /// Lines are elided; the pieces on both sides are unique.
    Elision,
    /// The complete texts are damaged.
    Whole(TextDamage),
    /// Lines are damaged twice, or lines and then the complete texts.
    Two,
    /// Only a refusal is right.
    Refuse(fn(&Maker<'_>, &mut Random) -> Option<Refusal>),
}

use Recipe::{Content, Elision, Form, Refuse, Two, Whole};

const KINDS: &[(&str, Recipe)] = &[
    ("exact", Form(|_, _| true)),
    ("trailing whitespace, file", Form(form::trailing_whitespace_in_file)),
    ("trailing whitespace, request", Form(form::trailing_whitespace_in_request)),
    ("shift", Form(form::shift)),
    ("tabs and spaces", Form(form::tabs_and_spaces)),
    ("first line stripped", Form(form::first_line_stripped)),
    ("blank lines", Form(form::blank_lines)),
    ("CRLF file", Form(form::crlf_file)),
    ("CRLF request", Whole(transport::crlf)),
    ("mixed line endings", Form(form::mixed_line_endings)),
    ("look-alikes, file", Form(form::look_alikes_in_file)),
    ("look-alikes, request", Form(form::look_alikes_in_request)),
    ("line numbers", Whole(transport::line_numbers)),
    ("escapes", Whole(transport::escapes)),
    ("entities", Whole(transport::entities)),
    ("fence", Whole(transport::fence)),
    ("partial line", Whole(transport::partial_line)),
    ("typo", Content(content::typo)),
    ("paraphrased comment", Content(content::paraphrased)),
    ("elision", Elision),
    ("stale context", Content(content::stale)),
    ("newline edges", Whole(transport::newline_edges)),
    ("no final newline", Whole(transport::no_final_newline)),
    ("two at once", Two),
    ("refuse: ambiguous", Refuse(refusals::ambiguous)),
    ("refuse: near ambiguous", Refuse(refusals::near_ambiguous)),
    ("refuse: elision", Refuse(refusals::elision)),
    ("refuse: sibling", Refuse(refusals::sibling)),
    ("refuse: absent", Refuse(refusals::absent)),
    ("refuse: blank", Refuse(refusals::blank)),
    ("refuse: already applied", Refuse(refusals::already_applied)),
    ("refuse: different line", Refuse(refusals::different_removed_line)),
];

const FORM: &[RowDamage] = &[
    form::shift,
    form::tabs_and_spaces,
    form::trailing_whitespace_in_request,
    form::blank_lines,
    form::look_alikes_in_request,
    form::first_line_stripped,
    form::crlf_file,
];
const CONTENT: &[RowDamage] = &[content::typo, content::stale];
const TRANSPORT: &[TextDamage] =
    &[transport::line_numbers, transport::fence, transport::crlf, transport::newline_edges];

/// How many attempts a case may take: most drafts do not suit most kinds.
const TRIES: usize = 3000;

/// Generates `each` cases of every kind; the same ones for the same seed and files.
pub(crate) fn cases(files: &[Vec<String>], each: usize, seed: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    for (number, (kind, recipe)) in KINDS.iter().enumerate() {
        let mut random = Random::new(seed.wrapping_add(1000 * number as u64));
        let mut made = 0;
        for _ in 0..each * TRIES {
            let (Some(file), Some(other)) = (random.pick(files), random.pick(files)) else { break };
            if let Some(case) = recipe.make(kind, &Maker { file, other }, &mut random) {
                cases.push(case);
                made += 1;
            }
            if made == each {
                break;
            }
        }
        assert_eq!(made, each, "the corpus gives enough cases of the kind {kind:?}");
    }
    cases
}

impl Recipe {
    fn make(&self, kind: &'static str, maker: &Maker<'_>, random: &mut Random) -> Option<Case> {
        if let Refuse(make) = self {
            let (draft, texts) = make(maker, random)?;
            let touched = draft.before().contains(&texts.0)
                && kind != "refuse: ambiguous"
                && !texts.0.trim().is_empty();
            return (!touched && texts.0 != texts.1).then(|| case(kind, &draft, texts, None));
        }
        let (lead, trail) = match self {
            Elision if random.chance(50) => (random.from(8, 14), 2),
            Elision => (2, random.from(8, 14)),
            Content(_) => (random.from(2, 4), random.from(2, 4)),
            _ => (random.from(1, 4), random.from(1, 4)),
        };
        let mut draft = Draft::of(maker.file, lead, trail, random)?;
        let texts = self.damage(&mut draft, random)?;
        let (before, after) = (draft.before(), draft.after());
        // If the damaged old text still occurs elsewhere or twice, it is not a case of this kind.
        let exact = before.matches(&texts.0).count();
        let fits = exact == 0 || (exact == 1 && by_content(&draft));
        (fits && before != after && texts.0 != texts.1 && !texts.1.trim().is_empty())
            .then(|| case(kind, &draft, texts, Some(after)))
    }

    fn damage(&self, draft: &mut Draft, random: &mut Random) -> Option<Texts> {
        match self {
            Form(damage) => (damage(draft, random) && by_content(draft)).then(|| draft.request()),
            Content(damage) => (damage(draft, random) && by_margin(draft)).then(|| draft.request()),
            Elision => (content::elided(draft, random) && by_pieces(draft)).then(|| draft.request()),
            Whole(damage) => {
                let texts = draft.request();
                let damaged = damage(draft, texts, random)?;
                by_content(draft).then_some(damaged)
            }
            Two => two(draft, random),
            Refuse(_) => None,
        }
    }
}

/// Damages lines twice, or lines and then the complete texts.
fn two(draft: &mut Draft, random: &mut Random) -> Option<Texts> {
    let (first, certain): (_, fn(&Draft) -> bool) = match random.chance(70) {
        true => (random.pick(FORM)?, by_content),
        false => (random.pick(CONTENT)?, by_margin),
    };
    if !first(draft, random) || !certain(draft) {
        return None;
    }
    if random.chance(30) {
        let second = random.pick(FORM)?;
        return (second(draft, random) && certain(draft)).then(|| draft.request());
    }
    let texts = draft.request();
    random.pick(TRANSPORT)?(draft, texts, random)
}

fn case(kind: &'static str, draft: &Draft, texts: Texts, expected: Option<String>) -> Case {
    Case {
        kind,
        before: draft.before(),
        old: texts.0,
        new: texts.1,
        expected,
        head: draft.head.join("\n"),
        tail: draft.tail.join("\n"),
    }
}
