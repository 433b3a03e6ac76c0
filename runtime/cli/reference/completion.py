"""Bash completion: what can be said, as tables for the functions in completion.bash."""
from pathlib import Path

FOLDERS = ("--dir", "--state", "--node.state")


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def table(name, rows):
    return f"declare -gA {name}=(\n" + "".join(f"  [{quoted(key)}]={quoted(text)}\n" for key, text in rows) + ")\n"


def flags_of(command):
    flags = [name for entry in command.options for name in entry.names]
    return flags + [flag for setting in command.settings for flag in setting.flags]


def kind_of(entry):
    """What the value of an option is completed with: words, or one of the kinds of completion.bash."""
    if entry.choices():
        return " ".join(entry.choices())
    if any(name in FOLDERS for name in entry.names):
        return ":folder"
    return ":file" if entry.value() in ("TEXT", "FILE") else ":none"


def value_rows(command):
    for entry in command.options:
        if entry.value():
            yield from ((f"{command.name()} {name}", kind_of(entry)) for name in entry.names)
    for setting in command.settings:
        kind = " ".join(setting.choices()) or (":folder" if setting.key == "node.state" else ":file")
        yield from ((f"{command.name()} {flag}", kind) for flag in setting.flags)


def positional_kind(command):
    for entry in command.positionals:
        return ":group" if "group" in entry.help.lower() and command.path[-1] != "create" else ":file"
    return ":none"


def as_subcommand(program):
    """fibocast-simulate is also `fibocast simulate`."""
    program.path = program.path[0].split("-")
    return program


def script(programs):
    daemon, command, simulate = programs
    daemon, simulate = list(daemon.walk()), [as_subcommand(simulate)]
    commands = daemon + list(command.walk()) + simulate
    children = {c.name(): " ".join(child.path[-1] for child in c.children) for c in commands}
    children["fibocast"] += " simulate"
    text = "# Written by runtime/cli/reference/write: completion of fibocast, fibocast-simulate and fibocastd.\n"
    text += table("_fibocast_commands", [(name, words) for name, words in children.items() if words])
    text += table("_fibocast_flags", [(c.name(), " ".join(flags_of(c))) for c in commands])
    text += table("_fibocast_values", [row for c in commands for row in value_rows(c)])
    text += table("_fibocast_positionals", [(c.name(), positional_kind(c)) for c in commands if not c.children])
    return text + (Path(__file__).resolve().parent / "completion.bash").read_text(encoding="utf-8")
