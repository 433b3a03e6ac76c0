"""A tree drawn over time, and who was busy when: both from the simulator's trace."""
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from fibocast_lab.case import short
from fibocast_lab.figure import add_legend, new_axes, say, to_svg
from fibocast_lab.style import LIGHT

MOST_NUMBERED = 24  # ranks; of more only the colour is seen
KINDS = {"send": (LIGHT["c1"], "sends"), "receive": (LIGHT["c0"], "receives")}


def parents(rows):
    """From the sends and receives of a trace: (parent, when active) of every rank; the root has none."""
    active, parent = {}, {}
    for rank, kind, begin, duration, peer in rows:
        if kind == "receive":
            active[rank], parent[rank] = begin + duration, peer
    ranks = {row[0] for row in rows}
    return {rank: (parent.get(rank), active.get(rank, 0)) for rank in ranks}


def places(tree):
    """A column for each rank, so that no two edges cross: a rank stands left of its subtree, later children first."""
    children = {}
    for rank, (parent, _) in tree.items():
        children.setdefault(parent, []).append(rank)
    column, stack = {}, sorted(children[None])
    while stack:
        rank = stack.pop()
        column[rank] = len(column)
        stack += sorted(children.get(rank, []), key=lambda child: -tree[child][1])[::-1]
    return column


def height(tree):
    """Of both drawings, which stand beside each other."""
    return max(240, 70 + (15 if len(tree) <= MOST_NUMBERED else 6) * len(tree))


def tree_svg(rows, unit):
    """Ranks at their column and the time at which they are active: what is idle early is seen to be."""
    tree = parents(rows)
    column, axes, numbered = places(tree), new_axes(height(tree)), len(tree) <= MOST_NUMBERED
    for rank, (parent, active) in tree.items():
        if parent is not None:
            axes.plot([column[parent], column[rank]], [tree[parent][1], active], color=LIGHT["muted"], linewidth=1, zorder=1)
        dot, = axes.plot(column[rank], active, "o", markersize=15 if numbered else 6,
                         color=LIGHT["c0" if parent is None else "c2"], markeredgewidth=0, clip_on=False)
        say(dot, f"rank {rank} is active at {short(active)} {unit}")
        if numbered:
            axes.text(column[rank], active, str(rank), color=LIGHT["card"], ha="center", va="center_baseline", fontsize=9)
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_ylabel(unit)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.grid(axis="y")
    return to_svg(axes, "the tree over time")


def timeline_svg(rows, unit):
    """A row for every rank, in the order in which they become active."""
    tree = parents(rows)
    order = sorted(tree, key=lambda rank: (tree[rank][1], rank))
    numbered = len(order) <= MOST_NUMBERED
    axes = new_axes(height(tree))
    for rank, kind, begin, duration, peer in rows:
        edge = LIGHT["card"] if kind == "send" else KINDS[kind][0]  # sends follow each other; a receive may be very short
        bar, = axes.barh(order.index(rank), duration, 0.8, begin, color=KINDS[kind][0], edgecolor=edge, linewidth=0.6)
        say(bar, f"{rank} {KINDS[kind][1]} {'to' if kind == 'send' else 'from'} {peer}: {short(begin)} to "
                 f"{short(begin + duration)} {unit}")
    axes.set(xlim=(0, max(row[2] + row[3] for row in rows) or 1), ylim=(len(order) - 0.4, -0.6), xlabel=unit, ylabel="rank")
    axes.set_yticks(range(len(order)) if numbered else [], order if numbered else [])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.grid(axis="x")
    add_legend(axes, [Patch(color=colour, label=word) for colour, word in KINDS.values()])
    return to_svg(axes, "who is busy when")
