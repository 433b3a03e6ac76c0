"""A local cluster of real daemons for as long as an experiment lasts, and the measured loop on it."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


class LabError(Exception):
    """What went wrong, in one sentence for the person at the terminal."""


def find_fibocast():
    """FIBOCAST_BIN (a folder), beside this program, the release build of this tree, or the path."""
    here = Path(__file__).resolve()
    folders = [os.environ.get("FIBOCAST_BIN"), here.parents[1], here.parents[3] / "build" / "release" / "bin"]
    for folder in filter(None, folders):
        program = Path(folder) / "fibocast"
        if os.access(program, os.X_OK):
            return str(program)
    program = shutil.which("fibocast")
    if program is None:
        raise LabError("cannot find the program fibocast: build it with ./dev build, or set FIBOCAST_BIN to its folder")
    return program


class Cluster:
    def __init__(self, fibocast, folder):
        self.fibocast = fibocast
        self.folder = folder

    def bench(self, cases, warmup, seed, quiet):
        """Repetitions of all cases, shuffled: a list of measurements, and how many frames were sent again."""
        command = [self.fibocast, "bench", "distribution", "--cases", "-", "--dir", self.folder, "--json"]
        command += ["--warmup", str(warmup), "--seed", str(seed)] + (["--quiet"] if quiet else [])
        text = "".join(json.dumps(case) + "\n" for case in cases)
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise LabError(f"fibocast bench failed with exit code {done.returncode}")
        result = json.loads(done.stdout)
        return result["repetitions"], result["resends"]


def terminate_like_interrupt(*_):
    raise KeyboardInterrupt


@contextmanager
def local_cluster(nodes, machine, scale, transport, quiet):
    """Up on entry; down, and its folder gone, however the block ends."""
    fibocast = find_fibocast()
    signal.signal(signal.SIGTERM, terminate_like_interrupt)
    with tempfile.TemporaryDirectory(prefix="fibocast-lab-") as folder:
        up = [fibocast, "up", "-n", str(nodes), "--machine", machine, "--scale", str(scale)]
        up += ["--transport", transport, "--dir", folder] + (["--quiet"] if quiet else [])
        try:
            if subprocess.run(up, stdout=subprocess.DEVNULL).returncode != 0:
                raise LabError("the local cluster did not come up")
            yield Cluster(fibocast, folder)
        finally:
            subprocess.run([fibocast, "down", "--dir", folder, "--quiet"], stdout=subprocess.DEVNULL)
