"""Room in the kernel's table of neighbours (ARP), which all containers of a host share.

n containers that talk to one another are n(n-1) entries; the usual limit of 1,024 is reached with 32. Beyond it the
kernel drops what is sent ("neighbour: arp_cache: neighbor table overflow!" in dmesg).
"""
from contextlib import contextmanager
from pathlib import Path

from .interrupts import undisturbed

LIMITS = [Path(f"/proc/sys/net/ipv4/neigh/default/gc_thresh{i}") for i in (2, 3)]


def room_for(nodes):
    """What both limits must be at least: above all entries."""
    return [2 * nodes * nodes, 4 * nodes * nodes]


@contextmanager
def neighbour_table(nodes, say):
    """Raises the limits of this host for the block, if needed and allowed. `say` hears what was done or is missing."""
    before = [int(limit.read_text()) for limit in LIMITS]
    wanted = room_for(nodes)
    if all(b >= w for b, w in zip(before, wanted)):
        yield
        return
    raised = False
    try:
        try:
            for limit, value, old in zip(LIMITS, wanted, before):
                limit.write_text(str(max(value, old)))
            raised = True
            say(f"the kernel's table of neighbours has room for {wanted[1]} entries meanwhile, before and after {before[1]}")
        except OSError:
            say(f"the kernel's table of neighbours may be too small; as root: sysctl -w "
                f"net.ipv4.neigh.default.gc_thresh2={wanted[0]} net.ipv4.neigh.default.gc_thresh3={wanted[1]}")
        yield
    finally:
        if raised:
            with undisturbed():
                for limit, old in zip(LIMITS, before):
                    limit.write_text(str(old))
