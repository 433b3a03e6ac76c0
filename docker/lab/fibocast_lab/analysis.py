"""What some experiments are made for beyond their points: a fit, or where a minimum lies."""
from statistics import median

from fibocast_lab import trees
from fibocast_lab.case import short
from fibocast_lab.confidence import bootstrap, interval, line
from fibocast_lab.errors import LabError
from fibocast_lab.predict import costs_by_rank

SLOPE_TOLERANCE = 0.05  # of the fit over time scales


def analyse(experiment, cases, options):
    """A dictionary for the summary: `said` is for people, `objections` go to the verdict."""
    kind = experiment.analysis.get("kind")
    if kind in (None, "skew", "procedure"):
        return {}
    if kind not in KINDS:
        raise LabError(f"experiment {experiment.name}: there is no analysis '{kind}': there are {', '.join(KINDS)}, skew, procedure")
    return KINDS[kind](experiment, cases, options)


def lambda_of(ks, columns, ways):
    """B16: the last of k messages, and its answer (2 ways), take t0 (k - 1 + 2 lambda); without the answer (1 way)
    t0 (k - 1 + lambda). (t0, lambda)."""
    slope, intercept = line([(k - 1, median(column)) for k, column in zip(ks, columns)])
    return slope, intercept / slope / ways


def fit_lambda(experiment, cases, _):
    said, fits, objections = [], [], []
    for panel in dict.fromkeys(c.panel for c in cases):
        for name in dict.fromkeys(c.name for c in cases if c.panel == panel):
            same = [c for c in cases if (c.panel, c.name) == (panel, name)]
            fits.append({"panel": panel, "series": name, **one_lambda(same)})
    for fit in fits:
        words = f"{fit['panel']}, {fit['series']}: t0 = {short(fit['t0_set'])}, lambda = {fit['lambda_set']:.3f} as set"
        if fit["t0"] is not None:
            low, high = fit["lambda_interval"]
            words += f"; measured t0 = {short(fit['t0'])}, lambda = {fit['lambda']:.3f} (95 %: {low:.3f} to {high:.3f})"
            if abs(fit["lambda"] / fit["lambda_set"] - 1) > experiment.judge["tolerance"]:
                objections.append(f"{fit['panel']}, {fit['series']}: lambda measured {fit['lambda']:.3f}, set "
                                  f"{fit['lambda_set']:.3f}")
        said.append(words)
    return {"said": said, "fits": fits, "objections": objections}


def one_lambda(cases):
    costs = costs_by_rank(cases[0])[0]
    fit = {"t0_set": float(costs.send), "lambda_set": float(1 + (costs.latency + costs.occupancy) / costs.send),
           "t0": None, "lambda": None}
    measured = [c for c in cases if c.measured]
    if len(measured) >= 2:
        ks, columns = [c.ranks - 1 for c in measured], [c.measured for c in measured]
        ways = 2 if cases[0].fields["mode"] == "answer" else 1
        fit["t0"], fit["lambda"] = lambda_of(ks, columns, ways)
        fit["lambda_interval"] = interval(bootstrap(columns, lambda *some: lambda_of(ks, some, ways)[1], resamples=500))
    return fit


def find_minimum(experiment, cases, _):
    """In [low, high) for every panel that says so: PAPERS' figures 11 and 12 of Bruck et al. 1996."""
    said, objections, found = [], [], []
    for panel in experiment.panels():
        same = [c for c in cases if c.panel == panel["name"]]
        limits = experiment.analysis.get("within", {}).get(panel["name"])
        for world, value in (("predicted", "predicted"), ("simulated", "simulated"), ("measured", "median")):
            points = [(getattr(c, value), c.x) for c in same if getattr(c, value) is not None]
            if len(points) < 3:
                continue
            best = min(points)
            found.append({"panel": panel["name"], "world": world, "x": best[1], "value": best[0]})
            said.append(f"{panel['name']}: the {world} minimum is {short(best[0])} at {experiment.x['label']} = {best[1]:g}")
            if limits and not limits[0] <= best[1] < limits[1]:
                objections.append(f"{panel['name']}: the {world} minimum lies at {best[1]:g}, not in "
                                  f"[{limits[0]:g}, {limits[1]:g})")
    return {"said": said, "minima": found, "objections": objections}


def fit_residual(experiment, cases, _):
    """measured = scale x predicted + residual: the residual per hop is what this runtime itself costs."""
    said, fits, objections, unit_us = [], [], [], experiment.measure["unit_ns"] / 1000
    for name in dict.fromkeys(c.name for c in cases):
        same = [c for c in cases if c.name == name and c.measured]
        if len({c.x for c in same}) < 2:
            said.append(f"{name}: measured at fewer than two scales, so there is no residual")
            continue
        scales, columns = [c.x for c in same], [[v * c.x * unit_us for v in c.measured] for c in same]
        hops = trees.depth(trees.tree_of(same[0].fields), costs_by_rank(same[0]))

        def residual(*some, scales=scales):
            return line([(scale, median(values)) for scale, values in zip(scales, some)])[1]

        slope, intercept = line([(scale, median(values)) for scale, values in zip(scales, columns)])
        low, high = interval(bootstrap(columns, residual, resamples=500))
        fits.append({"series": name, "slope_us": slope, "predicted_us": same[0].predicted * unit_us,
                     "residual_us": intercept, "residual_interval_us": [low, high], "hops": hops,
                     "residual_per_hop_us": intercept / hops})
        predicted = same[0].predicted * unit_us
        said.append(f"{name}: slope {slope:.1f} us (predicted {predicted:.1f}), residual {intercept:.0f} us (95 %: {low:.0f} "
                    f"to {high:.0f}) over {hops} hops: {intercept / hops:.0f} us a hop")
        if abs(slope / predicted - 1) > SLOPE_TOLERANCE:
            objections.append(f"{name}: the slope is {slope:.1f} us, predicted are {predicted:.1f}: no line fits the scales")
    return {"said": said, "fits": fits, "objections": objections}


def planners_choice(experiment, cases, _):
    """How much longer what the planner would take really is than the best of what was measured."""
    said, found = [], []
    for panel, x in dict.fromkeys((c.panel, c.x) for c in cases):
        same = [c for c in cases if (c.panel, c.x) == (panel, x) and c.measured]
        if len(same) < 2:
            continue
        chosen, best = min(same, key=lambda c: c.predicted), min(same, key=lambda c: c.median)
        found.append({"panel": panel, "x": x, "chosen": chosen.name, "best": best.name, "longer": chosen.median / best.median - 1})
        said.append(f"{panel}, {experiment.x['label']} = {x}: the planner takes {chosen.name} ({chosen.error:+.0%} from its "
                    f"prediction), {found[-1]['longer']:.0%} longer than the best measured, {best.name}")
    errors = sorted(c.error for c in cases if c.error is not None)
    if errors:
        said.append(f"error of {len(errors)} predictions: median {median(errors):+.0%}, from {errors[0]:+.0%} to {errors[-1]:+.0%}")
    return {"said": said, "choices": found, "objections": []}


KINDS = {"choice": planners_choice, "lambda": fit_lambda, "minimum": find_minimum, "residual": fit_residual}
