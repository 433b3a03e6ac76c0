"""The measured world: real daemons with an emulated network card, as many clusters as there are machines."""
import json
import random
import sys
import tempfile
from pathlib import Path

from fibocast_lab import mesh, trees
from fibocast_lab.machine import load_machine
from fibocast_lab.predict import costs_by_rank, divisor
from fibocast_lab.confidence import uncertainty

BY_NAME = ("fibo", "binomial", "sequential", "binary")  # the daemons themselves know these trees; others come as files


class Measurement:
    """All repetitions of an experiment's cases. The order is shuffled: of the clusters, and of the cases in each."""

    def __init__(self, experiment, options, clusters, say):
        self.experiment = experiment
        self.options = options
        self.clusters = clusters  # of the driver
        self.say = say
        self.resends = 0

    def run(self, cases, raw):
        wanted = [case for case in cases if case.wanted]
        groups = {}
        for case in wanted:
            groups.setdefault(self.machine_key(case), []).append(case)
        order = sorted(groups)
        if self.options.order == "shuffled":
            random.Random(self.options.seed).shuffle(order)
        for number, key in enumerate(order, 1):
            self.run_cluster(groups[key], wanted, raw, f" (cluster {number} of {len(order)})" if len(order) > 1 else "")

    def scale_of(self, case):
        return 1 if load_machine(case.fields["machine"]).real else case.fields.get("scale", self.options.scale)

    def machine_key(self, case):
        """Cases with the same key can share a cluster."""
        f = case.fields
        machine = load_machine(f["machine"])
        return str((machine.name, json.dumps(f["machine"]), 0 if machine.real else f.get("bytes", 0),
                    f.get("configuration", ""), self.scale_of(case), f.get("placement"),
                    f.get("seed") if f.get("placement") == "random" else None))

    def run_cluster(self, cases, all_cases, raw, which):
        biggest = max(cases, key=lambda case: case.ranks)
        costs = costs_by_rank(biggest)
        costs += [costs[0]] * (self.experiment.measure["nodes"] - len(costs))
        machine, scale = load_machine(biggest.fields["machine"]), self.scale_of(biggest)
        cluster = self.clusters(machine, costs, scale, self.experiment.measure["unit_ns"],
                               self.options.transport, mesh=mesh.settings(biggest, machine, self.experiment.measure["unit_ns"]))
        self.say(f"{len(costs)} daemons {looks(cluster, biggest)}; {sum(case.wanted for case in cases)} repetitions{which} ...")
        with cluster.up(self.options.quiet or self.options.json) as up, \
                tempfile.TemporaryDirectory(prefix="fibocast-lab-") as folder:
            for number in range(self.experiment.measure["rounds"]):
                todo = [(case, missing(case, self.experiment.measure["spread"], number)) for case in cases]
                todo = [(case, count) for case, count in todo if count]
                if todo:
                    self.take(up, todo, all_cases, number, raw, folder)

    def take(self, cluster, todo, all_cases, number, raw, folder):
        fields = [self.bench_fields(case, count, Path(folder) / f"tree-{i}") for i, (case, count) in enumerate(todo)]
        quiet = self.options.quiet or self.options.json or not sys.stderr.isatty()
        repetitions, again = cluster.bench(fields, self.options, self.options.seed + number, quiet)
        self.resends += again
        for repetition in repetitions:
            case = todo[repetition["case"]][0]
            scale, unit_ns = self.scale_of(case), self.experiment.measure["unit_ns"] * float(divisor(case))
            case.add(repetition, scale, unit_ns, self.experiment.measure["late"])
            predicted = None if case.expected is None else round(case.expected * scale * unit_ns)
            raw.write({**repetition, "case": all_cases.index(case), "round": number, "scale": scale,
                       "predicted_ns": predicted})

    def bench_fields(self, case, count, path):
        f = case.fields
        fields = {"name": case.name, "panel": case.panel, "x": case.x, "p": case.ranks, "mode": f["mode"],
                  "repetitions": count}
        if f["operation"] in ("scatter", "gather", "barrier"):
            fields["mode"] = f["operation"]
        fields |= {"bytes": f["bytes"]} if load_machine(f["machine"]).real and f.get("bytes") else {}
        if "algorithm" in f:
            return {**fields, "algorithm": f["algorithm"]}
        fields |= {"reduction": f["reduction"]} if "reduction" in f else {}
        if f["tree"].startswith(("kary:",) + BY_NAME) and "configuration" not in f:
            return {**fields, **{key: f[key] for key in ("tree", "s", "r") if key in f}}
        path.write_text(trees.file_text(trees.tree_of(f)), encoding="utf-8")
        return {**fields, "tree": f"file:{path}"}


def looks(cluster, case):
    machine, c = cluster.machine, cluster.nodes[0]
    if machine.real:
        return f"that emulate nothing and plan by {machine.name}"
    costs = f"s = {c['s_ns'] / 1000:g}, l = {c['l_ns'] / 1000:g}, o = {c['o_ns'] / 1000:g}" if cluster.alike \
        else case.fields.get("configuration")
    return f"that look like {machine.name} ({costs}), {cluster.scale:g} times slower"


def missing(case, spread, round_number):
    """Marked repetitions are taken again; in later rounds also half as many more while the median is uncertain."""
    lacking = case.wanted - len(case.measured)
    if lacking > 0 or round_number == 0:
        return max(lacking, 0)
    return (case.wanted + 1) // 2 if spread and uncertainty(case.measured) > spread else 0
