"""The committed reference is what the programs say, and so are the man pages: reference_test.py BIN"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BIN = Path(sys.argv.pop(1))
ROOT = Path(__file__).resolve().parents[4]
TOOL = ROOT / "runtime" / "cli" / "reference"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOL))

import help_text  # noqa: E402

HELP = """What it does
Usage: ./fibocast thing [OPTIONS] name

Positionals:
  name TEXT REQUIRED          the group

Options:
  -h,--help                   Print this help message and exit
  --construction TEXT:{queue,alpha}=queue
                              of lambda
  --count UINT:UINT in [1 - 9]=4
                              how many
  --a FLOAT:POSITIVE Excludes: --b
                              one of two


Settings: node:
  --node.rank,--rank          position; really; 0 to 9 [4294967295]

Notes:
  not an option
Example: fibocast thing x
"""


class ReadBack(unittest.TestCase):
    def setUp(self):
        self.command = help_text.parse(["fibocast", "thing"], HELP)

    def test_a_command(self):
        self.assertEqual((self.command.about, self.command.usage), ("What it does", "fibocast thing [OPTIONS] name"))
        self.assertEqual(self.command.footer, "Notes:\n  not an option\nExample: fibocast thing x")
        self.assertEqual([entry.names for entry in self.command.options],
                         [["-h", "--help"], ["--construction"], ["--count"], ["--a"]])

    def test_what_a_value_may_be(self):
        said = [(entry.value(), entry.remarks()) for entry in self.command.positionals + self.command.options]
        self.assertEqual(said, [("TEXT", ["required"]), ("", []), ("TEXT", ["one of queue, alpha", "default queue"]),
                                ("UINT", ["1 to 9", "default 4"]), ("FLOAT", ["more than 0", "not with --b"])])

    def test_a_setting(self):
        one = self.command.settings[0]
        self.assertEqual((one.key, one.flags, one.help, one.allowed, one.default, one.environment()),
                         ("node.rank", ["--node.rank", "--rank"], "position; really", "0 to 9", "none",
                          "FIBOCAST_NODE_RANK"))

    def test_a_setting_that_does_not_say_what_is_allowed_is_refused(self):
        with self.assertRaisesRegex(ValueError, "--node.rank"):
            help_text.parse(["fibocastd"], HELP.replace("; 0 to 9 [4294967295]", "").replace("position; really", "x"))


class Written(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        subprocess.run([TOOL / "write", BIN, cls.folder], check=True, timeout=120)

    def test_the_committed_reference_is_current(self):
        committed = (ROOT / "runtime" / "REFERENCE.md").read_text(encoding="utf-8")
        self.assertEqual(committed, (self.folder / "REFERENCE.md").read_text(encoding="utf-8"),
                         "run runtime/cli/reference/write build/release/bin")

    def test_the_man_pages_have_every_setting_and_command(self):
        daemon, command, _ = help_text.read_programs(BIN)
        settings = (self.folder / "node.toml.5").read_text(encoding="utf-8")
        for setting in daemon.settings:
            self.assertIn(f"\\fB{setting.key}", settings)
            self.assertIn(setting.environment(), settings)
        commands = (self.folder / "fibocast.1").read_text(encoding="utf-8")
        for one in list(command.walk())[1:]:
            self.assertIn(f"\n.SS {one.name()}\n".replace("-", "\\-"), commands)
        self.assertGreater(len(daemon.settings), 40)

    def test_no_line_of_a_man_page_is_a_request_by_accident(self):
        known = (".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi")
        pages = [self.folder / name for name in ("fibocastd.8", "node.toml.5", "fibocast.1", "fibocast-simulate.1")]
        for page in pages:
            for line in page.read_text(encoding="utf-8").splitlines():
                self.assertNotEqual(line[:1], "'")
                self.assertTrue(not line.startswith(".") or line[:3] in known, f"{page.name}: {line}")


unittest.main(verbosity=2)
