"""Draws the plots of docs/performance.md as SVG, for light and dark pages."""

import math
from html import escape

from measure import number
from row import US

WIDTH, LABELS, ROW, TOP, RIGHT = 960, 360, 34, 86, 70
STYLE = """
  .card { fill: #ffffff; stroke: #d9dee5 }
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #273240 }
  .title { font-size: 18px; font-weight: 600 } .note, .tick { fill: #6b7785; font-size: 12px }
  .grid { stroke: #e6eaef } .base { stroke: #8894a3 } .stripe { fill: #f6f8fa }
  .met { fill: #0d8a6a } .missed { fill: #d9622b } .peer { fill: #ffffff; stroke: #8894a3; stroke-width: 1.6 }
  .bar-peer { fill: #c3cbd6 } .range { stroke-width: 5; stroke-linecap: round; opacity: .28 }
  .range.met { stroke: #0d8a6a } .range.missed { stroke: #d9622b } .goal { stroke: #273240; stroke-width: 2 }
  .value { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #12171e; stroke: #2a323d } text { fill: #dfe6ee } .note, .tick { fill: #94a1b0 }
    .grid { stroke: #232b35 } .base { stroke: #6b7785 } .stripe { fill: #171d25 }
    .met { fill: #35c79c } .missed { fill: #f08a53 } .peer { fill: #12171e; stroke: #94a1b0 }
    .bar-peer { fill: #3d4855 } .range.met { stroke: #35c79c } .range.missed { stroke: #f08a53 }
    .goal { stroke: #dfe6ee }
  }"""


class Scale:
    """A logarithmic axis."""

    def __init__(self, low, high):
        self.low, self.high = math.log10(low), math.log10(high)

    def __call__(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return LABELS + min(max(share, 0), 1) * (WIDTH - LABELS - RIGHT)

    def ticks(self):
        steps = (base * 10.0**power for power in range(-3, 5) for base in (1, 2, 5))
        return [tick for tick in steps if self.low <= math.log10(tick) <= self.high]


def _frame(height, title, note, body):
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f"<style>{STYLE}\n</style>",
        f'<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>',
        f'<text class="title" x="24" y="36">{escape(title)}</text>',
        f'<text class="note" x="24" y="58">{escape(note)}</text>',
    ]
    return "\n".join([*parts, *body, "</svg>"]) + "\n"


def _axis(scale, bottom):
    parts = []
    for tick in scale.ticks():
        kind, x = ("base" if tick == 1 else "grid"), scale(tick)
        parts.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{tick:g}×</text>')
    return parts


def _short(title):
    return title if len(title) <= 52 else title[:51] + "…"


def _dots(result, scale, y):
    """The goal, the peers, and our median with its range."""
    kind, ours = ("met" if result.is_met() else "missed"), result.ours
    goal = scale(result.row.goal)
    parts = [f'<line class="goal" x1="{goal:.1f}" x2="{goal:.1f}" y1="{y - 9}" y2="{y + 9}"/>']
    for name, ratio in result.ratios.items():
        label = f"{name}: {number(ratio.median)}×"
        parts.append(f'<circle class="peer" cx="{scale(ratio.median):.1f}" cy="{y}" r="5"><title>{escape(label)}</title></circle>')
    parts.append(f'<line class="range {kind}" x1="{scale(ours.low):.1f}" x2="{scale(ours.high):.1f}" y1="{y}" y2="{y}"/>')
    parts.append(f'<circle class="{kind}" cx="{scale(ours.median):.1f}" cy="{y}" r="6"/>')
    parts.append(f'<text class="value" x="{WIDTH - 14}" y="{y + 5}" text-anchor="end">{number(ours.median)}×</text>')
    return parts


def overhead(results):
    """One line per row: our time relative to the baseline, beside the goal."""
    bottom = TOP + ROW * len(results)
    values = [one for result in results for one in (result.ours.low, result.ours.high, result.row.goal)]
    values += [ratio.median for result in results for ratio in result.ratios.values()]
    scale = Scale(min([*values, 0.5]) * 0.9, max([*values, 3]) * 1.1)
    body = []
    for index in range(0, len(results), 2):
        body.append(f'<rect class="stripe" x="12" y="{TOP + index * ROW}" width="{WIDTH - 24}" height="{ROW}" rx="4"/>')
    body += _axis(scale, bottom)
    for index, result in enumerate(results):
        y = TOP + index * ROW + ROW // 2
        body.append(f'<text x="24" y="{y + 5}">{escape(_short(result.row.title.replace("`", "")))}</text>')
        body += _dots(result, scale, y)
    note = "1× is the baseline of each row; lower is better. Dot: Slipstitch, green if it meets the goal (bar). Ring: a peer."
    return _frame(bottom + 40, "Time relative to the baseline", note, body)


def speedup(results):
    """Bars: how many times faster than the baseline."""
    bar = 20
    height = TOP + sum(34 + (2 + len(result.ratios)) * (bar + 4) for result in results) + 12
    longest = max([ratio.median for result in results for ratio in (result.ours, *result.ratios.values())], default=10)
    scale = Scale(0.8, max(longest * 1.6, 10))
    body, y = [], TOP
    for result in results:
        body.append(f'<text class="value" x="24" y="{y + 14}">{escape(result.row.title)}</text>')
        body.append(f'<text class="note" x="{WIDTH - 24}" y="{y + 14}" text-anchor="end">goal {result.row.goal:g}×</text>')
        y += 24
        kind = "met" if result.is_met() else "missed"
        bars = [(US, result.ours.median, kind)]
        bars += [(name, ratio.median, "bar-peer") for name, ratio in result.ratios.items()]
        start = y
        for name, value, style in [*bars, (result.row.baseline, 1, "bar-peer")]:
            width = scale(value) - scale(0.8)
            body.append(f'<text x="{LABELS - 12}" y="{y + 15}" text-anchor="end">{escape(name)}</text>')
            body.append(f'<rect class="{style}" x="{LABELS}" y="{y}" width="{width:.1f}" height="{bar}" rx="3"/>')
            # Behind the line of the goal, if that is further to the right.
            end = max(LABELS + width, scale(result.row.goal)) if name == US else LABELS + width
            body.append(f'<text class="value" x="{end + 8:.1f}" y="{y + 15}">{number(value)}×</text>')
            y += bar + 4
        goal = scale(result.row.goal)
        body.append(f'<line class="goal" x1="{goal:.1f}" x2="{goal:.1f}" y1="{start - 4}" y2="{start + bar + 4}"/>')
        y += 10
    note = "Logarithmic; higher is better. Green if the goal (line) is met."
    return _frame(height, "Speed-up over the reference MCP file server", note, body)
