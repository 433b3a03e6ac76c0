"""One experiment from its file to its folder: predictions, simulations, measurements, verdict, plot."""
import json
import sys
import time
from pathlib import Path

from fibocast_lab import analysis, chart, own_cluster, style
from fibocast_lab.driver import driver
from fibocast_lab.manifest import manifest
from fibocast_lab.measure import Measurement
from fibocast_lab.predict import predict
from fibocast_lab.procedure import Procedure
from fibocast_lab.raw_values import RawValues
from fibocast_lab.simulate import simulate, timeline
from fibocast_lab.skew import SkewedBarriers
from fibocast_lab.table import show
from fibocast_lab.verdict import objections, ranking, share_marked

MEASURED_BY = {"skew": SkewedBarriers, "procedure": Procedure}
MEASURED_BY_OPTION = ("scale", "repetitions", "other_repetitions", "warmup")


def configure(experiment, options):
    """Options of the command line go before the file's."""
    for key in MEASURED_BY_OPTION:
        given = getattr(options, key)
        if given is not None:
            experiment.measure[key] = given
        setattr(options, key, experiment.measure[key])
    if options.worlds:
        experiment.worlds = [world for world in experiment.worlds if world in options.worlds]


def calculate(experiment, cases, options, say):
    """The two worlds that need no daemons."""
    progress = sys.stderr.isatty() and not options.quiet and not options.json
    say(f"{len(cases)} points: {', '.join(w for w in experiment.worlds if w != 'measured') or 'measured only'} ...")
    for number, case in enumerate(cases, 1):
        if "predicted" in case.worlds:
            case.predicted = predict(case)
        if "simulated" in case.worlds:
            case.simulated = simulate(case)
        if progress:
            print(f"\r{number} of {len(cases)} points", end="" if number < len(cases) else "\n", file=sys.stderr)


def sayer(options):
    return (lambda text: None) if options.quiet or options.json else (lambda text: print(text, flush=True))


def unit_of(experiment):
    return experiment.table.get("unit", "us")


def run_one(experiment, options, clusters, output):
    """Returns the summary; its files are in `output`."""
    output.mkdir(parents=True, exist_ok=True)
    say = sayer(options)
    configure(experiment, options)
    begun = time.monotonic()
    say(f"{experiment.name}: {experiment.title}")
    if own_cluster.is_asked(experiment):
        own_cluster.calibrate(experiment, options, clusters, output, say)
    cases = experiment.cases()
    write(output / "manifest.json", manifest(experiment, cases, options))
    summary = run_cases(experiment, cases, options, clusters, output, say)
    summary["seconds"] = round(time.monotonic() - begun, 1)
    write(output / "summary.json", summary)
    return summary, cases


def run_cases(experiment, cases, options, clusters, output, say):
    calculate(experiment, cases, options, say)
    measured_by = MEASURED_BY.get(experiment.analysis.get("kind"), Measurement)
    measurement = measured_by(experiment, options, clusters, say)
    with open(options.raw or output / "measurements.jsonl", "a" if options.raw else "w", encoding="utf-8") as file:
        measurement.run(cases, RawValues(file, experiment.name))
    draw(experiment, cases, output)
    return summary_of(experiment, cases, options, measurement.resends)


def draw(experiment, cases, output):
    for i, (_, plot) in enumerate(chart.panels(experiment, cases)):
        name = f"{experiment.name}{'' if i == 0 else f'-{i + 1}'}.svg"
        (output / name).write_text(style.alone(plot.svg(experiment.title)), encoding="utf-8")
    wanted = experiment.table.get("show")
    if wanted:
        case = next(c for c in cases if all(getattr(c, k) == wanted[k] for k in ("name", "panel", "x") if k in wanted)
                    and c.name == wanted["series"])
        write(output / "timeline.json", {"series": case.name, "panel": case.panel, "x": case.x,
                                         "unit": unit_of(experiment), "rows": timeline(case)})


def summary_of(experiment, cases, options, resends):
    measured = [case for case in cases if case.wanted]
    ranked = ranking(measured, experiment.judge["gap"])
    unit = unit_of(experiment)
    machine = experiment.table.get("case", {}).get("machine", "several")
    analysed = analysis.analyse(experiment, cases, options)
    return {
        "experiment": experiment.name, "title": experiment.title, "unit": unit,
        "machine": machine if isinstance(machine, str) else machine.get("name", "unnamed"), "scale": options.scale,
        "transport": options.transport, "seed": options.seed, "resends": resends, "worlds": experiment.worlds,
        "agree": experiment.judge["agree"], "judged": bool(experiment.judge["tolerance"]),
        "objections": objections(experiment, cases, resends, analysed.pop("objections", [])),
        "ranking": {"repetitions": ranked.repetitions, "share_right": ranked.share, "wrong": ranked.wrong_pairs},
        "repetitions": sum(len(c.measured) + c.marked for c in cases), "marked": sum(c.marked for c in cases),
        "share_marked": share_marked(measured), "analysis": analysed, "cases": [case.row(unit) for case in cases],
    }


def write(path, what):
    path.write_text(json.dumps(what, indent=1, default=str) + "\n", encoding="utf-8")


def measures(experiments, options):
    return any(own_cluster.is_asked(e) or ("measured" in e.worlds and "measured" in (options.worlds or e.worlds))
               for e in experiments)


def run(experiments, options):
    """Exit code 1 if anything was not as predicted."""
    if options.raw:
        options.raw.write_text("", encoding="utf-8")
    with driver(options.driver if measures(experiments, options) else "local", sayer(options)) as clusters:
        return run_all(experiments, options, clusters)


def run_all(experiments, options, clusters):
    summaries = []
    for experiment in experiments:
        asked = {key: getattr(options, key) for key in MEASURED_BY_OPTION}
        output = options.output or Path("results")
        if options.output is None or len(experiments) > 1:
            output = output / experiment.name
        summary, cases = run_one(experiment, options, clusters, output)
        summaries.append(summary)
        if not options.json:
            show(experiment, cases, summary, output)
        for key, value in asked.items():
            setattr(options, key, value)
    if options.json:
        print(json.dumps(summaries[0] if len(summaries) == 1 else summaries, default=str))
    return 1 if any(summary["objections"] for summary in summaries) else 0
