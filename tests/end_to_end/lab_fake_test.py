"""What the laboratory does with the answers of `fibocast`, which is a script here: fast, and the same on every host."""
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import traceback
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

LAB = Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(LAB.parent))

import fibocast_lab.main  # noqa: E402, F401  for all copies of this process

# Answers from the words of its call; every call is noted. A measured time is the prediction of A1 for a sequential tree
# (s = 2, r = 3, so 2 (p - 1) + 3 us), times SLOWER. In the first round the first repetition of every case is late.
FAKE = r'''#!/usr/bin/python3 -IS
import json, os, re, sys
words, here = sys.argv[1:], os.path.dirname(os.path.abspath(__file__))
open(os.path.join(here, "calls"), "a").write(json.dumps(words) + "\n")
option = lambda name, default="": words[words.index(name) + 1] if name in words else default
slower = float(os.environ.get("SLOWER", "1"))
if words[0] == "--version":
    print("fibocast 9.9")
elif words[0] == "up" and os.environ.get("NO_CLUSTER"):
    sys.exit("no ports")
elif words[0] == "up" and "--hold" in words:
    for rank in range(int(option("-n"))):
        open(os.path.join(option("--dir"), f"node-{rank}.toml"), "w").write("s_ns = 1\nl_ns = 1\no_ns = 1\n")
elif words[0] == "up" and "--only" in words:
    text = open(os.path.join(option("--dir"), f"node-{option('--only')}.toml")).read()
    open(os.path.join(here, "nodes"), "a").write(text.replace("\n", " ") + "\n")
elif words[:2] == ["plan", "tree"]:
    ranks = int(option("--ranks", len(option("--configuration"))))
    print(json.dumps({"children": [list(range(1, ranks))] + [[] for _ in range(ranks - 1)]}))
elif words[:2] == ["plan", "figure"]:
    print(json.dumps({"figure": words[2], "title": "a figure", "columns": ["n", "time", "x", "x^3", "x^2 + 1", "t", "f(t)"],
                      "rows": [[1, 5, 1, 1, 2, 0, 1], [2, "11/2", 2, 8, 5, 1, 1]]}))
elif words[:2] == ["plan", "why"]:
    print(json.dumps({"unit": "ns", "candidates": [{"algorithm": "fibo", "predicted": 400000}]}))
elif words[0] == "calibrate":
    open(option("--output"), "w").write("[model]\ns_ns = 2000\nl_ns = 0\no_ns = 3000\nprocessors = 2\n")
elif words[0] == "simulate" and os.environ.get("NO_SIMULATION"):
    print(json.dumps({"status": "INVALID", "sentence": "no such machine"}))
    sys.exit(2)
elif words[0] == "simulate":
    ranks = int(option("--ranks"))
    if "--trace" in words:
        json.dump([{"cat": "send", "pid": 0, "ts": 0, "dur": 2, "args": {"peer": 1}},
                   {"cat": "receive", "pid": 1, "ts": 2, "dur": 3, "args": {"peer": 0}}], open(option("--trace"), "w"))
    print(json.dumps({"completion_ns": 1000 * (2 * (ranks - 1) + 3)}))
elif words[0] == "bench":
    repetitions, scale = [], 100
    for number, line in enumerate(sys.stdin):
        case = json.loads(line)
        for i in range(case["repetitions"]):
            late = i == 0 and option("--seed") == "1"
            time = (2 * (case["p"] - 1) + 3) * 1000 * scale * slower * (1 + i / 1000)
            repetitions.append({**case, "case": number, "repetition": i, "measured_ns": round(time),
                                "lateness_ns": 10 ** 9 if late else 0})
    print(json.dumps({"repetitions": repetitions, "resends": 0}))
'''

EXPERIMENT = '''
title = "a small one"
source = "nobody"
about = "text with <angles> & more"
[x]
key = "ranks"
values = [2, 4, 8]
[case]
machine = { name = "small", node = { send = "2us", occupancy = "3us" }, network = { kind = "ideal" } }
tree = "sequential"
[[series]]
name = "one"
[measure]
repetitions = 6
scale = 100
[show]
series = "one"
x = 4
[[paper]]
series = "one"
x = 8
value = 20
'''


