"""How Banikazemi et al. 1999 measure a collective operation (C6, their figure 2), beside the one clock.

Barriers are timed in a loop, then the operation with a barrier after it in a loop; the difference of the slowest ranks'
times is taken for the operation, and the least of several runs. It needs no common clock, but a barrier after a
multicast is not entered together: members that have the message early do a part of the barrier meanwhile, so the
procedure finds less than from the first send to the last activation.
"""
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from fibocast_lab.errors import LabError
from fibocast_lab.machine import load_machine
from fibocast_lab.measure import Measurement
from fibocast_lab.predict import costs_by_rank
from fibocast_lab.skew import create_group, group_of


class Procedure(Measurement):
    """Cases of mode "procedure" are measured so, all others as ever."""

    def run(self, cases, raw):
        loops = [case for case in cases if case.fields["mode"] == "procedure" and case.wanted]
        super().run([case for case in cases if case not in loops], raw)
        for case in loops:
            self.run_loops(case, raw)

    def run_loops(self, case, raw):
        machine = load_machine(case.fields["machine"])
        cluster = self.clusters(machine, costs_by_rank(case), self.options.scale, transport=self.options.transport)
        self.say(f"{case.ranks} daemons, loops of barriers and of multicasts with barriers, {case.wanted} times ...")
        with cluster.up(self.options.quiet or self.options.json) as up:
            create_group(up, case)
            self.loop(up, case, 1, ["barrier"])
            for number in range(case.wanted):
                self.once(up, case, number, raw)
        case.measured = [min(case.measured)]

    def once(self, up, case, number, raw):
        iterations = case.fields["iterations"]
        barriers = self.loop(up, case, iterations, ["barrier"])
        both = self.loop(up, case, iterations, ["multicast", "barrier"])
        measured = (both - barriers) / iterations
        case.measured.append(measured * 1e6 / self.options.scale)
        raw.write({"name": case.name, "panel": case.panel, "x": case.x, "p": case.ranks, "mode": "procedure",
                   "repetition": number, "scale": self.options.scale, "measured_ns": round(measured * 1e9),
                   "barriers_s": barriers, "both_s": both, "iterations": iterations})

    def loop(self, up, case, iterations, operations):
        """Seconds of the slowest rank, from its first call to its last answer, after a barrier."""
        with ThreadPoolExecutor(case.ranks) as ranks:
            return max(ranks.map(lambda rank: self.of_rank(up, case, rank, iterations, operations), range(case.ranks)))

    def of_rank(self, up, case, rank, iterations, operations):
        self.call(up, case, rank, "barrier")
        begin = time.monotonic()
        for _ in range(iterations):
            for operation in operations:
                self.call(up, case, rank, operation)
        return time.monotonic() - begin

    def call(self, up, case, rank, operation):
        words = [up.fibocast, operation, group_of(case), "--rank", str(rank), "--dir", up.folder, "--deadline", "60s", "--quiet"]
        words += ["--from", "0"] if operation == "multicast" else []
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise LabError(f"a {operation} of rank {rank} failed with exit code {done.returncode}; the reason is above")
