"""One point of an experiment: what it is, and what the three worlds and the paper say of it."""
from dataclasses import dataclass, field
from statistics import median


@dataclass
class Case:
    """Times are in the machine's unit: us, or the abstract unit of its file."""
    fields: dict  # the keys of the experiment's [case], series and panel, put together
    name: str = ""  # of its series
    panel: str = ""
    x: object = None
    predicted: float = None
    simulated: float = None
    paper: float = None  # printed there, or measured on the authors' machine
    wanted: int = 0  # repetitions
    measured: list = field(default_factory=list)  # unmarked
    marked: int = 0  # repetitions in which a timer came late: they measured the host, not the tree
    worlds: list = field(default_factory=list)  # in which it is asked

    @property
    def median(self):
        return median(self.measured) if self.measured else None

    @property
    def expected(self):
        """What a measurement is held against: where no formula says it, the simulator does."""
        return self.simulated if self.predicted is None else self.predicted

    @property
    def spread(self):
        return max(self.measured) - min(self.measured) if self.measured else None

    @property
    def error(self):
        """Of what was expected, in parts of it."""
        return self.median / self.expected - 1 if self.measured and self.expected else None

    @property
    def ranks(self):
        return int(self.fields["ranks"])

    def add(self, repetition, scale, unit_ns=1000, late=0.01):
        """A measurement of `bench`. A timer that was later than the part `late` of the prediction marks it; 0 marks
        none."""
        allowed = late * (self.expected or 0) * scale * unit_ns
        if allowed and repetition["lateness_ns"] > allowed:
            self.marked += 1
        else:
            self.measured.append(repetition["measured_ns"] / scale / unit_ns)

    def row(self, unit):
        """For JSON: times carry their unit in the key, unless they are abstract."""
        suffix = f"_{unit}" if unit == "us" else ""
        times = {"predicted": self.predicted, "simulated": self.simulated, "median": self.median,
                 "spread": self.spread, "paper": self.paper}
        return {**self.fields, "name": self.name, "panel": self.panel, "x": self.x, "p": self.fields.get("ranks"),
                "repetitions": self.wanted, **{key + suffix: value for key, value in times.items()},
                "error": self.error, "marked": self.marked, f"measured{suffix}": self.measured}


def short(value):
    """As few digits as tell a reader enough."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}" if abs(value) < 1e5 else f"{value:.3g}"
