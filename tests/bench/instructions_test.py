"""The instructions of each hot path, counted by callgrind, against those in instructions.json: none may need more than
10 % more without that file being changed in the same commit. A count is the same in every run on every machine; a time
is not. `instructions_test.py PROGRAM --write` writes the file.

usage: instructions_test.py PROGRAM [--write]"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

TIMES = 50  # as in count_instructions.cc
GROWTH = 1.10
BASELINE = pathlib.Path(__file__).with_name("instructions.json")


def count(program):
    """Instructions of one time, by path."""
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={folder}/out", program],
                       check=True, stdout=subprocess.DEVNULL)
        for file in pathlib.Path(folder).iterdir():
            text = file.read_text()
            name = re.search(r"^desc: Trigger: Client Request: (\S+)", text, re.M)
            total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
            if name and total:
                counts[name[1]] = round(int(total[1]) / TIMES)
    return counts


def main():
    counts = count(sys.argv[1])
    if "--write" in sys.argv:
        BASELINE.write_text(json.dumps(counts, indent=2, sort_keys=True) + "\n")
    baseline = json.loads(BASELINE.read_text())
    too_many = sorted(name for name in counts if counts[name] > GROWTH * baseline.get(name, 0))
    for name in sorted(counts.keys() | baseline.keys()):
        print(f"{name:28} {counts.get(name, 'missing'):>10} instructions, {baseline.get(name, 'none'):>10} expected")
    if too_many or counts.keys() != baseline.keys():
        print(f"more than {GROWTH - 1:.0%} more, or not in the list: {', '.join(too_many) or 'see above'}. If that is "
              f"wanted: {sys.argv[0]} {sys.argv[1]} --write, and say why in the commit")
        return 1
    return 0


sys.exit(main())
