"""matplotlib for pages: its SVG becomes part of the HTML, so its colours are the page's variables and its text is text."""
import io
import re
from html import escape

import matplotlib
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from fibocast_lab.style import FONTS, LIGHT

WIDTH = 430  # in units of the drawing: a page scales it to its column
SAID = "said: "  # begins the id of what a browser says of a mark

matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "fibocast", "text.parse_math": False, "font.family": ["DejaVu Sans"],
    "font.size": 10.5, "axes.labelsize": 11, "xtick.labelsize": 10.5, "ytick.labelsize": 10.5, "legend.fontsize": 10.5,
    "axes.labelcolor": LIGHT["ink"], "xtick.labelcolor": LIGHT["muted"], "ytick.labelcolor": LIGHT["muted"],
    "xtick.major.size": 0, "xtick.major.pad": 6, "ytick.major.size": 0, "legend.labelcolor": LIGHT["ink"],
    "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False, "axes.edgecolor": LIGHT["muted"],
    "axes.axisbelow": True, "grid.color": LIGHT["grid"], "grid.linewidth": 1, "figure.constrained_layout.use": True,
})


def new_axes(height):
    """Without a canvas of a window: no pyplot."""
    return Figure(figsize=(WIDTH / 72, height / 72)).add_subplot()


def legend_columns(labels):
    """As many as fit below a plot; legend_room is their height."""
    return max(1, min(len(labels), int((WIDTH - 40) / (6.2 * max(map(len, labels), default=1) + 36))))


def legend_room(labels):
    return 17 * -(-len(labels) // legend_columns(labels)) + 6 if labels else 0


def add_legend(axes, handles):
    """Below the label of the axis; the layout makes room for it."""
    labels = [handle.get_label() for handle in handles]
    if handles:
        below = ScaledTranslation(0, -40 / 72, axes.figure.dpi_scale_trans)
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=axes.transAxes + below,
                    ncol=legend_columns(labels), borderaxespad=0, borderpad=0, handlelength=1.6, handletextpad=0.5,
                    columnspacing=1.4)


def say(artist, words):
    """What a browser shows of the artist under the pointer: SVG has titles for it, matplotlib only ids."""
    artist.set_gid(SAID + words)


def to_svg(axes, title):
    """An <svg> element for a page: no size of its own, no date, no ids but those of what equals in every plot (hashes)."""
    out = io.StringIO()
    axes.figure.savefig(out, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = out.getvalue()
    box = re.search(r'viewBox="[^"]*"', text).group()
    body = re.sub(r"^.*?<svg[^>]*>|<metadata>.*?</metadata>|<style.*?</style>|\s+$", "", text, flags=re.DOTALL)
    body = re.sub(f'<g id="{SAID}([^"]*)">', r"<g><title>\1</title>", body)
    body = re.sub(r"<!--.*?-->\s*|\n\s*", "\n", body).replace("'DejaVu Sans'", FONTS)
    body = re.sub(r'<g id="[^"]*">', "<g>", re.sub(r'<g id="[^"]*"/>\n', "", body))
    for name, colour in LIGHT.items():
        body = body.replace(colour, f"var(--{name})")
    return (f'<svg class="chart" {box} role="img" xmlns="http://www.w3.org/2000/svg" '
            f'xmlns:xlink="http://www.w3.org/1999/xlink"><title>{escape(title)}</title>{body}')
