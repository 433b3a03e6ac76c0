"""REFERENCE.md: every command, flag and setting as tables."""

HEAD = """# Reference

Written by `runtime/cli/reference/write` from what the programs say of themselves (`--help`); a test compares. Change the
programs, then: `runtime/cli/reference/write build/release/bin`.

- [fibocastd](#fibocastd): the daemon, and [its settings](#settings)
- [fibocast](#fibocast): the command
- [fibocast simulate](#fibocast-simulate): one operation on a modelled machine

"""
SETTINGS = """## Settings

In the file (`--config`) a setting `section.name` is `name = ...` below `[section]`; as a flag it is `--section.name`; in the
environment `FIBOCAST_SECTION_NAME`. A flag goes before the environment, the environment before the file.

"""


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def table(head, rows):
    lines = [" | ".join(head), " | ".join("---" for _ in head)] + [" | ".join(row) for row in rows]
    return "".join(f"| {line} |\n" for line in lines) + "\n"


def option_row(entry):
    name = ", ".join(f"`{name}`" for name in entry.names) + (f" {entry.value()}" if entry.value() else "")
    return [name, cell(entry.help), cell("; ".join(entry.remarks()))]


def command_text(command, depth):
    text = f"{'#' * depth} {command.name()}\n\n{command.about.rstrip('.')}.\n\n```text\n{command.usage}\n```\n\n"
    if command.children:
        text += table(["command", ""], [[f"`{c.path[-1]}`", cell(c.about)] for c in command.children])
    entries = [e for e in command.positionals + command.options if e.names[0] != "-h"]
    if entries:
        text += table(["", "", "value"], [option_row(e) for e in entries])
    if command.footer:
        text += "```text\n" + "".join(line.rstrip() + "\n" for line in command.footer.splitlines()) + "```\n\n"
    return text + "".join(command_text(child, depth + 1) for child in command.children)


def settings_text(settings):
    text, section = SETTINGS, None
    rows = []
    for setting in settings:
        if setting.section() != section:
            text += table(["setting", "", "allowed", "default"], rows) if rows else ""
            section, rows = setting.section(), []
            text += f"### [{section}]\n\n"
        name = f"`{setting.key}`" + "".join(f", `{flag}`" for flag in setting.flags[1:])
        rows.append([name, cell(setting.help), cell(setting.allowed), f"`{cell(setting.default)}`"])
    return text + table(["setting", "", "allowed", "default"], rows)


def reference(programs):
    text = HEAD
    for program in programs:
        text += command_text(program, 2)
        text += settings_text(program.settings) if program.settings else ""
    return text.rstrip() + "\n"
