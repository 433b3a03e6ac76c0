"""A tree drawn over time, and who was busy when: both from the simulator's trace, as SVG for the page of style.py."""
from html import escape

from fibocast_lab.chart import nice_ticks, short

WIDTH = 480
LEFT, RIGHT, TOP = 34, 16, 14


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


def tree_svg(rows, unit):
    """Ranks at their column and the time at which they are active: what is idle early is seen to be."""
    tree = parents(rows)
    column, end = places(tree), max(active for _, active in tree.values()) or 1
    ticks, height = [t for t in nice_ticks(end) if t <= end], 260
    radius = 8 if len(tree) <= 24 else 3.5

    def x(rank):
        return LEFT + 12 + column[rank] * (WIDTH - LEFT - RIGHT - 24) / max(len(tree) - 1, 1)

    def y(time):
        return TOP + time / end * (height - 2 * TOP)

    parts = [f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(t):.1f}" y2="{y(t):.1f}"/>'
             f'<text class="tick" x="{LEFT - 5}" y="{y(t) + 3.5:.1f}" text-anchor="end">{short(t)}</text>' for t in ticks]
    for rank, (parent, active) in tree.items():
        if parent is not None:
            parts.append(f'<line class="edge" x1="{x(parent):.1f}" y1="{y(tree[parent][1]):.1f}" x2="{x(rank):.1f}" '
                         f'y2="{y(active):.1f}"/>')
    for rank, (parent, active) in tree.items():
        label = f'<text class="node" x="{x(rank):.1f}" y="{y(active) + 3:.1f}">{rank}</text>' if radius > 5 else ""
        colour = 0 if parent is None else 2
        parts.append(f'<g style="--c:var(--c{colour})"><title>rank {rank} is active at {short(active)} {unit}</title>'
                     f'<circle cx="{x(rank):.1f}" cy="{y(active):.1f}" r="{radius}"/>{label}</g>')
    return svg(height, "the tree over time", parts)


def timeline_svg(rows, unit):
    """A row for every rank, in the order in which they become active."""
    tree = parents(rows)
    order = sorted(tree, key=lambda rank: (tree[rank][1], rank))
    step = 15 if len(order) <= 24 else 6
    end, bottom = max(row[2] + row[3] for row in rows) or 1, TOP + step * len(order)
    ticks = [t for t in nice_ticks(end) if t <= end]

    def x(time):
        return LEFT + time / end * (WIDTH - LEFT - RIGHT)

    parts = [f'<line class="grid" x1="{x(t):.1f}" x2="{x(t):.1f}" y1="{TOP}" y2="{bottom}"/>'
             f'<text class="tick" x="{x(t):.1f}" y="{bottom + 14}" text-anchor="middle">{short(t)}</text>' for t in ticks]
    if step > 10:
        parts += [f'<text class="tick" x="{LEFT - 5}" y="{TOP + step * i + 11}" text-anchor="end">{rank}</text>'
                  for i, rank in enumerate(order)]
    for rank, kind, begin, duration, peer in rows:
        words = f"{rank} {'sends to' if kind == 'send' else 'receives from'} {peer}: {short(begin)} to " \
                f"{short(begin + duration)} {unit}"
        parts.append(f'<rect class="{kind}" x="{x(begin):.2f}" y="{TOP + step * order.index(rank) + 1.5}" '
                     f'width="{max(x(begin + duration) - x(begin) - 0.7, 0.7):.2f}" height="{step - 3}" rx="1.5">'
                     f"<title>{escape(words)}</title></rect>")
    for number, (kind, word) in enumerate((("send", "sends"), ("receive", "receives"))):
        parts.append(f'<rect class="{kind}" x="{LEFT + 90 * number}" y="{bottom + 24}" width="14" height="9" rx="1.5"/>'
                     f'<text class="tick" x="{LEFT + 19 + 90 * number}" y="{bottom + 32}">{word}</text>')
    return svg(bottom + 40, "who is busy when", parts)


def svg(height, title, parts):
    return (f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" xmlns="http://www.w3.org/2000/svg">'
            f"<title>{title}</title>{''.join(parts)}</svg>")
