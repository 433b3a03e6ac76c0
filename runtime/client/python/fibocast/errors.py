"""How a call failed: one exception for each code of the local protocol, with a sentence and the ranks concerned."""
from __future__ import annotations

from enum import IntEnum
from typing import Iterable


class Code(IntEnum):
    """As in client.proto; the names are those of the command's JSON."""

    OK = 0
    FAILED = 1
    INVALID = 2
    DEADLINE_EXCEEDED = 3
    PEER_LOST = 4
    UNAVAILABLE = 5
    REFUSED = 6
    CANCELLED = 7
    MISMATCH = 8
    STALE = 9
    WOULD_BLOCK = 10
    PARTITIONED = 11


class Error(Exception):
    """Base of all. `str(error)` is the sentence; `ranks` are those it is about: of the group, or of the cluster."""

    code = Code.FAILED

    def __init__(self, sentence: str, ranks: Iterable[int] = ()):
        super().__init__(sentence)
        self.sentence = sentence
        self.ranks = tuple(ranks)


class Failed(Error):
    """Anything else."""


class Invalid(Error):
    """Wrong use: unknown group, bad rank, too large, bad name."""

    code = Code.INVALID


class DeadlineExceeded(Error):
    """`ranks` had not arrived."""

    code = Code.DEADLINE_EXCEEDED


class PeerLost(Error):
    """`ranks` are gone."""

    code = Code.PEER_LOST


class Unavailable(Error):
    """No daemon reachable, or it went away."""

    code = Code.UNAVAILABLE


class Refused(Error):
    """Not authenticated, or settings or versions differ."""

    code = Code.REFUSED


class Cancelled(Error):
    """By Client.cancel() or Client.close() while the call was under way."""

    code = Code.CANCELLED


class Mismatch(Error):
    """Members called different operations in one generation."""

    code = Code.MISMATCH


class Stale(Error):
    """The generation ended longer ago than the node remembers."""

    code = Code.STALE


class WouldBlock(Error):
    """Of try_send(): there is no room now."""

    code = Code.WOULD_BLOCK


class Partitioned(Error):
    """Cut off from the majority of the group; `ranks` are out of reach."""

    code = Code.PARTITIONED


_BY_CODE: dict[int, type[Error]] = {
    kind.code: kind
    for kind in (Failed, Invalid, DeadlineExceeded, PeerLost, Unavailable, Refused, Cancelled, Mismatch, Stale,
                 WouldBlock, Partitioned)
}


def error_of(code: int, sentence: str, ranks: Iterable[int]) -> Error:
    """The exception for a code that is not OK; a code of a later version is Failed."""
    return _BY_CODE.get(code, Failed)(sentence, ranks)
