"""Executes the blocks of one document, in order, by one shell in a copy of the project."""
import atexit
import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from blocks import ROOT, missing_output

MACHINE = Path(__file__).resolve().parent / "machine.sh"
MARK = "=== block "
SECONDS = 600
# What builds and tests the project was done by the run that this is part of: it would wait for itself.
DEV = """#!/bin/sh
case ${{1:-}} in
  build | run | test) [ -x build/release/bin/fibocast ] && echo "(replaced: ./dev $* is a step of its own)" ;;
  *) exec {root}/dev "$@" ;;
esac
"""
# Commands in the background that are not daemons must succeed, too. A command that fails ends the session with its line.
BEGIN = """set -eE
cd {folder}
export HOME=$PWD XDG_RUNTIME_DIR=$PWD/runtime-dir FIBOCAST_BIN=$PWD/build/release/bin
mkdir -p $XDG_RUNTIME_DIR
mkdir -p $PWD/debian && ln -sf /usr/bin/python3 $PWD/debian  # the packages are its, not another Python's
export PATH=$PWD/build/release/bin:$PWD/debian:$PATH
trap 'echo "$BASH_COMMAND: exit code $?"' ERR
settle() {{
  local job
  for job in $(jobs -l | grep -v fibocastd | sed -E 's/^[^ ]+ +([0-9]+).*/\\1/'); do wait "$job"; done
}}
"""


def copy_project(folder):
    """Sources and programs; what is written into it harms nobody."""
    skip = shutil.ignore_patterns(".git", "build", "results", "keys", "__pycache__", "corpus")
    shutil.copytree(ROOT, folder, ignore=skip, symlinks=True, dirs_exist_ok=True)
    shutil.copytree(ROOT / "build" / "release" / "bin", folder / "build" / "release" / "bin", symlinks=True,
                    ignore=shutil.ignore_patterns("fibocast_swarm"))
    shutil.copytree(ROOT / "build" / "release" / "python", folder / "build" / "release" / "python")
    for link in (folder / "build" / "release" / "bin").iterdir():  # of the laboratory
        if link.is_symlink():
            link.unlink()
            link.symlink_to("../../../docker/lab/fibocast-lab")
    (ROOT / "build" / "docker").mkdir(exist_ok=True)
    (folder / "build" / "docker").symlink_to(ROOT / "build" / "docker")  # the base image
    (folder / "dev").write_text(DEV.format(root=ROOT), encoding="utf-8")


@functools.cache
def copy_for_all():
    """What every machine copies into its own memory: a file system on a disk takes a second for so many files."""
    temporary = tempfile.TemporaryDirectory(prefix="fibocast-documents-")
    atexit.register(temporary.cleanup)
    copy_project(Path(temporary.name))
    return temporary.name


def script_of(blocks, folder):
    parts = [BEGIN.format(folder=folder)]
    for number, block in enumerate(blocks):
        parts.append(f"echo '{MARK}{number}'\n{block.commands()}\nsettle\n")
    return "".join(parts) + f"echo '{MARK}end'\n"


def wrapped(script, hosts, alone):
    if not alone:  # containers: their engine is outside
        return ["bash", str(script)]
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *user, "--mount", "--net", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc", "bash",
            str(MACHINE), copy_for_all(), str(script), *hosts]


def can_be_alone():
    """May this user make namespaces?"""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", *user, "--mount", "--net", "--pid", "--fork", "--mount-proc", "ip", "link"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def execute(blocks, hosts, alone):
    """Sentences about what was not as the document says; none if all was."""
    with tempfile.TemporaryDirectory(prefix="fibocast-documents-", ignore_cleanup_errors=True) as temporary:
        project, script = Path(temporary) / "project", Path(temporary) / "session"
        if not alone:
            copy_project(project)
        script.write_text(script_of(blocks, "/mnt/project" if alone else project), encoding="utf-8")
        with open(Path(temporary) / "said", "w+", encoding="utf-8", errors="replace") as out:
            process = subprocess.Popen(wrapped(script, hosts, alone), stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                pass
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
            out.seek(0)
            return judge(blocks, out.read())


def judge(blocks, said):
    texts = dict(re.findall(rf"^{MARK}(\w+)\n(.*?)(?=^{MARK}|\Z)", said, re.MULTILINE | re.DOTALL))
    if "end" not in texts:
        last = max((int(number) for number in texts), default=None)
        where = "the session" if last is None else blocks[last].where()
        return [f"{where} failed: {(said if last is None else texts[str(last)]).strip()[-1500:]}"]
    wrong = []
    for number, block in enumerate(blocks):
        for line in missing_output(block, texts[str(number)]):
            wrong.append(f"{block.where()}: nothing printed is like '{line}', but: {texts[str(number)].strip()[-1500:]}")
    return wrong
