"""A headless Chromium through chromedriver: just what the test of the status page needs of WebDriver (W3C), with the
standard library alone."""
import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

PATIENCE_S = 60
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def is_here():
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


class Browser:
    """One window. A context manager: leaves neither process nor file."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fibocast-browser-", ignore_cleanup_errors=True)
        log = Path(self.folder.name) / "driver.log"
        with log.open("w") as output:
            self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=output, stderr=subprocess.STDOUT,
                                           env={"HOME": self.folder.name, "TMPDIR": self.folder.name, "PATH": "/usr/bin:/bin"})
        self.session = None
        try:
            self.base = f"http://127.0.0.1:{self._port(log)}"
            options = {"args": FLAGS + [f"--user-data-dir={self.folder.name}/profile"], "binary": shutil.which("chromium")}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self.session = f"/session/{made['sessionId']}"
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.session:
            self._call("DELETE", self.session)
        self.driver.terminate()
        self.driver.wait(PATIENCE_S)
        self.folder.cleanup()

    def _port(self, log):
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and self.driver.poll() is None:
            for line in log.read_text().splitlines():
                if "started successfully on port " in line:
                    return int(line.rsplit(" ", 1)[1].rstrip("."))
            time.sleep(0.05)
        raise RuntimeError(f"chromedriver does not start: {log.read_text()}")

    def _call(self, method, path, body=None):
        data = None if method in ("GET", "DELETE") else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()}") from error

    def _devtools(self, command, **parameters):
        return self._call("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, url):
        self._call("POST", f"{self.session}/url", {"url": url})

    def run(self, script, *arguments):
        return self._call("POST", f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def wait_for(self, script, what):
        """Until the expression is true."""
        until = time.monotonic() + PATIENCE_S
        while not self.run(f"return {script}"):
            if time.monotonic() > until:
                raise AssertionError(f"not seen: {what}")
            time.sleep(0.05)

    def look(self, scheme="light", width=1280, height=900, mobile=False):
        """The window's size, and what the user's system prefers."""
        self._devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                       mobile=mobile)

    def screenshot(self, path):
        """The whole page, as far as it can be scrolled."""
        shot = self._devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """What the console has said since it was asked last: errors and warnings."""
        log = self._call("POST", f"{self.session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]
