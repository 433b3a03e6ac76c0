"""Completion as bash does it, with real programs and daemons: completion_test.py BIN"""
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BIN = Path(sys.argv.pop(1)).resolve()
TOOL = Path(__file__).resolve().parents[4] / "runtime" / "cli" / "reference"


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        cls.cluster = cls.folder / "cluster"
        subprocess.run([TOOL / "write", BIN, cls.folder], check=True, timeout=120)
        (cls.folder / "a file.toml").touch()
        (cls.folder / "a folder").mkdir()

    def fibocast(self, *arguments):
        subprocess.run([BIN / "fibocast", *arguments, "--dir", self.cluster], check=True, timeout=90,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def complete(self, *words):
        """What bash offers when Tab is pressed behind the last word."""
        quoted = " ".join(shlex.quote(word) for word in words)
        script = (f"source {shlex.quote(str(self.folder / 'fibocast.bash'))}; COMP_WORDS=({quoted}); "
                  "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _fibocast; printf '%s\\n' \"${COMPREPLY[@]}\"")
        run = subprocess.run(["bash", "--norc", "-uc", script], cwd=self.folder, stdin=subprocess.DEVNULL,
                             env={"PATH": f"{BIN}:{os.environ['PATH']}"}, capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout.split("\n")[:-1] if run.stdout != "\n" else []

    def test_commands(self):
        self.assertEqual(self.complete("fibocast", "bar"), ["barrier"])
        self.assertIn("simulate", self.complete("fibocast", ""))
        self.assertEqual(self.complete("fibocast", "group", ""), ["create", "plan", "list", "remove"])
        self.assertEqual(self.complete("fibocast", "plan", "fig"), ["figure"])
        self.assertEqual(self.complete("fibocast", "no-such", "thing"), [])

    def test_flags(self):
        self.assertEqual(self.complete("fibocast", "barrier", "gate", "--expl"), ["--explain"])
        self.assertEqual(self.complete("fibocast-simulate", "--time"), ["--timeline"])
        self.assertEqual(self.complete("fibocast", "simulate", "--time"), ["--timeline"])
        self.assertEqual(self.complete(f"{BIN}/fibocastd", "--security."), ["--security.key_file", "--security.mode"])

    def test_values(self):
        self.assertEqual(self.complete("fibocast", "up", "--transport", ""), ["udp", "tcp"])
        self.assertEqual(self.complete("fibocastd", "--security.mode", "in"), ["integrity", "insecure"])
        self.assertEqual(self.complete("fibocast", "up", "--nodes", ""), [])

    def test_files_and_folders(self):
        self.assertEqual(self.complete("fibocastd", "--config", "a"), ["a file.toml", "a folder"])
        self.assertEqual(self.complete("fibocast", "key", "show", "a f"), ["a file.toml", "a folder"])
        self.assertEqual(self.complete("fibocast", "up", "--dir", "a"), ["a folder"])

    def test_groups_of_the_daemon_that_the_line_names(self):
        self.fibocast("up", "-n", "2")
        self.addCleanup(self.fibocast, "down")
        self.fibocast("group", "create", "render-farm", "--ranks", "0-1", "--rank", "0")
        self.fibocast("group", "create", "other", "--ranks", "0-1", "--rank", "0")
        choice = ["--dir", str(self.cluster), "--rank", "0"]
        self.assertEqual(self.complete("fibocast", "barrier", *choice, "render"), ["render-farm"])
        self.assertIn("other", self.complete("fibocast", "group", "remove", *choice, ""))
        self.assertEqual(self.complete("fibocast", "group", "create", *choice, "render"), [])
        self.assertEqual(self.complete("fibocast", "barrier", "--rank", "7", "--dir", str(self.cluster), "render"), [])


unittest.main(verbosity=2)
