"""The man pages, as groff's man macros have them."""

EXIT_CODES = [("0", "done"), ("1", "failed"), ("2", "wrong use"), ("3", "the deadline passed"),
              ("4", "a peer, or the majority, was lost"), ("5", "no daemon can be reached"), ("6", "refused")]
SEE_ALSO = ["fibocast(1)", "fibocast-simulate(1)", "node.toml(5)", "fibocastd(8)"]
SERVICE_FILES = [("/etc/fibocast/node.toml", "settings of the service; see node.toml(5)"),
                 ("/etc/fibocast/key", "the key of the cluster, if it has one: only the daemon's user may read it"),
                 ("/run/fibocast/fibocast.sock", "local applications connect here: root, and members of the group fibocast"),
                 ("/var/lib/fibocast", "who this daemon is, if it finds that out itself (node.discover)")]
SIGNALS = [("SIGHUP", "reads log level, model, keys and nodes that were added again"),
           ("SIGTERM, SIGINT", "leaves the cluster and ends; what is under way is cancelled")]
NOTIFY = ("A service manager of systemd's kind is told when the daemon is ready, reloads and stops, by the socket in "
          "NOTIFY_SOCKET.")
FILE_FORM = ("A file of settings is TOML: a setting section.name is the line \"name = value\" below \"[section]\". fibocastd "
             "finds it by --config or FIBOCAST_CONFIG. A flag goes before the environment, the environment before the file. "
             "Mistakes are one sentence with the line and the remedy: fibocastd --config FILE --check-config.")


def escape(text):
    """Text as it is: no request, no hyphen where a minus must be copied from, no change of quotes."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\n".join("\\&" + line if line.startswith(".") else line for line in text.split("\n"))


def heading(name, section, version, brief):
    return (f'.TH {escape(name.upper())} {section} "" "fibocast {version}" "Fibocast"\n'
            f".SH NAME\n{escape(name)} \\- {escape(brief)}\n")


def item(tag, text):
    return f".TP\n{tag}\n{escape(text)}\n"


def bold(text):
    return f"\\fB{escape(text)}\\fR"


def literal(text):
    return f".PP\n.nf\n{escape(text)}\n.fi\n"


def option(entry):
    tag = ", ".join(bold(name) for name in entry.names) + (f" \\fI{entry.value()}\\fR" if entry.value() else "")
    text = entry.help + (f" ({'; '.join(entry.remarks())})" if entry.remarks() else "")
    return item(tag, text + ".")


def options(command):
    return "".join(option(e) for e in command.positionals + command.options if e.names[0] != "-h")


def pairs(title, rows):
    return f".SH {title}\n" + "".join(item(bold(name), text + ".") for name, text in rows)


def see_also(own):
    return ".SH SEE ALSO\n" + ",\n".join(escape(name) for name in SEE_ALSO if name != own) + "\n"


def subcommand(command):
    text = f".SS {escape(command.name())}\n{escape(command.about)}.\n" + literal(command.usage)
    return text + options(command) + (literal(command.footer) if command.footer else "")


def setting(one):
    tag = ", ".join(bold(name) for name in [one.key] + one.flags[1:])
    text = f"{one.help}. Allowed: {one.allowed}. Default: {one.default}. Environment: "
    return item(tag, text + one.environment() + ".")


def daemon_page(command, version):
    text = heading("fibocastd", 8, version, "daemon for barriers and multicasts between the nodes of a cluster")
    text += f".SH SYNOPSIS\n{bold('fibocastd')} [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{escape(command.about)}\n.PP\n"
    text += escape(NOTIFY) + "\n.SH OPTIONS\n" + options(command)
    text += ".PP\nEvery setting of node.toml(5) is an option too:\n"
    text += "".join(item(", ".join(bold(flag) for flag in s.flags), s.help + ".") for s in command.settings)
    return (text + pairs("SIGNALS", SIGNALS) + pairs("FILES", SERVICE_FILES) + ".SH EXAMPLES\n" +
            literal(command.footer) + see_also("fibocastd(8)"))


def settings_page(command, version):
    text = heading("node.toml", 5, version, "settings of fibocastd")
    text += ".SH DESCRIPTION\n" + escape(FILE_FORM) + "\n.SH SETTINGS\n"
    section = None
    for one in command.settings:
        if one.section() != section:
            section = one.section()
            text += f".SS [{section}]\n"
        text += setting(one)
    example = '[node]\nrank = 1\n[cluster]\nnodes = ["n0:7117", "n1:7117"]\n[security]\nkey_file = "/etc/fibocast/key"'
    return text + ".SH EXAMPLES\n" + literal(example) + see_also("node.toml(5)")


def command_page(command, version):
    text = heading("fibocast", 1, version, "barriers, multicasts and their laboratory")
    text += f".SH SYNOPSIS\n{bold('fibocast')} \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n"
    text += "Talks to the daemons of a cluster, see fibocastd(8), or plans on paper.\n.SH OPTIONS\n" + options(command)
    text += ".SH COMMANDS\n" + "".join(subcommand(c) for c in list(command.walk())[1:])
    text += pairs("EXIT STATUS", EXIT_CODES)
    text += pairs("ENVIRONMENT", [("FIBOCAST_SOCKET", "the daemon to talk to, unless --socket or --rank says another")])
    return text + ".SH EXAMPLES\n" + literal(command.footer) + see_also("fibocast(1)")


def simulate_page(command, version):
    text = heading("fibocast-simulate", 1, version, "one operation on a modelled machine, in virtual time")
    text += f".SH SYNOPSIS\n{bold('fibocast simulate')} [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{escape(command.about)}.\n"
    text += ".SH OPTIONS\n" + options(command) + ".SH NOTES\n" + literal(command.footer)
    return text + see_also("fibocast-simulate(1)")


def pages(programs, version):
    """File name -> text."""
    daemon, command, simulate = programs
    return {"fibocastd.8": daemon_page(daemon, version), "node.toml.5": settings_page(daemon, version),
            "fibocast.1": command_page(command, version), "fibocast-simulate.1": simulate_page(simulate, version)}
