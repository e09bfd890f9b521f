"""True staleness: the request quotes an earlier version exactly.

`untouched`: others changed lines that the request only shows; the merge is
right. `changed`: they changed a line that it replaces. `gone`: they removed the
block. The last two must be refused.
"""

from gauntlet.cases import need
from gauntlet.drafts import Row, rows_of
from gauntlet.mistakes import renewed
from gauntlet.text import fold, fold_all, occurrences

from .history import apply_ops, has_successor, is_like, kept_lines, merge
from .requests import (build, edited_rows, is_absent, is_unique, is_weighty, payload, plain,
                       quotation, refusal, rename, text_of, trimmed)


def untouched(change, rng, pool, form):
    return (other_hunk if rng.random() < 0.7 else other_line)(change, rng, form)


def shown_rows(change, hunk, lead, trail, form):
    """The rows of a hunk; a snippet has no blank lines at its ends."""
    rows, start, _ = rows_of(change, hunk, lead, trail)
    if form == "replace":
        while rows and rows[0].tag == " " and not rows[0].file.strip():
            rows.pop(0)
            start += 1
        while rows and rows[-1].tag == " " and not rows[-1].file.strip():
            rows.pop()
    need(rows and all(r.file.strip() for r in (rows[0], rows[-1])))
    return rows, start


def merged_case(change, form, rng, rows, start, present, note):
    """The edit of `rows` merged into the present file."""
    version = change.before
    draft = quotation(change, version, start, rows)
    quote = draft.shown("old")
    need(is_weighty(quote) and is_unique(version, quote) and is_absent(present, quote))
    expected = merge(present, version, draft.lines(after=True))
    need(expected is not None and expected != text_of(present))
    # Only lines between the first and the last that the merge changed.
    a, b = text_of(present).split("\n"), expected.split("\n")
    head = next((n for n in range(len(a)) if n >= len(b) or a[n] != b[n]), len(a))
    tail = next((n for n in range(min(len(a), len(b)) - head) if a[-1 - n] != b[-1 - n]),
                min(len(a), len(b)) - head)
    return build(change, form, present, expected, payload(form, draft, rng),
                 [(head, len(a) - tail)], note, [version], plain(draft))


def other_hunk(change, rng, form):
    """Another hunk of the same release, done already, within the quotation."""
    found = []
    for hunk in change.hunks:
        first, last = hunk[0][0], hunk[-1][1]
        for op in change.ops:
            gap = max(first - op[1], op[0] - last)
            if op not in hunk and 1 <= gap <= 5 and op[1] - op[0] <= 6 and op[3] - op[2] <= 6 and \
                    any(s.strip() for s in change.before[op[0]:op[1]] + change.after[op[2]:op[3]]):
                found.append((hunk, op))
    need(found)
    hunk, near = rng.choice(found)
    first, last = hunk[0][0], hunk[-1][1]
    lead = first - near[0] + rng.randint(1, 2) if near[0] < first else rng.randint(1, 3)
    trail = near[1] - last + rng.randint(1, 2) if near[0] >= last else rng.randint(1, 3)
    rows, start = shown_rows(change, hunk, lead, trail, form)
    ops = [near]
    if rng.random() < 0.5:      # and what else the release did, further away
        ops += [op for op in change.ops if op not in hunk and op != near
                and (op[1] < first - lead - 3 or op[0] > last + trail + 3)]
    return merged_case(change, form, rng, rows, start, apply_ops(change, ops), "another hunk")


def other_line(change, rng, form):
    """A line of the context changed, removed, or a line added before it."""
    hunk = rng.choice(change.hunks)
    lead, trail = rng.randint(3, 5), rng.randint(3, 5)
    rows, start = shown_rows(change, hunk, lead, trail, form)
    at, spots = start, []
    for n, row in enumerate(rows):
        near = rows[max(0, n - 2):n + 3]
        if row.tag == " " and row.file.strip() and all(r.tag == " " for r in near) and n >= 1:
            spots.append(at)
        at += row.tag != "+"
    need(spots)
    at = rng.choice(spots)
    line = change.before[at]
    other = renewed(line, rng)
    need(other and fold(other) not in set(fold_all(change.before)))
    how, present = rng.choice([("changed", [other]), ("changed", [other]), ("removed", []),
                               ("added", [other, line])])
    present = change.before[:at] + present + change.before[at + 1:]
    return merged_case(change, form, rng, rows, start, present, f"a context line {how}")


