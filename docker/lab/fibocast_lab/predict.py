"""The predicted world: the papers' formulas, without a simulation."""
from functools import lru_cache

from fibocast_lab import arrivals, trees
from fibocast_lab.errors import LabError
from fibocast_lab.machine import load_machine
from fibocast_lab.programs import ask


UNITS_US = {"ns": 0.001, "us": 1, "ms": 1000, "s": 1e6}


def predict(case):
    """A float, or None where no formula says it."""
    f = case.fields
    formula = f.get("formula", "tree" if "tree" in f and f["operation"] == "multicast" else "none")
    formula = OF_MODE.get(f["mode"], formula)
    if formula not in FORMULAS:
        raise LabError(f"there is no formula '{formula}': there are {', '.join(sorted(FORMULAS))}")
    value = FORMULAS[formula](case)
    return None if value is None else float(value)


def costs_by_rank(case):
    f = case.fields
    return load_machine(f["machine"]).costs_by_rank(case.ranks, f.get("bytes", 0), f.get("configuration"))


def divisor(case):
    """Times may be asked for in units of a message's bytes, or of the time its sender is busy (t0)."""
    by = case.fields.get("divide_by")
    if by is None:
        return 1
    return case.fields["bytes"] if by == "bytes" else costs_by_rank(case)[0].send


def of_tree(case):
    return max(trees.activations(trees.tree_of(case.fields), costs_by_rank(case))) / divisor(case)


def of_answer(case):
    """B16: the last rank answers when it has the message."""
    costs = costs_by_rank(case)
    there = trees.activations(trees.tree_of(case.fields), costs)[-1]
    return there + costs[-1].send + costs[-1].latency + costs[0].occupancy


def of_gather(case):
    """C10 and C11: who sends sooner arrives sooner; the root takes in one block after the other, and so does a wire that
    is serial."""
    costs, serial = costs_by_rank(case), load_machine(case.fields["machine"]).wire == "serial"
    arrived = received = 0
    for sender in sorted(costs[1:], key=lambda cost: cost.send):
        arrived = (max(arrived, sender.send) if serial else sender.send) + sender.latency
        received = max(received, arrived) + costs[0].occupancy
    return received


def of_planner(case):
    """What the planner says of an algorithm where all ranks share the processors of one host, as the model has them."""
    f = case.fields
    machine = load_machine(f["machine"])
    fixed, byte = machine.costs(0), machine.costs(1)
    costs = {"s": fixed.send, "l": fixed.latency, "o": fixed.occupancy, "c": byte.send - fixed.send,
             "d": byte.occupancy - fixed.occupancy}
    words = [word for key, value in costs.items() for word in (f"--{key}", f"{float(value):.6f}us")]
    answer = ask("plan", "why", "--operation", f["operation"], "--ranks", f["ranks"], "--bytes", f.get("bytes", 0), *words,
                 "--colocated", f["ranks"], "--processors", machine.table["model"].get("processors", 1))
    times = {one["algorithm"]: one["predicted"] for one in answer["candidates"]}
    if f["algorithm"] not in times:
        raise LabError(f"the planner has no {f['operation']} '{f['algorithm']}': it has {', '.join(times)}")
    return times[f["algorithm"]] * UNITS_US[answer["unit"]]


def barrier_trees(fields):
    """Children on the way up and on the way down (A30: each way has its own tree)."""
    up = {key: value for key, value in fields.items() if key not in ("tree", "s", "r")} | fields["reduction"]
    return trees.tree_of(up), trees.tree_of(fields)


def of_barrier(case):
    """All arrive together; without that, a prediction needs the arrivals, which only a measurement has."""
    if case.fields.get("delay", "together") != "together":
        return None
    return arrivals.last_to_last([0] * case.ranks, *barrier_trees(case.fields), costs_by_rank(case))


def of_procedure(case):
    """C6: what the difference of the two loops would be on the machine itself."""
    ways, costs, iterations = barrier_trees(case.fields), costs_by_rank(case), case.fields["iterations"]
    times = [arrivals.loop(iterations, with_multicast, *ways, costs) for with_multicast in (False, True)]
    return (times[1] - times[0]) / iterations


@lru_cache(maxsize=None)
def figure(name):
    """A table of `fibocast plan figure` as a list of dictionaries."""
    table = ask("plan", "figure", name)
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def of_figure(case):
    """A column of the row whose cells are those of `rows`; "$x" there is the point of the axis."""
    f = case.fields
    wanted = {key: case.x if value == "$x" else value for key, value in f.get("rows", {}).items()}
    for row in figure(f["figure"]):
        if all(row.get(key) == value for key, value in wanted.items()):
            return row.get(f.get("column", case.name))
    return None


def of_mesh(case):
    """D7 to D13: the totals of divide and conquer, in parts of the time that the whole volume takes on one link."""
    f = case.fields
    answer = ask("plan", "mesh", "--order", f["order"], "--mapping", f["placement"], "--alpha", f["share"])
    return answer["large_messages"][f["column"]]


def of_fat_tree(case):
    """E3 to E13, in steps."""
    f = case.fields
    answer = ask("plan", "fattree", "--leaves", f["ranks"], "--capacities",
                 load_machine(f["machine"]).table["network"]["capacity"])
    return answer["times"][f["column"]]


OF_MODE = {"barrier": "barrier", "skew": "barrier", "procedure": "procedure", "answer": "answer"}
FORMULAS = {"tree": of_tree, "answer": of_answer, "gather": of_gather,
            "planner": of_planner, "barrier": of_barrier, "procedure": of_procedure, "figure": of_figure, "mesh": of_mesh,
            "fattree": of_fat_tree, "none": lambda case: None}
