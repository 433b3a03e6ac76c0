"""The examples of runtime/examples, as their README runs them, and what they print.

Arguments: the folder of the programs, that of the examples' sources.
"""
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from clusters import Cluster

SOURCES = Path(sys.argv.pop())
BINARIES = Path(sys.argv.pop())
PYTHON = "/usr/bin/python3"


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(BINARIES, 8)
        cls.addClassCleanup(cls.cluster.close)

    def run_all(self, *words, cluster=None, ranks=()):
        """`fibocast run` with the programs on the path."""
        cluster = cluster or self.cluster
        path = {"PATH": f"{BINARIES}:{os.environ['PATH']}"}
        return subprocess.run([cluster.command, "run", "--dir", cluster.dir, *ranks, "--", *map(str, words)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
                              env={**os.environ, **path})

    def output(self, *words, cluster=None):
        done = self.run_all(*words, cluster=cluster)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_jacobi_gives_the_same_bits_in_both_languages_and_alone(self):
        words = (24, 25)
        cpp = self.output(BINARIES / "examples/jacobi", *words)
        self.assertRegex(cpp, r"\Asteps 25 residual 0\.\d{10,} checksum \d+\.\d{10,}\n\Z")
        self.assertEqual(self.output(PYTHON, SOURCES / "jacobi.py", *words), cpp)
        with Cluster(BINARIES, 1) as alone:
            self.assertEqual(self.output(BINARIES / "examples/jacobi", *words, cluster=alone), cpp)
            self.assertEqual(self.output(PYTHON, SOURCES / "jacobi.py", *words, cluster=alone), cpp)
        steps, residual, total = re.findall(r"[\d.]+", cpp)
        self.assertEqual((int(steps), round(float(residual), 12), round(float(total), 9)), plate(*words))

    def test_jacobi_stops_when_nothing_changes_any_more(self):
        said = self.output(BINARIES / "examples/jacobi", 8, 5000)
        steps, residual = re.match(r"steps (\d+) residual ([\d.e-]+)", said).groups()
        self.assertLess(int(steps), 5000)
        self.assertLess(float(residual), 1e-6)

    def test_jacobi_needs_everybody(self):
        for words in ((BINARIES / "examples/jacobi",), (PYTHON, SOURCES / "jacobi.py")):
            done = self.run_all(*words, ranks=("-n", "2"))
            self.assertEqual(done.returncode, 1)
            self.assertIn("each of the 8 daemons", done.stderr)

    def test_merge_sort(self):
        for count in (1, 5, 1000, 200_000):
            self.assertEqual(self.output(BINARIES / "examples/merge_sort", count, 7),
                             f"{count} numbers on 8 ranks: ascending, the same numbers\n")

    def test_the_gate_opens_for_all(self):
        said = self.output(SOURCES / "start-gate.sh", "open", "60s", "sh", "-c", "echo started $FIBOCAST_RANK")
        self.assertEqual(sorted(said.splitlines()), [f"started {rank}" for rank in range(8)])

    def test_the_gate_stays_closed_and_says_who_is_missing(self):
        done = self.run_all(SOURCES / "start-gate.sh", "closed", "500ms", "echo", "started", ranks=("-n", "6"))
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"start-gate: echo is not started: .*start of echo.*6.*7")
        self.assertEqual(self.run_all(SOURCES / "start-gate.sh", "gate").returncode, 2)

    def test_a_file_reaches_all_nodes(self):
        data = os.urandom((16 << 20) + 1)
        with tempfile.TemporaryDirectory(prefix="fibocast-python-") as folder:
            source, target = Path(folder) / "file", Path(folder) / "got"
            source.write_bytes(data)
            target.mkdir()
            said = self.output(PYTHON, SOURCES / "broadcast_file.py", source, target)
            self.assertRegex(said, r"\A16777217 bytes to 8 nodes in [\d.]+ s: [\d.]+ MB/s, SHA-256 "
                             + hashlib.sha256(data).hexdigest() + r" everywhere\n\Z")
            self.assertEqual(sorted(f.name for f in target.iterdir()), [f"{rank}-file" for rank in range(1, 8)])
            for file in target.iterdir():
                self.assertTrue(file.read_bytes() == data, file)


def plate(size, steps):
    """The same heat, computed once more and in another way: one grid, no ranks."""
    old = {(i, j): 1.0 if i == 0 else 0.0 for i in range(size + 2) for j in range(size + 2)}
    inner = [(i, j) for i in range(1, size + 1) for j in range(1, size + 1)]
    for _ in range(steps):
        new = dict(old)
        for i, j in inner:
            new[i, j] = (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1]) / 4
        residual, old = max(abs(new[cell] - old[cell]) for cell in inner), new
    return steps, round(residual, 12), round(sum(old[cell] for cell in inner), 9)


if __name__ == "__main__":
    unittest.main()
