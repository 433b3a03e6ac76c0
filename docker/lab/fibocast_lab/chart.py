"""Plots as SVG. Colours are variables of the page around it (style.py), so that they follow its light or dark mode."""
import math
from html import escape

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 40
COLOURS = 8  # variables --c0 .. --c7
LEGEND_ROW = 17


def short(value):
    """As few digits as tell a reader enough."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}" if abs(value) < 1e5 else f"{value:.3g}"


def nice_ticks(high, count=5):
    """From 0: 1, 2, 2.5 or 5 times a power of ten."""
    if high <= 0:
        return [0, 1]
    rough = high / count
    power = 10 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    return [i * step for i in range(math.ceil(high / step * 0.9999) + 1)]


class Axis:
    """Where an x lies: by its value, its logarithm, or its place in a list of words."""

    def __init__(self, values, scale):
        self.words = any(isinstance(v, str) for v in values) or scale == "words"
        self.values = list(dict.fromkeys(values)) if self.words else sorted(set(values))
        self.log = scale == "log"
        low, high = (0, len(self.values) - 1) if self.words else (self.at(self.values[0]), self.at(self.values[-1]))
        pad = 0.5 if self.words else (high - low) * 0.03 or 0.5
        self.low, self.high = low - pad, high + pad

    def at(self, value):
        if self.words:
            return self.values.index(value)
        return math.log2(value + 1) if self.log else float(value)

    def pixel(self, value):
        return LEFT + (self.at(value) - self.low) / (self.high - self.low) * (WIDTH - LEFT - RIGHT)

    def ticks(self):
        """At most nine, and none so near to another that their words would touch."""
        chosen, longest = [], max(len(short(v)) for v in self.values)
        apart = max((WIDTH - LEFT - RIGHT) / 9, 7 * longest)
        for value in self.values:
            if not chosen or self.pixel(value) - self.pixel(chosen[-1]) >= apart:
                chosen.append(value)
        return chosen


class Chart:
    """One panel: for every series a line (predicted), squares (simulated), dots with ranges (measured), crosses (paper)."""

    def __init__(self, cases, x_label, y_label, scale="linear", low=0):
        self.cases = [c for c in cases if c.x is not None and any(v is not None for v in self.values_of(c))]
        self.names = list(dict.fromkeys(c.name for c in self.cases))
        self.x_label, self.y_label = x_label, y_label
        self.axis = Axis([c.x for c in self.cases] or [0], scale)
        values = [v for c in self.cases for v in self.values_of(c) if v is not None]
        self.low = low  # the axis begins here, not at 0, only where a file says so
        self.ticks = [low + tick for tick in nice_ticks(max(values, default=1) - low)]

    @staticmethod
    def values_of(c):
        return [c.predicted, c.simulated, c.median, c.paper, max(c.measured, default=None)]

    def y(self, value):
        return HEIGHT - BOTTOM - (value - self.low) / (self.ticks[-1] - self.low) * (HEIGHT - TOP - BOTTOM)

    def svg(self, title=""):
        height = HEIGHT + LEGEND_ROW * self.legend_rows()
        body = self.frame() + "".join(self.series(i, n) for i, n in enumerate(self.names)) + self.legend()
        return (f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" xmlns="http://www.w3.org/2000/svg">'
                f"<title>{escape(title or self.y_label)}</title>{body}</svg>")

    def frame(self):
        parts = []
        for tick in self.ticks:
            y = self.y(tick)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                         f'<text class="tick" x="{LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{short(tick)}</text>')
        for value in self.axis.ticks():
            parts.append(f'<text class="tick" x="{self.axis.pixel(value):.1f}" y="{HEIGHT - BOTTOM + 15}" '
                         f'text-anchor="middle">{escape(short(value))}</text>')
        middle = (TOP + HEIGHT - BOTTOM) / 2
        parts.append(f'<text class="label" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
                     f'{escape(self.x_label)}</text><text class="label" text-anchor="middle" '
                     f'transform="translate(12 {middle}) rotate(-90)">{escape(self.y_label)}</text>')
        return "".join(parts)

    def series(self, number, name):
        cases = sorted((c for c in self.cases if c.name == name), key=lambda c: self.axis.at(c.x))
        line = [f"{self.axis.pixel(c.x):.1f},{self.y(c.predicted):.1f}" for c in cases if c.predicted is not None]
        parts = [f'<polyline points="{" ".join(line)}"/>'] if len(line) > 1 and not self.axis.words else []
        return f'<g style="--c:var(--c{number % COLOURS})">{"".join(parts)}' + \
            "".join(self.marks(c) for c in cases) + "</g>"

    def marks(self, c):
        x, parts = self.axis.pixel(c.x) + self.aside(c.name), []
        if c.predicted is not None and (self.axis.words or len([o for o in self.cases if o.name == c.name]) == 1):
            parts.append(f'<line class="dash" x1="{x - 5:.1f}" x2="{x + 5:.1f}" y1="{self.y(c.predicted):.1f}" '
                         f'y2="{self.y(c.predicted):.1f}"/>')
        if c.simulated is not None:
            parts.append(f'<rect x="{x - 2.6:.1f}" y="{self.y(c.simulated) - 2.6:.1f}" width="5.2" height="5.2"/>')
        if c.measured:
            parts.append(f'<line class="range" x1="{x:.1f}" x2="{x:.1f}" y1="{self.y(min(c.measured)):.1f}" '
                         f'y2="{self.y(max(c.measured)):.1f}"/>'
                         f'<circle cx="{x:.1f}" cy="{self.y(c.median):.1f}" r="3.2"/>')
        if c.paper is not None:
            y = self.y(c.paper)
            parts.append(f'<path class="paper" d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"/>')
        said = [f"{word} {short(v)}" for word, v in (("predicted", c.predicted), ("simulated", c.simulated),
                                                    ("measured", c.median), ("paper", c.paper)) if v is not None]
        return f"<g><title>{escape(f'{c.name}, {short(c.x)}: ' + ', '.join(said))}</title>{''.join(parts)}</g>"

    def aside(self, name):
        """Where the axis has words, series stand beside each other."""
        return 11 * (self.names.index(name) - (len(self.names) - 1) / 2) if self.axis.words else 0

    def legend_entries(self):
        """The marks that occur, then the series; a name takes as much room as it has letters."""
        seen = [("line", "predicted", any(c.predicted is not None for c in self.cases)),
                ("rect", "simulated", any(c.simulated is not None for c in self.cases)),
                ("circle", "measured (median, range)", any(c.measured for c in self.cases)),
                ("paper", "the paper", any(c.paper is not None for c in self.cases))]
        return [(mark, word, None) for mark, word, there in seen if there] + \
            [("line", name, i) for i, name in enumerate(self.names)]

    def legend_places(self):
        x, row, places = LEFT, 0, []
        for mark, word, colour in self.legend_entries():
            width = 26 + 6.2 * len(word)
            if x + width > WIDTH and x > LEFT:
                x, row = LEFT, row + 1
            places.append((x, row, mark, word, colour))
            x += width
        return places

    def legend_rows(self):
        return self.legend_places()[-1][1] + 1 if self.cases else 0

    def legend(self):
        shapes = {"line": '<line class="dash" x1="0" x2="14" y1="-4" y2="-4"/>',
                  "rect": '<rect x="4" y="-7" width="5.2" height="5.2"/>', "circle": '<circle cx="7" cy="-4" r="3.2"/>',
                  "paper": '<path class="paper" d="M2 -9l10 10m0 -10l-10 10"/>'}
        parts = []
        for x, row, mark, word, colour in self.legend_places():
            variable = "var(--muted)" if colour is None else f"var(--c{colour % COLOURS})"
            parts.append(f'<g transform="translate({x:.0f} {HEIGHT + 12 + LEGEND_ROW * row})" style="--c:{variable}">'
                         f'{shapes[mark]}<text class="tick" x="19">{escape(word)}</text></g>')
        return "".join(parts)


def panels(experiment, cases):
    """(name, Chart) for every panel; whole barriers are of another kind and stand in the table only."""
    x, table = experiment.x, experiment.table
    drawn = [c for c in cases if c.fields["mode"] != "barrier"]
    for name in dict.fromkeys(c.panel for c in drawn):
        yield name, Chart([c for c in drawn if c.panel == name], x.get("label", x["key"]), table.get("y", "time"),
                          x.get("scale", "linear"), table.get("y_from", 0))
