#!/usr/bin/env python3
"""A file of rank 0 to all nodes, in chunks that any daemon has room for, with a checksum.

    fibocast up -n 8
    PYTHONPATH=build/release/python fibocast run -- python3 runtime/examples/broadcast_file.py FILE [FOLDER]

The others write it to FOLDER/RANK-FILE, or only check it if there is no FOLDER. Rank 0 prints how fast it was.
"""
import contextlib
import hashlib
import struct
import sys
import time
from pathlib import Path

import fibocast

CHUNK_BYTES = 2 << 20  # a daemon takes a quarter of limits.payload_bytes in one operation: 64 MiB by default
DEADLINE = 30.0  # of every call: who is missing then is named
HEADER = struct.Struct("<Q32s")  # length, SHA-256


def send(group, data):
    """Rank 0: everybody's answer must be right."""
    digest = hashlib.sha256(data).digest()
    begin = time.perf_counter()
    group.multicast(0, HEADER.pack(len(data), digest), deadline=DEADLINE)
    view = memoryview(data)
    for place in range(0, len(data), CHUNK_BYTES):
        group.multicast(0, view[place:place + CHUNK_BYTES], deadline=DEADLINE)
    answers = group.blocks(group.gather(0, digest, deadline=DEADLINE))
    seconds = time.perf_counter() - begin
    wrong = [rank for rank, answer in enumerate(answers) if answer != digest]
    if wrong:
        raise SystemExit(f"broadcast_file: another checksum at ranks {wrong}")
    print(f"{len(data)} bytes to {group.size} nodes in {seconds:.3f} s: {len(data) / seconds / 1e6:.1f} MB/s, "
          f"SHA-256 {digest.hex()} everywhere")


def receive(group, path):
    """Any other rank."""
    length, wanted = HEADER.unpack(group.multicast(0, deadline=DEADLINE))
    found = hashlib.sha256()
    with open(path, "wb") if path else contextlib.nullcontext() as file:
        while length > 0:
            chunk = group.multicast(0, deadline=DEADLINE)
            length -= len(chunk)
            found.update(chunk)
            if file:
                file.write(chunk)
    group.gather(0, found.digest(), deadline=DEADLINE)
    if found.digest() != wanted:
        raise SystemExit(f"broadcast_file: another checksum at rank {group.rank}")


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit("usage: broadcast_file.py FILE [FOLDER]")
    source = Path(sys.argv[1])
    with fibocast.connect() as client:
        group = client.open("all")
        if group.rank == 0:
            send(group, source.read_bytes())
        else:
            receive(group, Path(sys.argv[2]) / f"{group.rank}-{source.name}" if len(sys.argv) > 2 else None)


if __name__ == "__main__":
    try:
        main()
    except (fibocast.Error, OSError) as error:
        raise SystemExit(f"broadcast_file: {error}") from None
