"""What stands beside the raw values, so that a number can be judged years later: machine, build, settings."""
import datetime
import os
import platform
import subprocess
from pathlib import Path

from fibocast_lab.machine import load_machine
from fibocast_lab.programs import find_fibocast


def first_line(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else ""


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def manifest(experiment, cases, options):
    machines = {load_machine(c.fields["machine"]).name: load_machine(c.fields["machine"]) for c in cases
                if "machine" in c.fields}
    return {
        "experiment": experiment.name, "title": experiment.title, "date": datetime.datetime.now().astimezone().isoformat(),
        "host": {"system": platform.platform(), "processor": processor(), "processors": os.cpu_count(),
                 "load_at_start": os.getloadavg()},
        "build": {"fibocast": first_line([find_fibocast(), "--version"]),
                  "commit": first_line(["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"])},
        "machines": {name: machine.table for name, machine in machines.items()},
        "settings": {"driver": options.driver, "transport": options.transport, "scale": options.scale,
                     "seed": options.seed, "order": options.order, "warmup": options.warmup, **experiment.measure},
        "definition": experiment.table,
    }
