"""Plots as SVG."""
import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

from fibocast_lab.figure10_report import PAPER_US, pick  # noqa: E402

COLOURS = ["#888888", "#d95f02", "#7570b3", "#1b9e77", "#c2185b"]


def figure10(cases, trees, path):
    """Lines: predicted; dots: measured medians with their range; crosses: the paper's measurements."""
    figure, axes = pyplot.subplots(figsize=(8, 5.5))
    for name, colour in zip(trees, COLOURS):
        series = pick(cases, "distribution", name=name)
        axes.plot([c.fields["p"] for c in series], [c.predicted_us for c in series], color=colour, label=name)
        for c in filter(lambda c: c.measured_us, series):
            axes.vlines(c.fields["p"], min(c.measured_us), max(c.measured_us), color=colour, linewidth=1)
            axes.plot(c.fields["p"], c.median_us, "o", color=colour, markersize=4)
        if name in PAPER_US:
            axes.plot(19, PAPER_US[name], "x", color="black", markersize=8)
    axes.plot([], [], "o", color="black", markersize=4, label="measured (median, range)")
    axes.plot([], [], "x", color="black", markersize=8, label="the paper's measurement")
    axes.set_xlabel("nodes p")
    axes.set_ylabel("distribution latency in us")
    axes.set_title("Distribution latency on MANNA (s = 27 us, r = 88 us)")
    axes.set_xticks(range(2, 21, 2))
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
