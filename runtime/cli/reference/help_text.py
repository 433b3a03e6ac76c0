"""What the programs say of themselves with --help, read back: the source of the reference, the man pages and completion."""
import os
import re
import subprocess
from dataclasses import dataclass, field

COLUMN = 30  # where CLI11 begins the texts
# The default folder depends on the user; the variable stays in the text instead.
ENVIRONMENT = {"XDG_RUNTIME_DIR": "$XDG_RUNTIME_DIR", "LC_ALL": "C.UTF-8"}
NO_RANK = "4294967295"


@dataclass
class Entry:
    """An option, a positional or a subcommand. kind: what CLI11 says of the value, as in TEXT or UINT=1."""
    names: list
    kind: str
    help: str

    def choices(self):
        found = re.search(r"\{([^}]*)\}", self.kind)
        return found[1].split(",") if found else []

    def value(self):
        """TEXT, UINT, ...; empty if it takes none."""
        found = re.match(r"[A-Z]+(?: \.\.\.)?", self.kind)
        return found[0] if found else ""

    def default(self):
        found = re.search(r"=(.*?)(?: REQUIRED| Excludes:.*)?$", self.kind)
        return found[1] if found else ""

    def remarks(self):
        """Beside its help: what else is known of the value."""
        said = ["required"] if "REQUIRED" in self.kind else []
        said += ["one of " + ", ".join(self.choices())] if self.choices() else []
        found = re.search(r"in \[(\S+) - (\S+)\]", self.kind)
        said += [f"{found[1]} to {found[2]}"] if found else []
        said += ["more than 0"] if ":POSITIVE" in self.kind else []
        said += [f"default {self.default()}"] if self.default() else []
        found = re.search(r"Excludes: (\S+)", self.kind)
        return said + ([f"not with {found[1]}"] if found else [])


@dataclass
class Setting:
    key: str
    flags: list
    help: str
    allowed: str
    default: str

    def environment(self):
        return "FIBOCAST_" + self.key.replace(".", "_").upper()

    def section(self):
        return self.key.split(".")[0]

    def choices(self):
        return self.allowed.split(", ") if re.fullmatch(r"[a-z]+(, [a-z]+)+", self.allowed) else []


@dataclass
class Command:
    path: list
    about: str = ""
    usage: str = ""
    positionals: list = field(default_factory=list)
    options: list = field(default_factory=list)
    settings: list = field(default_factory=list)
    children: list = field(default_factory=list)
    footer: str = ""

    def name(self):
        return " ".join(self.path)

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()


def read_entry(line, rest):
    """An entry from its line, and from the next one of `rest` if the name fills the first."""
    spec, text = line[2:], ""
    if rest and rest[0].startswith(" " * COLUMN):
        text = rest.pop(0).strip()
    elif len(line) > COLUMN:
        spec, text = line[2:COLUMN], line[COLUMN:]
    names, _, kind = spec.strip().partition(" ")
    return Entry(names.split(","), kind.strip(), text)


def as_setting(entry):
    found = re.fullmatch(r"(.*); (.*?) \[(.*)\]", entry.help)
    if not found:
        raise ValueError(f"{entry.names[0]}: '{entry.help}' does not end with what is allowed and the default")
    default = "none" if found[3] == NO_RANK else found[3]
    return Setting(entry.names[0][2:], entry.names, found[1], found[2], default)


def parse(path, text):
    """The help of one command. What follows the last known section is its footer."""
    command, lines, entries = Command(path), text.splitlines(), None
    sections = {"Positionals:": command.positionals, "Options:": command.options, "Subcommands:": command.children}
    footer = []
    while lines:
        line = lines.pop(0)
        if line in sections:
            entries = sections[line]
        elif line.startswith("Settings: "):
            entries = command.settings
        elif line.startswith("Usage: "):
            command.usage = re.sub(r"^\S*/", "", line[len("Usage: "):])
        elif entries is None:
            command.about = (command.about + " " + line).strip()
        elif line.startswith("  ") and not footer:
            entries.append(read_entry(line, lines))
        elif line or footer:
            footer.append(line)
    command.settings = [as_setting(entry) for entry in command.settings]
    command.footer = "\n".join(footer).strip()
    return command


def ask(program, arguments):
    run = subprocess.run([program, *arguments, "--help"], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, check=True, text=True, timeout=60)
    return run.stdout


def read_command(program, path):
    """The command and all below it."""
    command = parse(path, ask(program, path[1:]))
    command.children = [read_command(program, path + [child.names[0]]) for child in command.children]
    if command.children and len(path) > 1:
        command.footer = ""  # CLI11 hands on that of the program
    return command


def read_programs(folder):
    """fibocastd, fibocast, fibocast-simulate as they are built in `folder`."""
    names = ("fibocastd", "fibocast", "fibocast-simulate")
    return [read_command(os.path.join(folder, name), [name]) for name in names]
