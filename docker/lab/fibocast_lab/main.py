"""The command line: list, run."""
import argparse
import sys
from pathlib import Path

from fibocast_lab import figure10
from fibocast_lab.cluster import LabError

EXPERIMENTS = {"figure10": figure10}


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="fibocast-lab",
        description="Experiments on a local cluster: predicted, measured, and what the paper says.",
        epilog="Example: fibocast-lab run figure10 --output results/figure10",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the experiments, a line each")
    run = commands.add_parser("run", help="run one and write table, raw values and plot")
    run.add_argument("experiment", choices=sorted(EXPERIMENTS))
    run.add_argument("--scale", type=float, default=200, help="how much slower than the machine (default 200)")
    run.add_argument("--repetitions", type=int, default=20, help="at p = 19 (default 20)")
    run.add_argument("--other-repetitions", type=int, default=3, help="at the other p (default 3)")
    run.add_argument("--warmup", type=int, default=1, help="of each case, thrown away (default 1)")
    run.add_argument("--seed", type=int, default=1, help="of the shuffled order (default 1)")
    run.add_argument("--transport", choices=["udp", "tcp"], default="udp")
    run.add_argument("--output", type=Path, default=None, help="folder for results (default results/EXPERIMENT)")
    run.add_argument("--quiet", action="store_true", help="no progress")
    run.add_argument("--json", action="store_true", help="one JSON document on standard output, nothing else there")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    if options.command == "list":
        for name, experiment in sorted(EXPERIMENTS.items()):
            print(f"{name}  {experiment.__doc__.strip().splitlines()[0]}")
        return 0
    if min(options.repetitions, options.other_repetitions) < 1 or options.scale <= 0:
        print("repetitions and scale must be positive", file=sys.stderr)
        return 2
    try:
        return EXPERIMENTS[options.experiment].run(options)
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
