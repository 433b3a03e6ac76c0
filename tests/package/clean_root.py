"""A clean Debian 12 in a folder, to install packages in. Each command there has processes and mounts of its own, and, if
it asks for that, a network of its own: with the command all of them are gone."""
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ["env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
               "DEBIAN_FRONTEND=noninteractive"]
ENTER = 'mount -t proc proc "$1/proc" && shift && exec chroot "$@"'
ALONE = "ip link set lo up && " + ENTER
# The root becomes the only one, for a systemd that thinks itself in a container.
BOOT = """
echo $$ >"$2/cgroup.procs"
exec unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child sh -ec '
  ip link set lo up
  mount --make-rprivate / && mount --bind "$1" "$1" && cd "$1"
  mount -t proc proc proc && mount -t sysfs sys sys && mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 run run && mkdir -p old && pivot_root . old && umount -l old
  exec chroot . env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system' sh "$1"
"""
PATIENCE = 400  # seconds, of which apt on a free machine needs 60


class CleanRoot:
    def __init__(self, build):
        packed = subprocess.run([ROOT / "docker" / "make-base-root"], stdout=subprocess.PIPE, text=True, check=True)
        self.folder = Path(tempfile.mkdtemp(prefix="root.", dir=build))
        subprocess.run(["tar", "-C", self.folder, "--numeric-owner", "-xzf", packed.stdout.strip()], check=True)
        shutil.copy("/etc/resolv.conf", self.folder / "etc")
        # What a sudden loss of power would do to this root is nobody's concern.
        (self.folder / "etc" / "dpkg" / "dpkg.cfg.d" / "fast").write_text("force-unsafe-io\n", encoding="ascii")

    def remove(self):
        shutil.rmtree(self.folder)

    def run(self, script, alone=False):
        """A shell script in the root; alone: with nothing but a loopback of its own. CompletedProcess, output as one text."""
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child"] + (["--net"] if alone else [])
        command += ["sh", "-ec", ALONE if alone else ENTER, "sh", self.folder, self.folder, *ENVIRONMENT]
        command += ["bash", "-euc", script]
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE)

    def must(self, script, alone=False):
        done = self.run(script, alone)
        if done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode} of: {script}\n{done.stdout[-6000:]}")
        return done.stdout

    def has(self, path):
        """Links are judged as links: those that lead from / would be followed in the wrong root."""
        path = self.folder / path.lstrip("/")
        return path.exists() or path.is_symlink()


def cgroup_mount():
    """Where this host has its cgroups, those of version 2; nothing if it has none."""
    found = subprocess.run(["findmnt", "-n", "-t", "cgroup2", "-o", "TARGET"], stdout=subprocess.PIPE, text=True)
    return Path(found.stdout.splitlines()[0]) if found.returncode == 0 else None


def eventually(holds):
    until = time.monotonic() + 60
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


class Booted:
    """A clean root with systemd as its first process."""

    def __init__(self, root):
        self.cgroup = cgroup_mount() / f"fibocast-package-{os.getpid()}"
        self.cgroup.mkdir()
        self.outer = subprocess.Popen(["sh", "-ec", BOOT, "sh", root.folder, self.cgroup], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL)
        self.children = Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children")

    def run(self, script):
        """In the same namespaces as the first process."""
        first = self.children.read_text(encoding="ascii").split()[0]
        command = ["nsenter", "-t", first, "-m", "-p", "-n", "-u", "-i", "-C", "-r", "-w", *ENVIRONMENT, "bash", "-uc", script]
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE)

    def is_up(self):
        return bool(self.children.read_text(encoding="ascii")) and "running" in self.run("systemctl is-system-running").stdout

    def end(self):
        self.outer.kill()  # and with it the first process, and so all
        self.outer.wait()
        eventually(lambda: "populated 0" in (self.cgroup / "cgroup.events").read_text(encoding="ascii"))
        for folder, _, _ in os.walk(self.cgroup, topdown=False):
            os.rmdir(folder)
