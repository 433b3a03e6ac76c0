"""Real daemons for the tests: `fibocast up`, one thread for each rank, `fibocast down`."""
import json
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fibocast


class Cluster:
    """Daemons of a folder of their own; ended and removed at the end of its `with`."""

    def __init__(self, binaries, nodes, *options):
        self.command = str(Path(binaries) / "fibocast")
        self.nodes = nodes
        self.folder = tempfile.TemporaryDirectory(prefix="fibocast-python-")
        self.dir = str(Path(self.folder.name) / "cluster")
        try:
            up = json.loads(self.run("up", "-n", str(nodes), "--json", *options))
        except BaseException:
            self.close()
            raise
        self.sockets = [node["socket"] for node in up["nodes"]]
        self.pids = [node["pid"] for node in up["nodes"]]

    def run(self, subcommand, *words):
        done = subprocess.run([self.command, subcommand, "--dir", self.dir, *words], capture_output=True, text=True,
                              timeout=90, check=False)
        if done.returncode != 0:
            raise AssertionError(f"fibocast {subcommand}: {done.stdout}{done.stderr}")
        return done.stdout

    def client(self, rank):
        return fibocast.connect(self.sockets[rank], program="test")

    def at_each_rank(self, work, ranks=None):
        """work(client, rank) in a thread for each rank; their results by rank. The first failure is raised."""
        count = self.nodes if ranks is None else ranks

        def one(rank):
            with self.client(rank) as client:
                return work(client, rank)

        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(one, range(count)))

    def close(self):
        subprocess.run([self.command, "down", "--dir", self.dir], capture_output=True, timeout=60, check=False)
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Background:
    """A call in a thread of its own: what it raised is its result."""

    def __init__(self, call):
        self.result = None
        self.thread = threading.Thread(target=self._run, args=(call,))
        self.thread.start()

    def _run(self, call):
        try:
            self.result = call()
        except fibocast.Error as error:
            self.result = error

    def wait(self):
        self.thread.join(60)
        if self.thread.is_alive():
            raise AssertionError("the call hangs")
        return self.result
