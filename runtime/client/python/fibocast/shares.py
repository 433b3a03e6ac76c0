"""Which elements of the root's vector a rank gets of a divide and brings to a conquer: collectives/divide.h."""
from __future__ import annotations

from dataclasses import dataclass

WHOLE_SHARE = 10_000  # alpha = 1 in the units of the wire
MOST_ELEMENTS = 0xFFFFFFFF


@dataclass(frozen=True)
class Share:
    """Elements of the root's vector, one behind the other."""

    first: int
    count: int

    @property
    def end(self) -> int:
        return self.first + self.count

    @property
    def slice(self) -> slice:
        """vector[share.slice] are its elements."""
        return slice(self.first, self.end)


def _sent(share: Share, alpha: int) -> Share:
    count = share.count * alpha // WHOLE_SHARE
    return Share(share.end - count, count)


def _kept(share: Share, alpha: int) -> Share:
    return Share(share.first, -(-share.count * alpha // WHOLE_SHARE))


def final_share(rank: int, ranks: int, elements: int, alpha: int) -> Share:
    """Of the rank that is so far behind the root. In each phase a node sends the last floor(alpha W) of the W elements
    that it holds and keeps the first ceil(alpha W); a child that does not exist is no phase."""
    share = Share(0, elements)
    for bit in reversed(range((ranks - 1).bit_length())):
        step = 1 << bit
        sender = rank // (2 * step) * (2 * step)
        if sender + step < ranks:
            share = _sent(share, alpha) if rank & step else _kept(share, alpha)
    return share
