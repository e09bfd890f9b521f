"""Compares the similarity of fuzzy patches with Python's own `difflib`: the percentage in a warning must agree, and the threshold must not
be rounded in either direction.

Usage: similarity.py [PATCHES [SEED]]
"""

import difflib
import math
import random
import re
import sys

from harness import Root, StdioServer, check

WORDS = ["return", "self", "x", "def", "value", "=", "==", "(", ")", ":", "0.8", "1", "é", "日本", "None", "if", "else", "_"]


def line(rng):
    return "    " * rng.randrange(3) + " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 9)))


def damaged(rng, text):
    """A line with some characters removed, inserted or replaced."""
    characters = list(text)
    for _ in range(rng.choice([1, 1, 2, 3, 6, 12])):
        at = rng.randrange(len(characters) + 1)
        match rng.randrange(3):
            case 0:
                del characters[at : at + 1]
            case 1:
                characters.insert(at, rng.choice("abcx1=(é_q"))
            case _:
                characters[at : at + 1] = rng.choice("abcx1=(é_q")
    return "".join(characters)


def without_blanks(text):
    return "".join(text.split())


class Case:
    """A file and a diff for all of its lines, so that there is one place for it. One line is removed, and is in the file."""

    def __init__(self, rng):
        count = rng.randrange(2, 5) if rng.random() < 0.5 else rng.randrange(5, 16)
        self.file = [line(rng) for _ in range(count)]
        removed = rng.randrange(count)
        self.old = [
            text if at == removed or rng.random() < 0.5 else damaged(rng, text) for at, text in enumerate(self.file)
        ]
        body = [("-" + text + "\n+NEW\n") if at == removed else f" {text}\n" for at, text in enumerate(self.old)]
        self.diff = f"@@ -1,{count} +1,{count} @@\n" + "".join(body)
        self.ratio = difflib.SequenceMatcher(None, "\n".join(self.old), "\n".join(self.file)).ratio()

    def is_decided_by_similarity(self):
        """Whether no line differs in whitespace only, which other modes tolerate too, and the ratio is a valid threshold."""
        pairs = list(zip(self.old, self.file))
        differ_in_blanks = (old != new and without_blanks(old) == without_blanks(new) for old, new in pairs)
        has_blank_line = any(not old.strip() for old, _ in pairs)
        return self.old != self.file and self.ratio >= 0.5 and not has_blank_line and not any(differ_in_blanks)


def main(patches, seed):
    rng = random.Random(seed)
    root = Root()
    server = StdioServer(root, "--dialect", "nexus3")

    def answer(case, threshold):
        call = {"target": "f.txt", "mode": "fuzzy", "fuzzy_threshold": threshold, "dry_run": True, "diff": case.diff}
        return server.call_tool("patch", call)["result"]["content"][0]["text"]

    done = 0
    while done < patches:
        case = Case(rng)
        if not case.is_decided_by_similarity():
            continue
        done += 1
        root.write("f.txt", "\n".join(case.file) + "\n")
        about = f"{case.ratio}\n{case.diff}\nthe file:\n" + "\n".join(case.file)
        # At the threshold.
        text = answer(case, case.ratio)
        found = re.search(r"would apply via fuzzy match \((\d+)% similarity at line 1\)", text)
        check(found, f"{text}\n{about}")
        percent = min(99, math.floor(100 * case.ratio + 0.5))
        check(int(found[1]) == percent, f"{found[1]}, not {percent}\n{about}")
        # Slightly above the ratio. JSON parsers may be off in the last bit.
        above = case.ratio + 1e-12
        if above < 1:
            text = answer(case, above)
            check("the patch would fail" in text, f"{text}\nabove {about}")
    server.close()
    root.close()
    print(f"similarity: {done} patches, seed {seed}")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 400, int(sys.argv[2]) if len(sys.argv) > 2 else 4)
