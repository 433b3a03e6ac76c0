"""From repetitions to medians. A repetition in which a timer came late is marked and left out: it measured the host,
not the tree."""
from dataclasses import dataclass, field
from statistics import median

LATE = 0.01  # of the prediction: later than that is marked
BUSY = 0.10  # of the repetitions marked: the host is too busy for a verdict


@dataclass
class Case:
    fields: dict  # as given to fibocast bench
    predicted_us: float = 0
    measured_us: list = field(default_factory=list)  # unmarked, in the time of the machine
    marked: int = 0

    @property
    def median_us(self):
        return median(self.measured_us) if self.measured_us else None

    @property
    def spread_us(self):
        return max(self.measured_us) - min(self.measured_us) if self.measured_us else None

    @property
    def error(self):
        return self.median_us / self.predicted_us - 1 if self.measured_us else None

    def add(self, repetition, scale):
        predicted = repetition["predicted_ns"]
        self.predicted_us = predicted / scale / 1000
        if repetition["lateness_ns"] > LATE * predicted:
            self.marked += 1
        else:
            self.measured_us.append(repetition["measured_ns"] / scale / 1000)


def too_few(case):
    return len(case.measured_us) < case.fields["repetitions"]


def share_marked(cases):
    marked = sum(case.marked for case in cases)
    taken = marked + sum(len(case.measured_us) for case in cases)
    return marked / taken if taken else 0


def wrong_order(cases, gap=0.05):
    """Pairs whose predictions differ by more than `gap`, but whose medians do not stand in the predicted order."""
    wrong = []
    for a in cases:
        for b in cases:
            measured = a.measured_us and b.measured_us
            if measured and a.predicted_us * (1 + gap) < b.predicted_us and a.median_us >= b.median_us:
                wrong.append((a, b))
    return wrong
