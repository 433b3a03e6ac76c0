"""The laboratory with its daemons in containers: small experiments with 4. Times are not judged, but nothing may be earlier
than the machine that it looks like; docker/README.md says how to judge figure 10."""
import json
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from engine import PATIENCE, ROOT, eventually, left_of, run_all_tests, running_in

LAB = ROOT / "docker" / "lab" / "fibocast-lab"
ALIKE = """
[x]
key = "ranks"
values = [2, 4]
[case]
machine = "manna"
tree = "sequential"
[[series]]
name = "one"
[measure]
scale = 50
repetitions = 2
late = 0
spread = 0
"""
EACH_ITS_OWN = """
[x]
key = "bytes"
values = [0]
[case]
machine = "hnow"
tree = "binomial"
[[series]]
name = "SFSF"
configuration = "SFSF"
[measure]
scale = 50
repetitions = 2
late = 0
spread = 0
"""


class LabInContainers(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def start(self, text):
        (self.folder / "small.toml").write_text(text, encoding="utf-8")
        command = [LAB, "run", self.folder / "small.toml", "--driver", "docker", "--json", "--output", self.folder / "out"]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def measured(self, text):
        run = self.start(text)
        said, error = run.communicate(timeout=PATIENCE)
        self.assertIn(run.returncode, (0, 1), error)
        self.assertEqual(left_of(f"fibocastlab{run.pid}"), ["", "", ""])
        return [(case["predicted_us"], case["measured_us"]) for case in json.loads(said)["cases"]]

    def check(self, cases, predicted):
        self.assertEqual([case[0] for case in cases], predicted)
        for at_least, measured in cases:
            self.assertEqual(len(measured), 2)
            self.assertGreaterEqual(min(measured), 0.99 * at_least)

    def test_containers_that_are_all_alike(self):
        self.check(self.measured(ALIKE), [115, 169])

    def test_containers_that_have_costs_of_their_own(self):
        self.check(self.measured(EACH_ITS_OWN), [430])

    def test_nothing_is_left_after_ctrl_c_and_after_sigterm(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                run = self.start(ALIKE.replace("scale = 50", "scale = 100_000"))  # minutes
                name = f"fibocastlab{run.pid}"
                try:
                    self.assertTrue(eventually(lambda: len(running_in(name)) == 4))
                    run.send_signal(number)
                    run.communicate(timeout=PATIENCE)
                    self.assertEqual((run.returncode, left_of(name)), (130, ["", "", ""]))
                finally:
                    run.kill()
                    run.wait()

    def test_daemons_that_do_not_start_are_a_sentence(self):
        run = self.start(ALIKE.replace("scale = 50", "scale = 1e12"))  # more than the setting allows
        error = run.communicate(timeout=PATIENCE)[1]
        self.assertEqual(run.returncode, 1)
        self.assertNotIn("Traceback", error)
        self.assertRegex(error, "of 4 containers run; one has ended: .*emulation.scale|not all are connected within")
        self.assertEqual(left_of(f"fibocastlab{run.pid}"), ["", "", ""])


sys.exit(run_all_tests())
