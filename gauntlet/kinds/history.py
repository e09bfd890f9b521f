"""What became of the lines of an earlier version."""

import difflib
import os
import re
import subprocess
import tempfile

from gauntlet.text import fold, fold_all


def kept_lines(change):
    """For every line of the new version, the old line that it is; else None."""
    origin = [None] * len(change.after)
    i = j = 0
    for i1, i2, j1, j2 in change.ops + [(len(change.before),) * 2 + (len(change.after),) * 2]:
        for step in range(i1 - i):
            origin[j + step] = i + step
        i, j = i2, j2
    return origin


def is_like(a, b, least):
    m = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return m.real_quick_ratio() >= least and m.quick_ratio() >= least and m.ratio() >= least


def has_successor(quote, change, origin):
    """Whether the removed lines may live on, changed or moved.

    A diff shows a block as removed when its lines were rewritten, or when it
    pairs the block with another one that is like it. Then an edit of what
    became of it could be right. Only if no new line resembles a line that is
    gone, and a word of those lines is gone from the file, nothing is left.
    """
    whole = set(fold_all(change.after))
    own = [line for line in quote if fold(line) and fold(line) not in whole]
    words = {w for line in change.after for w in re.findall(r"\w+", line)}
    if not any(w not in words for line in own for w in re.findall(r"[A-Za-z_]\w{3,}", line)):
        return True
    fresh = {fold(line) for line, old in zip(change.after, origin) if old is None and line.strip()}
    return any(is_like(fold(line), other, 0.6) for line in own for other in sorted(fresh))


def apply_ops(change, ops):
    """The old version with only some of the differences."""
    out, at = [], 0
    for i1, i2, j1, j2 in sorted(ops):
        out += change.before[at:i1] + change.after[j1:j2]
        at = i2
    return out + change.before[at:]


def merge(current, base, other):
    """`git merge-file`; None if it reports a conflict."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, lines in (("current", current), ("base", base), ("other", other)):
            paths.append(os.path.join(folder, name))
            with open(paths[-1], "w", encoding="utf-8", newline="") as f:
                f.write("\n".join(lines) + "\n")
        done = subprocess.run(["git", "merge-file", "-p", *paths], capture_output=True)
    return done.stdout.decode("utf-8") if done.returncode == 0 else None
