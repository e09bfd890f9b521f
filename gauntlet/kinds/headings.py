"""Equal bodies under different headings, in languages of every shape.

The files are made from templates: the pairs have few of these languages, and
equal bodies are rare in released code. The quoted function is absent, one
sibling with an equal or nearly equal body is there.
"""

import dataclasses

from gauntlet.cases import need
from gauntlet.drafts import Draft, Row
from gauntlet.text import fold_all

from .requests import from_draft, is_absent, payload, plain, quotation, refusal

NOUNS = ["event", "timer", "buffer", "packet", "window", "cursor", "socket", "record", "channel"]
VERBS = ["add", "remove", "is", "has", "find", "count", "update", "reset", "check"]
MODULES = ["foo", "net", "ui", "db", "io"]

# lang -> (file name, heading lines, body lines, closing lines). {f} is the name
# of the function, {n} a word of it, {k} a number that is the same in all.
TEMPLATES = {
    "c": ("src/{m}.c", [
        ["static int", "{f}(struct queue *q, int n)", "{{"],
        ["int {f}(struct queue *q, int n)", "{{"],
        ["static struct entry *{f}(struct queue *q, int n)", "{{"],
    ], ["\tint rc = queue_lock(q, {k});", "", "\tif (rc < 0)", "\t\treturn rc;",
        "\tq->{n}_total += n;", "\tqueue_unlock(q);", "\treturn q->length;"], ["}}"]),
    "shell": ("bin/{m}.sh", [["{f}() {{"], ["{f} ()", "{{"], ["function {f} {{"]],
              ["  local target=\"$1\"", "  shift {k}", "  if [ -z \"$target\" ]; then",
               "    return 1", "  fi", "  printf '%s\\n' \"$target\" >> \"$LOG_{n}\""], ["}}"]),
    "lisp": ("lisp/{m}.el", [["(defun {f} (queue n)"], ["(cl-defun {f} (queue &key n)"]],
             ["  (let ((rest (nthcdr {k} queue)))", "    (when (null rest)",
              "      (error \"empty queue\"))", "    (setq {n}-total (+ {n}-total n))",
              "    (length rest)))"], []),
    "ruby": ("lib/{m}.rb", [["  def {f}(queue, n)"], ["  def self.{f}(queue, n)"]],
             ["    rest = queue.drop({k})", "    return nil if rest.empty?", "    @{n}_total += n",
              "    rest.length"], ["  end"]),
    "go": ("pkg/{m}.go", [["func {f}(q *Queue, n int) error {{"], ["func (q *Queue) {f}(n int) error {{"]],
           ["\tif err := q.lock({k}); err != nil {{", "\t\treturn err", "\t}}", "\tdefer q.unlock()",
            "\tq.{n}Total += n", "\treturn nil"], ["}}"]),
    "sql": ("db/{m}.sql", [["CREATE FUNCTION {f}(q integer, n integer) RETURNS integer AS $$", "BEGIN"],
                           ["CREATE OR REPLACE PROCEDURE {f}(q integer, n integer)", "AS $$", "BEGIN"]],
            ["  IF n < {k} THEN", "    RAISE EXCEPTION 'out of range';", "  END IF;",
             "  UPDATE totals SET {n} = {n} + 1 WHERE id = q;", "  PERFORM pg_notify('changed', 'totals');"],
            ["END;", "$$ LANGUAGE plpgsql;"]),
}
ADDED = {"c": "\tq->seen = 1;", "shell": "  seen=1", "lisp": "    (setq seen t)", "ruby": "    @seen = true",
         "go": "\tq.seen = true", "sql": "  UPDATE totals SET seen = 1 WHERE id = q;"}
OTHER_BODY = {"c": ["\treturn q->{n}_limit - n;"], "shell": ["  echo \"{n}\""], "lisp": ["  (list queue '{n} n))"],
              "ruby": ["    queue.{n} - n"], "go": ["\treturn q.{n}Err"], "sql": ["  DELETE FROM {n} WHERE id = n;"]}


