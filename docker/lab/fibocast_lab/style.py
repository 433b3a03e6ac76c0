"""How pages and plots look: one sheet, light and dark by the reader's own setting, from a phone to a wide screen."""

LIGHT = {"bg": "#fbfaf7", "card": "#ffffff", "ink": "#1d2230", "muted": "#667085", "grid": "#e6e4de", "line": "#dcd9d0",
         "accent": "#23558c", "good": "#18794e", "good-bg": "#e3f4ea", "bad": "#b42318", "bad-bg": "#fdeae7",
         "note": "#8a5a00", "note-bg": "#fdf3dc", "c0": "#2f6fbb", "c1": "#d4581a", "c2": "#1f8a66", "c3": "#a3468f",
         "c4": "#a97b00", "c5": "#0c8599", "c6": "#7048c8", "c7": "#6b7280"}  # no colour twice: plots are drawn with them
DARK = {"bg": "#12151c", "card": "#1a1f29", "ink": "#e8eaf0", "muted": "#98a2b3", "grid": "#2b3240", "line": "#323a49",
        "accent": "#8ab8ee", "good": "#6fd3a1", "good-bg": "#153527", "bad": "#ff9c8f", "bad-bg": "#43201c",
        "note": "#f0c66a", "note-bg": "#3b2f14", "c0": "#74aef2", "c1": "#ff9460", "c2": "#5fcfa6", "c3": "#e08fce",
        "c4": "#e3bb4c", "c5": "#5cc9dc", "c6": "#b199f5", "c7": "#a7afbd"}
FONTS = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def variables(root):
    """figure.py turns a plot's light colours into these."""
    light, dark = (";".join(f"--{name}:{colour}" for name, colour in colours.items()) for colours in (LIGHT, DARK))
    return f"{root}{{{light}}}@media (prefers-color-scheme:dark){{{root}{{{dark}}}}}"


PAGE = """
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main,header{max-width:1080px;margin:0 auto;padding:0 20px}header{padding-top:36px}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3em;letter-spacing:-.01em}
h2{font-size:1.25rem;line-height:1.3;margin:0 0 .2em}h3{font-size:1rem;margin:1.2em 0 .3em}
p{margin:.4em 0;max-width:75ch}.muted{color:var(--muted);font-size:.9rem}a{color:var(--accent)}
code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.88em}
nav ul{list-style:none;margin:18px 0;padding:0;display:grid;gap:6px;grid-template-columns:repeat(auto-fill,minmax(290px,1fr))}
nav a{display:flex;gap:10px;align-items:baseline;justify-content:space-between;padding:8px 12px;background:var(--card);
border:1px solid var(--line);border-radius:8px;text-decoration:none;color:var(--ink)}nav a:hover{border-color:var(--accent)}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:22px 24px;margin:22px 0}
.plots{display:grid;gap:18px 26px;grid-template-columns:repeat(auto-fit,minmax(min(430px,100%),1fr));margin:14px 0}
figure{margin:0;min-width:0}figcaption{font-weight:600;font-size:.92rem;margin-bottom:4px}
.plots figure:only-child{max-width:600px}nav a span{text-align:right}nav a{white-space:nowrap;flex-wrap:wrap}nav a .muted{white-space:normal}.chart{display:block;width:100%;height:auto}
.chip{display:inline-block;border-radius:99px;padding:1px 10px;font-size:.8rem;font-weight:600;white-space:nowrap;
background:var(--note-bg);color:var(--note)}.chip.plain{background:var(--grid);color:var(--muted)}
.chip.good{background:var(--good-bg);color:var(--good)}
.chip.bad{background:var(--bad-bg);color:var(--bad)}
.facts{display:flex;flex-wrap:wrap;gap:10px 28px;margin:12px 0;padding:0}.facts div{min-width:110px}
.facts dt{font-size:.78rem;color:var(--muted)}.facts dd{margin:0;font-weight:600}
.scroll{overflow-x:auto;margin:8px 0}table{border-collapse:collapse;font-size:.87rem;font-variant-numeric:tabular-nums}
th,td{padding:3px 12px 3px 0;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
th{color:var(--muted);font-weight:600}th:first-child,td:first-child{text-align:left}td.text{text-align:left;white-space:normal;
min-width:14em}details{margin:10px 0}summary{cursor:pointer;color:var(--accent);font-size:.92rem}
ul.said{margin:.4em 0;padding-left:1.2em}footer{color:var(--muted);font-size:.85rem;max-width:1080px;margin:0 auto;padding:10px 20px 40px}
@media (max-width:600px){main,header{padding:0 12px}header{padding-top:22px}section{padding:16px 14px}h1{font-size:1.5rem}}
@media print{section{break-inside:avoid}nav{display:none}}
"""


def page(title, head, body, foot=""):
    """A whole HTML document with nothing outside it."""
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,'
            f'initial-scale=1"><meta name="color-scheme" content="light dark"><title>{title}</title>'
            f"<style>{variables(':root')}{PAGE}</style></head><body><header>{head}</header><main>{body}</main>"
            f"<footer>{foot}</footer></body></html>\n")


def alone(svg):
    """A plot as a file of its own, which has to bring its colours."""
    return svg.replace(">", f"><style>{variables('svg')}svg{{background:var(--bg)}}</style>", 1)
