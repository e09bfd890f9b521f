"""Building blocks: edits of quoted lines, and requests in every form.

A quotation is a `Draft` of the given gauntlet. It is cut from the version that
the caller has seen, which need not be the file that the request is sent to.
"""

import re

from gauntlet.cases import need
from gauntlet.drafts import Draft, Row
from gauntlet.mistakes import renewed
from gauntlet.patches import unified, v4a
from gauntlet.text import fold, fold_all, indent_of, occurrences, sequence_spots

ALL_FORMS = ("replace", "udiff", "v4a")
PATCHES = ("udiff", "v4a")
REPLACE = ("replace",)


def text_of(lines):
    return "\n".join(lines) + "\n"


def quotation(change, version, start, rows):
    """A draft of `version` (lines) whose hunk starts at line `start`."""
    end = start + sum(row.tag != "+" for row in rows)
    return Draft(change, [version[:start], rows, version[end:]])


def payload(form, draft, rng, numbers=None):
    """The fields of a request."""
    if form == "replace":
        old, new = draft.strings()
        need(old.strip() and new.strip() and old != new)
        return {"old": old, "new": new}
    if form == "udiff":
        numbers = numbers or rng.choice(["right", "right", "none"])
        return {"diff": unified(draft, numbers=numbers, rng=rng)}
    return {"v4a": v4a(draft)}


def plain(draft):
    """The edit without its mistakes, for a caller that tries again; a list of
    `edits` if the draft has several hunks."""
    edits = []
    for rows in draft.groups:
        old = [r.file for r in rows if r.tag != "+" and r.file is not None]
        new = [r.file for r in rows if r.tag != "-" and r.file is not None]
        edits.append({"old": "\n".join(old), "new": "\n".join(new)})
    return edits[0] if len(edits) == 1 else {"edits": edits}


def is_unguarded(path, before, expected):
    """Whether no guard has a say: neither the path nor the size of the change
    is a reason to ask someone first."""
    hidden = any(part.startswith(".") for part in path.split("/"))
    return not hidden and (expected is None or expected.count("\n") >= 0.6 * before.count("\n"))


def build(change, form, before, expected, request, span, note="", versions=None, retry=None):
    """A case. `before` and `expected` are lines or text; `expected` is None if
    the request must be refused."""
    def as_text(value):
        return text_of(value) if isinstance(value, list) else value
    before, expected = as_text(before), as_text(expected)
    need(before != expected and is_unguarded(change.path, before, expected))
    made = {"form": form, "lang": change.lang, "path": change.path, "source": change.source,
            "note": note, "before": before, "expected": expected,
            "span": [list(s) for s in span], **request}
    if versions:
        made["versions"] = [as_text(v) for v in versions]
    if retry:
        made["plain"] = retry
    return made


def from_draft(draft, form, request, note=""):
    """A case whose file and expected text are the draft's own."""
    span = [draft.span(g) for g in range(len(draft.groups))]
    notes = "; ".join(filter(None, [note, *draft.notes]))
    return build(draft.change, form, draft.text(), draft.text(after=True), request, span,
                 notes, retry=plain(draft))


def refusal(change, form, before, request, note="", versions=None, retry=None):
    return build(change, form, before, None, request, [(0, len(before))], note, versions, retry)


def rename(line, rng, taken):
    """The line with a change that an edit could make; not in `taken`."""
    for _ in range(4):
        made = renewed(line, rng)
        if made and fold(made) not in taken:
            return made
    return None


def edited_rows(lines, rng, taken, keep_ends=False):
    """Rows that replace one of the lines, insert a line, or delete one."""
    first, last = (1, len(lines) - 1) if keep_ends else (0, len(lines))
    spots = [k for k in range(first, last) if re.search(r"[A-Za-z_]{4}", lines[k])]
    need(spots)
    k = rng.choice(spots)
    how = rng.choice(["replace", "replace", "insert", "delete" if len(lines) >= 4 else "replace"])
    added = None if how == "delete" else rename(lines[k], rng, taken)
    need(how == "delete" or added)
    rows = []
    for n, line in enumerate(lines):
        goes = n == k and how != "insert"
        rows.append(Row("-" if goes else " ", line, line))
        if n == k and added:
            rows.append(Row("+", added, added))
    return rows, how


def trimmed(lines, start, end):
    """The range without blank lines at its ends."""
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def is_weighty(lines, least=3, letters=24):
    folded = fold_all(lines)
    return len(folded) >= least and sum(map(len, folded)) >= letters


def is_unique(lines, part):
    """Whether the lines contain `part` once, white space aside, and exactly."""
    return len(sequence_spots(fold_all(lines), fold_all(part))) == 1 and \
        len(occurrences(text_of(lines), "\n".join(part))) == 1


def is_absent(lines, part):
    return not sequence_spots(fold_all(lines), fold_all(part)) and \
        not occurrences(text_of(lines), "\n".join(part))


def deeper_than(line, other):
    return len(indent_of(line)) > len(indent_of(other))
