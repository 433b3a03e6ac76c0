"""An experiment's part of a report: verdict, plots, errors of the predictions, ranking, tree, timeline, table."""
from html import escape
from statistics import median

from fibocast_lab import drawing
from fibocast_lab.case import Case, short
from fibocast_lab.chart import panels
from fibocast_lab.experiment import Experiment
from fibocast_lab.table import table_of
from fibocast_lab.verdict import judgement

MOST_OPEN_ROWS = 12


def cases_of(summary):
    """The cases as they were when the summary was written."""
    suffix = "_us" if summary["unit"] == "us" else ""
    cases = []
    for row in summary["cases"]:
        case = Case(row, row["name"], row["panel"], row["x"], row["predicted" + suffix], row["simulated" + suffix],
                    row["paper" + suffix], row["repetitions"], row["measured" + suffix], row["marked"])
        cases.append(case)
    return cases


def section(summary, manifest, timeline):
    experiment = Experiment(summary["experiment"], manifest["definition"])
    cases = cases_of(summary)
    parts = [f"<section id='{escape(experiment.name)}'><h2>{escape(experiment.title)}</h2>",
             f"<p class='muted'>{escape(experiment.name)} · {escape(experiment.table.get('source', ''))}</p>",
             f"<p>{escape(experiment.table.get('about', ''))}</p>", verdict(summary), facts(summary, manifest, cases),
             plots(experiment, cases), said(summary), errors(cases), show(experiment, timeline), tables(experiment, cases), "</section>"]
    return "".join(parts)


def verdict(summary):
    objections, (kind, words) = summary["objections"], judgement(summary)
    lines = "".join(f"<li>{escape(objection)}</li>" for objection in objections[:8])
    more = f"<li>and {len(objections) - 8} more</li>" if len(objections) > 8 else ""
    return f"<p><span class='chip {kind}'>{words}</span></p>" + (f"<ul class='said'>{lines}{more}</ul>" if lines else "")


def facts(summary, manifest, cases):
    """The few numbers that say how far the rest may be trusted."""
    found = [("worlds", ", ".join(summary["worlds"])), ("points", len(cases))]
    if summary["repetitions"]:
        found += [("repetitions", f"{summary['repetitions']}, {summary['marked']} late"),
                  ("daemons over", summary["transport"]), ("seed", summary["seed"])]
        if summary["ranking"]["share_right"] is not None:
            found.append(("ranked as predicted", f"in {summary['ranking']['share_right']:.0%} of "
                          f"{summary['ranking']['repetitions']} repetitions"))
        found.append(("load of the host", f"{manifest['host']['load_at_start'][0]:.1f} on "
                      f"{manifest['host']['processors']} processors"))
    return "<dl class='facts'>" + "".join(f"<div><dt>{escape(str(k))}</dt><dd>{escape(str(v))}</dd></div>"
                                          for k, v in found) + "</dl>"


def plots(experiment, cases):
    figures = "".join(f"<figure>{f'<figcaption>{escape(name)}</figcaption>' if name else ''}{plot.svg()}</figure>"
                      for name, plot in panels(experiment, cases))
    return f"<div class='plots'>{figures}</div>"


def said(summary):
    lines = summary.get("analysis", {}).get("said", [])
    return "<h3>What follows</h3><ul class='said'>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>" \
        if lines else ""


def errors(cases):
    """Of the predictions, for every series that was measured."""
    rows = []
    for name in dict.fromkeys(c.name for c in cases):
        same = [c for c in cases if c.name == name and c.error is not None]
        if same:
            worst = max(same, key=lambda c: abs(c.error))
            spread = median(c.spread / c.median for c in same)
            usual = median(c.error for c in same)
            rows.append([name, len(same), sum(len(c.measured) for c in same), f"{100 * usual:+.1f} %",
                         f"{100 * worst.error:+.1f} % at {short(worst.x)}", f"{100 * spread:.1f} %"])
    if not rows:
        return ""
    head = ["measured against predicted", "points", "repetitions", "median error", "largest error of a median",
            "usual range of repetitions"]
    return "<h3>Error of the prediction</h3>" + table(head, rows)


def show(experiment, timeline):
    if not timeline or not timeline["rows"]:
        return ""
    panel = f"{timeline['panel']}, " if timeline["panel"] else ""
    what = f"{timeline['series']}, {panel}{experiment.x.get('label', experiment.x['key'])}: {short(timeline['x'])}"
    unit = timeline["unit"]
    return (f"<h3>One multicast: {escape(what)}</h3><div class='plots'><figure><figcaption>The tree; a rank stands at the "
            f"time when it is active ({unit})</figcaption>{drawing.tree_svg(timeline['rows'], unit)}</figure><figure>"
            f"<figcaption>Who is busy when ({unit}); ranks in the order of their activation</figcaption>"
            f"{drawing.timeline_svg(timeline['rows'], unit)}</figure></div>")


def tables(experiment, cases):
    """All numbers: open where they are few."""
    label, parts = experiment.x.get("label", experiment.x["key"]), []
    for name in dict.fromkeys(c.panel for c in cases):
        names, rows = table_of([c for c in cases if c.panel == name])
        parts.append((f"<h3>{escape(name)}</h3>" if name else "") + table([label, *names], rows))
    few = sum(part.count("<tr>") for part in parts) <= MOST_OPEN_ROWS
    said_of_cells = "<p class='muted'>Predicted; simulated (sim) where it differs; median of what was measured (meas).</p>"
    return details("All numbers", said_of_cells + "".join(parts), few)


def details(summary, body, is_open):
    attribute = " open=''" if is_open else ""
    return f"<details{attribute}><summary>{escape(summary)}</summary>{body}</details>"


def table(head, rows):
    return "<div class='scroll'><table><thead><tr>" + "".join(f"<th>{escape(str(h))}</th>" for h in head) + \
        "</tr></thead><tbody>" + "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
                                         for row in rows) + "</tbody></table></div>"
