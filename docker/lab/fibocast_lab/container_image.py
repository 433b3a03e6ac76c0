"""The image fibocast, from the programs that ./dev build made: seconds instead of a build of minutes inside an image."""
import os
import subprocess
from pathlib import Path

from .errors import LabError

ROOT = Path(__file__).resolve().parents[3]
DEBIAN = "debian:12"
OWN_BASE = "fibocast-base"
PULL_SECONDS = 30
DOCKERFILE = "docker/Dockerfile"
PROGRAMS = [f"build/release/bin/{program}" for program in ("fibocastd", "fibocast")]


def docker(*arguments, **more):
    return subprocess.run(["docker", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, **more)


def exists(image):
    return docker("image", "inspect", image).returncode == 0


def can_pull(image):
    try:
        return docker("pull", "--quiet", image, timeout=PULL_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def base_image(say):
    """A Debian 12: pulled, else made."""
    for image in (OWN_BASE, DEBIAN):
        if exists(image):
            return image
    packed = list((ROOT / "build" / "docker").glob("debian-12-*.tar.gz"))
    if not packed and can_pull(DEBIAN):
        return DEBIAN
    say(f"the base image is made from {packed[0]}" if packed else
        f"{DEBIAN} cannot be pulled: a base image is made with debootstrap, about a minute, and kept in build/docker")
    made = subprocess.run([ROOT / "docker" / "make-base-image", OWN_BASE], stdin=subprocess.DEVNULL)
    if made.returncode != 0:
        raise LabError("the base image could not be made; see above")
    return OWN_BASE


def build_image(name, say):
    """Builds it, or finds it built: the engine compares the programs. It gets to see nothing else."""
    for program in PROGRAMS:
        if not os.access(ROOT / program, os.X_OK):
            raise LabError(f"{program} is missing: run ./dev build first")
    base = base_image(say)
    environment = dict(os.environ)
    if docker("buildx", "version").returncode != 0:
        environment["DOCKER_BUILDKIT"] = "0"
    needed = subprocess.run(["tar", "-C", ROOT, "-c", DOCKERFILE, *PROGRAMS], stdout=subprocess.PIPE, check=True).stdout
    built = subprocess.run(["docker", "build", "--network", "host", "--file", DOCKERFILE, "--target", "prebuilt",
                            "--build-arg", f"BASE={base}", "--tag", name, "-"], env=environment, input=needed,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if built.returncode != 0:
        raise LabError("the image could not be built: " + built.stdout.decode(errors="replace").strip()[-500:])
