"""Barriers whose members do not arrive together: real processes that call at different times.

The metric is from the last arrival to the last release: what the barrier costs beyond waiting for the last. Both are
times of the daemons, on the one clock of this host; the wished delays are not trusted, as starting a process takes a
few ms. So every repetition is predicted by itself, from the arrivals that it really had (arrivals.py).
"""
import json
import random
import subprocess
import sys
import time
from statistics import median

from fibocast_lab import arrivals
from fibocast_lab.errors import LabError
from fibocast_lab.machine import load_machine
from fibocast_lab.predict import barrier_trees, costs_by_rank

DEADLINE = "60s"


def delays(kind, ranks, mean, dice):
    """Seconds after the first possible arrival, of every rank."""
    if kind == "together":
        return [0.0] * ranks
    if kind == "exponential":
        return [dice.expovariate(1 / mean) for _ in range(ranks)]
    if kind == "bimodal":
        return [2 * mean if late else 0.0 for late in dice.sample([True, False] * ((ranks + 1) // 2), ranks)]
    if kind == "one straggler":
        late = dice.randrange(ranks)
        return [3 * mean if rank == late else 0.0 for rank in range(ranks)]
    raise LabError(f"there is no delay '{kind}': there are together, exponential, bimodal, one straggler")


def last_to_last(answers):
    """From the last arrival to the last release, ns; and how far apart the arrivals were."""
    arrived = [answer["arrived_at_ns"] for answer in answers]
    return max(answer["activated_at_ns"] for answer in answers) - max(arrived), max(arrived) - min(arrived)


def tree_words(fields):
    """What `fibocast group create` is told."""
    words = []
    for prefix, tree in (("--", fields), ("--reduction-", fields["reduction"])):
        words += [word for key in ("tree", "s", "r") if key in tree for word in (f"{prefix}{key}", str(tree[key]))]
    return words


def group_of(case):
    return "lab-" + "".join(letter if letter.isalnum() else "-" for letter in f"{case.name}-{case.x}")[:40].lower()


def create_group(cluster, case):
    command = [cluster.fibocast, "group", "create", group_of(case), "--ranks", f"0-{case.ranks - 1}", "--rank", "0",
               "--dir", cluster.folder, "--quiet", *tree_words(case.fields)]
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0:
        raise LabError(f"the group of {case.name} could not be created; the reason is above")


class SkewedBarriers:
    """Has the face of Measurement."""

    def __init__(self, experiment, options, clusters, say):
        self.experiment, self.options, self.clusters, self.say = experiment, options, clusters, say
        self.resends = 0
        self.predicted = {}  # id of a case -> of each repetition
        self.dice = random.Random(options.seed)

    def run(self, cases, raw):
        wanted = [case for case in cases if case.wanted]
        if not wanted:
            return
        machine = load_machine(wanted[0].fields["machine"])
        cluster = self.clusters(machine, costs_by_rank(wanted[0]), self.options.scale, transport=self.options.transport)
        order = [(case, i >= case.wanted) for case in wanted for i in range(case.wanted + self.options.warmup)]
        if self.options.order == "shuffled":
            self.dice.shuffle(order)
        order.sort(key=lambda repetition: not repetition[1])  # the warm-up first
        self.say(f"{wanted[0].ranks} daemons that look like {machine.name}, {self.options.scale:g} times slower; "
                 f"{len(order)} barriers whose callers are processes ...")
        with cluster.up(self.options.quiet or self.options.json) as up:
            for case in wanted:
                create_group(up, case)
            for number, (case, warmup) in enumerate(order, 1):
                self.progress(number, len(order))
                answers = self.barrier(up, case)
                if not warmup:
                    raw.write({"case": wanted.index(case), "order": number, **self.take(case, answers)})
        for case in wanted:
            case.predicted = median(self.predicted[id(case)])

    def take(self, case, answers):
        """Times are those of the machine from here on."""
        to_us = 1 / self.options.scale / 1000
        measured, apart = last_to_last(answers)
        first = min(answer["arrived_at_ns"] for answer in answers)
        came = [(answer["arrived_at_ns"] - first) * to_us for answer in answers]
        predicted = float(arrivals.last_to_last(came, *barrier_trees(case.fields), costs_by_rank(case)))
        case.measured.append(measured * to_us)
        self.predicted.setdefault(id(case), []).append(predicted)
        return {"name": case.name, "panel": case.panel, "x": case.x, "measured_ns": measured, "arrivals_apart_ns": apart,
                "arrivals_us": came, "predicted_ns": round(predicted / to_us), "scale": self.options.scale}

    def progress(self, number, count):
        if sys.stderr.isatty() and not self.options.quiet and not self.options.json:
            print(f"\r{number} of {count} barriers", end="" if number < count else "\n", file=sys.stderr)

    def barrier(self, cluster, case):
        late = delays(case.fields["delay"], case.ranks, self.experiment.analysis["mean_ms"] / 1000, self.dice)
        begin, callers = time.monotonic(), {}
        try:
            for rank in sorted(range(case.ranks), key=late.__getitem__):
                time.sleep(max(0.0, begin + late[rank] - time.monotonic()))
                callers[rank] = subprocess.Popen(
                    [cluster.fibocast, "barrier", group_of(case), "--rank", str(rank), "--dir", cluster.folder,
                     "--deadline", DEADLINE, "--json"], stdout=subprocess.PIPE, text=True)
            answers = [json.loads(callers[rank].communicate()[0] or "{}") for rank in range(case.ranks)]
        finally:
            for caller in callers.values():
                if caller.poll() is None:
                    caller.kill()
                    caller.wait()
        failed = [answer for answer in answers if "activated_at_ns" not in answer]
        if failed:
            raise LabError(f"a barrier failed: {failed[0].get('message', failed[0])}")
        return answers
