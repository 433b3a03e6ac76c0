"""promtool's own judgement of a scrape, of the alert rules and of the scrape configuration. Skipped (77) without
promtool, which is in Debian's package prometheus."""
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from metrics_cluster import MetricsCluster

MONITORING = Path(sys.argv.pop(1))


def promtool(*words, given=None):
    done = subprocess.run(["promtool", *words], input=given, cwd=MONITORING, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Monitoring(unittest.TestCase):
    def test_a_scrape_is_well_made(self):
        with MetricsCluster(2) as cluster:
            cluster.everywhere("fibocast barrier gate --quiet")
            self.assertEqual(promtool("check", "metrics", given=cluster.get(0, "/metrics")), (0, ""))

    def test_rules_and_configuration_are_good(self):
        for words in (["check", "rules", "alerts.yml"], ["check", "config", "prometheus.yml"],
                      ["test", "rules", "alerts_test.yml"]):
            code, said = promtool(*words)
            self.assertEqual(code, 0, said)


if __name__ == "__main__":
    if not shutil.which("promtool"):
        print("skipped: there is no promtool; ./dev install monitoring brings it")
        sys.exit(77)
    unittest.main()
