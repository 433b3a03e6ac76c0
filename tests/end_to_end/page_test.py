"""The status page of a cluster of 19 daemons in a headless Chromium: all of it is drawn, nothing complains, light, dark and
on a phone; and it says so when its daemon is gone. The pictures stay in build/page. Skipped (77) without Chromium."""
import os
import signal
import sys
import unittest
from pathlib import Path

from browser import Browser, is_here
from metrics_cluster import MetricsCluster

PICTURES = Path(sys.argv.pop(1))
NODES = 19
DRAWN = f"document.querySelectorAll('#ring .node.ok').length === {NODES}"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        PICTURES.mkdir(parents=True, exist_ok=True)
        cls.cluster = cls.enterClassContext(MetricsCluster(NODES, "--machine", "manna", "--scale", "10"))
        cls.cluster.run("bench barrier", "--repetitions", "40", "--quiet")
        cls.browser = cls.enterClassContext(Browser())

    def open(self, name, rank=0, **look):
        self.browser.look(**look)
        self.browser.open(f"http://{self.cluster.addresses[rank]}/")
        self.browser.wait_for(DRAWN, f"{NODES} daemons that answer ({name})")
        self.browser.screenshot(PICTURES / f"{name}.png")

    def test_all_is_drawn_and_nothing_complains(self):
        for name, look in {"light": {}, "dark": {"scheme": "dark"}, "phone": {"width": 390, "height": 844, "mobile": True}}.items():
            self.open(name, **look)
            self.assertEqual(self.browser.complaints(), [], name)
            self.assertEqual(self.browser.run("return document.querySelectorAll('#tree .leaf').length"), NODES, name)
            self.assertEqual(self.browser.run("return document.querySelectorAll('#tree .edge').length"), NODES - 1, name)
            self.assertEqual(self.browser.run("return document.querySelectorAll('#links tbody tr').length"), NODES - 1, name)
            self.assertIn("barrier", self.browser.run("return document.getElementById('operations').innerText"))
            wide = self.browser.run("return document.documentElement.scrollWidth > window.innerWidth")
            self.assertFalse(wide, f"{name}: the page is wider than the window")
        dark, light = ((PICTURES / f"{name}.png").read_bytes() for name in ("dark", "light"))
        self.assertNotEqual(dark, light)

    def test_all_that_can_be_chosen_has_a_name(self):
        self.open("names")
        nameless = self.browser.run("""return [...document.querySelectorAll('button, select, a, [tabindex], [role=img]')]
            .filter((e) => !e.getAttribute('aria-label') && !e.textContent.trim()).map((e) => e.outerHTML)""")
        self.assertEqual(nameless, [])

    def test_the_page_goes_on_by_itself(self):
        self.open("before")
        text = "document.getElementById('operations').innerText"
        before = self.browser.run(f"return {text}")
        self.cluster.run("bench barrier", "--repetitions", "20", "--quiet")
        self.browser.wait_for(f"{text} !== {before!r}", "the operations went on")

    def test_a_node_and_a_phase_can_be_chosen(self):
        self.open("chosen")
        self.browser.run("document.querySelector('#ring .node[data-key=\"7\"]').dispatchEvent(new MouseEvent('click'))")
        self.assertIn("rank 7", self.browser.run("return document.getElementById('node').innerText"))
        self.browser.run("document.querySelector('#phase [data-key=reduction]').click()")
        self.browser.wait_for("document.querySelector('#phase [data-key=reduction]').getAttribute('aria-pressed') === 'true'",
                              "the reduction is shown")

    def test_zz_what_is_gone_is_shown(self):
        """The last one: daemons are killed."""
        self.open("all")
        os.kill(self.cluster.pids[5], signal.SIGKILL)
        self.browser.wait_for("document.querySelector('#ring .node[data-key=\"5\"]').classList.contains('bad')", "rank 5 is lost")
        self.browser.screenshot(PICTURES / "lost.png")
        os.kill(self.cluster.pids[0], signal.SIGKILL)
        self.browser.wait_for("!document.getElementById('silent').hidden", "the page says that its daemon is gone")
        self.assertIn("does not answer", self.browser.run("return document.getElementById('silent').innerText"))
        self.browser.screenshot(PICTURES / "silent.png")


if __name__ == "__main__":
    if not is_here():
        print("skipped: there is no chromium with chromedriver; ./dev install page brings them")
        sys.exit(77)
    unittest.main()
