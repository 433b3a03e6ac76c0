"""The Python client gives the results of the C++ library, byte for byte, in groups of 1 to 8 ranks.

Arguments: the folder of the programs, the program of reference.cc.
"""
import subprocess
import sys
import unittest

from calls import all_calls, make
from clusters import Cluster
from fibocast import algorithms, errors
from fibocast.shares import final_share

REFERENCE = sys.argv.pop()
BINARIES = sys.argv.pop()


def reference(*words, text=""):
    done = subprocess.run([REFERENCE, *words], input=text, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.splitlines()


def results_of_cpp(cluster, calls, ranks):
    text = "".join(call.line(rank, ranks) + "\n" for call in calls for rank in range(ranks))
    results = [[] for _ in range(ranks)]
    for line in reference("cpp", *cluster.sockets, text=text):
        rank, _, answer = line.partition(" ")
        results[int(rank)].append(answer)
    return results


def results_of_python(cluster, calls, ranks):
    def one_rank(client, rank):
        group = client.open("python")
        results = []
        for call in calls:
            try:
                results.append(make(group, call, call.brings(rank, ranks)).hex() or "-")
            except errors.Error as error:
                return results + [f"! {error.code.name}: {error}"]  # the others wait once for this rank, then end too
        return results

    return cluster.at_each_rank(one_rank)


class SameResults(unittest.TestCase):
    def check(self, ranks):
        calls = all_calls(ranks)
        with Cluster(BINARIES, ranks) as cluster:
            cpp = results_of_cpp(cluster, calls, ranks)
            python = results_of_python(cluster, calls, ranks)
        for rank in range(ranks):
            self.assertEqual(len(cpp[rank]), len(calls))
            for call, theirs, ours in zip(calls, cpp[rank], python[rank]):
                self.assertEqual(ours, theirs, f"rank {rank} of {ranks}: {call}")
            self.assertEqual(len(python[rank]), len(calls))
        failed = [call for call, answer in zip(calls, cpp[0]) if answer.startswith("!")]
        self.assertEqual(failed, [], "all of these calls are right")


for _ranks in range(1, 9):
    setattr(SameResults, f"test_{_ranks}_ranks", lambda self, ranks=_ranks: self.check(ranks))


class SameTables(unittest.TestCase):
    def test_algorithms(self):
        of_cpp = [line.split() for line in reference("catalog")]
        ours = [[operation, name, *map(str, choice)] for operation in algorithms.OPERATIONS
                for name, choice in algorithms.CATALOG[operation].items()]
        for row in of_cpp:
            if row[1].endswith(":K"):
                row[4] = "0"  # what stands for K
        self.assertEqual(sorted(ours), sorted(of_cpp))

    def test_shares(self):
        lines = reference("shares")
        self.assertGreater(len(lines), 5000)
        for line in lines:
            rank, ranks, elements, alpha, first, count = map(int, line.split())
            share = final_share(rank, ranks, elements, alpha)
            self.assertEqual((share.first, share.count), (first, count), line)

    def test_names_of_algorithms(self):
        self.assertEqual(algorithms.choose("barrier", "kary:4"), (1, 3, 4))
        self.assertEqual(algorithms.choose("barrier", "binary"), (1, 3, 2))
        self.assertEqual(algorithms.choose("reduce", "lambda:2.25"), (1, 5, 225))
        self.assertEqual(algorithms.choose("multicast", "lambda:5/2"), (1, 5, 250))
        self.assertEqual(algorithms.choose("divide", "share:19/20"), (16, 0, 9500))
        self.assertEqual(algorithms.choose("conquer", "share"), (16, 0, 5000))
        for operation, wrong in (("barrier", "quantum"), ("barrier", "kary:0"), ("barrier", "dissemination:1"),
                                 ("barrier", "kary:K"), ("barrier", "kary:65536"), ("divide", "share:1.1"),
                                 ("barrier", "lambda:L"), ("barrier", "lambda"), ("reduce", "lambda:0.99"),
                                 ("reduce", "lambda:2.251"), ("reduce", "lambda:655.36"), ("scatter", "lambda:2"),
                                 ("divide", "share:0"), ("divide", "share:0.12345"), ("divide", "share:1/0"),
                                 ("divide", "share:ALPHA"), ("scatter", "kary:2"), ("reduce", "ring")):
            with self.assertRaises(errors.Invalid, msg=wrong):
                algorithms.choose(operation, wrong)


if __name__ == "__main__":
    unittest.main()
