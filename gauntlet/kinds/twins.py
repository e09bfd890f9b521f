"""Twins: the quoted block is not in the file, a block like it is.

An engine that goes by similarity alone edits the twin. `natural` takes a block
that a release removed while a sibling stayed; `made` quotes a block of the file
with its words swapped for others, as a sibling would read.
"""

import re

from gauntlet.cases import need
from gauntlet.drafts import Row
from gauntlet.languages import PROSE
from gauntlet.mistakes import is_comment
from gauntlet.text import fold, fold_all, window_scores

from .history import has_successor, kept_lines
from .requests import (edited_rows, is_absent, is_unique, is_weighty, payload, plain, quotation, refusal,
                       trimmed)


def natural(change, rng, pool, form):
    origin = kept_lines(change)
    blocks = [op for op in change.ops if op[1] - op[0] >= 3]
    need(blocks)
    taken = set(fold_all(change.after))
    for op in rng.sample(blocks, min(4, len(blocks))):
        for _ in range(3):
            size = rng.randint(3, min(10, op[1] - op[0]))
            start = rng.randrange(op[0], op[1] - size + 1)
            start, end = trimmed(change.before, start, start + size)
            quote = change.before[start:end]
            if is_weighty(quote) and is_unique(change.before, quote) and \
                    is_absent(change.after, quote) and has_twin(quote, change, origin, start, end) \
                    and not has_successor(quote, change, origin):
                rows, how = edited_rows(quote, rng, taken)
                draft = quotation(change, change.before, start, rows)
                request = payload(form, draft, rng)
                return refusal(change, form, change.after, request, how, [change.before], plain(draft))
    need(False)


def has_twin(quote, change, origin, start, end):
    """Whether the best window of the new version is a separate block, which
    the old version had beside the quoted one."""
    part = fold_all(quote)
    where = [n for n, line in enumerate(change.after) if fold(line)]
    scores = window_scores([fold(change.after[n]) for n in where], part)
    if not scores or scores[0][0] < 0.6 * len(part):
        return False
    at = scores[0][1]
    if at < 0 or at + len(part) > len(where):
        return False
    lines = origin[where[at]:where[at + len(part) - 1] + 1]
    if None in lines or lines != list(range(lines[0], lines[0] + len(lines))):
        return False
    return lines[-1] < start or lines[0] >= end


PAIRS = [
    ("True", "False"), ("true", "false"), ("read", "write"), ("add", "remove"), ("get", "set"),
    ("min", "max"), ("first", "last"), ("start", "end"), ("open", "close"), ("left", "right"),
    ("enable", "disable"), ("input", "output"), ("source", "target"), ("before", "after"),
    ("width", "height"), ("row", "column"), ("push", "pop"), ("encode", "decode"),
    ("load", "save"), ("request", "response"), ("client", "server"), ("key", "value"),
    ("insert", "delete"), ("old", "new"), ("up", "down"), ("top", "bottom"),
]
OPPOSITE = dict(PAIRS) | {b: a for a, b in PAIRS}
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
KEYWORDS = set("""
    and array async await bool break case catch char class const continue def default del elif else
    end enum except export extends false finally float fn for from func function global if impl import in
    include int interface is lambda let long match mod mut namespace new nil none not null or package
    pass private protected pub public raise ref return self short static str string struct super
    switch this throw throws trait true try type typedef undefined unsigned use var void where while
    with yield None True False
    """.split())


def shape(word):
    return word[0].isupper(), word.isupper(), "_" in word


def swap_names(block, rest, rng):
    """One or two names of the block for names that occur elsewhere."""
    here = sorted({w for line in block for w in WORD.findall(line)} - KEYWORDS)
    there = sorted({w for line in rest for w in WORD.findall(line)} - KEYWORDS - set(here))
    swaps = {}
    rng.shuffle(here)
    for word in here[:6]:
        fit = [w for w in there if shape(w) == shape(word) and abs(len(w) - len(word)) <= 5
               and w not in swaps.values()]
        if fit and len(swaps) < rng.choice([1, 2, 2]):
            swaps[word] = rng.choice(fit)
    return swaps


def swap_opposites(block, rest, rng):
    """A name for the one of the opposite thing: `read_file`, `write_file`."""
    words = sorted({w for line in block for w in re.findall(r"\w+", line)})
    found = {}
    for word in words:
        for a, b in OPPOSITE.items():
            parts = re.split(r"(_|(?<=[a-z])(?=[A-Z]))", word)
            if a in parts:
                found.setdefault(a, {})[word] = "".join(b if p == a else p or "" for p in parts)
    return found[rng.choice(sorted(found))] if found else {}


def swap_numbers(block, rest, rng):
    number = re.compile(r"(?<![\w.])\d{1,5}(?![\w.])")
    here = sorted({n for line in block for n in number.findall(line)})
    there = sorted({n for line in rest for n in number.findall(line)} - set(here))
    return {rng.choice(here): rng.choice(there)} if here and there else {}


def swapped(line, swaps):
    return re.sub(r"\w+", lambda m: swaps.get(m.group(), m.group()), line)


def is_meaningful(lines, changed, swaps, rest, lang):
    """Whether the swap makes another block of it, rather than a slip or a
    paraphrase: code differs, and in words that the file uses elsewhere or on
    several lines."""
    code = [k for k in changed if re.search(r"[(){}\[\]=;:<>]", lines[k]) and not is_comment(lines[k], lang)]
    elsewhere = {w for line in rest for w in re.findall(r"\w+", line)}
    return bool(code) and (len(changed) >= 2 or set(swaps.values()) <= elsewhere)


def made(change, rng, pool, form):
    need(change.lang not in PROSE)
    lines = change.before
    need(len(lines) >= 24)
    size = rng.randint(3, 10)
    start = rng.randrange(0, len(lines) - size)
    start, end = trimmed(lines, start, start + size)
    block, rest = lines[start:end], lines[:start] + lines[end:]
    need(is_weighty(block) and is_unique(lines, block))
    swaps = rng.choice([swap_names, swap_names, swap_opposites, swap_numbers])(block, rest, rng)
    need(swaps)
    quote = [swapped(line, swaps) for line in block]
    changed = [k for k in range(len(block)) if fold(quote[k]) != fold(block[k])]
    need(changed and len(changed) < len(block))
    need(is_absent(lines, quote) and is_meaningful(block, changed, swaps, rest, change.lang))
    taken = set(fold_all(lines))
    rows, how = edited_rows(quote, rng, taken)
    version, at = with_block(lines, start, end, quote, rng)
    need(is_unique(version, quote))
    draft = quotation(change, version, at, rows)
    request = payload(form, draft, rng)
    note = f"{how}; " + ", ".join(f"{a} for {b}" for a, b in swaps.items())
    return refusal(change, form, lines, request, note, [version], plain(draft))


def with_block(lines, start, end, quote, rng):
    """The file with the quoted block as well, away from its twin."""
    spots = [p for p in range(1, len(lines) + 1)
             if not lines[p - 1].strip() and (p <= start - 4 or p >= end + 4)]
    at = rng.choice(spots) if spots and rng.random() < 0.8 else len(lines)
    need(at <= start - 2 or at >= end + 2)
    return lines[:at] + quote + [""] + lines[at:], at
