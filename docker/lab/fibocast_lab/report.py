"""One self-contained HTML page of the experiments in a folder."""
import json
from html import escape

from fibocast_lab import style
from fibocast_lab.results import folders_of, load
from fibocast_lab.sections import section
from fibocast_lab.verdict import judgement


def run(options):
    folders = folders_of(options.folder)
    output = options.output or options.folder / "report.html"
    experiments = [load(folder) for folder in folders]
    output.write_text(html(experiments), encoding="utf-8")
    size = output.stat().st_size
    if options.json:
        print(json.dumps({"report": str(output), "experiments": [s["experiment"] for s, _, _ in experiments],
                          "bytes": size}))
    elif not options.quiet:
        print(f"{output}: {len(experiments)} experiments, {size / 1024:.0f} KiB, nothing outside it is needed")
    return 0


def html(experiments):
    build = sorted({manifest["build"]["fibocast"] for _, manifest, _ in experiments if manifest["build"]["fibocast"]})
    dates = sorted(manifest["date"][:10] for _, manifest, _ in experiments)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    title = "Fibocast laboratory" if len(experiments) > 1 else f"Fibocast laboratory: {experiments[0][0]['experiment']}"
    host = experiments[-1][1]["host"]
    head = (f"<h1>{escape(title)}</h1><p class='muted'>{escape(when)} · {escape(', '.join(build))} · "
            f"{escape(host['processor'])}, {host['processors']} processors</p>"
            "<p>How long collective operations take: <b>predicted</b> by the papers' formulas (lines), <b>simulated</b> by "
            "this product's engine in virtual time (squares), <b>measured</b> with real daemons whose network card is "
            "emulated and slowed down (dots: medians; bars: all repetitions), and what the papers <b>print</b> "
            "(crosses).</p>" + (contents(experiments) if len(experiments) > 1 else ""))
    body = "".join(section(*experiment) for experiment in experiments)
    return style.page(escape(title), head, body,
                      "Raw values, settings and plots lie beside this page, in a folder for each experiment.")


def contents(experiments):
    links = "".join(f"<li><a href='#{s['experiment']}'>{escape(s['experiment'])}{chip(s)}</a></li>"
                    for s, _, _ in experiments)
    return f"<nav><ul>{links}</ul></nav>"


def chip(summary):
    kind, words = judgement(summary)
    return f"<span class='chip {kind}'>{words}</span>"
