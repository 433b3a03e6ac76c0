"""A cluster of containers: up, a command in each of them, logs, and down so that nothing is left."""
import json
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .container_image import ROOT, docker
from .errors import LabError
from .interrupts import undisturbed

IMAGE = "fibocast"
DOWN_SECONDS = 60
IMAGE_USER = 7117  # of the image and the Compose files


@dataclass
class Answer:
    """Of one command in one container."""
    rank: int
    code: int
    out: str
    err: str


def compose_program():
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    if docker("compose", "version").returncode == 0:
        return ["docker", "compose"]
    raise LabError("docker-compose is missing: apt-get install docker-compose")


class Containers:
    """`nodes` containers of one Compose project; `containers` maps a rank to its container once find_ranks() returned."""

    def __init__(self, nodes, project, file="compose.yaml", **environment):
        self.nodes = nodes
        self.project = project
        self.file = ROOT / "docker" / file
        names = {"NODES": str(nodes), "FIBOCAST_IMAGE": IMAGE, "COMPOSE_HTTP_TIMEOUT": "120"}
        self.environment = os.environ | names | environment
        self.containers = {}

    def compose(self, *arguments):
        command = [*compose_program(), "-f", str(self.file), "-p", self.project, *arguments]
        # A session of its own: Ctrl-C is ours to handle.
        done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, start_new_session=True)
        if done.returncode != 0:
            raise LabError(f"docker-compose {arguments[0]} failed: {done.stdout.strip()[-500:]}")

    def up(self):
        """Starts what does not run."""
        scale = ["--scale", f"node={self.nodes}"] if self.file.name == "compose.yaml" else []
        self.compose("up", "--detach", "--no-recreate", *scale)

    def ids(self):
        return self.listed("ps", "--no-trunc")

    def listed(self, *listing):
        label = f"label=com.docker.compose.project={self.project}"
        return docker(*listing, "--quiet", "--filter", label).stdout.split()

    def find_ranks(self, seconds):
        """Returns when all are connected to one another. A LabError tells who is missing otherwise."""
        command = f"fibocast wait --nodes {self.nodes} --deadline {seconds}s --quiet && fibocast status --json"
        ids = self.ids()
        if len(ids) < self.nodes:
            raise LabError(f"only {len(ids)} of {self.nodes} containers run; {self.last_words()}")
        answers = self.each({i: container for i, container in enumerate(ids)}, ["sh", "-c", command])
        for answer in answers:
            if answer.code != 0:
                raise LabError(f"not all are connected within {seconds} s: {answer.err.strip()}; {self.last_words()}")
        self.containers = {json.loads(a.out)["rank"]: ids[a.rank] for a in answers}
        if sorted(self.containers) != list(range(self.nodes)):
            raise LabError(f"the ranks are {sorted(self.containers)} instead of 0 to {self.nodes - 1}")

    def last_words(self):
        """Of a container that has ended."""
        for container in self.listed("ps", "--all", "--filter", "status=exited"):
            lines = docker("logs", "--tail", "1", container)
            return f"one has ended: {(lines.stderr + lines.stdout).strip()}"
        return "none has ended"

    def each(self, containers, command):
        """Runs it in all of these (rank -> container) at the same time."""
        running = {}
        try:
            for rank, container in sorted(containers.items()):
                running[rank] = self.execute(rank, container, command)
            return [answer_of(rank, *running[rank]) for rank in running]
        finally:  # after Ctrl-C nobody waits for their deadlines
            for process, _, _ in running.values():
                process.kill()
                process.wait()

    def execute(self, rank, container, command):
        """What it says goes to files: who writes into a pipe that nobody reads yet would hold up the others."""
        names = ["--env", f"FIBOCAST_RANK={rank}", "--env", f"FIBOCAST_SIZE={self.nodes}"]
        out, err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        process = subprocess.Popen(["docker", "exec", *names, container, *command], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err)
        return process, out, err

    def run(self, command, ranks=None):
        """The command in the containers of these ranks, or in all."""
        chosen = self.containers if ranks is None else {r: self.containers[r] for r in ranks}
        return self.each(chosen, command)

    def kill(self, rank):
        docker("kill", self.containers[rank])

    def write_logs(self, folder):
        """daemon-R.log of each container; of those without a rank, by their number."""
        ranks = {container: rank for rank, container in self.containers.items()}
        for container in self.listed("ps", "--all", "--no-trunc"):
            text = docker("logs", container)
            name = ranks.get(container, container[:12])
            (Path(folder) / f"daemon-{name}.log").write_text(text.stdout + text.stderr)

    def down(self):
        """Whatever was interrupted: containers that the engine was about to start may appear while others are removed."""
        try:
            self.compose("down", "--volumes", "--remove-orphans", "--timeout", "5")
        except LabError:
            pass
        until = time.monotonic() + DOWN_SECONDS
        while left := self.listed("ps", "--all") + self.listed("network", "ls"):
            if time.monotonic() > until:
                raise LabError(f"these containers and networks cannot be removed: {' '.join(left)}")
            if containers_left := self.listed("ps", "--all"):
                docker("rm", "--force", "--volumes", *containers_left)
            for network in self.listed("network", "ls"):
                remove_network(network)


def answer_of(rank, process, out, err):
    code = process.wait()
    texts = []
    for file in (out, err):
        with file:
            file.seek(0)
            texts.append(file.read())
    return Answer(rank, code, *texts)


def remove_network(network):
    """The engine sometimes keeps the endpoint of a container that is gone."""
    names = "{{range .Containers}}{{.Name}} {{end}}"
    for endpoint in docker("network", "inspect", "--format", names, network).stdout.split():
        docker("network", "disconnect", "--force", network, endpoint)
    docker("network", "rm", network)


def write_key(folder):
    """A new key for one cluster, as `fibocast key generate` makes it. Returns whose it is: who runs this, but containers of
    root run as the image's user."""
    path = Path(folder) / "key"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"primary {secrets.token_hex(32)}\n")
    if os.getuid() != 0:
        return os.getuid()
    for owned in (path, folder):
        os.chown(owned, IMAGE_USER, IMAGE_USER)
    return IMAGE_USER


@contextmanager
def containers(nodes, project, file="compose.yaml", **environment):
    """Not up yet on entry; down however the block ends. They have a key of their own."""
    with tempfile.TemporaryDirectory(prefix="fibocast-keys-") as keys:
        owner = write_key(keys)
        cluster = Containers(nodes, project, file, FIBOCAST_KEYS=keys, FIBOCAST_UID=str(owner), **environment)
        try:
            yield cluster
        finally:
            with undisturbed():
                cluster.down()
