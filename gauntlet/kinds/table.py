"""The table of kinds."""

import dataclasses
from collections.abc import Callable

from . import batches, damage, headings, reader, staleness, twins
from .requests import ALL_FORMS, PATCHES, REPLACE


@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    group: str
    count: int              # how many by default
    make: Callable          # (change, rng, pool, form) -> case; raises Skip
    forms: tuple = ALL_FORMS
    seen: bool = False      # emitted a second time, with the versions the caller has seen


KINDS = [
    Kind("twin-natural", "twins", 150, twins.natural, seen=True),
    Kind("twin-made", "twins", 150, twins.made, seen=True),

    Kind("stale-untouched", "staleness", 150, staleness.untouched, seen=True),
    Kind("stale-changed", "staleness", 100, staleness.changed, seen=True),
    Kind("stale-gone", "staleness", 100, staleness.gone, seen=True),

    Kind("echo", "patch reader", 60, reader.echo, PATCHES),
    Kind("empty-hunk", "patch reader", 40, reader.empty_hunk, PATCHES),
    Kind("noop-hunk", "patch reader", 40, reader.noop_hunk, PATCHES),
    Kind("noop-hunk-absent", "patch reader", 40, reader.noop_hunk_absent, PATCHES),
    Kind("prose-scope", "patch reader", 40, reader.prose_scope, PATCHES),
    Kind("doubled-scope", "patch reader", 40, reader.doubled_scope, PATCHES),
    Kind("absent-scope", "patch reader", 40, reader.absent_scope, PATCHES),
    Kind("hunk-line-numbers", "patch reader", 60, reader.line_numbers, PATCHES),
    Kind("hunk-hash-prefix", "patch reader", 60, reader.hash_lines, PATCHES),
    Kind("hunk-literal-newline", "patch reader", 40, reader.literal_newlines, PATCHES),
    Kind("extra-context", "patch reader", 60, reader.extra_context, PATCHES),
    Kind("missing-context", "patch reader", 60, reader.missing_context, PATCHES),
    Kind("bare-context", "patch reader", 60, reader.bare_context, PATCHES),

    Kind("bare-dots", "silent damage", 100, damage.bare_dots),
    Kind("dots-in-both", "silent damage", 60, damage.dots_in_both),
    Kind("off-by-one", "silent damage", 80, damage.off_by_one),
    Kind("dedented-old", "silent damage", 80, damage.dedented_old, REPLACE),
    Kind("two-for-four", "silent damage", 80, damage.two_for_four),
    Kind("json-escaped", "silent damage", 60, damage.json_escaped, REPLACE),
    Kind("entities-escapes", "silent damage", 60, damage.entities_and_escapes, REPLACE),

    Kind("batch-11", "batches", 40, batches.batch(11)),
    Kind("batch-50", "batches", 20, batches.batch(50)),

    Kind("heading-absent", "headings", 120, headings.absent, seen=True),
    Kind("heading-present", "headings", 60, headings.present),
]
SEEN = ", seen"
