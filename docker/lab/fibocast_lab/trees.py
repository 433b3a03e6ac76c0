"""Trees as `fibocast plan tree` prints them, and how long one takes by the papers' formula."""
from functools import lru_cache

from fibocast_lab.programs import ask


def tree_of(fields):
    """Children of every rank in the order of sending, for a case's tree."""
    words = ["--tree", fields["tree"]]
    for key in ("lambda", "alpha", "configuration", "preset"):
        words += [f"--{key}", str(fields[key])] if key in fields else []
    if "alpha" in fields:
        words += ["--construction", "alpha"]
    elif fields["tree"] == "lambda":
        words += ["--construction", "descent"]  # contiguous parts, as daemons and the simulator number it
    if "configuration" in fields:
        words += ["--bytes", str(fields.get("bytes", 0))]
    else:
        words += ["--ranks", str(fields["ranks"])]
        words += [] if "lambda" in fields else ["--s", str(fields.get("s", 1)), "--r", str(fields.get("r", 1))]
    return planned(tuple(words))


@lru_cache(maxsize=None)
def planned(words):
    return ask("plan", "tree", *words)["children"]


def activations(children, costs, root=0):
    """A1 and C7: the k-th child of v is active at T[v] + k send(v) + latency + occupancy(child)."""
    times = {root: 0}
    ready = [root]
    for v in ready:
        for k, child in enumerate(children[v], 1):
            times[child] = times[v] + k * costs[v].send + costs[v].latency + costs[child].occupancy
            ready.append(child)
    return [times[v] for v in range(len(children))]


def depth(children, costs, root=0):
    """Messages on the way to the rank that is active last."""
    times = activations(children, costs, root)
    parent = {child: v for v, of in enumerate(children) for child in of}
    v, hops = times.index(max(times)), 0
    while v != root:
        v, hops = parent[v], hops + 1
    return hops


def file_text(children, root=0):
    """What file:PATH reads: a parent per rank, then the order of sending."""
    parent = ["-"] * len(children)
    order, ready = [], [root]
    for v in ready:
        order.append(v)
        for child in children[v]:
            parent[child] = str(v)
        ready.extend(children[v])
    return " ".join(parent) + "\norder " + " ".join(map(str, order)) + "\n"
