"""The laboratory's parts by themselves: no daemon, no program, no clock."""
import json
import sys
import tempfile
import tomllib
import unittest
import xml.etree.ElementTree as xml
from fractions import Fraction
from pathlib import Path

LAB = Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(LAB.parent))

from fibocast_lab import analysis, arrivals, chart, cluster, confidence, container_cluster, drawing, experiment, machine, mesh, paper, predict, simulate, skew, style, trees, verdict  # noqa: E402
from fibocast_lab.case import Case  # noqa: E402
from fibocast_lab.errors import LabError  # noqa: E402

# Cordsen et al. 1997: the Fibo-tree of s = 1, r = 3 with 19 processes (A15).
PARENT = [-1, 0, 0, 0, 0, 0, 5, 0, 7, 7, 0, 10, 10, 10, 0, 14, 14, 14, 14]
CHILDREN = [[c for c in reversed(range(19)) if PARENT[c] == v] for v in range(19)]


def case(predicted, measured=(), name="a", x=1, **fields):
    return Case({"mode": "distribution", "ranks": 2, **fields}, name, "", x, predicted, measured=list(measured))


class Confidence(unittest.TestCase):
    def test_mann_whitney_is_exact_for_few_values(self):
        self.assertEqual(confidence.u_counts(3, 3), [1, 1, 2, 3, 3, 3, 3, 2, 1, 1])
        self.assertAlmostEqual(confidence.mann_whitney([1, 2, 3], [4, 5, 6]), 0.1)
        self.assertAlmostEqual(confidence.mann_whitney([4, 5, 6, 7], [0, 1, 2, 3]), 2 / 70)
        self.assertEqual(confidence.mann_whitney([1, 3], [2, 2.5]), 1.0)

    def test_mann_whitney_of_many_values_and_of_ties(self):
        self.assertLess(confidence.mann_whitney(list(range(30)), list(range(20, 50))), 1e-6)
        self.assertGreater(confidence.mann_whitney(list(range(30)), [v + 0.5 for v in range(30)]), 0.5)
        self.assertEqual(confidence.mann_whitney([5] * 12, [5] * 12), 1.0)

    def test_holm_stops_at_the_first_that_fails(self):
        self.assertEqual(confidence.holm([0.001, 0.04, 0.03]), [True, False, False])
        self.assertEqual(confidence.holm([0.001, 0.02, 0.03]), [True, True, True])

    def test_line_and_bootstrap(self):
        slope, intercept = confidence.line([(0, 1.8), (1, 2.8), (4, 5.8)])
        self.assertAlmostEqual(slope, 1)
        self.assertAlmostEqual(intercept, 1.8)
        low, high = confidence.interval(confidence.bootstrap([[1, 2, 3, 4, 5]], lambda v: sum(v) / 5))
        self.assertTrue(1 < low < 3 < high < 5)
        again = confidence.interval(confidence.bootstrap([[1, 2, 3, 4, 5]], lambda v: sum(v) / 5))
        self.assertEqual((low, high), again)

    def test_uncertainty_asks_for_more_where_values_differ(self):
        self.assertEqual(confidence.uncertainty([1, 2]), float("inf"))
        self.assertEqual(confidence.uncertainty([7] * 9), 0)
        self.assertGreater(confidence.uncertainty([1, 2, 3, 4, 5]), 0.3)


class Trees(unittest.TestCase):
    def test_formula_gives_the_papers_times(self):
        times = trees.activations(CHILDREN, [machine.Costs(1, 0, 3)] * 19)
        self.assertEqual(times, [0, 11, 10, 9, 8, 7, 11, 6, 11, 10, 5, 11, 10, 9, 4, 11, 10, 9, 8])
        manna = [machine.Costs(27, 0, 88)] * 19
        self.assertEqual(max(trees.activations(CHILDREN, manna)), 311)
        self.assertEqual(trees.depth(CHILDREN, manna), 2)

    def test_nodes_that_differ(self):  # C12, folded: SFSF with 0 bytes takes 430, FSFS 370
        hnow = machine.load_machine("hnow")
        for configuration, size, expected in (("SFSF", 0, 430), ("FSFS", 0, 370), ("FFSS", 1000, 980)):
            costs = hnow.costs_by_rank(4, size, configuration)
            self.assertEqual(max(trees.activations([[2, 1], [], [3], []], costs)), expected)

    def test_file_of_a_tree(self):
        self.assertEqual(trees.file_text([[2, 1], [], [3], []]), "- 0 0 2\norder 0 2 1 3\n")


