"""Writes matches.json: pairs of texts, and the number of characters that difflib matches in them."""

import difflib
import json
import random
from pathlib import Path

rng = random.Random(4)
WORDS = ["return", "self", "x", "def", "value", "=", "==", "(", ")", ":", "0.8", "1", "é", "日本", "None", "if", "else"]


def line():
    return "    " * rng.randrange(3) + " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 8)))


def mutate(text):
    chars = list(text)
    for _ in range(rng.choice([0, 1, 1, 2, 3, 10, 40])):
        at = rng.randrange(len(chars) + 1)
        kind = rng.randrange(4)
        if kind == 0 and at < len(chars):
            del chars[at]
        elif kind == 1:
            chars.insert(at, rng.choice(" \nabcx1=(é"))
        elif kind == 2 and at < len(chars):
            chars[at] = rng.choice(" \nabcx1=(é")
        else:
            end = min(len(chars), at + rng.randrange(20))
            piece = chars[at:end]
            del chars[at:end]
            to = rng.randrange(len(chars) + 1)
            chars[to:to] = piece
    return "".join(chars)


cases = [("", ""), ("a", ""), ("", "a"), ("abcd", "bcde"), ("aaaa", "aa"), ("tide", "diet"), ("diet", "tide")]
for number in range(440):
    count = rng.randrange(1, 5) if number % 2 else rng.randrange(8, 25)
    text = "\n".join(line() for _ in range(count))
    other = "\n".join(line() for _ in range(count))
    cases.append((text, rng.choice([mutate(text), mutate(text), other])))
for number in range(40):
    alphabet = "ab" if number % 2 else "abcdefghij"
    cases.append(tuple("".join(rng.choice(alphabet) for _ in range(rng.randrange(150, 260))) for _ in range(2)))

rows = []
for a, b in cases:
    matcher = difflib.SequenceMatcher(None, a, b)
    matches = sum(block.size for block in matcher.get_matching_blocks())
    assert matcher.ratio() == (2.0 * matches / (len(a) + len(b)) if a or b else 1.0)
    rows.append({"a": a, "b": b, "matches": matches})
text = "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"
Path(__file__).with_name("matches.json").write_text(text, encoding="utf-8")
