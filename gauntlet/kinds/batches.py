"""Many edits in one call, each with a mistake of white space."""

import os

from gauntlet.cases import need
from gauntlet.drafts import Draft, Row
from gauntlet.text import fold_all, indent_of, occurrences, sequence_spots

from .requests import from_draft, payload, rename


def windows(lines, count, rng):
    """Places of two or three lines, each unique by content, apart from another."""
    folded, text = fold_all(lines), "\n".join(lines)
    starts = list(range(0, len(lines) - 4))
    rng.shuffle(starts)
    found = []
    for start in starts:
        size = rng.randint(2, 3)
        block = lines[start:start + size]
        if any(start < b + 4 and b < start + size + 4 for b, _ in found) or \
                not all(line.strip() for line in block) or sum(map(len, fold_all(block))) < 16:
            continue
        if len(sequence_spots(folded, fold_all(block))) == 1 and \
                len(occurrences(text, "\n".join(block))) == 1:
            found.append((start, size))
        if len(found) == count:
            return sorted(found)
    return None


def damage(rows, rng):
    """Blanks at line ends, or the common indentation lost."""
    quoted = [row for row in rows if row.tag != "+"]
    common = len(os.path.commonprefix([indent_of(row.text) for row in rows]))
    if common >= 2 and rng.random() < 0.5:
        for row in rows:
            row.text = row.text[common:]
    # The last line as well, or a part of the line would match exactly.
    else:
        for row in quoted:
            row.text = row.text.rstrip() + rng.choice([" ", "  "])


def batch(count):
    def make(change, rng, pool, form):
        lines = change.before
        need(len(lines) >= 7 * count)
        places = windows(lines, count, rng)
        need(places)
        taken = set(fold_all(lines))
        parts, at = [], 0
        for start, size in places:
            k = rng.randrange(size)
            rows = []
            for n in range(size):
                line = lines[start + n]
                rows.append(Row("-" if n == k else " ", line, line))
                if n == k:
                    added = rename(line, rng, taken)
                    need(added)
                    taken.update(fold_all([added]))
                    rows.append(Row("+", added, added))
            damage(rows, rng)
            parts += [lines[at:start], rows]
            at = start + size
        draft = Draft(change, parts + [lines[at:]])
        edits = [{"old": "\n".join(draft.shown("old", g)), "new": "\n".join(draft.shown("new", g))}
                 for g in range(count)]
        text = draft.text()
        need(not any(edit["old"] in text for edit in edits))
        request = {"edits": edits} if form == "replace" else payload(form, draft, rng)
        return from_draft(draft, form, request)
    return make