def changed(change, rng, pool, form):
    """A line that the request replaces is another one by now."""
    if rng.random() < 0.5:
        return changed_by_release(change, rng, form)
    hunk = rng.choice(change.hunks)
    rows, start = shown_rows(change, hunk, rng.randint(1, 3), rng.randint(1, 3), form)
    at, spots = start, []
    for row in rows:
        if row.tag == "-" and len(row.file.strip()) >= 8:
            spots.append(at)
        at += row.tag != "+"
    need(spots)
    at = rng.choice(spots)
    other = rename(change.before[at], rng, set(fold_all(change.before + change.after)))
    need(other)
    present = change.before[:at] + [other] + change.before[at + 1:]
    draft = quotation(change, change.before, start, rows)
    return stale_refusal(change, form, rng, draft, present, [change.before[at]], "made")


def changed_by_release(change, rng, form):
    spots = [(i, op) for op in change.ops if 0 < op[1] - op[0] <= 8 and 0 < op[3] - op[2] <= 8
             for i in range(op[0], op[1]) if len(change.before[i].strip()) >= 8]
    need(spots)
    at, op = rng.choice(spots)
    taken = set(fold_all(change.before + change.after))
    new = rename(change.before[at], rng, taken)
    need(new)
    start = max(0, op[0] - rng.randint(1, 3))
    start, end = trimmed(change.before, start, min(len(change.before), op[1] + rng.randint(1, 3)))
    need(start <= at < end)
    rows = []
    for n in range(start, end):
        line = change.before[n]
        rows.append(Row("-" if n == at else " ", line, line))
        if n == at:
            rows.append(Row("+", new, new))
    draft = quotation(change, change.before, start, rows)
    return stale_refusal(change, form, rng, draft, change.after, [change.before[at]], "by the release")


def stale_refusal(change, form, rng, draft, present, lost, note):
    quote = draft.shown("old")
    need(is_weighty(quote, 2, 16) and is_unique(change.before, quote) and is_absent(present, quote))
    left = set(fold_all(present))
    need(all(fold(line) not in left for line in lost))
    need(not occurrences(text_of(present), "\n".join(draft.shown("new"))))
    return refusal(change, form, present, payload(form, draft, rng), note, [change.before], plain(draft))


def gone(change, rng, pool, form):
    """The quoted block was removed, and nothing is left of it."""
    lines = change.before
    if rng.random() < 0.6:
        origin = kept_lines(change)
        blocks = [op for op in change.ops if op[1] - op[0] >= 3]
        need(blocks)
        op = rng.choice(blocks)
        size = rng.randint(3, min(10, op[1] - op[0]))
        start = rng.randrange(op[0], op[1] - size + 1)
        start, end = trimmed(lines, start, start + size)
        need(not has_successor(lines[start:end], change, origin))
        present, note = change.after, "by the release"
    else:
        need(len(lines) >= 30)
        size = rng.randint(3, 8)
        start = rng.randrange(2, len(lines) - size - 2)
        start, end = trimmed(lines, start, start + size)
        present = lines[:start - rng.randint(0, 2)] + lines[end + rng.randint(0, 2):]
        note = "made"
    quote = lines[start:end]
    left = set(fold_all(present))
    own = [line for line in quote if fold(line) and fold(line) not in left]
    need(len(own) >= max(2, len(fold_all(quote)) // 2))
    rows, how = edited_rows(quote, rng, set(fold_all(lines)) | left)
    draft = quotation(change, lines, start, rows)
    lost = [row.file for row in rows if row.tag == "-"]
    need(not lost or fold(lost[0]) not in left)
    return stale_refusal(change, form, rng, draft, present, lost, f"{note}; {how}")
