"""A local cluster of real daemons for as long as an experiment lasts, and the measured loop on it."""
import json
import re
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from fibocast_lab.errors import LabError
from fibocast_lab.programs import find_fibocast

RESEND_FLOOR_MS = 100  # an emulated machine is slow and its host busy: resends must lie well above the noise


class Cluster:
    def __init__(self, fibocast, folder):
        self.fibocast = fibocast
        self.folder = folder

    def bench(self, cases, options, seed, quiet):
        """Repetitions of all cases: a list of measurements, and how many frames were sent again."""
        command = [self.fibocast, "bench", "distribution", "--cases", "-", "--dir", self.folder, "--json"]
        command += ["--warmup", str(options.warmup), "--seed", str(seed), "--order", options.order] + (["--quiet"] if quiet else [])
        text = "".join(json.dumps(case) + "\n" for case in cases)
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise LabError(f"fibocast bench failed with exit code {done.returncode}")
        result = json.loads(done.stdout)
        return result["repetitions"], result["resends"]

    def calibrate(self, output, seed, quiet):
        """Writes the model file."""
        command = [self.fibocast, "calibrate", "--dir", self.folder, "--output", str(output), "--seed", str(seed)]
        done = subprocess.run(command + (["--quiet"] if quiet else []), stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise LabError(f"fibocast calibrate failed with exit code {done.returncode}")


def nanoseconds(costs, unit_ns):
    """The [emulation] settings of a node with these costs."""
    times = {"s_ns": costs.send, "l_ns": costs.latency, "o_ns": costs.occupancy}
    return {key: round(value * unit_ns) for key, value in times.items()}


class EmulatedNodes:
    """Daemons whose emulated network card has these costs, `scale` times as long; those of a real machine emulate nothing
    and plan by its model. Drivers differ in where they run."""

    def __init__(self, machine, costs_by_rank, scale, unit_ns=1000, transport="udp", mesh=None):
        self.machine = machine
        self.mesh = mesh or {}  # settings of mesh.py
        self.nodes = [nanoseconds(costs, unit_ns) for costs in costs_by_rank]
        self.scale = scale
        self.transport = transport

    @property
    def alike(self):
        return all(node == self.nodes[0] for node in self.nodes)

    def settings(self, rank, folder):
        """SECTION.KEY -> value, as daemons take them from their files and from their environment."""
        if self.machine.real:
            return {f"model.{key}": value for key, value in self.machine.table["model"].items()}
        mesh = {**self.mesh, "mesh_links": f"{folder}/links"} if self.mesh else {}
        return {f"emulation.{key}": value for key, value in {**self.nodes[rank], **mesh}.items()} | {
            "emulation.scale": self.scale, "emulation.ports": self.machine.ports,
            "emulation.wire": self.machine.wire, "transport.resend_floor_ms": RESEND_FLOOR_MS}


class LocalCluster(EmulatedNodes):
    """Processes of this host: what `fibocast up` is told."""

    def up_command(self, fibocast, folder, quiet):
        up = [fibocast, "up", "-n", str(len(self.nodes)), "--transport", self.transport, "--dir", folder]
        up += ["--quiet"] if quiet else []
        up += [word for key, value in self.settings(0, folder).items() for word in ("--settings", f"{key}={value}")]
        return up if self.alike else up + ["--hold", f"1-{len(self.nodes) - 1}" if len(self.nodes) > 2 else "1"]

    def start(self, fibocast, folder, quiet):
        """Nodes that differ: rank 0 starts, the others' files get costs of their own before they start, too."""
        run_up(self.up_command(fibocast, folder, quiet))
        if self.alike:
            return
        for rank, costs in enumerate(self.nodes[1:], 1):
            give_costs(Path(folder) / f"node-{rank}.toml", costs)
            run_up([fibocast, "up", "--only", str(rank), "--dir", folder, "--quiet"])

    @contextmanager
    def up(self, quiet):
        """Up on entry; down, and its folder gone, however the block ends."""
        fibocast = find_fibocast()
        with tempfile.TemporaryDirectory(prefix="fibocast-lab-") as folder:
            try:
                self.start(fibocast, folder, quiet)
                yield Cluster(fibocast, folder)
            finally:
                subprocess.run([fibocast, "down", "--dir", folder, "--quiet"], stdout=subprocess.DEVNULL, check=False)


def run_up(command):
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0:
        raise LabError("the local cluster did not come up; its reason is above")


def give_costs(path, costs):
    text = path.read_text(encoding="utf-8")
    for key, value in costs.items():
        text = re.sub(rf"^{key} = \d+$", f"{key} = {value}", text, flags=re.MULTILINE)
    path.write_text(text, encoding="utf-8")
