"""What became of the lines of an earlier version."""

import difflib
import os
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


def has_successor(quote, op, change, origin):
    """Whether the removed lines may live on: changed in place, or moved."""
    folded = fold_all(quote)
    there = fold_all(change.after[op[2]:op[3]])
    alike = sum(any(is_like(line, other, 0.5) for other in there) for line in folded)
    if alike > 0.25 * len(folded):
        return True
    whole = set(fold_all(change.after))
    fresh = [fold(line) for line, old in zip(change.after, origin) if old is None and line.strip()]
    own = [line for line in folded if line not in whole]
    return len(own) < 1 or any(is_like(line, other, 0.8) for line in own for other in fresh)


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
