"""Clusters of real containers: cluster_test.py NODES. One engine and one image for all tests of a run.

With 4 nodes also what does not depend on their number: containers that come back or are made anew, health, the explicit
list, Ctrl-C. Waiting is always for something that is observed, with a limit.
"""
import os
import signal
import subprocess
import sys
import time
import unittest
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docker" / "lab"))

from fibocast_lab.container_engine import NoEngine, container_engine  # noqa: E402
from fibocast_lab.container_image import build_image, docker  # noqa: E402
from fibocast_lab.containers import IMAGE, containers  # noqa: E402

NODES = int(sys.argv.pop(1))
PATIENCE = 90  # seconds, of which a free machine needs a few
BARRIER = ["fibocast", "barrier", "gate", "--deadline", "60s"]


def project(name):
    return f"fibocasttest{os.getpid()}{name}"


def left_of(name):
    """What the engine still has of a project."""
    label = f"label=com.docker.compose.project={name}"
    listings = (("ps", "--all"), ("network", "ls"), ("volume", "ls"))
    return [docker(*listing, "--quiet", "--filter", label).stdout for listing in listings]


def volumes():
    return docker("volume", "ls", "--quiet").stdout


def eventually(holds):
    until = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


class ClusterTest(unittest.TestCase):
    def codes(self, answers):
        return {answer.rank: (answer.code, answer.err) for answer in answers if answer.code != 0}

    def barrier(self, cluster):
        self.assertEqual(self.codes(cluster.run(BARRIER)), {})


class AllNodes(ClusterTest):
    def test_they_meet_work_name_the_lost_and_leave_nothing(self):
        before = volumes()
        with containers(NODES, project("all"), HEALTH_INTERVAL="10m") as cluster:
            cluster.up()
            cluster.find_ranks(PATIENCE)
            self.barrier(cluster)
            answers = cluster.run(["sh", "-c", "fibocast allreduce all $FIBOCAST_RANK"])
            self.assertEqual({answer.out.strip() for answer in answers}, {str(NODES * (NODES - 1) // 2)})
            lost = NODES // 2
            cluster.kill(lost)
            others = [rank for rank in range(NODES) if rank != lost]
            for answer in cluster.run(BARRIER, others):
                self.assertEqual(answer.code, 4, answer.err)
                self.assertIn(f"lost ranks: {lost};", answer.err)
            docker("start", cluster.containers[lost])
            was = dict(cluster.containers)
            cluster.find_ranks(PATIENCE)
            self.assertEqual(cluster.containers, was, "everybody has the rank it had")
            self.barrier(cluster)
        self.assertEqual(left_of(project("all")), ["", "", ""])
        self.assertEqual(volumes(), before)


@unittest.skipIf(NODES > 4, "does not depend on the number of nodes")
class FourNodes(ClusterTest):
    def test_a_container_that_is_made_anew_gets_the_rank_of_the_one_that_is_gone(self):
        with containers(NODES, project("anew"), TRANSPORT="tcp", HEALTH_INTERVAL="1s") as cluster:
            cluster.up()
            cluster.find_ranks(PATIENCE)
            was = dict(cluster.containers)
            docker("rm", "--force", "--volumes", was[2])
            cluster.up()
            cluster.find_ranks(PATIENCE)
            self.assertNotEqual(cluster.containers.pop(2), was.pop(2))
            self.assertEqual(cluster.containers, was)
            state = "{{.State.Health.Status}}"
            self.assertTrue(eventually(lambda: docker("inspect", "--format", state, was[0]).stdout == "healthy\n"))

    def test_all_may_be_stopped_and_started_again(self):
        with containers(NODES, project("again"), HEALTH_INTERVAL="10m") as cluster:
            cluster.up()
            cluster.find_ranks(PATIENCE)
            was = dict(cluster.containers)
            cluster.compose("stop")
            for rank in reversed(range(NODES)):  # other addresses than before
                docker("start", was[rank])
            cluster.find_ranks(PATIENCE)
            self.assertEqual(cluster.containers, was)
            self.barrier(cluster)

    def test_an_explicit_list(self):
        with containers(3, project("list"), file="compose.list.yaml") as cluster:
            cluster.up()
            cluster.find_ranks(PATIENCE)
            for rank, container in cluster.containers.items():
                service = "{{index .Config.Labels \"com.docker.compose.service\"}}"
                self.assertEqual(docker("inspect", "--format", service, container).stdout.strip(), f"n{rank}")
            self.barrier(cluster)

    def interrupted(self, number):
        """docker/cluster ended by a signal while its command runs: its exit code, and what is left."""
        run = subprocess.Popen([ROOT / "docker" / "cluster", "-n", "2", "--", "sh", "-c", "sleep 1000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        name = f"fibocast{run.pid}"
        try:
            ids = ["ps", "--quiet", "--filter", f"label=com.docker.compose.project={name}"]
            self.assertTrue(eventually(lambda: all("sleep 1000" in docker("top", i).stdout
                                                   for i in docker(*ids).stdout.split() or ["none"])))
            run.send_signal(number)
            return run.wait(PATIENCE), left_of(name)
        finally:
            run.kill()
            run.wait()

    def test_nothing_is_left_after_ctrl_c_and_after_sigterm(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.assertEqual(self.interrupted(number), (130, ["", "", ""]))

    def test_a_failure_is_the_exit_code_and_leaves_nothing(self):
        command = [ROOT / "docker" / "cluster", "-n", "2", "--", "sh", "-c", "exit $((FIBOCAST_RANK * 7))"]
        run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        error = run.communicate(timeout=PATIENCE)[1]
        self.assertEqual(run.returncode, 7, error)
        self.assertEqual(left_of(f"fibocast{run.pid}"), ["", "", ""])


def main():
    with ExitStack() as stack:
        try:
            stack.enter_context(container_engine(lambda sentence: print(sentence, flush=True)))
        except NoEngine as error:
            print(f"skipped: {error}")
            return 77
        build_image(IMAGE, lambda sentence: print(sentence, flush=True))
        return 0 if unittest.main(exit=False, verbosity=2).result.wasSuccessful() else 1


sys.exit(main())
