"""A clean Debian 12 in a folder, to install packages in. Each command there has processes and mounts of its own, and, if
it asks for that, a network of its own: with the command all of them are gone."""
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ["env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
               "DEBIAN_FRONTEND=noninteractive"]
ENTER = 'mount -t proc proc "$1/proc" && shift && exec chroot "$@"'
ALONE = "ip link set lo up && " + ENTER
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