def run_as_program(words, out, err):
    """Does not return."""
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    sys.stdout, sys.stderr = open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8", buffering=1)
    sys.argv = [str(LAB), *words]
    code = 70  # it did not end as a program
    try:
        runpy.run_path(str(LAB), run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


class FakeFibocast(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)
        program = self.folder / "fibocast"
        program.write_text(FAKE, encoding="utf-8")
        program.chmod(0o755)
        self.experiment = self.folder / "small.toml"
        self.experiment.write_text(EXPERIMENT, encoding="utf-8")

    def lab(self, *words, **environment):
        """As the program answers, but in a copy of this process: that has read matplotlib, which takes longer than the
        answer."""
        words = [str(word) for word in words]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            child = os.fork()
            if child == 0:
                os.chdir(self.folder)
                os.environ.update({"FIBOCAST_BIN": str(self.folder), **environment})
                run_as_program(words, out, err)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            texts = [file.read() for file in (out, err) if file.seek(0) == 0]
        return subprocess.CompletedProcess([LAB, *words], code, *texts)

    def run_small(self, name, *words, **environment):
        done = self.lab("run", self.experiment, "--output", self.folder / name, "--quiet", *words, **environment)
        return done, json.loads((self.folder / name / "summary.json").read_text(encoding="utf-8"))

    def calls(self):
        return [json.loads(line) for line in (self.folder / "calls").read_text(encoding="utf-8").splitlines()]

    def test_three_worlds_and_the_paper(self):
        done, summary = self.run_small("a")
        self.assertEqual((done.returncode, summary["objections"]), (1, ["host too busy: 14% of the repetitions came late; "
                                                                        "no verdict"]), done.stdout + done.stderr)
        last = summary["cases"][2]
        self.assertEqual([last[key] for key in ("p", "predicted_us", "simulated_us", "paper_us", "marked")], [8, 17, 17, 20, 1])
        self.assertEqual(len(last["measured_us"]), 6)  # the late one was taken again
        raw = [json.loads(line) for line in (self.folder / "a" / "measurements.jsonl").read_text().splitlines()]
        self.assertEqual(len(raw), 3 * 7)
        self.assertEqual({line["round"] for line in raw}, {0, 1})
        for name in ("manifest.json", "small.svg", "timeline.json"):
            self.assertTrue((self.folder / "a" / name).exists(), name)
        manifest = json.loads((self.folder / "a" / "manifest.json").read_text())
        self.assertEqual((manifest["build"]["fibocast"], manifest["settings"]["scale"]), ("fibocast 9.9", 100))
        xml.parse(self.folder / "a" / "small.svg")

    def test_why_a_program_failed_is_its_sentence(self):
        done = self.lab("run", self.experiment, "--output", self.folder / "a", "--quiet", NO_SIMULATION="1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("failed with exit code 2: no such machine\n", done.stderr)

    def test_raw_values_of_several_experiments_in_one_file(self):
        other = self.folder / "other.toml"
        other.write_text(EXPERIMENT, encoding="utf-8")
        self.lab("run", self.experiment, other, "--output", self.folder / "a", "--quiet", "--raw", "raw", "--order", "given")
        raw = [json.loads(line)["experiment"] for line in (self.folder / "raw").read_text().splitlines()]
        self.assertEqual(raw, ["small"] * 21 + ["other"] * 21)
        self.assertFalse((self.folder / "a" / "small" / "measurements.jsonl").exists())
        bench = next(call for call in self.calls() if call[0] == "bench")
        self.assertEqual(bench[bench.index("--order") + 1], "given")

    def test_a_calibrated_machine(self):
        """The cluster is calibrated, the model predicts for processors that are shared, and nothing is emulated."""
        self.experiment.write_text('''
[x]
key = "ranks"
values = [4]
[case]
machine = "calibrated"
formula = "planner"
bytes = 100
[[series]]
name = "fibo"
algorithm = "fibo"
[measure]
nodes = 4
repetitions = 2
spread = 0
late = 0
[judge]
tolerance = 0
agree = 1
''', encoding="utf-8")
        done, summary = self.run_small("a")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((summary["cases"][0]["predicted_us"], len(summary["cases"][0]["measured_us"])), (400, 2))
        ups = [call for call in self.calls() if call[0] == "up"]
        self.assertEqual(len(ups), 2)
        self.assertIn("model.s_ns=2000", ups[1])
        self.assertNotIn("emulation", " ".join(ups[0] + ups[1]))
        why = next(call for call in self.calls() if call[:2] == ["plan", "why"])
        self.assertEqual([why[why.index(f"--{key}") + 1] for key in ("s", "colocated", "processors")], ["2.000000us", "4", "2"])

    def test_cluster_goes_down_again(self):
        self.run_small("a")
        words = [call[0] for call in self.calls()]
        self.assertEqual((words.count("up"), words.count("down")), (1, 1))
        self.assertLess(words.index("bench"), words.index("down"))

    def test_no_cluster_is_one_sentence(self):
        done = self.lab("run", self.experiment, "--output", self.folder / "a", "--quiet", NO_CLUSTER="1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the local cluster did not come up", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual([call[0] for call in self.calls()].count("down"), 1)

    def test_worlds_without_daemons(self):
        done, summary = self.run_small("a", "--worlds", "predicted,simulated")
        self.assertEqual((done.returncode, summary["repetitions"]), (0, 0), done.stderr)
        self.assertNotIn("up", [call[0] for call in self.calls()])

    def test_nodes_that_differ(self):
        self.experiment.write_text('''
[x]
key = "bytes"
values = [1000]
[case]
machine = "hnow"
[[series]]
name = "b"
configuration = "FSF"
tree = "binomial"
[measure]
repetitions = 1
spread = 0
''', encoding="utf-8")
        self.run_small("a")
        self.assertEqual((self.folder / "nodes").read_text().splitlines(),
                         ["s_ns = 270000 l_ns = 80000 o_ns = 220000 ", "s_ns = 110000 l_ns = 80000 o_ns = 140000 "])

    def test_json_is_one_document(self):
        done = self.lab("run", self.experiment, "--output", self.folder / "a", "--json", "--worlds", "predicted")
        self.assertEqual(json.loads(done.stdout)["experiment"], "small")

    def test_version_is_that_of_the_program_it_runs(self):
        self.assertEqual(self.lab("--version").stdout, "fibocast-lab 9.9\n")
        missing = self.lab("--version", FIBOCAST_BIN=str(self.folder / "none"), PATH="/usr/bin:/bin")
        self.assertIn(missing.returncode, (0, 1))  # the release build of this tree may be there
        self.assertNotIn("Traceback", missing.stderr)

    def test_help_has_an_example_of_every_command(self):
        for command in ("list", "run", "paper", "report", "compare"):
            self.assertIn(f"Example: fibocast-lab {command}", self.lab(command, "--help").stdout)

    def test_quiet_says_no_more_than_what_was_asked_for(self):
        names = [entry["name"] for entry in json.loads(self.lab("list", "--json").stdout)]
        self.assertEqual(self.lab("list", "--quiet").stdout.splitlines(), names)
        for name, slower in (("a", "1"), ("c", "3")):
            self.run_small(name, SLOWER=slower)
        for words, code in ((("report", "a"), 0), (("paper", "003", "--results", "a"), 0), (("compare", "a", "c"), 1)):
            done = self.lab(*words, "--quiet")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", ""))
        self.assertTrue((self.folder / "a" / "report.html").exists())

    def test_compare(self):
        self.run_small("a")
        self.run_small("b")
        self.run_small("c", SLOWER="1.1")
        same, slower = (self.lab("compare", "a", other, "--json") for other in ("b", "c"))
        self.assertEqual((same.returncode, json.loads(same.stdout)["significant"]), (0, 0), same.stderr)
        self.assertEqual(slower.returncode, 1)
        together = json.loads(slower.stdout)["points"][0]
        self.assertAlmostEqual(together["difference"], 0.1, 2)
        low, high = together["interval"]
        self.assertTrue(0.08 < low < 0.1 < high < 0.12)
        self.assertIn("differs", self.lab("compare", "a", "c").stdout)

    def test_compare_of_too_few_values_claims_nothing(self):
        for name in ("a", "c"):
            self.run_small(name, "--repetitions", "2", SLOWER="1.5" if name == "c" else "1")
        points = json.loads(self.lab("compare", "a", "c", "--json").stdout)["points"]
        self.assertFalse(any(one["significant"] for one in points[1:]))

    def test_compare_of_what_is_only_calculated(self):
        for name in ("a", "b"):
            self.run_small(name, "--worlds", "predicted")
        same = self.lab("compare", "a", "b", "--json")
        self.assertEqual((same.returncode, json.loads(same.stdout)["significant"]), (0, 0), same.stderr)

    def test_nothing_measured_claims_nothing(self):
        done = self.lab("run", "figure10", "--worlds", "predicted", "--output", self.folder / "a")
        self.assertIn("Nothing was measured", done.stdout, done.stderr)
        self.assertNotIn("within 3 %", done.stdout)
        none = self.lab("run", "figure7", "--worlds", "simulated", "--output", self.folder / "b")
        self.assertEqual((none.returncode, none.stdout), (2, ""))
        self.assertIn("it has predicted", none.stderr)

    def test_report_is_one_page_with_nothing_outside(self):
        self.run_small("results/small")
        done = self.lab("report", "results", "--json")
        self.assertEqual(json.loads(done.stdout)["experiments"], ["small"], done.stderr)
        page = (self.folder / "results" / "report.html").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'(?:src|href)="(?!#)', page), [])
        self.assertEqual(re.findall(r"https?://(?!www\.w3\.org)", page), [])
        self.assertIn("text with &lt;angles&gt; &amp; more", page)
        for words in ("host too busy", "Error of the prediction", "Who is busy when", "seed"):
            self.assertIn(words, page)
        xml.fromstring(re.sub(r"^<!doctype html>", "", page).replace('<meta charset="utf-8">', "").replace(
            "initial-scale=1\">", "initial-scale=1\"/>").replace('content="light dark">', 'content="light dark"/>'))

    def test_paper_page(self):
        done = self.lab("paper", "003", "--results", "results", "--json")
        answer = json.loads(done.stdout)
        self.assertEqual({e["number"]: e["not_run"] for e in answer["entries"]}["Figure 10"], ["simulated", "measured"])
        page = (self.folder / "results" / "paper-003.html").read_text(encoding="utf-8")
        for words in ("Figure 9", "measured: not run", "fibocast-lab run figure10", "erratum: 25 must be 26"):
            self.assertIn(words, page)

    def test_wrong_use(self):
        self.assertEqual(self.lab("run", "figure99").returncode, 2)
        self.assertEqual(self.lab("run", "figure10", "--scale", "0").returncode, 2)
        self.assertEqual(self.lab("run", "figure10", "--worlds", "real").returncode, 2)
        self.assertEqual(self.lab("paper", "005").returncode, 2)
        empty = self.lab("report", self.folder)
        self.assertEqual(empty.returncode, 1)
        self.assertIn("there are no results in", empty.stderr)

    def test_lost_output_is_a_failure_with_a_sentence(self):
        for line in ('"$0" list >/dev/full', '"$0" list >&-', '"$0" --help >/dev/full'):
            done = subprocess.run(["sh", "-c", line, LAB], stderr=subprocess.PIPE, text=True, check=False, cwd=self.folder)
            self.assertEqual(done.returncode, 1, line)
            self.assertRegex(done.stderr, r"\Afibocast-lab: cannot write to standard output: .+\n\Z", line)


unittest.main()
