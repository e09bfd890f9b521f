"""Patches whose form is wrong and whose meaning is clear."""

import re

from gauntlet.cases import need
from gauntlet.certainty import certain_by_content
from gauntlet.drafts import Row, several_hunks
from gauntlet.patches import anchor_line
from gauntlet.text import fold, fold_all, sequence_spots

from .requests import from_draft, is_unique, is_weighty


def drafted(change, rng, most=2):
    draft = several_hunks(change, rng, most=most)
    need(draft and certain_by_content(draft))
    return draft


def body_of(rows):
    return [row.tag + row.text for row in rows if row.text is not None]


def hunks_of(draft, form):
    """[header, lines] of every hunk."""
    hunks, shift = [], 0
    for g, rows in enumerate(draft.groups):
        lines = body_of(rows)
        start = draft.span(g)[0] + 1
        n = sum(not line.startswith("+") for line in lines)
        m = sum(not line.startswith("-") for line in lines)
        head = f"@@ -{start},{n} +{start + shift},{m} @@" if form == "udiff" else "@@"
        shift += m - n
        hunks.append([head, lines])
    return hunks


def patch_text(draft, form, hunks):
    lines = [line for head, body in hunks for line in [head, *body]]
    if form == "udiff":
        return "\n".join([f"--- a/{draft.path}", f"+++ b/{draft.path}", *lines]) + "\n"
    return "\n".join(["*** Begin Patch", f"*** Update File: {draft.path}", *lines,
                      "*** End Patch"]) + "\n"


def finish(draft, form, hunks, note=""):
    field = "diff" if form == "udiff" else "v4a"
    return from_draft(draft, form, {field: patch_text(draft, form, hunks)}, note)


def echo(change, rng, pool, form):
    """Removed lines are given as context first."""
    draft = drafted(change, rng)
    rows = rng.choice(draft.groups)
    starts = [n for n in range(len(rows)) if rows[n].tag == "-" and rows[n].text.strip()
              and (n == 0 or rows[n - 1].tag == " ")]
    need(starts)
    at = rng.choice(starts)
    run = 1
    while at + run < len(rows) and rows[at + run].tag == "-":
        run += 1
    run = run if rng.random() < 0.4 else 1
    echoed = [row.text for row in rows[at:at + run]]
    # The file must not have the lines twice in a row.
    shown = fold_all(echoed)
    need(shown and not sequence_spots(fold_all(draft.lines()), shown + shown))
    rows[at:at] = [Row(" ", None, text) for text in echoed]
    return finish(draft, form, hunks_of(draft, form), f"{run} lines")


def empty_hunk(change, rng, pool, form):
    draft = drafted(change, rng)
    hunks = hunks_of(draft, form)
    head = "@@" if form == "v4a" or rng.random() < 0.5 else f"@@ -{len(draft.lines())},0 +{len(draft.lines())},0 @@"
    hunks.insert(len(hunks) if rng.random() < 0.7 else 0, [head, []])
    return finish(draft, form, hunks, head)


def noop_hunk(change, rng, pool, form):
    """A hunk of context lines only, or one that replaces lines with themselves."""
    draft = drafted(change, rng)
    before = rng.random() < 0.5
    part = draft.parts[0] if before else draft.parts[-1]
    need(len(part) >= 8)
    start = rng.randrange(0, len(part) - 5)
    lines = part[start:start + rng.randint(2, 4)]
    need(is_weighty(lines, 2, 12) and is_unique(draft.lines(), lines))
    first = 1 + start + (0 if before else draft.span(len(draft.groups) - 1)[1])
    return with_noop(draft, form, rng, lines, first, 0 if before else None)


def noop_hunk_absent(change, rng, pool, form):
    """The same, of lines that are not in the file."""
    draft = drafted(change, rng)
    other = rng.choice(pool[change.lang]).before
    need(len(other) >= 12)
    start = rng.randrange(0, len(other) - 6)
    lines = other[start:start + rng.randint(2, 4)]
    here = set(fold_all(draft.lines()))
    need(is_weighty(lines, 2, 20) and not any(fold(line) in here for line in lines if len(fold(line)) >= 6))
    need(not any(fold(line) in here for line in lines if fold(line)))
    return with_noop(draft, form, rng, lines, start + 1, rng.choice([0, None]))


def with_noop(draft, form, rng, lines, first, at):
    if rng.random() < 0.6:
        body = [" " + line for line in lines]
    else:
        body = [" " + lines[0]] + ["-" + line for line in lines[1:]] + ["+" + line for line in lines[1:]]
    head = f"@@ -{first},{len(lines)} +{first},{len(lines)} @@" if form == "udiff" else "@@"
    hunks = hunks_of(draft, form)
    hunks.insert(len(hunks) if at is None else at, [head, body])
    return finish(draft, form, hunks, "context" if body[-1][0] == " " else "replaced with itself")


PROSE_SCOPES = ["in the helper function", "inside the main loop", "near the top of the file",
                "update the handler below", "where the options are set", "(same section as before)"]


def with_scope(change, rng, form, scope):
    draft = drafted(change, rng, most=1)
    text = scope(draft)
    need(text and text not in draft.text())
    hunks = hunks_of(draft, form)
    for hunk in hunks:
        hunk[0] = f"@@ {text}" + " @@" * (form == "udiff")
    return finish(draft, form, hunks, text)


