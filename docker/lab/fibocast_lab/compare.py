"""Is one run slower than another? For every point that both have, a 95 % confidence interval of the difference of the
medians (bootstrap), and Mann and Whitney's test; Holm's correction keeps the chance of any false alarm at 5 %.

Predicted and simulated times have no chance in them: any difference there counts.
"""
import json
from pathlib import Path
from statistics import median

from fibocast_lab.confidence import bootstrap, holm, interval, mann_whitney
from fibocast_lab.errors import LabError
from fibocast_lab.figure10_report import print_table
from fibocast_lab.results import folders_of, load
from fibocast_lab.sections import cases_of

FEWEST = 4  # values on both sides: with three and three the test can never be significant


def run(options):
    rows, exact, calculated = [], [], 0
    for before, after in pairs(Path(options.before), Path(options.after)):
        some, others, same = compare(before, after)
        rows += some
        exact += others
        calculated += same
    if not rows and not exact and not calculated:
        raise LabError("the two have no point in common that was measured at least once, or calculated, in both")
    judge(rows)
    differs = [row for row in rows if row["significant"]]
    if options.json:
        print(json.dumps({"method": "bootstrap of the medians' difference; Mann-Whitney with Holm's correction at 5 %",
                          "points": rows, "exact_differences": exact, "significant": len(differs) + len(exact)}))
    elif not options.quiet:
        show(rows, exact, differs)
    return 1 if differs or exact else 0


def pairs(before, after):
    """Experiments of the same name on both sides; two folders of one experiment each are a pair."""
    left = {load(folder)[0]["experiment"]: folder for folder in folders_of(before)}
    right = {load(folder)[0]["experiment"]: folder for folder in folders_of(after)}
    common = [name for name in left if name in right]
    if not common:
        raise LabError(f"no experiment is in both {before} and {after}: there are {', '.join(left)} and {', '.join(right)}")
    return [(left[name], right[name]) for name in common]


def key(case):
    return case.panel, case.name, case.x, case.fields["mode"]


def compare(before, after):
    """Rows of measured points, with one of all points together; the differences where chance has no part, and the
    number of what is equal there."""
    (one, _, _), (two, _, _) = load(before), load(after)
    left, right = ({key(c): c for c in cases_of(summary)} for summary in (one, two))
    both = [k for k in left if k in right]
    rows = [row(one["experiment"], label(k), left[k].measured, right[k].measured) for k in both
            if left[k].measured and right[k].measured]
    together = [[value / side[k].predicted for k in both if left[k].measured and right[k].measured and side[k].predicted
                 for value in side[k].measured] for side in (left, right)]
    if len(rows) > 1 and all(together):
        rows.insert(0, row(one["experiment"], "all points, in parts of the prediction", *together))
    calculated = [(k, world, getattr(left[k], world), getattr(right[k], world)) for k in both
                  for world in ("predicted", "simulated")]
    calculated = [one for one in calculated if None not in one]
    exact = [{"experiment": one["experiment"], "point": label(k), "world": world, "before": a, "after": b}
             for k, world, a, b in calculated if differ(a, b)]
    return rows, exact, len(calculated) - len(exact)


def label(k):
    panel, name, x, _ = k
    return ", ".join(str(part) for part in (panel, name, x) if part != "")


def differ(a, b):
    return abs(a - b) > 1e-9 * max(abs(a), abs(b))


def row(experiment, point, before, after):
    low, high = interval(bootstrap([before, after], lambda a, b: median(b) / median(a) - 1, resamples=1000))
    return {"experiment": experiment, "point": point, "values": [len(before), len(after)], "before": median(before),
            "after": median(after), "difference": median(after) / median(before) - 1, "interval": [low, high],
            "p": mann_whitney(before, after), "enough": min(len(before), len(after)) >= FEWEST}


def judge(rows):
    tested = [one for one in rows if one["enough"]]
    for one, significant in zip(tested, holm([one["p"] for one in tested])):
        one["significant"] = significant
    for one in rows:
        one.setdefault("significant", False)


def show(rows, exact, differs):
    lines = [[f"{one['experiment']}: {one['point']}", f"{one['before']:.4g}", f"{one['after']:.4g}",
              f"{one['difference']:+.1%}", f"{one['interval'][0]:+.1%} to {one['interval'][1]:+.1%}", f"{one['p']:.3f}",
              "differs" if one["significant"] else "" if one["enough"] else "too few values"] for one in rows]
    if lines:
        print("Medians of what was measured; difference with its 95 % interval (bootstrap); p of Mann and Whitney\n")
        print_table(["point", "before", "after", "difference", "interval", "p", ""], lines)
    for one in exact:
        print(f"{one['experiment']}, {one['point']}: {one['world']} {one['before']:g}, now {one['after']:g}")
    few = sum(not one["enough"] for one in rows)
    if few:
        print(f"\n{few} points have fewer than {FEWEST} values on a side and were not tested: run with more --repetitions.")
    print(f"\n{len(differs) + len(exact)} significant differences among {len(rows)} measured points"
          f"{f', {len(exact)} of them in what is calculated' if exact else ''} (Holm's correction, 5 %).")
