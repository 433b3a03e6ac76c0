"""Distribution latency of five trees on MANNA, p = 2..20 (Cordsen et al. 1997, figure 10), and whole barriers

20 real daemons, of which p take part, look like the nodes of a MANNA (s = 27 us, r = 88 us) to each other: each
transfer occupies its sender for s and its receiver for r, `scale` times slower, so that the trees' times tower above
the noise of the host.
"""
import json
import sys
import time
from pathlib import Path

from fibocast_lab import figure10_report, plot
from fibocast_lab.cluster import local_cluster
from fibocast_lab.summary import BUSY, Case, share_marked, too_few, wrong_order

NODES = 20
TREES = {  # name in table and plot -> fields of a case
    "sequential": {"tree": "sequential"},
    "binomial = Fibo(1,0)": {"tree": "binomial"},
    "Fibo(1,1)": {"tree": "fibo", "s": 1, "r": 1},
    "Fibo(1,2)": {"tree": "fibo", "s": 1, "r": 2},
    "Fibo(s,r)": {"tree": "fibo", "s": 27, "r": 88},
}
FIBO = {"tree": "fibo", "s": 27, "r": 88}
MIRROR = {"tree": "fibo", "s": 88, "r": 27}
BINOMIAL = {"tree": "binomial"}
BARRIERS = {
    "one Fibo-tree": {**FIBO, "reduction": FIBO},
    "one binomial tree": {**BINOMIAL, "reduction": BINOMIAL},
    "Fibo(r,s) up, Fibo(s,r) down": {**FIBO, "reduction": MIRROR},
}
TOLERANCE = 0.03
ROUNDS = 3  # marked repetitions are taken again, so often at most


def make_cases(options):
    cases = []
    for p in range(2, NODES + 1):
        count = options.repetitions if p == 19 else options.other_repetitions
        for name, tree in TREES.items():
            cases.append({"name": name, "p": p, "mode": "distribution", "repetitions": count, **tree})
    for name, trees in BARRIERS.items():
        cases.append({"name": name, "p": 19, "mode": "barrier", "repetitions": options.other_repetitions, **trees})
    return [Case(fields) for fields in cases]


def measure(cluster, cases, options, raw):
    """Takes all repetitions, then those again that came out marked. Returns how many frames were sent again."""
    resends = 0
    for round_number in range(ROUNDS):
        wanted = [case for case in cases if too_few(case)]
        if not wanted:
            break
        fields = [{**c.fields, "repetitions": c.fields["repetitions"] - len(c.measured_us)} for c in wanted]
        quiet = options.quiet or not sys.stderr.isatty()
        repetitions, again = cluster.bench(fields, options.warmup, options.seed + round_number, quiet)
        resends += again
        for repetition in repetitions:
            wanted[repetition["case"]].add(repetition, options.scale)
            raw.write(json.dumps({**repetition, "round": round_number, "scale": options.scale}) + "\n")
    return resends


def judge(cases, resends):
    """The verdict as a list of objections; none: all as predicted."""
    if share_marked(cases) > BUSY:
        return [f"host too busy: {share_marked(cases):.0%} of the repetitions came late; no verdict"]
    objections = [f"{c.fields['name']}, p = {c.fields['p']}: no repetition was in time" for c in cases if not c.measured_us]
    for c in cases:
        if c.measured_us and abs(c.error) > TOLERANCE:
            objections.append(f"{c.fields['name']}, p = {c.fields['p']}: {c.error:+.1%} from the prediction")
    for p in range(2, NODES + 1):
        same_p = [c for c in cases if c.fields["p"] == p and c.fields["mode"] == "distribution"]
        for a, b in wrong_order(same_p):
            objections.append(f"p = {p}: {a.fields['name']} measured slower than {b.fields['name']}, predicted faster")
    if resends:
        objections.append(f"{resends} frames were sent again")
    return objections


def run(options):
    output = options.output or Path("results") / "figure10"
    output.mkdir(parents=True, exist_ok=True)
    cases = make_cases(options)
    say = (lambda text: None) if options.quiet or options.json else (lambda text: print(text, flush=True))
    say(f"Starting {NODES} daemons that look like MANNA (s = 27 us, r = 88 us), {options.scale:g} times slower ...")
    begun = time.monotonic()
    with local_cluster(NODES, "manna", options.scale, options.transport, options.quiet or options.json) as cluster:
        count = sum(case.fields["repetitions"] for case in cases)
        say(f"Measuring {len(cases)} cases, {count} repetitions in shuffled order ...")
        with open(output / "measurements.jsonl", "w", encoding="utf-8") as raw:
            resends = measure(cluster, cases, options, raw)
    seconds = time.monotonic() - begun
    objections = judge(cases, resends)
    summary = figure10_report.summary(cases, options, resends, seconds, objections)
    (output / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    plot.figure10(cases, list(TREES), output / "figure10.svg")
    print(json.dumps(summary)) if options.json else figure10_report.show(cases, list(TREES), summary, output)
    return 1 if objections else 0
