"""Clusters of real containers: cluster_test.py NODES [CLASS].

AllNodes for any number of them; FourNodes is what does not depend on their number: containers that come back or are made
anew, health, the explicit list, Ctrl-C.
"""
import os
import signal
import subprocess
import sys
import unittest

from engine import PATIENCE, ROOT, docker, eventually, left_of, run_all_tests, running_in

from fibocast_lab.containers import IMAGE, containers

NODES = int(sys.argv.pop(1))
BARRIER = ["fibocast", "barrier", "gate", "--deadline", "60s"]


def project(name):
    return f"fibocasttest{os.getpid()}{name}"


class ClusterTest(unittest.TestCase):
    def codes(self, answers):
        return {answer.rank: (answer.code, answer.err) for answer in answers if answer.code != 0}

    def barrier(self, cluster):
        self.assertEqual(self.codes(cluster.run(BARRIER)), {})

    def check_confined(self, cluster):
        """A user of its own without any capability, and nothing of the image can be written."""
        for answer in cluster.run(["sh", "-c", "id -u; grep CapEff /proc/1/status; touch /usr/x"]):
            self.assertRegex(answer.out, rf"^{os.getuid() or 7117}\nCapEff:\t0+\n$")
            self.assertIn("Read-only file system", answer.err)


class AllNodes(ClusterTest):
    def test_they_meet_work_name_the_lost_and_leave_nothing(self):
        with containers(NODES, project("all"), HEALTH_INTERVAL="10m") as cluster:
            cluster.up()
            cluster.find_ranks(PATIENCE)
            self.barrier(cluster)
            self.check_confined(cluster)
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
            self.check_confined(cluster)

    def test_the_image_alone_runs_on_a_read_only_root(self):
        """One daemon by `docker run`, with a volume for its state: healthy, and the image is small."""
        name = project("alone")
        words = ["--detach", "--read-only", "--cap-drop", "ALL", "--tmpfs", "/run/fibocast:uid=7117,gid=7117,mode=2770"]
        words += ["--volume", f"{name}:/var/lib/fibocast", "--health-interval", "1s"]
        words += ["--env", "FIBOCAST_NODE_LISTEN=127.0.0.1:7117", "--env", "FIBOCAST_NODE_RANK=0"]
        container = docker("run", "--network", "none", *words, IMAGE).stdout.strip()
        try:
            state = "{{.State.Health.Status}}"
            self.assertTrue(eventually(lambda: docker("inspect", "--format", state, container).stdout == "healthy\n"),
                            docker("logs", container).stderr)
            self.assertEqual(docker("exec", container, "touch", "/var/lib/fibocast/x").stderr, "")
        finally:
            docker("rm", "--force", container)
            docker("volume", "rm", name)
        sizes = docker("history", "--format", "{{.Size}}", "--human=false", IMAGE).stdout.split()
        added = sum(int(size) for size in sizes) - max(int(size) for size in sizes)
        print(f"the image has {added / 1e6:.1f} MB beyond its base", flush=True)
        self.assertLess(added, 40_000_000)

    def interrupted(self, number):
        """docker/cluster ended by a signal while its command runs: its exit code, and what is left."""
        run = subprocess.Popen([ROOT / "docker" / "cluster", "-n", "2", "--", "sh", "-c", "sleep 1000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        name = f"fibocast{run.pid}"
        try:
            self.assertTrue(eventually(lambda: all("sleep 1000" in commands for commands in running_in(name) or [""])))
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


sys.exit(run_all_tests())
