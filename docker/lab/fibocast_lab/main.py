"""The command line: list, run, paper, report, compare."""
import argparse
import json
import sys
from pathlib import Path

from fibocast_lab import compare, experiment, paper, report, run
from fibocast_lab.driver import DRIVERS
from fibocast_lab.errors import LabError

PAPERS = ["000", "001", "002", "003", "004"]


def add_run(commands):
    parser = commands.add_parser("run", help="run experiments; write tables, raw values and plots")
    parser.add_argument("experiment", nargs="+", help="names of `list`, or files that end in .toml")
    parser.add_argument("--driver", choices=DRIVERS, default="local",
                        help="where daemons run: processes of this host, or containers of its engine (default local)")
    parser.add_argument("--worlds", type=lambda text: text.split(","), default=None,
                        help="only these, as in predicted,simulated")
    parser.add_argument("--scale", type=float, default=None, help="how much slower than the machine (default: the file's)")
    parser.add_argument("--repetitions", type=int, default=None, help="of each case (default: the file's)")
    parser.add_argument("--other-repetitions", type=int, default=None,
                        help="of the cases that are not in focus (figure10: at other p than 19)")
    parser.add_argument("--warmup", type=int, default=None, help="of each case, thrown away (default 1)")
    parser.add_argument("--seed", type=int, default=1, help="of the shuffled order (default 1)")
    parser.add_argument("--order", choices=["shuffled", "given"], default="shuffled",
                        help="of clusters and repetitions; given: case by case (default shuffled)")
    parser.add_argument("--raw", type=Path, default=None,
                        help="file for the raw values of all experiments (default measurements.jsonl in each one's folder)")
    parser.add_argument("--transport", choices=["udp", "tcp"], default="udp")
    parser.add_argument("--output", type=Path, default=None, help="folder for results (default results/EXPERIMENT)")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)


def add_json(parser):
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output, nothing else there")


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="fibocast-lab",
        description="Experiments on a local cluster: predicted, simulated, measured, and what the papers say.",
        epilog="Example: fibocast-lab run figure10 && fibocast-lab report results/figure10",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    add_json(commands.add_parser("list", help="the experiments, a line each"))
    add_run(commands)
    one = commands.add_parser("paper", help="a page of every figure and table of a paper, and what became of it here")
    one.add_argument("number", choices=PAPERS)
    one.add_argument("--results", type=Path, default=Path("results"), help="folder of experiments that were run")
    one.add_argument("--output", type=Path, default=None, help="the page (default RESULTS/paper-NUMBER.html)")
    add_json(one)
    one = commands.add_parser("report", help="one HTML page of the experiments in a folder")
    one.add_argument("folder", type=Path, help="of one experiment, or with one in each folder in it")
    one.add_argument("--output", type=Path, default=None, help="the page (default FOLDER/report.html)")
    add_json(one)
    one = commands.add_parser("compare", help="is one run slower than another? exit code 1 if it certainly differs")
    one.add_argument("before", type=Path)
    one.add_argument("after", type=Path)
    add_json(one)
    return parser.parse_args(arguments)


def list_experiments(options):
    found = [experiment.load(name) for name in experiment.names()]
    if options.json:
        print(json.dumps([{"name": e.name, "title": e.title, "worlds": e.worlds, "points": len(e.cases())} for e in found]))
    else:
        width = max(len(e.name) for e in found)
        for e in found:
            print(f"{e.name:{width}}  {e.title}  [{', '.join(e.worlds)}]")
    return 0


def run_experiments(options):
    for key in ("scale", "repetitions", "other_repetitions"):
        if getattr(options, key) is not None and getattr(options, key) <= 0:
            raise WrongUse("repetitions and scale must be positive")
    for world in options.worlds or []:
        if world not in experiment.WORLDS:
            raise WrongUse(f"'{world}' is no world: there are {', '.join(experiment.WORLDS)}")
    try:
        experiments = [experiment.load(name) for name in options.experiment]
    except LabError as error:
        raise WrongUse(str(error)) from None
    for one in experiments:
        if options.worlds and not set(options.worlds) & set(one.worlds):
            raise WrongUse(f"{one.name} has none of these worlds: it has {', '.join(one.worlds)}")
    return run.run(experiments, options)


class WrongUse(Exception):
    """Exit code 2."""


COMMANDS = {"list": list_experiments, "run": run_experiments, "paper": paper.run, "report": report.run,
            "compare": compare.run}


def main(arguments):
    options = parse(arguments)
    try:
        return COMMANDS[options.command](options)
    except WrongUse as error:
        print(error, file=sys.stderr)
        return 2
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
