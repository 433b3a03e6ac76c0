"""Machines, in the file format of `fibocast simulate`: the same file is simulated, emulated by daemons and put into
the formulas, so that the three worlds cannot mean different machines."""
import re
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fibocast_lab.errors import LabError

FOLDER = Path(__file__).resolve().parents[1] / "machines"
IN_US = {"ns": Fraction(1, 1000), "us": Fraction(1), "ms": Fraction(1000), "s": Fraction(1000000)}


def number(text):
    """An exact cost, "27us", "9/5" or 1.8: never the nearest double. Times become us."""
    found = re.fullmatch(r"\s*([0-9./]+)\s*(ns|us|ms|s)?\s*", str(text))
    if found is None:
        raise LabError(f"'{text}' is no cost: write 9/5, 1.8 or 27us")
    return Fraction(found[1]) * IN_US.get(found[2], 1)


@dataclass(frozen=True)
class Costs:
    """One node's, for messages of one size: it is busy `send`; `latency` later its peer is busy `occupancy` (A1, A31)."""
    send: Fraction
    latency: Fraction
    occupancy: Fraction


class Machine:
    def __init__(self, name, table):
        self.name = name
        self.table = table

    @property
    def is_time(self):
        return bool(re.search(r"[a-z]", str(self.table.get("node", {}).get("send", 1))))

    @property
    def real(self):
        """Not emulated: this host's daemons as they are. The table is the model that `fibocast calibrate` has written."""
        return "model" in self.table

    @property
    def note(self):
        return self.table.get("note", "")

    @property
    def ports(self):
        return self.table.get("ports", "shared")

    @property
    def wire(self):
        """C11: the wire into a workstation carries one message after the other, in the simulator too."""
        return "serial" if self.table.get("network", {}).get("kind") == "workstations" else "parallel"

    def costs(self, size=0, kind=None):
        """Of a node of this kind ("F", "S", ..; none: every other node) for messages of so many bytes."""
        if self.real:
            return self.model_costs(size)
        node = {**self.table.get("node", {}), **self.kinds().get(kind, {})}
        network = self.table.get("network", {})
        counted = min(size, network.get("latency_bytes", size))  # B18: the difference D is constant above a packet
        return Costs(number(node.get("send", 0)) + number(node.get("send_per_byte", 0)) * size,
                     number(network.get("latency", 0)) + number(network.get("latency_per_byte", 0)) * counted,
                     number(node.get("occupancy", 0)) + number(node.get("occupancy_per_byte", 0)) * size)

    def model_costs(self, size):
        numbers = {key: value for key, value in self.table["model"].items() if key != "measured"}  # names, no cost
        model = {key: Fraction(str(value)) / 1000 for key, value in numbers.items()}
        send, latency, occupancy = (model.get(f"{name}_ns", Fraction(0)) for name in "slo")
        return Costs(send + model.get("send_per_byte_ns", 0) * size, latency,
                     occupancy + model.get("receive_per_byte_ns", 0) * size)

    def kinds(self):
        """By letter, as configurations name them: FFSS."""
        return {name[0].upper(): costs for name, costs in self.table.get("kinds", {}).items()}

    def costs_by_rank(self, ranks, size, configuration=None):
        return [self.costs(size, configuration[v] if configuration else None) for v in range(ranks)]

    def file_text(self, configuration=None, network=None):
        """What `fibocast simulate` reads, with the kinds placed on the ranks, and parameters of the network added."""
        if self.real:
            return self.real_text()
        table = {key: value for key, value in self.table.items() if key != "kinds"}
        table["network"] = {**table.get("network", {}), **(network or {})}
        kinds = {}
        for name, costs in self.table.get("kinds", {}).items():
            ranks = [v for v, letter in enumerate(configuration or "") if letter == name[0].upper()]
            if ranks:
                kinds[f"kinds.{name}"] = {**costs, "nodes": ranks}
        return toml_text({**table, **kinds})


    def real_text(self):
        """The simulator's nodes have a processor each."""
        fixed, byte = self.model_costs(0), self.model_costs(1)
        node = {"send": fixed.send, "occupancy": fixed.occupancy, "send_per_byte": byte.send - fixed.send,
                "occupancy_per_byte": byte.occupancy - fixed.occupancy}
        return toml_text({"node": {key: f"{float(value):.6f}us" for key, value in node.items()},
                          "network": {"kind": "ideal", "latency": f"{float(fixed.latency):.6f}us"}})


def toml_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    return str(value) if isinstance(value, int) else f'"{value}"'


def toml_text(table):
    """A table of values and of tables of values."""
    lines = [f"{key} = {toml_value(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for name, part in table.items():
        if isinstance(part, dict):
            lines += [f"[{name}]"] + [f"{key} = {toml_value(value)}" for key, value in part.items()]
    return "\n".join(lines) + "\n"


def load_machine(what):
    """A file in docker/lab/machines by its name, any other file by its path, or the table itself."""
    if isinstance(what, dict):
        return Machine(what.get("name", "unnamed"), {key: value for key, value in what.items() if key != "name"})
    path = Path(what) if str(what).endswith(".toml") else FOLDER / f"{what}.toml"
    try:
        return Machine(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError:
        names = ", ".join(sorted(p.stem for p in FOLDER.glob("*.toml")))
        raise LabError(f"there is no machine '{what}': a file that ends in .toml, or one of {names}") from None
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path}: {error}") from None