class Machines(unittest.TestCase):
    def test_costs_are_exact(self):
        self.assertEqual([machine.number(t) for t in ("9/5", "1.8", "27us", "500ns", 3)],
                         [Fraction(9, 5), Fraction(9, 5), 27, Fraction(1, 2), 3])
        with self.assertRaises(LabError):
            machine.number("many")

    def test_delta_is_the_reconstruction(self):  # B18b: lambda(512) = 1.8 and lambda(16384) = 1.05
        delta = machine.load_machine("delta")
        for size, expected in ((512, 1.8), (16384, 1.05), (0, 1.2)):
            costs = delta.costs(size)
            self.assertAlmostEqual(float(1 + costs.latency / costs.send), expected, 2)

    def test_what_is_written_can_be_read(self):
        text = machine.load_machine("hnow").file_text("SFSF", {"extra": 3})
        table = tomllib.loads(text)
        self.assertEqual(table["kinds"]["slow"]["nodes"], [0, 2])
        self.assertEqual(table["network"]["extra"], 3)

    def test_every_machine_file_is_read(self):
        for path in machine.FOLDER.glob("*.toml"):
            self.assertGreaterEqual(machine.load_machine(path.stem).costs(100).send, 0, path)
        with self.assertRaisesRegex(LabError, "there is no machine 'cray'.*manna"):
            machine.load_machine("cray")


class Clusters(unittest.TestCase):
    def test_nodes_that_differ_are_held_back_and_get_their_own_costs(self):
        hnow = machine.load_machine("hnow")
        differ = cluster.LocalCluster(hnow, hnow.costs_by_rank(4, 1000, "FSFS"), 100)
        self.assertFalse(differ.alike)
        words = differ.up_command("fibocast", "dir", True)
        self.assertEqual(words[words.index("--hold") + 1], "1-3")
        self.assertIn("emulation.s_ns=110000", words)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "node-1.toml"
            path.write_text("[emulation]\nl_ns = 1\no_ns = 2\ns_ns = 3\nscale = 100\n", encoding="utf-8")
            cluster.give_costs(path, differ.nodes[1])
            self.assertEqual(path.read_text(encoding="utf-8"),
                             "[emulation]\nl_ns = 80000\no_ns = 220000\ns_ns = 270000\nscale = 100\n")

    def test_nodes_that_are_alike_start_together(self):
        manna = machine.load_machine("manna")
        words = cluster.LocalCluster(manna, manna.costs_by_rank(3, 0), 50).up_command("fibocast", "dir", False)
        self.assertIn("emulation.o_ns=88000", words)
        self.assertNotIn("--hold", words)


    def test_each_container_is_told_its_own_costs(self):
        hnow = machine.load_machine("hnow")
        nodes = container_cluster.ContainerCluster(hnow, hnow.costs_by_rank(3, 1000, "FSF"), 100, transport="tcp", say=print)
        services = nodes.compose_table("/tmp/x")["services"]
        self.assertEqual([services[name]["environment"]["FIBOCAST_EMULATION_S_NS"] for name in ("n0", "n1", "n2")],
                         ["110000", "270000", "110000"])
        told = services["n2"]["environment"]
        self.assertEqual([told[f"FIBOCAST_{key}"] for key in ("NODE_RANK", "CLUSTER_NODES", "CLUSTER_TRANSPORT", "NODE_SOCKET")],
                         ["2", "n0:7117,n1:7117,n2:7117", "tcp", "/tmp/x/node-2.sock"])
        self.assertEqual(nodes.record("/tmp/x")["nodes"][2]["socket"], told["FIBOCAST_SOCKET"])


    def test_random_places_are_the_simulators(self):  # SplitMix64 of seed 1 begins with 910a2dec89025cc1
        dice = mesh.split_mix(1)
        self.assertEqual([next(dice) for _ in range(2)], [0x910A2DEC89025CC1, 0xBEEB8DA1658EEC67])
        self.assertEqual(mesh.places(4, "row-major", 1), [0, 1, 2, 3])
        self.assertEqual(mesh.places(2, "random", 1), [1, 0] if 0x910A2DEC89025CC1 % 2 == 0 else [0, 1])
        self.assertEqual(sorted(mesh.places(64, "random", 7)), list(range(64)))

    def test_only_what_is_placed_shares_links(self):
        delta = machine.load_machine("delta")
        self.assertEqual(mesh.settings(case(None, ranks=4, bytes=512), delta, 1000), {})
        found = mesh.settings(case(None, ranks=4, bytes=512, placement="row-major"), delta, 1000)
        self.assertEqual(found, {"mesh_columns": 2, "mesh_hold_ns": 1058000, "mesh_places": "0,1,2,3"})
        nodes = cluster.LocalCluster(delta, delta.costs_by_rank(4, 512), 10, mesh=found)
        self.assertEqual(nodes.settings(0, "dir")["emulation.mesh_links"], "dir/links")
        with self.assertRaises(LabError):
            mesh.settings(case(None, ranks=5, placement="row-major"), delta, 1000)

    def test_nodes_of_a_calibrated_machine_emulate_nothing(self):
        model = {"s_ns": 50000, "l_ns": 1, "o_ns": 2000, "send_per_byte_ns": 1.5, "measured": "barrier,16,0=kary:8"}
        real = machine.load_machine({"name": "own", "model": model})
        self.assertTrue(real.real)
        self.assertEqual(real.costs(1000), machine.Costs(Fraction(103, 2), Fraction(1, 1000), 2))
        nodes = cluster.LocalCluster(real, real.costs_by_rank(2, 0), 1)
        self.assertEqual(nodes.settings(1, "dir")["model.s_ns"], 50000)
        self.assertFalse([key for key in nodes.settings(1, "dir") if key.startswith("emulation")])
        self.assertEqual(tomllib.loads(real.file_text())["node"]["send"], "50.000000us")


