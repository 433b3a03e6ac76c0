"""Finding and running `fibocast`. Everything that the laboratory knows comes from its JSON."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from fibocast_lab.errors import LabError


def find_fibocast():
    """FIBOCAST_BIN (a folder), beside the link by which `fibocast lab` calls this program, the release build of this
    tree, or the path."""
    here = Path(__file__).resolve()
    folders = [os.environ.get("FIBOCAST_BIN"), Path(sys.argv[0]).absolute().parent,
               here.parents[3] / "build" / "release" / "bin"]
    for folder in filter(None, folders):
        program = Path(folder) / "fibocast"
        if os.access(program, os.X_OK):
            return str(program)
    program = shutil.which("fibocast")
    if program is None:
        raise LabError("cannot find the program fibocast: build it with ./dev build, or set FIBOCAST_BIN to its folder")
    return program


def _why(done):
    """The sentence of the document in which `fibocast --json` fails, or else the last line that was said."""
    try:
        return json.loads(done.stdout)["sentence"]
    except (ValueError, KeyError, TypeError):
        return (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]


def ask(*arguments, text=None):
    """The JSON that `fibocast ARGUMENTS --json` answers."""
    command = [find_fibocast(), *map(str, arguments), "--json"]
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        what = " ".join(map(str, arguments[:3]))
        raise LabError(f"fibocast {what} failed with exit code {done.returncode}: {_why(done)}")
    return json.loads(done.stdout)
