"""The command line: list, run, paper, report, compare."""
import argparse
import json
import os
import sys
from pathlib import Path

from fibocast_lab import compare, experiment, paper, report, run
from fibocast_lab.driver import DRIVERS
from fibocast_lab.errors import LabError
from fibocast_lab.manifest import first_line
from fibocast_lab.programs import find_fibocast

PAPERS = ["000", "001", "002", "003", "004"]


class ShowVersion(argparse.Action):
    """That of the program that it runs, with which it comes."""

    def __call__(self, parser, *_):
        print(version())
        parser.exit()


def version():
    return first_line([find_fibocast(), "--version"]).replace("fibocast", "fibocast-lab", 1)


def add_command(commands, name, about, example):
    parser = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".",
                                 epilog=f"Example: fibocast-lab {example}")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output, nothing else there")
    parser.add_argument("--quiet", action="store_true", help="no progress and no remarks")
    return parser


def add_run(commands):
    parser = add_command(commands, "run", "run experiments; write tables, raw values and plots",
                         "run figure10 --repetitions 40 --seed 2")
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


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="fibocast-lab",
        description="Experiments on a local cluster: predicted, simulated, measured, and what the papers say.",
        epilog="Example: fibocast-lab run figure10 && fibocast-lab report results/figure10",
    )
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="show program and protocol version and exit")
    commands = parser.add_subparsers(dest="command", required=True)
    add_command(commands, "list", "the experiments, a line each; with --quiet only their names", "list")
    add_run(commands)
    one = add_command(commands, "paper", "a page of every figure and table of a paper, and what became of it here",
                      "paper 003 --results results")
    one.add_argument("number", choices=PAPERS)
    one.add_argument("--results", type=Path, default=Path("results"), help="folder of experiments that were run")
    one.add_argument("--output", type=Path, default=None, help="the page (default RESULTS/paper-NUMBER.html)")
    one = add_command(commands, "report", "one HTML page of the experiments in a folder", "report results/figure10")
    one.add_argument("folder", type=Path, help="of one experiment, or with one in each folder in it")
    one.add_argument("--output", type=Path, default=None, help="the page (default FOLDER/report.html)")
    one = add_command(commands, "compare",
                      "is one run slower than another? exit code 1 if it certainly differs, which is all with --quiet",
                      "compare results/figure4 other/figure4")
    one.add_argument("before", type=Path)
    one.add_argument("after", type=Path)
    return parser.parse_args(arguments)


def list_experiments(options):
    found = [experiment.load(name) for name in experiment.names()]
    if options.json:
        print(json.dumps([{"name": e.name, "title": e.title, "worlds": e.worlds, "points": len(e.cases())} for e in found]))
    elif options.quiet:
        print("\n".join(e.name for e in found))
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
        for one in experiments:
            one.cases()  # a mistake in a later one is not found after the minutes of an earlier one
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
    try:
        code = answer(arguments)
        if sys.stdout is None:
            raise OSError("it is closed")
        sys.stdout.flush()
        return code
    except OSError as error:
        if sys.stdout is not None:  # the interpreter must not try it again at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        what = error.filename or "cannot write to standard output"
        print(f"fibocast-lab: {what}: {error.strerror or error}", file=sys.stderr)
        return 1


def answer(arguments):
    try:
        options = parse(arguments)
        return COMMANDS[options.command](options)
    except SystemExit as end:  # --help is an answer as well
        return end.code
    except WrongUse as error:
        print(error, file=sys.stderr)
        return 2
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
