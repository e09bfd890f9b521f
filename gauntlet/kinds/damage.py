"""Damage that an engine may write and report as success."""

import json
import os
import re

from gauntlet.cases import need, with_elision
from gauntlet.certainty import certain_by_content, certain_elision
from gauntlet.drafts import Row, one_hunk
from gauntlet.languages import LINE_COMMENT
from gauntlet.mistakes import elision
from gauntlet.text import fold_all, indent_of, occurrences

from .requests import (from_draft, is_unique, is_weighty, payload, quotation, refusal, rename,
                       trimmed)


def dots_of(lang, rng):
    comment = LINE_COMMENT.get(lang)
    choices = ["...", "..."] + ([f"{comment} ...", f"{comment} ..."] if comment else [])
    if lang == "css":
        choices.append("/* ... */")
    return rng.choice(choices)


def bare_dots(change, rng, pool, form):
    """Dots in the new text alone, where the old text has lines to lose."""
    lines = change.before
    need(len(lines) >= 20)
    size = rng.randint(6, 12)
    start = rng.randrange(0, len(lines) - size)
    start, end = trimmed(lines, start, start + size)
    block = lines[start:end]
    need(len(fold_all(block)) >= 6 and is_unique(lines, block))
    need(not any(re.search(r"\.\.\.|\u2026", line) for line in block))
    lead, trail = rng.randint(1, 2), rng.randint(1, 2)
    hidden = block[lead + 1:len(block) - trail]
    need(len(fold_all(hidden)) >= 3)
    changed = rename(block[lead], rng, set(fold_all(lines)))
    need(changed)
    dots = indent_of(next(line for line in hidden if line.strip())) + dots_of(change.lang, rng)
    rows = [Row(" ", s, s) for s in block[:lead]]
    rows += [Row("-", block[lead], block[lead]), Row("+", changed, changed)]
    rows += [Row("-", s, s) for s in hidden] + [Row("+", dots, dots)]
    rows += [Row(" ", s, s) for s in block[len(block) - trail:]]
    request = payload(form, quotation(change, lines, start, rows), rng)
    return refusal(change, form, lines, request, dots.strip())


def dots_in_both(change, rng, pool, form):
    """Dots in the old and in the new text: the lines between are kept."""
    draft = with_elision(change, rng)
    need(draft and elision(draft.rows, draft, rng) and certain_elision(draft))
    return from_draft(draft, form, payload(form, draft, rng, "none"))


def is_space_indented(lines):
    return not any("\t" in indent_of(line) for line in lines)


def off_by_one(change, rng, pool, form):
    """The replaced line is one column off, in both texts or in the old one."""
    hunks = [h for h in change.hunks if len(h) == 1 and h[0][1] - h[0][0] == 1 and h[0][3] - h[0][2] >= 1]
    need(hunks)
    draft = one_hunk(change, rng, (0, 3), (0, 3), hunk=rng.choice(hunks))
    need(draft and certain_by_content(draft) and is_space_indented(draft.lines()))
    moved = [row for row in draft.rows if row.tag != " " and row.text.strip()]
    removed = next(row for row in draft.rows if row.tag == "-")
    need(len(indent_of(removed.text)) >= 2)
    need(all(len(indent_of(row.text)) >= len(indent_of(removed.text)) for row in moved))
    # Context shows that the other lines are not off.
    need(any(row.tag == " " and row.text.strip() for row in draft.rows))
    more, old_only = rng.random() < 0.6, rng.random() < 0.3
    for row in moved:
        if row.tag == "-" or not old_only:
            row.text = " " + row.text if more else row.text[1:]
    request = payload(form, draft, rng)
    need(form != "replace" or not occurrences(draft.text(), request["old"]))
    return from_draft(draft, form, request, ("right" if more else "left") + ", old text" * old_only)


def dedented_old(change, rng, pool, form):
    """The old text has lost its indentation, the new text has it."""
    draft = one_hunk(change, rng, (1, 3), (1, 3))
    need(draft and certain_by_content(draft) and is_space_indented(draft.lines()))
    shown = [row for row in draft.rows if row.tag != "+" and row.text.strip()]
    common = len(os.path.commonprefix([indent_of(row.text) for row in shown]))
    need(common >= 2)
    strip = rng.random() < 0.4
    for row in draft.rows:
        if row.tag == "+":
            need(not row.text.strip() or len(indent_of(row.text)) >= 2)
            continue
        if row.tag == " ":
            row.new_text = row.text
        row.text = row.text.lstrip() if strip else row.text[common:]
    # The new text shows its depth with a line that the file has as well.
    need(any(row.tag == " " and row.file.strip() for row in draft.rows))
    request = payload(form, draft, rng)
    need(not occurrences(draft.text(), request["old"]))
    return from_draft(draft, form, request, "every line stripped" if strip else f"dedent {common}")


