"""A local cluster of daemons whose metrics and status pages are on, for the tests of these; and what they answer."""
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

PATIENCE_S = 60


class MetricsCluster:
    """`fibocast up` in a temporary folder. A context manager: leaves neither daemons nor files."""

    def __init__(self, nodes, *options):
        self.nodes, self.options = nodes, options
        self.programs = Path(os.environ["FIBOCAST_BIN"])

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fibocast-metrics-")
        self.dir = f"{self.folder.name}/cluster"
        try:
            self.run("up", "-n", str(self.nodes), "--settings", "metrics.listen=127.0.0.1:0", *self.options)
            status = json.loads(self.run("status", "--json"))["nodes"]
            self.addresses = [node["metrics"] for node in status]
            self.pids = [node["pid"] for node in status]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._fibocast("down")
        self.folder.cleanup()

    def _fibocast(self, command, *arguments):
        environment = dict(os.environ, PATH=f"{self.programs}:{os.environ['PATH']}")
        environment.pop("FIBOCAST_SOCKET", None)
        words = [self.programs / "fibocast", *command.split(), "--dir", self.dir, *arguments]
        return subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False, timeout=PATIENCE_S)

    def run(self, command, *arguments):
        """What `fibocast COMMAND` prints; the command may have a subcommand: "bench barrier"."""
        done = self._fibocast(command, *arguments)
        if done.returncode != 0:
            raise AssertionError(f"fibocast {command}: exit code {done.returncode}: {done.stderr}")
        return done.stdout

    def everywhere(self, script):
        """A shell at each rank runs this; they end together."""
        return self.run("run", "--", "sh", "-c", script)

    def get(self, rank, path):
        with urllib.request.urlopen(f"http://{self.addresses[rank]}{path}", timeout=PATIENCE_S) as answer:
            return answer.read().decode()

    def status(self, rank):
        return json.loads(self.get(rank, "/status.json"))

    def metrics(self, rank):
        """{name{labels}: value}; the labels as they stand there."""
        lines = (line for line in self.get(rank, "/metrics").splitlines() if not line.startswith("#"))
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line}


def names_in(metrics):
    """The names of a scrape, without those that only a histogram's series have."""
    return {re.match(r"\w+", series)[0] for series in metrics}


def wait_until(condition, what):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"not seen: {what}")
        time.sleep(0.05)
