"""A page of every figure and table of a paper, each marked with what became of it here."""
import json
import tomllib
from fractions import Fraction
from html import escape
from pathlib import Path

from fibocast_lab import chart, experiment, style
from fibocast_lab.case import Case, short
from fibocast_lab.errors import LabError
from fibocast_lab.programs import ask
from fibocast_lab.results import load
from fibocast_lab.sections import cases_of, details, said, table
from fibocast_lab.verdict import judgement

FOLDER = Path(__file__).resolve().parents[1] / "papers"
MARKS = {"computed": "by formulas, with fibocast plan figure", "simulated": "by this product's engine in virtual time",
         "measured": "with real daemons and an emulated network card",
         "reconstructed": "the paper's numbers are lost; these fit what is known of them",
         "drawing": "it has no numbers, or they are those of the drawn thing"}
MOST_ROWS = 15


def run(options):
    paper = load_paper(options.number)
    output = options.output or options.results / f"paper-{options.number}.html"
    results = {entry["experiment"]: found for entry in paper["entry"] if "experiment" in entry
               for found in [result_of(options.results, entry["experiment"])] if found}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(html(options.number, paper, results), encoding="utf-8")
    open_marks = [entry["number"] for entry in paper["entry"] if missing_worlds(entry, results)]
    if options.json:
        print(json.dumps({"paper": options.number, "page": str(output), "with_results": sorted(results),
                          "entries": [{"number": e["number"], "marks": e["marks"], "not_run": missing_worlds(e, results)}
                                      for e in paper["entry"]]}))
    elif not options.quiet:
        print(f"{output}: {len(paper['entry'])} figures and tables")
        if open_marks:
            wanted = sorted({e["experiment"] for e in paper["entry"] if missing_worlds(e, results)})
            print(f"not simulated or measured yet: {', '.join(open_marks)}; first: fibocast-lab run {' '.join(wanted)}")
    return 0


def load_paper(number):
    paper = tomllib.loads((FOLDER / f"{number}.toml").read_text(encoding="utf-8"))
    for entry in paper["entry"]:
        unknown = [mark for mark in entry["marks"] if mark not in MARKS]
        if unknown:
            raise LabError(f"{number}.toml: {entry['number']} has the mark '{unknown[0]}': there are {', '.join(MARKS)}")
    return paper


def result_of(folder, name):
    for place in (folder / name, folder):
        if (place / "summary.json").exists():
            found = load(place)
            if found[0]["experiment"] == name:
                return found
    return None


def has_world(world, found):
    key = {"simulated": "simulated", "measured": "measured"}[world]
    suffix = "_us" if found[0]["unit"] == "us" else ""
    return any(row[key + suffix] for row in found[0]["cases"])


def missing_worlds(entry, results):
    """Marks that only a run makes true, and none has yet. A figure may be marked measured without an experiment: it was
    measured by its authors, and is lost."""
    if "experiment" not in entry:
        return []
    found = results.get(entry["experiment"])
    return [mark for mark in entry["marks"] if mark in ("simulated", "measured") and not (found and has_world(mark, found))]


def html(number, paper, results):
    links = "".join(f"<li><a href='#e{i}'>{escape(e['number'])}<span class='muted'>{escape(', '.join(e['marks']))}</span></a>"
                    f"</li>" for i, e in enumerate(paper["entry"]))
    marks = "".join(f"<li><b>{mark}</b>: {escape(text)}</li>" for mark, text in MARKS.items())
    head = (f"<h1>Paper {number}: {escape(paper['title'])}</h1><p class='muted'>{escape(paper['source'])}</p><p>Every figure "
            f"and table of the paper, and what became of it here.</p><ul class='said muted'>{marks}</ul><nav><ul>{links}"
            "</ul></nav>")
    body = "".join(entry_html(i, entry, results) for i, entry in enumerate(paper["entry"])) + claims(paper)
    return style.page(f"Paper {number}, {escape(paper['source'])}", head, body,
                      "Written by fibocast-lab paper; measurements are those of the folder it was given.")


def entry_html(i, entry, results):
    missing = missing_worlds(entry, results)
    chips = " ".join(mark_chip(mark, entry, missing) for mark in entry["marks"])
    parts = [f"<section id='e{i}'><h2>{escape(entry['number'])}: {escape(entry['title'])}</h2><p>{chips}</p>"]
    parts += [f"<p>{escape(entry['note'])}</p>"] if "note" in entry else []
    if entry.get("experiment") in results:
        parts.append(experiment_html(results[entry["experiment"]]))
    elif missing:
        parts.append(f"<p class='muted'>To have it here: <code>fibocast-lab run {escape(entry['experiment'])}</code></p>")
    if "figure" in entry:
        parts.append(figure_html(entry, entry.get("experiment") not in results))
    return "".join(parts) + "</section>"


def mark_chip(mark, entry, missing):
    if mark in missing:
        return f"<span class='chip'>{mark}: not run</span>"
    if mark == "measured" and "experiment" not in entry:
        return "<span class='chip'>measured by its authors, lost</span>"
    return f"<span class='chip good'>{mark}</span>"


def experiment_html(found):
    summary, manifest, _ = found
    one = experiment.Experiment(summary["experiment"], manifest["definition"])
    figures = "".join(f"<figure><figcaption>{escape(name)}</figcaption>{plot.svg()}</figure>"
                      for name, plot in chart.panels(one, cases_of(summary)))
    kind, words = judgement(summary)
    return (f"<p class='muted'>Experiment {escape(one.name)}, {escape(manifest['date'][:10])} "
            f"<span class='chip {kind}'>{words}</span></p><div class='plots'>{figures}</div>{said(summary)}")


def figure_html(entry, with_plot):
    """All numbers of `fibocast plan figure`, and a plot where the experiment has none."""
    answer = ask("plan", "figure", entry["figure"])
    few = len(answer["rows"]) <= MOST_ROWS
    rows = [[short(cell) for cell in row] for row in answer["rows"]]
    plots = figure_plot(entry["plot"], answer) if with_plot and "plot" in entry else ""
    return plots + details(f"{answer['title']}: {len(rows)} rows", table(answer["columns"], rows), few)


def figure_plot(plot, answer):
    at, cases = answer["columns"].index(plot["x"]), []
    for name in plot["columns"]:
        column = answer["columns"].index(name)
        cases += [Case({"mode": "distribution"}, name, "", value(row[at]), float(value(row[column])))
                  for row in answer["rows"]]
    drawn = chart.Chart(cases, plot["x"], plot.get("y", ""), plot.get("scale", "linear"))
    return f"<div class='plots'><figure>{drawn.svg(answer['title'])}</figure></div>"


def value(cell):
    return float(Fraction(cell)) if isinstance(cell, str) else cell


def claims(paper):
    """What the text of the paper says in numbers, and what comes out."""
    if not paper.get("claim"):
        return ""
    rows = "".join("<tr>" + "".join(f"<td class='text'>{escape(one[key])}</td>" for key in
                                    ("where", "claim", "printed", "computed", "verdict")) + "</tr>" for one in paper["claim"])
    return (f"<section id='claims'><h2>Statements of the text</h2><div class='scroll'><table><thead><tr><th>where</th>"
            f"<th>statement</th><th>printed</th><th>computed</th><th>verdict</th></tr></thead><tbody>{rows}</tbody></table>"
            "</div></section>")
