"""The commands in the project's documents: fenced blocks whose language is `sh`, and what a comment above the fence says.

    <!-- shown: REASON -->    not executed, and why
    <!-- needs: docker -->    executed where containers are (./dev docker-test)
    <!-- needs: minutes -->   executed by the long test only
    <!-- needs: kubectl -->   executed where this program is
    <!-- hosts: n0 n1 -->     from here on, this document's commands run on the first of these hosts; ssh reaches the others

A block with lines that begin with `$ ` shows a session: the other lines are what the commands print.
"""
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {".git", "build", "results"}
COMMENT = re.compile(r"<!-- (shown|needs|hosts): (.+?) -->")
LEVELS = ("docker", "minutes")
PROGRAMS = ("kubectl",)
# What looks like a command, but is not in a fence of `sh`.
STRAY = re.compile(r"\s*(\$ )?(\./dev|fibocastd?|docker|docker-compose|kubectl|docker/[a-z/-]+) [a-z-]")


class Mistake(Exception):
    """In a document: a sentence with file and line."""


@dataclass
class Block:
    file: Path
    line: int
    shown: str = ""  # why it is not executed
    needs: str = ""
    lines: list = field(default_factory=list)

    def where(self):
        return f"{self.file.relative_to(ROOT)}:{self.line}"

    def is_session(self):
        return any(line.startswith("$ ") for line in self.lines)

    def commands(self):
        return "\n".join(line[2:] for line in self.lines if line.startswith("$ ")) if self.is_session() else "\n".join(
            self.lines)

    def output(self):
        """What it says its commands print."""
        return [line for line in self.lines if line.strip() and not line.startswith("$ ")] if self.is_session() else []


@dataclass
class Document:
    file: Path
    hosts: list
    blocks: list

    def name(self):
        return str(self.file.relative_to(ROOT))


def documents():
    files = []
    for folder, folders, names in os.walk(ROOT):  # not into a root that another test may have in the build folder
        folders[:] = set(folders) - NOT_OURS
        files += [Path(folder, name) for name in names if name.endswith(".md")]
    return [read_document(file) for file in sorted(files)]


def read_document(file):
    document = Document(file, [], [])
    remarks, block, fence = {}, None, None
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{file}:{number}"
        if fence is None and line.startswith("```"):
            fence, block = line[3:].strip(), Block(file, number, remarks.pop("shown", ""), remarks.pop("needs", ""))
            if block.needs and block.needs not in LEVELS + PROGRAMS:
                raise Mistake(f"{where}: needs: {block.needs} is none of {', '.join(LEVELS + PROGRAMS)}")
        elif line.startswith("```"):
            document.blocks += [block] if fence == "sh" else []
            fence = None
        elif fence == "sh":
            block.lines.append(line)
        elif fence in (None, "") and (fence == "" or line.startswith("    ")) and STRAY.match(line):
            raise Mistake(f"{where}: a command outside of a block of sh: {line.strip()}")
        elif (comment := COMMENT.fullmatch(line.strip())) and fence is None:
            remarks[comment[1]] = comment[2]
        elif line.strip() and fence is None and remarks:
            if set(remarks) & {"shown", "needs"}:
                raise Mistake(f"{where}: the comment above belongs to no block")
        document.hosts = remarks.pop("hosts", "").split() or document.hosts
    if fence is not None:
        raise Mistake(f"{file}: the last block does not end")
    return document


LOOSE = re.compile(r"(?P<any>\.\.\.)|(?P<time>\d+(\.\d+)? ?(ns|us|ms|s)\b)|(?P<number>\d+(\.\d+)*)|(?P<blank>\s+)|(?P<rest>.)")
PATTERNS = {"any": ".*", "time": r"\d+(\.\d+)? ?(ns|us|ms|s)", "number": r"\d+(\.\d+)*", "blank": r"\s+"}


def pattern_of(line):
    """Numbers, times, addresses and what `...` stands for may differ."""
    return "".join(PATTERNS.get(part.lastgroup) or re.escape(part[0]) for part in LOOSE.finditer(line.strip()))


def missing_output(block, said):
    """The lines that the document shows and the commands did not print."""
    lines = [line.strip() for line in said.splitlines()]
    return [line for line in block.output() if not any(re.fullmatch(pattern_of(line), got) for got in lines)]