def prose_scope(change, rng, pool, form):
    return with_scope(change, rng, form, lambda draft: rng.choice(PROSE_SCOPES))


HEADINGS = {"python": "def {}(self):", "rust": "fn {}(&self) {{", "javascript": "function {}() {{",
            "typescript": "export function {}() {{", "c": "static int {}(void)", "css": ".{} {{",
            "shell": "{}() {{", "toml": "[{}]", "yaml": "{}:", "markdown": "## {}"}


def absent_scope(change, rng, pool, form):
    """A heading that the file does not have; the hunk's own lines are unique."""
    need(change.lang in HEADINGS)
    name = "_".join(rng.sample(["quince", "marrow", "sorrel", "damson", "fennel"], 2))
    return with_scope(change, rng, form, lambda draft: HEADINGS[change.lang].format(name))


def doubled_scope(change, rng, pool, form):
    draft = drafted(change, rng, most=1)
    anchor = anchor_line(draft, 0)
    need(anchor)
    hunks = hunks_of(draft, form)
    hunks[0][0] = f"@@ @@ {anchor}"
    return finish(draft, form, hunks, hunks[0][0])


NUMBERS = ["{n:>4}|", "{n}: ", "{n:>5}\u2192", "{n} | ", "{n:>6}\t"]


def prefixed(change, rng, form, prefix):
    """Every line that the file has carries a prefix; added lines perhaps."""
    draft = drafted(change, rng)
    need(not any(re.match(r"\s*\d+\s*[:|\u2192\t]", row.file) for g in draft.groups for row in g))
    added = rng.random() < 0.5
    for g, rows in enumerate(draft.groups):
        need(sum(row.tag != "+" for row in rows) >= 3)
        old = new = draft.span(g)[0] + 1
        for row in rows:
            number = new if row.tag == "+" else old
            if row.tag != "+" or added:
                row.text = prefix(number) + row.text
            old, new = old + (row.tag != "+"), new + (row.tag != "-")
    return finish(draft, form, hunks_of(draft, form), "added lines too" if added else "old lines only")


def line_numbers(change, rng, pool, form):
    style = rng.choice(NUMBERS)
    return prefixed(change, rng, form, lambda n: style.format(n=n))


def hash_lines(change, rng, pool, form):
    letters = "bcdfghjkmnpqrstvwxyz"
    return prefixed(change, rng, form, lambda n: f"{n}:{rng.choice(letters)}{rng.choice(letters)}|")


def literal_newlines(change, rng, pool, form):
    draft = drafted(change, rng)
    need("\\" not in "".join(row.text for g in draft.groups for row in g))
    hunks = hunks_of(draft, form)
    for hunk in hunks:
        hunk[1] = ["\\n".join(hunk[1])]
    return finish(draft, form, hunks)


def context_spots(rows):
    """Rows whose neighbours on both sides, two deep, are context as well."""
    return [n for n in range(1, len(rows) - 1)
            if all(r.tag == " " for r in rows[max(0, n - 2):n + 3])]


def core_is_unique(draft, rows, at):
    """Whether the quoted lines on the change's side of row `at` prove the place."""
    touched = [n for n, row in enumerate(rows) if row.tag != " "]
    side = rows[:at] if touched[-1] < at else rows[at + 1:]
    part = fold_all(row.file for row in side if row.tag != "+" and row.file is not None)
    return len(part) >= 3 and sum(map(len, part)) >= 24 and \
        len(sequence_spots(fold_all(draft.lines()), part)) == 1


def wide(change, rng):
    draft = several_hunks(change, rng, most=1, context=5)
    need(draft and certain_by_content(draft))
    return draft


def extra_context(change, rng, pool, form):
    """A context line that the file does not have, between two that it has."""
    draft = wide(change, rng)
    rows = draft.rows
    spots = [n for n in context_spots(rows) if core_is_unique(draft, rows, n)]
    need(spots)
    at = rng.choice(spots)
    here = set(fold_all(draft.lines() + draft.lines(after=True)))
    others = [line for line in rng.choice(pool[change.lang]).before
              if len(fold(line)) >= 10 and fold(line) not in here]
    need(others)
    rows.insert(at, Row(" ", None, rng.choice(others)))
    return finish(draft, form, hunks_of(draft, form))


def missing_context(change, rng, pool, form):
    """A context line left out between two others."""
    draft = wide(change, rng)
    rows = draft.rows
    spots = [n for n in context_spots(rows) if rows[n].text.strip() and core_is_unique(draft, rows, n)]
    need(spots)
    rows[rng.choice(spots)].text = None
    return finish(draft, form, hunks_of(draft, form))


def bare_context(change, rng, pool, form):
    """Context lines without their marker, all of them or some."""
    draft = drafted(change, rng)
    share = rng.choice([1.0, 1.0, 0.5])
    hunks = hunks_of(draft, form)
    bare = 0
    for hunk in hunks:
        need(not any(re.match(r" [-+@*\\]", line) for line in hunk[1]))
        for n, line in enumerate(hunk[1]):
            if line[0] == " " and rng.random() < share:
                hunk[1][n] = line[1:]
                bare += bool(line.strip())
    need(bare)
    return finish(draft, form, hunks, "all" if share == 1 else "some")
