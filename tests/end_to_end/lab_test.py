"""The laboratory's main job, made small: all cases run on real daemons and the files are written.

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

    def test_formulas_and_simulator_agree_on_the_papers_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            done = lab("run", "fattree-tables", "workstations-scatter", "figure7", "--worlds", "predicted,simulated",
                       "--json", "--output", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            steps = {(c["panel"], c["name"], c["x"]): c["simulated"] for c in json.loads(done.stdout)[0]["cases"]}
            self.assertEqual(steps["exponential capacities", "total exchange, exponential phases", 32], 40)
            self.assertEqual(steps["exponential capacities", "total exchange, XOR", 32], 39)  # E16: the conjecture is refuted

    def test_nodes_that_differ_small(self):
        """Banikazemi et al. 1999, figure 3: daemons that are fast or slow each for itself."""
        with tempfile.TemporaryDirectory() as folder:
            small = Path(folder) / "small.toml"
            small.write_text("""
[x]
key = "bytes"
values = [0]
[case]
machine = "hnow"
tree = "binomial"
[[series]]
name = "FFFF"
configuration = "FFFF"
[[series]]
name = "SFSF"
configuration = "SFSF"
[measure]
scale = 20
repetitions = 1
late = 0
spread = 0
""", encoding="utf-8")
            done = lab("run", small, "--json", "--output", folder)
            cases = json.loads(done.stdout)["cases"]
            self.assertEqual([(c["predicted_us"], c["simulated_us"]) for c in cases], [(340, 340), (430, 430)], done.stderr)
            for c in cases:  # the emulated card never lets anything be early
                self.assertGreaterEqual(c["median_us"], 0.99 * c["predicted_us"])

    def test_every_computed_figure_is_there(self):
        with tempfile.TemporaryDirectory() as folder:
            for number in ("000", "001", "002", "003", "004"):
                done = lab("paper", number, "--results", folder, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreater((Path(folder) / f"paper-{number}.html").stat().st_size, 10_000)

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
            for name in ("measurements.jsonl", "summary.json", "manifest.json", "timeline.json", "figure10.svg"):
                self.assertGreater((Path(folder) / name).stat().st_size, 0, name)
            self.assertEqual(lab("report", folder).returncode, 0)
            self.assertGreater((Path(folder) / "report.html").stat().st_size, 10_000)


unittest.main()
