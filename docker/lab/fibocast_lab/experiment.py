"""Experiments are small files: machine x operation x tree x ranks x bytes, in up to three worlds.

    title = "Distribution latency on MANNA"
    worlds = ["predicted", "simulated", "measured"]
    [x]                            # what the plot's axis varies: any key of a case
    key = "ranks"
    values = "2..20"               # or a list
    [case]                         # what all cases share
    machine = "manna"
    [[panel]]                      # none or several: a plot of its own, with keys that differ
    [[series]]                     # a line of the plot, with keys that differ; may say [x] values of its own
    name = "Fibo(s,r)"
    tree = "fibo"

docker/lab/README.md lists all keys.
"""
import tomllib
from pathlib import Path

from fibocast_lab.case import Case
from fibocast_lab.errors import LabError

FOLDER = Path(__file__).resolve().parents[1] / "experiments"
WORLDS = ("predicted", "simulated", "measured")
TOP_KEYS = {"title", "source", "paper_figure", "about", "unit", "worlds", "x", "case", "panel", "series", "measure",
            "paper", "judge", "show", "analysis", "y", "y_from"}
CASE_KEYS = {"machine", "operation", "mode", "tree", "s", "r", "lambda", "alpha", "algorithm", "reduction", "ranks",
             "bytes", "configuration", "placement", "seed", "formula", "figure", "rows", "column", "order", "preset",
             "divide_by", "delay", "share", "scale", "iterations", "fast", "nodes", "tolerance"}
MEASURE_DEFAULTS = {"nodes": 0, "scale": 200, "repetitions": 5, "other_repetitions": 0, "focus": [], "at": None,
                    "series": None, "panels": None, "warmup": 1, "unit_ns": 1000, "spread": 0.01, "rounds": 3, "late": 0.01}
JUDGE_DEFAULTS = {"tolerance": 0.05, "ranking": True, "gap": 0.05, "share": 0.95, "agree": 0.005}


def values_of(text):
    """"2..20", "2..64 by 2", or a list. Not nothing: an experiment without a point would agree with everything."""
    values = range_of(text) if isinstance(text, str) else text
    if not isinstance(values, list) or not values or not all(isinstance(value, int | float | str) for value in values):
        raise LabError(f"'{text}' are no values: write \"2..20\", \"2..64 by 2\" or a list")
    return list(values)


def range_of(text):
    try:
        numbers, _, step = text.partition(" by ")
        first, last = numbers.split("..")
        return list(range(int(first), int(last) + 1, int(step or 1)))
    except ValueError:
        return []


class Experiment:
    def __init__(self, name, table):
        self.name = name
        self.table = table
        self.check(TOP_KEYS, table, "the file")
        self.title = table.get("title", name)
        self.worlds = table.get("worlds", list(WORLDS))
        self.x = table.get("x", {"key": "ranks", "values": []})
        self.measure = {**MEASURE_DEFAULTS, **table.get("measure", {})}
        self.judge = {**JUDGE_DEFAULTS, **table.get("judge", {})}
        self.check(set(MEASURE_DEFAULTS), self.measure, "[measure]")
        self.check(set(JUDGE_DEFAULTS), self.judge, "[judge]")
        for world in self.worlds:
            if world not in WORLDS:
                raise LabError(f"experiment {name}: '{world}' is no world: there are {', '.join(WORLDS)}")

    def check(self, allowed, table, where):
        for key in table:
            if key not in allowed:
                raise LabError(f"experiment {self.name}: '{key}' is no key of {where}: there are "
                               f"{', '.join(sorted(allowed))}")

    @property
    def analysis(self):
        return self.table.get("analysis", {})

    def panels(self):
        return self.table.get("panel", [{"name": ""}])

    def cases(self):
        self.check_names()
        return [case for panel in self.panels() for series in self.table.get("series", [])
                for case in self.cases_of(panel, series)]

    def check_names(self):
        for where, tables in (("[[series]]", self.table.get("series", [])), ("[[panel]]", self.panels())):
            if not tables:
                raise LabError(f"experiment {self.name} asks nothing: give a {where} with a name")
            if any("name" not in table for table in tables):
                raise LabError(f"experiment {self.name}: a {where} has no name")
        if "key" not in self.x:
            raise LabError(f"experiment {self.name}: [x] has no key: what its values are of, as \"ranks\"")

    def cases_of(self, panel, series):
        if panel["name"] not in series.get("panels", [panel["name"]]):
            return []
        fields = {**self.table.get("case", {}), **panel, **series}
        rows = {**self.table.get("case", {}).get("rows", {}), **panel.get("rows", {}), **series.get("rows", {})}
        own = {key: value for key, value in fields.items() if key not in ("name", "panels", "values", "y", "worlds")}
        self.check(CASE_KEYS, own, "a case")
        own |= {"rows": rows} if rows else {}
        return [self.case_at(panel, series, x, own)
                for x in values_of(series.get("values", panel.get("values", self.x.get("values", []))))]

    def case_at(self, panel, series, x, own):
        case = Case({**own, self.x["key"]: x}, series["name"], panel["name"], x)
        case.worlds = [world for world in self.worlds if world in series.get("worlds", WORLDS)]
        case.fields.setdefault("operation", "multicast")
        case.fields.setdefault("mode", "distribution")
        if "fast" in case.fields:
            case.fields["configuration"] = "F" * case.fields["fast"] + "S" * (case.fields["nodes"] - case.fields["fast"])
        if "configuration" in case.fields:
            case.fields["ranks"] = len(case.fields["configuration"])
        case.paper = self.paper_value(case)
        if self.is_measured(case):
            focus = not self.measure["focus"] or (x in self.measure["focus"] and case.fields["mode"] == "distribution")
            case.wanted = self.measure["repetitions" if focus else "other_repetitions"]
        return case

    def paper_value(self, case):
        for line in self.table.get("paper", []):
            if line["series"] == case.name and line["x"] == case.x and line.get("panel", "") == case.panel:
                return line["value"]
        return None

    def is_measured(self, case):
        m = self.measure
        return ("measured" in case.worlds and (m["at"] is None or case.x in m["at"])
                and (m["series"] is None or case.name in m["series"])
                and (m["panels"] is None or case.panel in m["panels"]))


def load(name):
    """An experiment of the laboratory by its name, or any file that ends in .toml."""
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    try:
        return Experiment(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError:
        raise LabError(f"there is no experiment '{name}': a file that ends in .toml, or one of {', '.join(names())}") \
            from None
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path}: {error}") from None


def names():
    return sorted(path.stem for path in FOLDER.glob("*.toml"))
