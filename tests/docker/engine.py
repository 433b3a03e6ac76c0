"""What tests with real containers share: one engine and one image for all tests of a run, and what is left behind.

Waiting is always for something that is observed, with a limit. As a program it gives one engine and one image to a command
with many of these tests: engine.py COMMAND.
"""
import os
import subprocess
import sys
import time
import unittest
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docker" / "lab"))

from fibocast_lab.container_engine import NoEngine, container_engine  # noqa: E402
from fibocast_lab.container_image import build_image, docker  # noqa: E402
from fibocast_lab.containers import IMAGE  # noqa: E402

SHARED = "FIBOCAST_TESTS_SHARE_AN_ENGINE"
PATIENCE = 90  # seconds, of which a free machine needs a few


def left_of(name):
    """What the engine still has of a project."""
    label = f"label=com.docker.compose.project={name}"
    listings = (("ps", "--all"), ("network", "ls"), ("volume", "ls"))
    return [docker(*listing, "--quiet", "--filter", label).stdout for listing in listings]


def running_in(name):
    """The commands that run in each container of a project."""
    ids = docker("ps", "--quiet", "--filter", f"label=com.docker.compose.project={name}").stdout.split()
    return [docker("top", i).stdout for i in ids]


def volumes():
    return set(docker("volume", "ls", "--quiet").stdout.split())


def eventually(holds):
    until = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.3)  # a look starts a process, of 0.1 s
    return True


@contextmanager
def engine_with_image():
    """Tests within a run of many have its engine. The run looks whether volumes are left when all are over: those of
    containers have no project that they could be found by."""
    if SHARED in os.environ:
        yield
        return
    with container_engine(lambda sentence: print(sentence, flush=True)):
        build_image(IMAGE, lambda sentence: print(sentence, flush=True))
        before = volumes()
        os.environ[SHARED] = "1"
        yield
        if left := volumes() - before:
            sys.exit(f"these volumes are left: {' '.join(sorted(left))}")


def run_all_tests():
    """The exit code: 77 where there is no engine, and none can be started."""
    try:
        with engine_with_image():
            return 0 if unittest.main(exit=False, verbosity=2).result.wasSuccessful() else 1
    except NoEngine as error:
        print(f"skipped: {error}")
        return 77


def run_command(command):
    """Without an engine too: its tests are skipped then."""
    try:
        with engine_with_image():
            return subprocess.run(command).returncode
    except NoEngine:
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(run_command(sys.argv[1:]))