@dataclasses.dataclass
class Source:
    """What a case needs to know of the change that it is made from."""
    lang: str
    path: str
    source: str
    before: list


def function(lang, style, name, noun, number, body):
    _, heads, _, close = TEMPLATES[lang]
    lines = heads[style] + body + close
    return [line.format(f=name, n=noun, k=number) for line in lines]


def family(lang, rng, near):
    """A file, and the lines of a function that it lacks: (lines, missing, name)."""
    module, noun = rng.choice(MODULES), rng.choice(NOUNS)
    join = "-" if lang == "lisp" else "_"
    verbs = rng.sample(VERBS, 5)
    names = [join.join([module, verb, noun]) for verb in verbs]
    if lang == "go":
        names = ["".join(part.capitalize() for part in name.split("_")) for name in names]
    style, number = rng.randrange(len(TEMPLATES[lang][1])), rng.randint(2, 9)
    body = TEMPLATES[lang][2]
    words = rng.sample(NOUNS, 2) if near else [noun, noun]
    missing = function(lang, style, names[0], words[0], number, body)
    twin = function(lang, style, names[1], words[1], number, body)
    others = [function(lang, style, name, verb, number, OTHER_BODY[lang])
              for name, verb in zip(names[2:], verbs[2:])]
    blocks = others + [twin]
    rng.shuffle(blocks)
    path = TEMPLATES[lang][0].format(m=module)
    return path, blocks, missing, twin


def joined(blocks):
    out = []
    for block in blocks:
        out += block + [""]
    return out[:-1]


def edit(lang, lines, rng):
    """Rows of the function with a line inserted into its body, or one replaced."""
    heading = len(lines) - len(TEMPLATES[lang][2]) - len(TEMPLATES[lang][3])
    spots = [n for n in range(heading, len(lines) - len(TEMPLATES[lang][3]) - 1) if lines[n].strip()]
    k = rng.choice(spots)
    replace = rng.random() < 0.3 and lang != "lisp"
    rows = []
    for n, line in enumerate(lines):
        rows.append(Row("-" if replace and n == k else " ", line, line))
        if n == k:
            rows.append(Row("+", ADDED[lang], ADDED[lang]))
    return rows


def absent(change, rng, pool, form):
    """The quoted function is not in the file; only its sibling is."""
    lang = rng.choice(sorted(TEMPLATES))
    path, blocks, missing, _ = family(lang, rng, near=rng.random() < 0.4)
    present = joined(blocks)
    at = rng.randrange(len(blocks) + 1)
    version = joined(blocks[:at] + [missing] + blocks[at:])
    start = sum(len(block) + 1 for block in blocks[:at])
    source = Source(lang, path, "template", present)
    need(is_absent(present, missing))
    rows = edit(lang, missing, rng)
    keep = rng.randint(len(rows) - 2, len(rows))     # sometimes without the closing lines
    need(any(row.tag == "+" for row in rows[:keep]))
    draft = quotation(source, version, start, rows[:keep])
    return refusal(source, form, present, payload(form, draft, rng), lang, [version], plain(draft))


def present(change, rng, pool, form):
    """A control: the function is there, the quotation has blanks at line ends."""
    lang = rng.choice(sorted(TEMPLATES))
    path, blocks, missing, _ = family(lang, rng, near=rng.random() < 0.4)
    at = rng.randrange(len(blocks) + 1)
    lines = joined(blocks[:at] + [missing] + blocks[at:])
    start = sum(len(block) + 1 for block in blocks[:at])
    rows = edit(lang, missing, rng)
    source = Source(lang, path, "template", lines)
    draft = quotation(source, lines, start, rows)
    for row in rows:
        if row.tag == " " and row.text.strip() and rng.random() < 0.5:
            row.text += rng.choice([" ", "  "])
    need(any(row.text != row.file for row in rows))
    request = payload(form, draft, rng)
    return from_draft(draft, form, request, lang)
