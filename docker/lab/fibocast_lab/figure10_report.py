"""The table of figure 10 in plain words."""
from fibocast_lab.verdict import share_marked

# Gains measured on the MANNA, p = 19 (Cordsen et al. 1997).
PAPER_GAIN = {"sequential": "44.1 %", "binomial = Fibo(1,0)": "29.5 %"}


def pick(cases, mode, name=None, p=None):
    return [c for c in cases if c.fields["mode"] == mode and name in (None, c.name) and p in (None, c.ranks)]


def number(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def percent(value):
    return "-" if value is None else f"{100 * value:+.1f} %"


def gain(over, best):
    """How much less time the best tree takes."""
    return None if over.median is None or best.median is None else 1 - best.median / over.median


def print_table(head, rows):
    widths = [max(len(str(line[i])) for line in [head, *rows]) for i in range(len(head))]
    for line in [head, ["-" * w for w in widths], *rows]:
        cells = [str(line[0]).ljust(widths[0])] + [str(c).rjust(w) for c, w in zip(line[1:], widths[1:])]
        print("  " + "  ".join(cells).rstrip())


def show_nineteen(cases, trees):
    best = pick(cases, "distribution", p=19, name="Fibo(s,r)")[0]
    rows = []
    for name in trees:
        c = pick(cases, "distribution", p=19, name=name)[0]
        ours = gain(c, best)
        rows.append([name, number(c.predicted, 0), number(c.median), number(c.spread), percent(c.error),
                     number(c.paper, 0) if c.paper else "", f"{100 * ours:.1f} %" if ours and c is not best else "",
                     PAPER_GAIN.get(name, "")])
    print("\nOne message to 19 nodes: from the root's first send to the last activation, in us of the machine\n")
    print_table(["tree", "predicted", "measured", "spread", "error", "paper", "Fibo(s,r) saves", "paper"], rows)


def show_all(cases, trees):
    rows = []
    for p in range(2, 21):
        row = [p]
        for name in trees:
            c = pick(cases, "distribution", p=p, name=name)[0]
            row.append(f"{number(c.predicted, 0)} / {number(c.median)}")
        rows.append(row)
    print("\nThe same for p = 2..20: predicted / measured median\n")
    print_table(["p", *trees], rows)


def show_barriers(cases):
    rows = [[c.name, number(c.predicted, 0), number(c.median), number(c.spread), percent(c.error)]
            for c in pick(cases, "barrier")]
    print("\nA whole barrier of 19 nodes that all arrive at once: the way up is a problem of its own\n")
    print_table(["trees", "predicted", "measured", "spread", "error"], rows)


def show(cases, summary, output):
    trees = [c.name for c in pick(cases, "distribution", p=19)]
    show_nineteen(cases, trees)
    show_all(cases, trees)
    show_barriers(cases)
    print("\nWhat it means: a node that has the message can pass it on while the one it sent to is still receiving. The")
    print("Fibo-tree of the measured s and r uses that best: nobody who could send is idle. On the way up the costs change")
    print("places, so the best tree is the mirror, Fibo(r,s).")
    show_judgement(cases, summary)
    print(f"\nRaw values: {output}/measurements.jsonl   summary: {output}/summary.json   plot: {output}/figure10.svg")


def show_judgement(cases, summary):
    if not any(c.measured for c in cases):
        print("\nNothing was measured, so nothing is said of the prediction.")
        return
    worst = max(abs(c.error) for c in cases if c.measured)
    print(f"\n{summary['repetitions']} repetitions in {summary['seconds']:.0f} s; {summary['marked']} came late "
          f"({share_marked(cases):.1%}) and were left out; {summary['resends']} frames were sent again; "
          f"largest error of a median {worst:.1%}.")
    for objection in summary["objections"]:
        print(f"NOT as predicted: {objection}")
    if not summary["objections"]:
        print("All medians are within 3 % of the prediction, and all trees stand in the predicted order.")
