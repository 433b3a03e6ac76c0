"""The machine "calibrated": this host's daemons as they are. They are brought up and calibrated, and the model that comes
out is what is predicted and simulated by; then others like them are measured."""
from fibocast_lab.machine import Costs, Machine

NAME = "calibrated"


def parts(experiment):
    return [experiment.table.get("case", {}), *experiment.panels(), *experiment.table.get("series", [])]


def is_asked(experiment):
    return any(part.get("machine") == NAME for part in parts(experiment))


def calibrate(experiment, options, clusters, output, say):
    """The machine of those parts of the experiment is then the model file in `output`."""
    nodes, quiet = experiment.measure["nodes"], options.quiet or options.json
    say(f"{nodes} daemons that emulate nothing are calibrated ...")
    machine = Machine(NAME, {"model": {}})
    with clusters(machine, [Costs(0, 0, 0)] * nodes, 1, transport=options.transport).up(quiet) as cluster:
        cluster.calibrate(output / "model.toml", options.seed, quiet)
    for part in parts(experiment):
        if part.get("machine") == NAME:
            part["machine"] = str((output / "model.toml").resolve())