class Formulas(unittest.TestCase):
    def gather(self, size, configuration, name="hnow"):
        return float(predict.of_gather(case(None, machine=name, bytes=size, configuration=configuration, ranks=len(configuration))))

    def test_gather_along_a_serial_wire(self):  # C11: the values of `plan figure 001:8`, wire serialised
        self.assertAlmostEqual(self.gather(1024, "FFSSSSSS"), 1200.56)
        self.assertAlmostEqual(self.gather(0, "SFSF"), 480)

    def test_gather_along_parallel_wires(self):
        parallel = {"node": {"send": 10, "occupancy": 5}, "network": {"kind": "ideal", "latency": 100}}
        self.assertEqual(self.gather(0, "FFF", parallel), 10 + 100 + 2 * 5)

    def test_wires(self):
        self.assertEqual([machine.load_machine(name).wire for name in ("hnow", "manna")], ["serial", "parallel"])

    def test_line_of_experiment_1_has_both_ways_in_its_intercept(self):  # B16
        t0, found = analysis.lambda_of([1, 2, 4], [[10 * (k - 1 + 2 * 1.8)] for k in (1, 2, 4)], 2)
        self.assertAlmostEqual(t0, 10)
        self.assertAlmostEqual(found, 1.8)

    def test_planners_choice(self):
        one = experiment.Experiment("e", {"x": {"key": "ranks", "label": "p", "values": [1]}})
        cases = [case(100.0, [150.0], "a"), case(110.0, [120.0], "b")]
        found = analysis.planners_choice(one, cases, None)["choices"]
        self.assertEqual([(c["chosen"], c["best"], c["longer"]) for c in found], [("a", "b", 0.25)])


