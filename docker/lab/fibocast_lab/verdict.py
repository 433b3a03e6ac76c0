"""What a measurement says of the predictions: their error, and whether the trees rank as predicted."""
from dataclasses import dataclass

BUSY = 0.10  # of the repetitions marked: the host is too busy for a verdict


def share_marked(cases):
    marked = sum(case.marked for case in cases)
    taken = marked + sum(len(case.measured) for case in cases)
    return marked / taken if taken else 0


@dataclass
class Ranking:
    """Pairs whose predictions differ by at most `gap` are ties: either order is right."""
    repetitions: int = 0  # in which at least one pair is no tie
    right: int = 0  # of them, those in which every such pair stands in the predicted order
    wrong_pairs: dict = None  # "p = 19: a before b" -> in how many repetitions not

    @property
    def share(self):
        return self.right / self.repetitions if self.repetitions else None


def ranking(cases, gap=0.05):
    """The i-th repetitions of all series at one point are one ranking."""
    result = Ranking(wrong_pairs={})
    points = {}
    for case in cases:
        if case.measured and case.expected and case.fields["mode"] == "distribution":
            points.setdefault((case.panel, case.x), []).append(case)
    for (panel, x), same in points.items():
        pairs = [(a, b) for a in same for b in same if a.expected * (1 + gap) < b.expected]
        for i in range(max(len(case.measured) for case in same)):
            here = [(a, b) for a, b in pairs if i < min(len(a.measured), len(b.measured))]
            wrong = [(a, b) for a, b in here if a.measured[i] >= b.measured[i]]
            result.repetitions += bool(here)
            result.right += bool(here) and not wrong
            for a, b in wrong:
                key = f"{panel + ', ' if panel else ''}{x}: {a.name} measured slower than {b.name}, predicted faster"
                result.wrong_pairs[key] = result.wrong_pairs.get(key, 0) + 1
    return result


def objections(experiment, cases, resends, of_analysis=()):
    """The verdict as a list of sentences; none: all as predicted. A tolerance of 0: errors are only reported."""
    measured = [case for case in cases if case.wanted]
    if not measured or not experiment.judge["tolerance"]:
        return disagreements(experiment, cases) + list(of_analysis)
    if share_marked(measured) > BUSY:
        return [f"host too busy: {share_marked(measured):.0%} of the repetitions came late; no verdict"]
    found = [f"{where(experiment, c)}: no repetition was in time" for c in measured if not c.measured]
    tolerance = experiment.judge["tolerance"]
    found += [f"{where(experiment, c)}: {c.error:+.1%} from the prediction" for c in measured
              if c.error is not None and abs(c.error) > c.fields.get("tolerance", tolerance)]
    if experiment.judge["ranking"]:
        found += ranking_objections(ranking(measured, experiment.judge["gap"]), experiment)
    if resends:
        found.append(f"{resends} frames were sent again")
    return found + disagreements(experiment, cases) + list(of_analysis)


def where(experiment, case):
    label = "p" if experiment.x["key"] == "ranks" else experiment.x["key"]
    return f"{case.panel + ', ' if case.panel else ''}{case.name}, {label} = {case.x}"


def ranking_objections(found, experiment):
    if found.share is None or found.share >= experiment.judge["share"]:
        return []
    sentence = f"the trees ranked as predicted in only {found.share:.0%} of {found.repetitions} repetitions"
    worst = sorted(found.wrong_pairs.items(), key=lambda pair: -pair[1])[:3]
    return [sentence + "; most often wrong: " + ", ".join(f"{pair} ({count} times)" for pair, count in worst)]


def disagreements(experiment, cases):
    """Formula and simulator are exact: a difference is an error of one of them, or congestion that no formula has
    (`agree = 1` in the experiment's [judge] then says that it is meant)."""
    apart = [abs(c.simulated / c.predicted - 1) for c in cases if c.predicted and c.simulated is not None]
    wrong = [difference for difference in apart if difference > experiment.judge["agree"]]
    return [f"{len(wrong)} of {len(apart)} points are simulated otherwise than predicted, by up to {max(wrong):.1%}"] \
        if wrong else []


def judgement(summary):
    """Of a summary: the kind of verdict ("good", "bad", "plain": nothing was to be judged, "": no verdict) and its words."""
    objections, worlds = summary["objections"], summary["worlds"]
    if objections and objections[0].startswith("host too busy"):
        return "", "host too busy, no verdict"
    if objections:
        return "bad", "not as predicted"
    if summary["repetitions"] and not summary.get("judged", True):
        return "plain", "measured; errors are reported, not judged"
    if summary["repetitions"]:
        return ("good", "measured as predicted") if "predicted" in worlds else ("plain", "measured")
    return ("good", "predicted = simulated") if compared(summary) else ("plain", " and ".join(worlds))


def compared(summary):
    """Were both worlds calculated, and had they to agree?"""
    return {"predicted", "simulated"} <= set(summary["worlds"]) and summary.get("agree", 0) < 1
