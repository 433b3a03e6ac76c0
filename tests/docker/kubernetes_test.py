"""What the Kubernetes manifests claim, with their pods as containers of this host: ranks by names, a user of its own on a
read-only root, sockets shared with applications, a gate that opens for all or for nobody. Kubernetes itself, its network
policies and its schedulers are not in it."""
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
try:
    import yaml
    from manifests import FOLDER
except ImportError as error:
    print(f"skipped: {error}: ./dev install kubernetes")
    sys.exit(77)
from engine import run_all_tests  # noqa: E402
from pods import Namespace, Pod  # noqa: E402

NODES = 3
BARRIER = ["fibocast", "barrier", "all", "--deadline", "60s"]


def read(file):
    return yaml.safe_load((FOLDER / file).read_text(encoding="utf-8"))


def at_the_same_time(function, items):
    with ThreadPoolExecutor(len(items)) as pool:
        return list(pool.map(function, items))


class PodTest(unittest.TestCase):
    def codes(self, pods, command):
        return [done.returncode for done in at_the_same_time(lambda pod: pod.execute(*command), pods)]

    def ranks(self, pods):
        return [yaml.safe_load(pod.execute("fibocast", "status", "--json").stdout)["rank"] for pod in pods]

    def check_confined(self, pod):
        self.assertEqual(pod.execute("id", "-u").stdout, "7117\n")
        self.assertIn("Read-only file system", pod.execute("touch", "/usr/x").stderr)
        self.assertIn("CapEff:\t0000000000000000", pod.execute("cat", "/proc/1/status").stdout)


class StatefulSet(PodTest):
    def test_names_are_ranks_and_stay_so(self):
        spec = read("statefulset/statefulset.yaml")["spec"]
        with Namespace("set") as namespace:
            def pod(index):
                return Pod(namespace, f"fibocast-{index}", "fibocast", spec["template"]["spec"], spec["volumeClaimTemplates"])

            pods = [pod(index) for index in (2, 0, 1)]  # addresses in another order
            self.assertEqual(at_the_same_time(Pod.start, pods), [None] * NODES)
            self.assertEqual(self.ranks(pods), [2, 0, 1])
            self.assertEqual(self.codes(pods, BARRIER), [0] * NODES)
            for member in pods:
                self.check_confined(member)
                for kind in ("readinessProbe", "livenessProbe"):
                    command = spec["template"]["spec"]["containers"][0][kind]["exec"]["command"]
                    self.assertEqual(member.execute(*command).returncode, 0)
            pods[2].delete()
            pods[2] = pod(1)
            self.assertIsNone(pods[2].start())
            self.assertEqual(self.ranks(pods), [2, 0, 1])
            self.assertEqual(self.codes(pods, ["fibocast", "wait", "--nodes", "3", "--deadline", "60s"]), [0] * NODES)
            self.assertEqual(self.codes(pods, BARRIER), [0] * NODES)


class DaemonSet(PodTest):
    def test_applications_of_a_node_use_its_socket(self):
        spec = read("daemonset/daemonset.yaml")["spec"]["template"]["spec"]
        application = read("daemonset/application.yaml")["spec"]
        with Namespace("nodes") as namespace:
            pods = [Pod(namespace, f"fibocast-node-{name}", "fibocast-node", spec, node=name) for name in ("a", "b", "c")]
            self.assertEqual(at_the_same_time(Pod.start, pods), [None] * NODES)
            self.assertEqual(sorted(self.ranks(pods)), [0, 1, 2])
            self.check_confined(pods[0])
            was = self.ranks(pods)[1]
            pods[1].delete()
            pods[1] = Pod(namespace, "fibocast-node-z", "fibocast-node", spec, node="b")
            self.assertIsNone(pods[1].start())
            self.assertEqual(self.ranks(pods)[1], was, "a node has its rank again")

            user = Pod(namespace, "application", "application", application, node="b")
            container = application["containers"][0]
            done = user.run(container)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"rank {was}", done.stdout.lower())
            application["securityContext"]["supplementalGroups"] = []
            self.assertEqual(user.run(container).returncode, 5, "who is not in the group is a stranger")


class Gate(PodTest):
    def pods(self, namespace):
        spec = read("gate/job.yaml")["spec"]["template"]["spec"]
        return [Pod(namespace, f"start-{index}", "start", spec, index=index) for index in range(NODES)]

    def test_it_opens_when_all_are_there(self):
        with Namespace("open") as namespace:
            pods = self.pods(namespace)
            self.assertEqual(at_the_same_time(Pod.start, pods), [None] * NODES)
            self.assertEqual(self.ranks(pods), [0, 1, 2])
            self.assertEqual([pod.result("work") for pod in pods], [(0, "3\n")] * NODES)

    def test_it_names_who_is_missing_within_its_deadline(self):
        """The third pod has a name, but nothing runs in it yet: its image is on its way."""
        with Namespace("shut") as namespace:
            pods = self.pods(namespace)[:2]
            for done in at_the_same_time(lambda pod: pod.start(deadline="3s"), pods):
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, r"missing ranks: 2\b")
            self.assertNotIn("work", pods[0].running)


sys.exit(run_all_tests())