class Experiments(unittest.TestCase):
    def test_all_are_read_and_have_points(self):
        for name in experiment.names():
            one = experiment.load(name)
            self.assertTrue(one.cases(), name)
            self.assertTrue(all("machine" in c.fields or "formula" in c.fields for c in one.cases()), name)

    def test_a_series_may_be_in_fewer_worlds_and_count_fast_nodes(self):
        cases = [c for c in experiment.load("workstations-gather-fast").cases() if c.panel == "8 nodes, 0 B" and c.x == 3]
        self.assertEqual({c.name: c.worlds for c in cases},
                         {"equation 12": ["predicted"], "wire serialised": ["predicted", "simulated", "measured"]})
        self.assertEqual({c.fields["configuration"] for c in cases}, {"FFFSSSSS"})
        self.assertEqual({c.name: c.wanted for c in cases}, {"equation 12": 0, "wire serialised": 5})

    def test_figure10_has_all_its_points(self):
        cases = experiment.load("figure10").cases()
        self.assertEqual(len(cases), 19 * 5 + 3)
        self.assertEqual({c.name: c.paper for c in cases if c.paper},
                         {"sequential": 569, "binomial = Fibo(1,0)": 451, "Fibo(s,r)": 318})
        self.assertEqual({c.wanted for c in cases if c.x == 19 and c.fields["mode"] == "distribution"}, {20})
        self.assertEqual({c.wanted for c in cases if c.x != 19}, {3})

    def test_mistakes_are_sentences(self):
        for table, sentence in (({"titel": 1}, "'titel' is no key of the file"), ({"worlds": ["real"]}, "'real' is no world"),
                                ({"measure": {"scal": 1}}, r"'scal' is no key of \[measure\]")):
            with self.assertRaisesRegex(LabError, sentence):
                experiment.Experiment("e", table)
        with self.assertRaisesRegex(LabError, "'treee' is no key of a case"):
            experiment.Experiment("e", {"series": [{"name": "a", "treee": 1}]}).cases()
        self.assertEqual(experiment.values_of("2..8 by 3"), [2, 5, 8])
        with self.assertRaisesRegex(LabError, "are no values"):
            experiment.values_of("few")
        for nothing in ([], "5..2", 5, [[1]], {"from": 2}):
            with self.assertRaisesRegex(LabError, "are no values"):
                experiment.values_of(nothing)

    def test_an_experiment_that_asks_nothing_is_a_mistake(self):
        """Nothing agrees with nothing: it would pass."""
        one = {"name": "a", "tree": "binomial"}
        for table, sentence in (({}, r"asks nothing: give a \[\[series\]\]"),
                                ({"series": [one], "x": {"key": "ranks"}}, "are no values"),
                                ({"series": [{"tree": "binomial"}]}, r"a \[\[series\]\] has no name"),
                                ({"series": [one], "panel": [{"ranks": 3}]}, r"a \[\[panel\]\] has no name"),
                                ({"series": [one], "x": {"values": [2]}}, r"\[x\] has no key")):
            with self.assertRaisesRegex(LabError, sentence):
                experiment.Experiment("e", table).cases()

    def test_simulator_is_asked_only_for_trees_it_can_build(self):
        cases = {c.name: c for c in experiment.load("figure10").cases() if c.x == 19}
        self.assertEqual({name: simulate.can_simulate(c) for name, c in cases.items()},
                         {"sequential": True, "binomial = Fibo(1,0)": True, "Fibo(1,1)": False, "Fibo(1,2)": False,
                          "Fibo(s,r)": True, "one Fibo-tree": False, "one binomial tree": True,
                          "Fibo(r,s) up, Fibo(s,r) down": True})


