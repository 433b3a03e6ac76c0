"""Metrics and status page of real daemons: three run operations, and their endpoints say so. What the dashboard and the
alert rules ask for exists in such a scrape."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from metrics_cluster import MetricsCluster, names_in, wait_until

MONITORING = Path(sys.argv.pop(1))
BARRIERS = 5
WORK = f"""set -e
for i in {" ".join(map(str, range(BARRIERS)))}; do fibocast barrier gate --quiet; done
fibocast allreduce gate 1 --quiet
[ $FIBOCAST_RANK = 0 ] && echo hello | fibocast multicast gate --from 0 --quiet || fibocast multicast gate --from 0 --quiet
"""


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(MetricsCluster(3))
        cls.slow = socket.create_connection(cls.address(1))  # says a byte now and then, and never a request
        cls.slow.sendall(b"GET / HTTP/1.1\r\nX")
        cls.cluster.everywhere(WORK)

    @classmethod
    def tearDownClass(cls):
        cls.slow.close()

    @classmethod
    def address(cls, rank):
        host, port = cls.cluster.addresses[rank].rsplit(":", 1)
        return host, int(port)

    def test_operations_are_counted_by_kind_and_outcome(self):
        for rank in range(3):
            metrics = self.cluster.metrics(rank)
            count = lambda name, outcome: metrics[f'fibocast_operations_total{{operation="{name}",outcome="{outcome}"}}']
            self.assertEqual([count(name, "ok") for name in ("barrier", "allreduce", "multicast", "gather")], [5, 1, 1, 0])
            self.assertEqual(count("barrier", "peer_lost"), 0)
            counts = [value for series, value in metrics.items()
                      if series.startswith("fibocast_operation_duration_seconds_count") and '"barrier"' in series]
            self.assertEqual(sum(counts), BARRIERS)
            self.assertEqual(metrics['fibocast_group_members{group="gate"}'], 3)
            self.assertEqual(metrics['fibocast_links{state="connected"}'], 2)
            self.assertGreater(metrics["fibocast_process_resident_memory_bytes"], 1e6)
            self.assertEqual(metrics["fibocast_operations_untracked_total"], 0)

    def test_every_barrier_has_a_straggler(self):
        metrics = self.cluster.metrics(0)
        last = sum(value for series, value in metrics.items() if series.startswith("fibocast_straggler_barriers_total"))
        self.assertEqual(last, BARRIERS)

    def test_what_was_measured_stands_beside_what_is_predicted(self):
        """At the rank that came last, which has waited for nobody; the others may not know."""
        labels = '{group="gate",operation="barrier",size="1k"}'
        scrapes = [self.cluster.metrics(rank) for rank in range(3)]
        pairs = [(scrape[series], scrape[f"fibocast_group_operation_predicted_seconds{labels}"]) for scrape in scrapes
                 if (series := f"fibocast_group_operation_measured_seconds{labels}") in scrape]
        self.assertTrue(pairs)
        for pair in pairs:
            self.assertGreater(min(pair), 0)

    def test_the_status_has_group_tree_and_durations(self):
        status = self.cluster.status(1)
        group = next(group for group in status["groups"] if group["name"] == "gate")
        self.assertEqual((group["rank"], group["members"], status["connected"]), (1, [0, 1, 2], 2))
        for tree in group["plan"]["trees"]:
            self.assertEqual(sorted(child for children in tree["children"] for child in children), [1, 2], tree)
        barrier = next(row for row in group["operations"] if row["operation"] == "barrier")
        self.assertEqual(barrier["count"], BARRIERS)
        self.assertLessEqual(len(barrier["recent_us"]), BARRIERS)
        self.assertLessEqual(barrier["p50_us"], barrier["p99_us"])

    def test_one_daemon_shows_the_whole_cluster(self):
        wait_until(lambda: all("links" in node for node in json.loads(self.cluster.get(2, "/cluster.json"))["nodes"]),
                   "all daemons answer")
        nodes = json.loads(self.cluster.get(2, "/cluster.json"))["nodes"]
        self.assertEqual([node["links"] for node in nodes], ["-cc", "c-c", "cc-"])

    def test_a_daemon_that_does_not_answer_holds_nothing_up(self):
        os.kill(self.cluster.pids[1], signal.SIGSTOP)
        try:
            wait_until(lambda: "links" not in json.loads(self.cluster.get(0, "/cluster.json"))["nodes"][1], "rank 1 is silent")
            self.assertIn("links", json.loads(self.cluster.get(0, "/cluster.json"))["nodes"][2])
        finally:
            os.kill(self.cluster.pids[1], signal.SIGCONT)
        wait_until(lambda: "links" in json.loads(self.cluster.get(0, "/cluster.json"))["nodes"][1], "rank 1 answers again")

    def test_the_page_names_no_other_host(self):
        page = self.cluster.get(0, "/")
        files = re.findall(r'(?:src|href)="([^"]+)"', page)
        self.assertTrue({"page.js", "page.css", "icon.svg"} <= set(files))
        for file in set(files):
            self.assertNotRegex(file, "^(https?:)?//")
            text = self.cluster.get(0, "/" + file)
            self.assertFalse(re.findall(r"https?://(?!www\.w3\.org/)", text), file)

    def test_a_name_that_stands_for_this_host_is_refused(self):
        request = urllib.request.Request(f"http://{self.cluster.addresses[0]}/metrics", headers={"Host": "evil.example"})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        self.assertEqual(refused.exception.code, 403)
        refused.exception.close()

    def test_others_may_read_them_only_if_that_is_said(self):
        program = [self.cluster.programs / "fibocastd", "--nodes", "127.0.0.1:7117", "--check-config"]
        check = lambda *words: subprocess.run([*program, *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, check=False)
        refused = check("--metrics.listen", "0.0.0.0:9117")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("metrics.listen is 0.0.0.0:9117, where others could read", refused.stderr)
        self.assertIn("--metrics.public true", refused.stderr)
        self.assertEqual(check("--metrics.listen", "0.0.0.0:9117", "--metrics.public", "true").returncode, 0)

    def test_a_port_in_use_is_one_sentence(self):
        words = ["--nodes", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--socket", f"{self.cluster.folder.name}/other.sock",
                 "--metrics.listen", self.cluster.addresses[0]]
        done = subprocess.run([self.cluster.programs / "fibocastd", *words], stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^fibocastd: metrics.listen: cannot listen on .*; give another address or port")

    def test_who_is_slow_is_closed_and_the_others_are_answered(self):
        self.slow.settimeout(60)
        heard = self.slow.recv(1000)
        self.assertEqual(heard, b"")
        self.assertEqual(self.cluster.metrics(1)["fibocast_http_timed_out_total"], 1)

    def test_dashboard_and_rules_ask_for_what_there_is(self):
        known = names_in(self.cluster.metrics(0)) | {"up"}
        for file in ("grafana-dashboard.json", "alerts.yml"):
            text = (MONITORING / file).read_text(encoding="utf-8")
            asked = set(re.findall(r"\bfibocast_\w+", text))
            self.assertTrue(asked, file)
            self.assertEqual(asked - known, set(), file)

    def test_every_counter_of_the_status_is_a_metric(self):
        counters = self.cluster.status(0)["counters"]
        names = (Path(__file__).parents[2] / "runtime/daemon/metrics/metrics_counters.cc").read_text(encoding="utf-8")
        self.assertEqual([key for key in counters if f'"{key}"' not in names and not key.startswith("seal_refused_")], [])


if __name__ == "__main__":
    unittest.main()