def two_for_four(change, rng, pool, form):
    """The request counts two blanks a level, the file four."""
    draft = one_hunk(change, rng, (2, 4), (2, 4))
    need(draft and certain_by_content(draft) and is_space_indented(draft.lines()))
    depths = [len(indent_of(line)) for line in draft.lines() if line.strip()]
    need(all(d % 4 == 0 for d in depths) and 4 in depths)
    rows = [row for row in draft.rows if row.text.strip()]
    need(all(len(indent_of(row.text)) % 4 == 0 for row in rows))
    # One depth alone could be a shift, unless an added line is half a level deeper
    # or shallower then: the file has no such depths.
    old = {len(indent_of(row.text)) for row in rows if row.tag != "+"}
    added = {len(indent_of(row.text)) for row in rows if row.tag == "+"}
    need(max(old) > 0 and (len(old) >= 2 or added - old))
    note = "" if len(old) >= 2 else "quoted at one depth"
    for row in rows:
        depth = len(indent_of(row.text))
        row.text = row.text[depth // 2:]
    request = payload(form, draft, rng)
    need(form != "replace" or not occurrences(draft.text(), request["old"]))
    return from_draft(draft, form, request, note)


def in_json(text, quotes=True):
    """The text as it is inside a JSON string."""
    if quotes:
        return json.dumps(text, ensure_ascii=False)[1:-1]
    return text.replace("\\", "\\\\").replace("\n", "\\n")


PRINTS = {"python": 'print("done\\n")', "javascript": 'console.log("done\\n");',
          "typescript": 'console.log("done\\n");', "rust": 'println!("done\\n");',
          "c": 'printf("done\\n");', "yaml": 'note: "one\\ntwo"', "toml": 'note = "one\\ntwo"'}


def json_escaped(change, rng, pool, form):
    """JSON's escapes left in, around a string that contains escapes itself."""
    if change.lang in PRINTS and rng.random() < 0.1:
        draft, note = with_print(change, rng), "added"
    else:
        draft, note = with_escape(change, rng), "in the file"
    quotes = rng.random() < 0.7
    old, new = (in_json(text, quotes) for text in draft.strings())
    need("\\\\" in new and "\\n" in old and not occurrences(draft.text(), old))
    return from_draft(draft, form, {"old": old, "new": new}, note + ("" if quotes else "; quotes bare"))


def with_print(change, rng):
    """A line with an escape is added."""
    lines = change.before
    need(len(lines) >= 12)
    start = rng.randrange(0, len(lines) - 4)
    block = lines[start:start + rng.randint(2, 3)]
    need(block[0].strip() and block[-1].strip() and "\\" not in "".join(block))
    need(is_weighty(block, 2) and is_unique(lines, block))
    added = indent_of(block[0]) + PRINTS[change.lang]
    rows = [Row(" ", block[0], block[0]), Row("+", added, added)]
    return quotation(change, lines, start, rows + [Row(" ", s, s) for s in block[1:]])


def with_escape(change, rng):
    """A line with an escape is quoted, and it or a line beside it is replaced."""
    lines = change.before
    spots = [n for n, line in enumerate(lines) if re.search(r"""["'`][^"'`]*\\[nt]""", line)]
    need(spots)
    at = rng.choice(spots)
    start, end = max(0, at - rng.randint(1, 2)), min(len(lines), at + rng.randint(2, 3))
    start, end = trimmed(lines, start, end)
    block = lines[start:end]
    need(is_weighty(block, 2) and is_unique(lines, block))
    k = at - start if rng.random() < 0.4 else rng.randrange(len(block))
    added = rename(block[k], rng, set(fold_all(lines)))
    need(added and added.count("\\") == block[k].count("\\"))
    rows = []
    for n, line in enumerate(block):
        rows.append(Row("-" if n == k else " ", line, line))
        if n == k:
            rows.append(Row("+", added, added))
    return quotation(change, lines, start, rows)


def entities_and_escapes(change, rng, pool, form):
    """HTML entities, and line breaks as a literal `\\n`."""
    draft = one_hunk(change, rng) if rng.random() < 0.6 else with_escape(change, rng)
    need(draft and certain_by_content(draft))
    texts = draft.strings()
    need(not re.search(r"&\w+;|&#", "".join(texts)))
    need(re.search(r"[<>&]", texts[0]) and "\n" in texts[0])
    escaped = [text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for text in texts]
    if "\\" in "".join(texts):
        old, new = map(in_json, escaped)
    else:
        old, new = (text.replace("\n", "\\n") for text in escaped)
    return from_draft(draft, form, {"old": old, "new": new})
