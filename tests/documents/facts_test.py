"""What the documents say about the sources, compared with the sources: files and names that they mention, links, the layout of
a frame, the exit codes."""
import re
import sys
import unittest

sys.dont_write_bytecode = True
from blocks import ROOT, documents  # noqa: E402

ROW = re.compile(r"\| *(\S+) \| *`?([^`|]+?)`? \| (.+?) \|(.*)")


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def table_after(text, mark):
    """The cells of each row of the table below a comment."""
    below = text.split(mark, 1)[1].lstrip("\n").split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in below]


class Facts(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for document in documents():
            for target in re.findall(r"\]\(([^)#]+)\)", text_of(document.name())):
                if "://" not in target:
                    self.assertTrue((document.file.parent / target).exists(), f"{document.name()}: {target}")

    def test_files_and_names_of_adding_exist(self):
        text = text_of("collectives/ADDING.md")
        files = re.findall(r"`((?:collectives|runtime|tests)/[\w/.]+)`", text)
        self.assertGreater(len(files), 15)
        for file in files:
            self.assertTrue((ROOT / file).is_file(), file)
        sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "collectives").glob("*.[ch]*"))
        names = re.findall(r"`(k?[A-Za-z]+(?:_[a-z]+)*)`", text)
        self.assertGreater(len(names), 8)
        for name in names:
            self.assertRegex(sources, rf"\b{name}\b")

    def test_places_of_halving_are_all_told(self):
        """Whoever asks for kHalving is a place that a new algorithm may have to touch."""
        text = text_of("collectives/ADDING.md")
        for folder in ("collectives", "runtime", "transport"):
            for path in (ROOT / folder).rglob("*.cc"):
                if "Algorithm::kHalving" in path.read_text(encoding="utf-8"):
                    self.assertIn(str(path.relative_to(ROOT)), text)

    def test_the_layout_of_a_frame(self):
        told = [tuple(row) for row in table_after(text_of("transport/PROTOCOL.md"), "<!-- table: transport/frame.h -->")]
        rows = re.findall(r"^// +(\d+) +(\d+)  (.+)$", text_of("transport/frame.h"), re.MULTILINE)
        self.assertGreater(len(rows), 20)
        self.assertEqual(told, rows)

    def test_the_types_of_frames(self):
        told = table_after(text_of("transport/PROTOCOL.md"), "<!-- values: transport/frame.h -->")
        types = text_of("transport/frame.h").split("enum class FrameType", 1)[1].split("}", 1)[0]
        self.assertEqual([(row[1], row[0]) for row in told], re.findall(r"(k\w+) = (\d+)", types))

    def test_every_code_has_its_exit_code(self):
        told = table_after(text_of("runtime/OPERATIONS.md"), "<!-- codes: runtime/client/status.cc -->")
        source = text_of("runtime/client/status.cc")
        names = dict(re.findall(r"case Code::(k\w+): return \"(\w+)\"", source))
        exits, waiting = {}, []
        for code, number in re.findall(r"case Code::(k\w+):(?: return (\d);)?", source.split("exit_code", 1)[1]):
            waiting.append(names[code])
            if number:
                exits |= {name: number for name in waiting}
                waiting = []
        self.assertEqual({row[1]: row[0] for row in told}, {name: exits.get(name, "1") for name in names.values()})


unittest.main(verbosity=2)
