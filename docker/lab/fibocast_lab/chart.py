"""Plots of experiments: for every series a line (predicted), squares (simulated), dots with ranges (measured), crosses
(paper)."""
from textwrap import fill

from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from fibocast_lab.case import short
from fibocast_lab.figure import add_legend, legend_room, new_axes, say, to_svg
from fibocast_lab.style import LIGHT

HEIGHT = 270  # without the legend
LONGEST = 36  # letters beside the axis
ROUND = [1, 2, 5, 10]  # steps of an axis, times a power of ten
COLOURS = [LIGHT[f"c{i}"] for i in range(8)]
LINE = {"linewidth": 1.7}
SQUARE = {"linestyle": "none", "marker": "s", "markersize": 7, "markerfacecolor": "none", "markeredgewidth": 1.2}
DOT = {"linestyle": "none", "marker": "o", "markersize": 4.5}
CROSS = {"linestyle": "none", "marker": "x", "markersize": 9, "markeredgewidth": 1.8, "color": LIGHT["ink"]}
DASH = {"linestyle": "none", "marker": "_", "markersize": 10, "markeredgewidth": 2}


class Chart:
    """One panel."""

    def __init__(self, cases, x_label, y_label, scale="linear", low=0):
        self.cases = [c for c in cases if c.x is not None and heights(c)]
        self.names = list(dict.fromkeys(c.name for c in self.cases))
        self.x_label, self.y_label, self.scale = x_label, y_label, scale
        self.low = low  # the axis begins here, not at 0, only where a file says so
        values = dict.fromkeys(c.x for c in self.cases)
        with_words = scale == "words" or any(isinstance(value, str) for value in values)
        self.words = list(values) if with_words else []

    def svg(self, title=""):
        entries = self.legend_entries()
        axes = new_axes(HEIGHT + legend_room([entry.get_label() for entry in entries]))
        axes.set(xlabel=self.x_label, ylabel=fill(self.y_label, LONGEST))
        for number, name in enumerate(self.names):
            self.series(axes, [c for c in self.cases if c.name == name], COLOURS[number % len(COLOURS)])
        self.set_x(axes)
        self.set_y(axes)
        add_legend(axes, entries)
        return to_svg(axes, title or self.y_label)

    def series(self, axes, cases, colour):
        def points(value):
            found = sorted((self.place(c), value(c)) for c in cases if value(c) is not None)
            return list(zip(*found)) or [(), ()]

        axes.plot(*points(lambda c: c.predicted), color=colour, **(LINE if self.has_lines(cases) else DASH))
        axes.plot(*points(lambda c: c.simulated), color=colour, **SQUARE)
        axes.vlines(points(lambda c: c.median)[0], points(lambda c: min(c.measured, default=None))[1],
                    points(lambda c: max(c.measured, default=None))[1], color=colour, linewidth=1.4)
        axes.plot(*points(lambda c: c.median), color=colour, **DOT)
        axes.plot(*points(lambda c: c.paper), zorder=3, **CROSS)
        for c in cases:  # unseen, and larger than what is seen: easy to point at
            for y in heights(c):
                say(axes.plot(self.place(c), y, "o", alpha=0, markersize=11, markeredgewidth=0, color=colour)[0], said_of(c))

    def has_lines(self, cases):
        """Between words, and of one point, there are none."""
        return not self.words and len({c.x for c in cases}) > 1

    def place(self, c):
        """Where the axis has words, series stand beside each other."""
        if not self.words:
            return float(c.x)
        apart = min(0.12, 0.8 / len(self.names))
        return self.words.index(c.x) + apart * (self.names.index(c.name) - (len(self.names) - 1) / 2)

    def set_x(self, axes):
        values = sorted({c.x for c in self.cases}) if not self.words else []
        if self.words:
            axes.set_xticks(range(len(self.words)), [short(word) for word in self.words])
            axes.set_xlim(-0.5, len(self.words) - 0.5)
            return
        if self.scale == "log":  # with a place for 0
            axes.set_xscale("symlog", base=2, linthresh=min((v for v in values if v > 0), default=1))
            axes.xaxis.set_major_locator(FixedLocator(values, nbins=8))
            axes.xaxis.set_minor_locator(NullLocator())
        else:
            axes.xaxis.set_major_locator(MaxNLocator(10, steps=ROUND, integer=all(float(v).is_integer() for v in values)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        axes.margins(x=0.03)

    def set_y(self, axes):
        axes.grid(axis="y")
        axes.set_ylim(bottom=self.low)
        axes.yaxis.set_major_locator(MaxNLocator(7, steps=ROUND))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))

    def legend_entries(self):
        """The marks that occur, then the series."""
        line = LINE if self.has_lines(self.cases) else DASH
        kinds = [(line, "predicted", any(c.predicted is not None for c in self.cases)),
                 (SQUARE, "simulated", any(c.simulated is not None for c in self.cases)),
                 (DOT, "measured (median, range)", any(c.measured for c in self.cases)),
                 (CROSS, "the paper", any(c.paper is not None for c in self.cases))]
        marks = [Line2D([], [], label=label, **{"color": LIGHT["muted"], **kind}) for kind, label, there in kinds if there]
        return marks + [Line2D([], [], label=name, color=COLOURS[i % len(COLOURS)], linewidth=3)
                        for i, name in enumerate(self.names)]


def heights(c):
    return [value for value in (c.predicted, c.simulated, c.median, c.paper) if value is not None]


def said_of(c):
    said = [f"{word} {short(v)}" for word, v in (("predicted", c.predicted), ("simulated", c.simulated),
                                                ("measured", c.median), ("paper", c.paper)) if v is not None]
    return f"{c.name}, {short(c.x)}: {', '.join(said)}"


def panels(experiment, cases):
    """(name, Chart) for every panel; whole barriers are of another kind and stand in the table only."""
    x, table = experiment.x, experiment.table
    drawn = [c for c in cases if c.fields["mode"] != "barrier"]
    for name in dict.fromkeys(c.panel for c in drawn):
        yield name, Chart([c for c in drawn if c.panel == name], x.get("label", x["key"]), table.get("y", "time"),
                          x.get("scale", "linear"), table.get("y_from", 0))
