"""documents_test.py [docker|minutes]: every command in the project's documents does what they say. Without an argument, the
documents that need neither containers nor minutes, each on a machine of its own (namespaces; 77 where this user may make
none). `./dev run`, `./dev test` and `./dev build` in them are replaced: the run of the tests that this is part of did them."""
import shutil
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docker"))
from blocks import LEVELS, PROGRAMS, Block, Mistake, documents, missing_output, read_document  # noqa: E402
from session import can_be_alone, execute  # noqa: E402

LEVEL = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in LEVELS else ""


def chosen(document, level=LEVEL):
    """The blocks that this level executes, with the cheap ones of the same document, which prepare them."""
    here = ["", level, *filter(shutil.which, PROGRAMS)]
    blocks = [block for block in document.blocks if not block.shown and block.needs in here]
    return blocks if not level or any(block.needs == level for block in blocks) else []


class Documents(unittest.TestCase):
    def test_their_commands_do_what_they_say(self):
        for document in documents():
            blocks = chosen(document)
            with self.subTest(document.name()):
                began = time.monotonic()
                wrong = execute(blocks, document.hosts, alone=LEVEL != "docker") if blocks else []
                print(f"{document.name()}: {len(blocks)} blocks, {time.monotonic() - began:.1f} s", flush=True)
                self.assertEqual(wrong, [], "\n".join(wrong))

    def test_what_is_only_shown_is_counted(self):
        shown = [block for document in documents() for block in document.blocks if block.shown]
        for block in shown:
            print(f"only shown: {block.where()}: {block.shown}")
        for block in [block for document in documents() for block in document.blocks if block.needs in PROGRAMS]:
            if not shutil.which(block.needs):
                print(f"not executed here: {block.where()}: {block.needs} is missing")
        print(f"{len(shown)} blocks are only shown", flush=True)


@unittest.skipIf(LEVEL, "does not depend on the level")
class Rules(unittest.TestCase):
    """That the test can fail."""

    def block(self, *lines):
        return Block(Path(__file__), 1, lines=list(lines))

    def test_no_block_is_forgotten(self):
        for document in documents():
            executed = [block.line for level in ("", *LEVELS) for block in chosen(document, level)]
            for block in document.blocks:
                missing = block.needs in PROGRAMS and not shutil.which(block.needs)
                self.assertEqual(block.line in executed, not block.shown and not missing, block.where())

    def test_a_command_that_fails_is_found(self):
        wrong = execute([self.block("true"), self.block("echo before", "false", "echo after")], [], alone=True)
        self.assertIn("before", wrong[0])
        self.assertIn("false: exit code 1", wrong[0])

    def test_one_in_the_background_too(self):
        self.assertIn("failed", execute([self.block("(exit 7) &", "true")], [], alone=True)[0])

    def test_output_that_differs_is_found(self):
        block = self.block("$ fibocast x", "rank 2 came last, 812 ms after the others", "13")
        self.assertEqual(missing_output(block, "rank 1 came last, 1.3 s after the others\n4\n"), [])
        self.assertEqual(missing_output(block, "rank 1 came last, 1.3 s after the others\nfour\n"), ["13"])
        self.assertEqual(missing_output(self.block("$ x", "a ... b"), "a lot of b\n"), [])

    def test_a_command_outside_of_a_block_is_a_mistake(self):
        for text in ("    fibocast up\n", "```\n./dev test\n```\n", "<!-- shown: x -->\ntext\n", "```sh\n"):
            with tempfile.NamedTemporaryFile("w", suffix=".md") as file:
                file.write(text)
                file.flush()
                with self.assertRaises(Mistake, msg=text):
                    read_document(Path(file.name))


def main():
    if LEVEL != "docker" and not can_be_alone():
        print("skipped: this user may make no namespaces (unshare, ip)")
        return 77
    if LEVEL == "docker":
        from engine import run_all_tests
        return run_all_tests()
    return 0 if unittest.main(exit=False, verbosity=2).result.wasSuccessful() else 1


sys.exit(main())
