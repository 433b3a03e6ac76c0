"""The laboratory's main job, made small: all cases run on real daemons and the three files are written.

Times are not judged here (the host may be busy): ./dev run does that, with its stated tolerance.
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LAB = Path(sys.argv.pop(1))


def lab(*arguments):
    return subprocess.run([LAB, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


class Lab(unittest.TestCase):
    def test_lists_its_experiments(self):
        self.assertIn("figure10", lab("list").stdout)

    def test_wrong_use_is_exit_code_2(self):
        self.assertEqual(lab("run", "figure11").returncode, 2)
        self.assertEqual(lab("run", "figure10", "--scale", "0").returncode, 2)

    def test_figure10_small(self):
        with tempfile.TemporaryDirectory() as folder:
            done = lab("run", "figure10", "--scale", "10", "--repetitions", "2", "--other-repetitions", "1",
                       "--warmup", "0", "--json", "--output", folder)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            summary = json.loads(done.stdout)
            self.assertEqual(len(summary["cases"]), 19 * 5 + 3)
            predicted = {c["name"]: round(c["predicted_us"]) for c in summary["cases"] if c["p"] == 19}
            self.assertEqual([predicted[n] for n in ("sequential", "binomial = Fibo(1,0)", "Fibo(s,r)")], [574, 460, 311])
            self.assertEqual([predicted[n] for n in ("one Fibo-tree", "one binomial tree", "Fibo(r,s) up, Fibo(s,r) down")],
                             [1042, 954, 805])
            for name in ("measurements.jsonl", "summary.json", "figure10.svg"):
                self.assertGreater((Path(folder) / name).stat().st_size, 0, name)


unittest.main()
