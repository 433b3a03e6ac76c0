"""The simulated world: the product's own engine on the modelled machine, in virtual time."""
import json
import tempfile
from fractions import Fraction
from pathlib import Path

from fibocast_lab.machine import load_machine, number
from fibocast_lab.predict import divisor
from fibocast_lab.programs import ask


def mesh_size(order):
    """D4: width 2^ceil(n/2), height 2^floor(n/2)."""
    return {"rows": 2 ** (order // 2), "columns": 2 ** ((order + 1) // 2)}


def tree_name(f):
    """What `fibocast simulate --tree` calls a case's tree; None if it cannot: it builds Fibo- and lambda-trees for the
    machine's own costs only, and reads no tree from a file."""
    tree = f["tree"]
    if tree not in ("fibo", "lambda") or "configuration" in f:
        return tree
    own = load_machine(f["machine"]).costs(f.get("bytes", 0))
    if tree == "lambda" and "alpha" in f:
        return "binomial:halving" if number(f["alpha"]) == Fraction(1, 2) else None  # F3
    ratio = number(f["lambda"]) - 1 if tree == "lambda" else number(f.get("r", 1)) / number(f.get("s", 1))
    return tree if own.send and ratio == (own.latency + own.occupancy) / own.send else None


def way_words(f):
    if "tree" in f and "algorithm" not in f:
        return ["--tree", tree_name(f)]
    algorithm = f.get("algorithm", f"share:{f['share']}" if "share" in f else None)
    return ["--algorithm", algorithm] if algorithm else []


def command(f, folder):
    machine = Path(folder) / "machine.toml"
    network = mesh_size(f["order"]) if "order" in f else None
    machine.write_text(load_machine(f["machine"]).file_text(f.get("configuration"), network), encoding="utf-8")
    operation = f["operation"] if f["mode"] in ("distribution", "answer") else "barrier"
    words = ["simulate", "--quiet", "--machine", machine, "--operation", operation]
    words += ["--ranks", 2 ** f["order"] if "order" in f else f["ranks"], *way_words(f)]
    for key in ("bytes", "placement", "seed"):
        words += [f"--{key}", f[key]] if key in f else []
    return words


def can_simulate(case):
    """A barrier's tree is mirrored on the way up (A30); simulated ranks all call together."""
    f = case.fields
    if f["mode"] == "procedure":
        return False
    if f.get("delay", "together") != "together" or ("tree" in f and "algorithm" not in f and tree_name(f) is None):
        return False
    if "reduction" not in f or f["tree"] != "fibo":
        return True
    return (f["reduction"].get("s"), f["reduction"].get("r")) == (f.get("r"), f.get("s"))


def simulate(case):
    """How long it takes, in the machine's unit; None for trees that the simulator does not know."""
    if not can_simulate(case):
        return None
    fields = [case.fields]
    if case.fields["mode"] == "answer":  # two operations, one after the other: the second is of two ranks
        fields.append({**case.fields, "ranks": 2})
    return sum(completion(f) for f in fields) / float(divisor(case))


def completion(fields):
    with tempfile.TemporaryDirectory(prefix="fibocast-lab-") as folder:
        answer = ask(*command(fields, folder))
    return answer["completion_ns"] / 1000 if "completion_ns" in answer else answer["completion"]


def timeline(case):
    """Who is busy with what: rows of (rank, "send" or "receive", begin, duration, peer), the machine's unit."""
    with tempfile.TemporaryDirectory(prefix="fibocast-lab-") as folder:
        path = Path(folder) / "trace.json"
        ask(*command(case.fields, folder), "--trace", path)
        text = json.loads(path.read_text(encoding="utf-8"))
    events = text["traceEvents"] if isinstance(text, dict) else text
    unit = float(divisor(case))
    return [[e["pid"], e["cat"], e["ts"] / unit, e["dur"] / unit, e["args"]["peer"]] for e in events
            if e.get("cat") in ("send", "receive")]
