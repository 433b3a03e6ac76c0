"""A mesh whose links messages share: where its nodes are. Cases with a `placement` are measured so (machines whose network
is a mesh of wormholes); without one their daemons have every link for themselves."""
from math import isqrt

from fibocast_lab.errors import LabError
from fibocast_lab.machine import number

MASK = 2 ** 64 - 1


def split_mix(seed):
    """The simulator's dice (Steele, Lea, Flood 2014): the same random order from the same seed."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def places(nodes, placement, seed):
    order = list(range(nodes))
    if placement == "random":
        dice = split_mix(seed)
        for i in range(nodes, 1, -1):
            j = next(dice) % i
            order[i - 1], order[j] = order[j], order[i - 1]
    elif placement != "row-major":
        raise LabError(f"daemons cannot be placed '{placement}': there are row-major and random")
    return order


def settings(case, machine, unit_ns):
    """Of the emulation, as every daemon is told them; none for a case that says nothing of its placement."""
    network = machine.table.get("network", {})
    if "placement" not in case.fields or network.get("kind") != "mesh":
        return {}
    if isqrt(case.ranks) ** 2 != case.ranks or not network.get("wormhole", True):
        raise LabError("daemons emulate square meshes of wormholes only")
    hold = number(network.get("hold", 0)) + number(network.get("hold_per_byte", 0)) * case.fields.get("bytes", 0)
    where = places(case.ranks, case.fields["placement"], case.fields.get("seed", 1))
    return {"mesh_columns": isqrt(case.ranks), "mesh_hold_ns": round(hold * unit_ns), "mesh_places": ",".join(map(str, where))}
