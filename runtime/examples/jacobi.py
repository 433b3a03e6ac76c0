#!/usr/bin/env python3
"""Heat in a square plate by Jacobi's method: jacobi.cc once more, and the same bits.

    fibocast up -n 8; PYTHONPATH=build/release/python fibocast run -- python3 runtime/examples/jacobi.py [SIZE [STEPS]]
"""
import os
import sys
from array import array

import fibocast

TOLERANCE = 1e-6
DEADLINE = 30.0  # of every call: who is missing then is named
FROM_ABOVE, FROM_BELOW, CHECKSUM = 1, 2, 3  # tags


def part_of(size, rank, ranks):
    """The rows of this rank, with one more above and below: the neighbours' or the edge of the plate."""
    first, end = size * rank // ranks, size * (rank + 1) // ranks
    rows = [array("d", [0.0] * (size + 2)) for _ in range(end - first + 2)]
    if rank == 0:
        rows[0] = array("d", [1.0] * (size + 2))  # the hot edge
    return rows


def receive_row(client, tag):
    return array("d", client.receive(tag, deadline=DEADLINE).data)


def exchange_borders(client, group, rows):
    above, below = group.rank - 1, group.rank + 1
    if above >= 0:
        client.send(above, FROM_BELOW, rows[1], deadline=DEADLINE)
    if below < group.size:
        client.send(below, FROM_ABOVE, rows[-2], deadline=DEADLINE)
    if above >= 0:
        rows[0] = receive_row(client, FROM_ABOVE)
    if below < group.size:
        rows[-1] = receive_row(client, FROM_BELOW)


def relax(rows):
    """One step; the largest change of a cell here."""
    largest = 0.0
    old = [array("d", row) for row in rows]
    for i in range(1, len(old) - 1):
        over, here, under = old[i - 1], old[i], old[i + 1]
        for j in range(1, len(here) - 1):
            value = 0.25 * (over[j] + under[j] + here[j - 1] + here[j + 1])
            largest = max(largest, abs(value - here[j]))
            rows[i][j] = value
    return largest


def checksum(client, group, rows):
    """The sum of all cells, at every rank: each adds its rows to the sum of those above."""
    last = group.size - 1
    total = receive_row(client, CHECKSUM)[0] if group.rank > 0 else 0.0
    for row in rows[1:-1]:
        for value in row[1:-1]:
            total += value
    if group.rank < last:
        client.send(group.rank + 1, CHECKSUM, array("d", [total]), deadline=DEADLINE)
        return array("d", group.multicast(last, deadline=DEADLINE))[0]
    group.multicast(last, array("d", [total]), deadline=DEADLINE)
    return total


def solve(client, group, size, steps):
    rows = part_of(size, group.rank, group.size)
    residual, step = 1.0, 0
    while step < steps and residual >= TOLERANCE:
        exchange_borders(client, group, rows)
        residual = group.allreduce([relax(rows)], "max", deadline=DEADLINE)[0]
        step += 1
        group.barrier(deadline=DEADLINE, label=f"step {step}")
    total = checksum(client, group, rows)
    if group.rank == 0:
        print(f"steps {step} residual {residual:.17g} checksum {total:.17g}")


def main():
    size, steps = [int(word) for word in (sys.argv[1:] + ["64", "200"][len(sys.argv) - 1:])]
    with fibocast.connect() as client:
        group = client.open("all")
        if os.environ.get("FIBOCAST_SIZE", str(group.size)) != str(group.size):
            raise SystemExit(f"jacobi: run one process for each of the {group.size} daemons: fibocast run without -n")
        solve(client, group, size, steps)


if __name__ == "__main__":
    try:
        main()
    except (fibocast.Error, ValueError) as error:
        raise SystemExit(f"jacobi: {error}") from None
