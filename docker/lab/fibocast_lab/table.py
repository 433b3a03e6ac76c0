"""Results at the terminal: the same for every experiment, but figure 10, which ./dev run shows in the paper's own words."""
from fibocast_lab import figure10_report
from fibocast_lab.case import short
from fibocast_lab.verdict import judgement

MOST_ROWS = 40


def table_of(cases):
    """Head and rows: a row for every point of the axis, a column for every series."""
    names = list(dict.fromkeys(c.name for c in cases))
    rows = []
    for x in dict.fromkeys(c.x for c in cases):
        row = {c.name: cell(c) for c in cases if c.x == x}
        rows.append([short(x)] + [row.get(name, "") for name in names])
    return names, rows


def cell(c):
    """predicted / simulated / measured, of those that there are; what equals the prediction is not said again."""
    values = [short(c.predicted)] if c.predicted is not None else []
    if c.simulated is not None and (c.predicted is None or short(c.simulated) != short(c.predicted)):
        values.append(f"sim {short(c.simulated)}")
    if c.measured:
        values.append(f"meas {short(c.median)}")
    elif c.wanted:
        values.append("meas –")
    return " ".join(values)


def show(experiment, cases, summary, output):
    if experiment.name == "figure10":
        figure10_report.show(cases, summary, output)
    else:
        show_any(experiment, cases, summary, output)


def show_any(experiment, cases, summary, output):
    label = experiment.x.get("label", experiment.x["key"])
    for panel in dict.fromkeys(c.panel for c in cases):
        names, rows = table_of([c for c in cases if c.panel == panel])
        print(f"\n{panel + ', ' if panel else ''}{experiment.table.get('y', 'time')}; predicted, simulated where it "
              "differs, median of what was measured\n")
        every = max(1, -(-len(rows) // MOST_ROWS))
        figure10_report.print_table([label, *names], rows[::every])
    show_end(summary, output)


def show_end(summary, output):
    for line in summary.get("analysis", {}).get("said", []):
        print(f"\n{line}")
    if summary["repetitions"]:
        print(f"\n{summary['repetitions']} repetitions; {summary['marked']} came late and were left out; "
              f"{summary['resends']} frames were sent again.")
    for objection in summary["objections"]:
        print(f"NOT as predicted: {objection}")
    if not summary["objections"]:
        print(f"\nVerdict: {judgement(summary)[1]}.")
    print(f"\nIn {output}: summary.json, measurements.jsonl, manifest.json, plots as SVG; "
          f"a page of it: fibocast-lab report {output}\n")
