"""A container engine for as long as a block lasts: the one that runs, else, for root, a private one that ends with it."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from .errors import LabError
from .interrupts import undisturbed

START_SECONDS = 30


class NoEngine(LabError):
    """There is none, and none can be started here."""


def answers(host=None):
    """Does an engine answer (at DOCKER_HOST, or at `host`)?"""
    environment = os.environ | ({"DOCKER_HOST": host} if host else {})
    return shutil.which("docker") is not None and subprocess.run(
        ["docker", "version"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


@contextmanager
def container_engine(say):
    """Sets DOCKER_HOST for the block if a private engine had to be started. `say` hears one sentence about that."""
    if answers():
        yield
        return
    if os.geteuid() != 0:
        raise NoEngine("no container engine runs: start Docker, or run this as root, who gets a private one")
    for program in ("docker", "dockerd"):
        if shutil.which(program) is None:
            raise NoEngine(f"the program {program} is missing: apt-get install docker.io docker-compose")
    say("no container engine runs: a private one is started, and ended afterwards")
    before = os.environ.get("DOCKER_HOST")
    folder = Path(tempfile.mkdtemp(prefix="fibocast-engine-"))
    process = None
    try:
        process = start(folder)
        os.environ["DOCKER_HOST"] = f"unix://{folder}/socket"
        wait_until_it_answers(folder, process)
        yield
    finally:
        with undisturbed():
            stop(process, folder)
        os.environ.pop("DOCKER_HOST", None)
        if before is not None:
            os.environ["DOCKER_HOST"] = before


def start(folder):
    """Its folders, socket and process number are its own, it touches neither firewall nor forwarding, it makes no bridge
    that lasts, a Ctrl-C does not reach it, and it ends when this process dies."""
    command = ["setpriv", "--pdeathsig", "TERM", "dockerd", "--host", f"unix://{folder}/socket"]
    command += ["--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec", "--pidfile", f"{folder}/pid"]
    command += ["--bridge", "none", "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"]
    with open(folder / "log", "w") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


def wait_until_it_answers(folder, process):
    until = time.monotonic() + START_SECONDS
    while not answers():
        if process.poll() is not None or time.monotonic() > until:
            last = (folder / "log").read_text().strip().splitlines()[-1:]
            raise LabError("the private container engine does not start: " + " ".join(last))
        time.sleep(0.1)


def stop(process, folder):
    """Nothing of it is left: neither dockerd and containerd nor bridges nor mounts nor files."""
    bridges = []
    if process is not None:
        in_it = ["docker", "--host", f"unix://{folder}/socket"]  # never another engine
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        for container in subprocess.run([*in_it, "ps", "--all", "--quiet"], **quiet).stdout.split():
            subprocess.run([*in_it, "rm", "--force", "--volumes", container], **quiet)
        subprocess.run([*in_it, "network", "prune", "--force"], **quiet)
        left = subprocess.run([*in_it, "network", "ls", "--quiet", "--filter", "driver=bridge"], **quiet)
        bridges = [f"br-{network}" for network in left.stdout.split()]
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its session: containerd is in it too
            process.wait()
    for bridge in bridges:
        subprocess.run(["ip", "link", "delete", bridge], stderr=subprocess.DEVNULL)
    for line in reversed(Path("/proc/mounts").read_text().splitlines()):
        where = line.split()[1]
        if where.startswith(f"{folder}/"):
            subprocess.run(["umount", "--lazy", where])
    shutil.rmtree(folder)