class Verdict(unittest.TestCase):
    one = experiment.Experiment("e", {})

    def test_late_repetitions_are_left_out(self):
        c = case(100.0)
        c.add({"measured_ns": 201_000, "lateness_ns": 1_900}, scale=2)
        c.add({"measured_ns": 290_000, "lateness_ns": 2_100}, scale=2)
        self.assertEqual((c.measured, c.marked), ([100.5], 1))
        c.add({"measured_ns": 290_000, "lateness_ns": 2_100}, scale=2, late=0)
        self.assertEqual(c.marked, 1)

    def test_ranking_is_judged_over_pairs_that_are_no_ties(self):
        tie = verdict.ranking([case(100, [101]), case(104, [100], "b")])
        self.assertIsNone(tie.share)
        ranked = verdict.ranking([case(100, [100, 120]), case(110, [110, 115], "b")])
        self.assertEqual((ranked.repetitions, ranked.right), (2, 1))
        self.assertEqual(list(ranked.wrong_pairs.values()), [1])

    def test_ranking_may_fail_in_one_repetition_of_twenty(self):
        def objections(wrong):
            a, b = case(100, [100] * 20), case(110, [99] * wrong + [110] * (20 - wrong), "b")
            a.wanted = b.wanted = 20
            return verdict.objections(self.one, [a, b], 0)
        self.assertEqual(objections(1), [])
        self.assertIn("ranked as predicted in only 90%", objections(2)[0])

    def test_objections(self):
        far, busy, lost = case(100, [107]), case(100, [100] * 8), case(100)
        for c in (far, busy, lost):
            c.wanted = 1
        self.assertIn("+7.0% from the prediction", verdict.objections(self.one, [far], 0)[0])
        self.assertIn("no repetition was in time", verdict.objections(self.one, [lost], 0)[0])
        self.assertIn("3 frames were sent again", verdict.objections(self.one, [busy], 3)[0])
        busy.marked = 2
        self.assertEqual(verdict.objections(self.one, [busy, far], 3), ["host too busy: 18% of the repetitions came late; "
                                                                        "no verdict"])

    def test_without_a_formula_the_simulation_is_expected(self):
        c = case(None, [11])
        c.simulated, c.wanted = 10, 1
        self.assertAlmostEqual(c.error, 0.1)
        self.assertIn("+10.0% from the prediction", verdict.objections(self.one, [c], 0)[0])
        c.fields["tolerance"] = 0.15
        self.assertEqual(verdict.objections(self.one, [c], 0), [])

    def test_a_real_cluster_is_not_judged(self):
        far = case(100, [300])
        far.wanted = 1
        self.assertEqual(verdict.objections(experiment.Experiment("e", {"judge": {"tolerance": 0}}), [far], 3), [])
        summary = {"objections": [], "worlds": ["predicted", "measured"], "repetitions": 1, "judged": False}
        self.assertEqual(verdict.judgement(summary), ("plain", "measured; errors are reported, not judged"))

    def test_formula_and_simulator_have_to_agree(self):
        wrong = case(100.0)
        wrong.simulated = 102.0
        self.assertIn("simulated otherwise", verdict.objections(self.one, [wrong], 0)[0])
        meant = experiment.Experiment("e", {"judge": {"agree": 1}})
        self.assertEqual(verdict.objections(meant, [wrong], 0), [])


class Skew(unittest.TestCase):
    def test_delays(self):
        import random
        dice = random.Random(1)
        self.assertEqual(skew.delays("together", 3, 0.1, dice), [0, 0, 0])
        self.assertEqual(sorted(skew.delays("bimodal", 4, 0.1, dice)), [0, 0, 0.2, 0.2])
        self.assertEqual(sum(map(bool, skew.delays("one straggler", 9, 0.1, dice))), 1)
        self.assertTrue(all(d > 0 for d in skew.delays("exponential", 9, 0.1, dice)))
        with self.assertRaisesRegex(LabError, "there is no delay"):
            skew.delays("sometimes", 3, 0.1, dice)

    def test_barrier_of_all_together_takes_what_the_papers_trees_take(self):
        # All of r work of the receiver: 731 up (A30) and 311 down. All of it latency: two hops of 115 up.
        for costs, expected in ((machine.Costs(27, 0, 88), 1042), (machine.Costs(27, 88, 0), 2 * 115 + 311)):
            self.assertEqual(arrivals.last_to_last([0] * 19, CHILDREN, CHILDREN, [costs] * 19), expected)

    def test_barrier_waits_for_its_last_member(self):
        two, costs = [[1], []], [machine.Costs(2, 0, 3)] * 2
        self.assertEqual(arrivals.Barrier([0, 0], two, two, costs).run(), [5, 10])
        self.assertEqual(arrivals.Barrier([100, 0], two, two, costs).run(), [100, 105])  # the child is known already
        self.assertEqual(arrivals.Barrier([0, 100], two, two, costs).run(), [105, 110])

    def test_procedure_of_the_paper_is_biased(self):  # C6: one operation begins before the other is over
        def found(children, costs, iterations=4):
            ways = children, children, costs
            return (arrivals.loop(iterations, True, *ways) - arrivals.loop(iterations, False, *ways)) / iterations
        two = [[1], []], [machine.Costs(2, 0, 3)] * 2
        self.assertEqual(found(*two, iterations=1), 5)
        self.assertEqual(found(*two, iterations=4), 3.5)  # the multicast follows on the barrier's release: 3, but for the last
        manna = [machine.Costs(27, 0, 88)] * 19
        self.assertLess(found(CHILDREN, manna), max(trees.activations(CHILDREN, manna)))

    def test_words_of_a_group(self):
        fields = {"tree": "fibo", "s": 27, "r": 88, "reduction": {"tree": "binomial"}}
        self.assertEqual(skew.tree_words(fields), "--tree fibo --s 27 --r 88 --reduction-tree binomial".split())

    def test_metric_is_from_the_last_arrival_to_the_last_release(self):
        answers = [{"arrived_at_ns": 10, "activated_at_ns": 95}, {"arrived_at_ns": 70, "activated_at_ns": 90}]
        self.assertEqual(skew.last_to_last(answers), (25, 60))


