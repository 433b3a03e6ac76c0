"""public_headers.py ROOT HEADER...: these headers of the tree ROOT and all of it that they include, a line each."""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def needed_by(root, headers):
    found, left = set(), list(headers)
    while left:
        header = left.pop()
        if header not in found:
            found.add(header)
            left += INCLUDE.findall((root / header).read_text(encoding="utf-8"))
    return sorted(found)


print("\n".join(needed_by(Path(sys.argv[1]), sys.argv[2:])))