class Drawings(unittest.TestCase):
    def parse(self, svg):
        return xml.fromstring(svg)

    def test_charts_are_well_formed_on_every_axis(self):
        for xs, scale in (([1, 5, 9], "linear"), ([0, 512, 16384], "log"), (["early & late", "b"], "linear")):
            plot = chart.Chart([case(10 * (i + 1), [11, 12], name="<a>", x=x) for i, x in enumerate(xs)], "x", "y", scale)
            said = [title.text for title in self.parse(plot.svg("all")).findall(".//{*}title")]
            self.assertEqual((said[0], len(said)), ("all", 1 + 2 * len(xs)))  # of every prediction and median
            self.assertIn(f"<a>, {xs[1]}: predicted 20, measured 11.5", said)

    def test_chart_of_nothing(self):
        self.parse(chart.Chart([], "x", "y").svg())

    def test_a_page_owns_the_looks(self):
        """Colours are its variables, text is text, ids do not clash, and the same chart is the same text."""
        plot = chart.Chart([case(10 * x, [11], x=x) for x in (1, 2)], "nodes p", "time")
        text = plot.svg()
        self.assertEqual(text, plot.svg())
        self.assertIn("var(--c0)", text)
        self.assertIn(">nodes p</text>", text)
        for unwanted in ("#2f6fbb", '<g id="', "<metadata", "<style", "<!DOCTYPE"):
            self.assertNotIn(unwanted, text)
        self.assertIn("prefers-color-scheme:dark", style.alone(text))

    def test_tree_and_timeline(self):
        rows = [[0, "send", 0, 27, 1], [1, "receive", 27, 88, 0], [0, "send", 27, 27, 2], [2, "receive", 54, 88, 0]]
        self.assertEqual(drawing.parents(rows), {0: (None, 0), 1: (0, 115), 2: (0, 142)})
        self.assertEqual(drawing.places(drawing.parents(rows))[0], 0)
        for svg in (drawing.tree_svg(rows, "us"), drawing.timeline_svg(rows, "us")):
            self.parse(svg)


class Papers(unittest.TestCase):
    # Figures and tables of each paper: none may be left out.
    COUNTS = {"000": (18, 2), "001": (8, 2), "002": (6, 0), "003": (10, 0), "004": (4, 1)}

    def test_every_figure_and_table_has_a_mark(self):
        for number, (figures, tables) in self.COUNTS.items():
            entries = paper.load_paper(number)["entry"]
            names = [entry["number"] for entry in entries]
            wanted = [f"Figure {i + 1}" for i in range(figures)] + [f"Table {i + 1}" for i in range(tables)]
            self.assertEqual([name for name in wanted if name not in names], [], number)
            self.assertTrue(all(entry["marks"] for entry in entries), number)
            for entry in entries:
                self.assertIn(entry.get("experiment", "figure10"), experiment.names(), number)

    def test_a_mark_that_only_a_run_makes_true(self):
        entry = {"marks": ["computed", "simulated", "measured"], "experiment": "e"}
        self.assertEqual(paper.missing_worlds(entry, {}), ["simulated", "measured"])
        summary = json.loads('{"unit": "us", "cases": [{"simulated_us": 5, "measured_us": []}]}')
        self.assertEqual(paper.missing_worlds(entry, {"e": (summary, {}, None)}), ["measured"])


unittest.main()
