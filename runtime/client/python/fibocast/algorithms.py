"""The names of operations and algorithms and what they are on the wire: collectives/algorithm_catalog.h, shape.h.

A test compares the table with the one of the C++ library.
"""
from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from fibocast.errors import Invalid
from fibocast.shares import WHOLE_SHARE

BARRIER, MULTICAST, REDUCE, ALLREDUCE, SCATTER = "barrier", "multicast", "reduce", "allreduce", "scatter"
GATHER, ALLGATHER, ALLTOALL, DIVIDE, CONQUER = "gather", "allgather", "alltoall", "divide", "conquer"
# As client.proto numbers them, from 1 on.
OPERATIONS = (BARRIER, MULTICAST, REDUCE, ALLREDUCE, SCATTER, GATHER, ALLGATHER, ALLTOALL, DIVIDE, CONQUER)

_TREES, _DISSEMINATION, _SHARES = 1, 2, 16
_WHOLE_LAMBDA = 100


class Choice(NamedTuple):
    """Numbers of collectives/shape.h; all 0: as the group plans."""

    algorithm: int = 0
    tree: int = 0
    parameter: int = 0


_CONTIGUOUS = {"fibo": Choice(_TREES), "binomial": Choice(_TREES, 2), "sequential": Choice(_TREES, 1)}
_ALL_TREES = {**_CONTIGUOUS, "kary:K": Choice(_TREES, 3), "lambda:L": Choice(_TREES, 5, 2 * _WHOLE_LAMBDA)}
_POSTAL = {"combine_delay_receive": Choice(3), "combine_delay_send": Choice(4), "combine_eager": Choice(5)}
_HALF_SHARES = {"share:ALPHA": Choice(_SHARES, 0, WHOLE_SHARE // 2)}

CATALOG: dict[str, dict[str, Choice]] = {
    BARRIER: {**_ALL_TREES, "dissemination:K": Choice(_DISSEMINATION), **_POSTAL},
    MULTICAST: {**_ALL_TREES, "scatter_allgather": Choice(15), "scatter_doubling": Choice(18),
                "scatter_pairwise": Choice(19)},
    REDUCE: {**_ALL_TREES, "halving": Choice(7), "pairwise": Choice(11)},
    ALLREDUCE: {**_ALL_TREES, **_POSTAL, "ring": Choice(6), "halving": Choice(7), "pairwise": Choice(11),
                "doubling": Choice(17)},
    SCATTER: {**_CONTIGUOUS, "furthest_first": Choice(8)},
    GATHER: {**_CONTIGUOUS, "furthest_first": Choice(8)},
    ALLGATHER: {"ring": Choice(6), "bruck": Choice(10), "pairwise": Choice(11), "flooding": Choice(9)},
    ALLTOALL: {"pairwise": Choice(11), "bruck": Choice(10), "phased_constant": Choice(12),
               "phased_exponential": Choice(13), "phased_xor": Choice(14)},
    DIVIDE: _HALF_SHARES,
    CONQUER: _HALF_SHARES,
}


def _parts(text: str, whole: int) -> int:
    """Of a whole of so many parts; 0 for what is no number or between two of them."""
    if not re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18}|/0*[1-9][0-9]{0,17})?", text):
        return 0
    parts = Fraction(text) * whole
    return int(parts) if parts.denominator == 1 else 0


def _share(name: str) -> Choice:
    alpha = _parts("1/2" if name == "share" else name[len("share:"):], WHOLE_SHARE)
    if 0 < alpha <= WHOLE_SHARE:
        return Choice(_SHARES, 0, alpha)
    raise Invalid(f"{name} is no share: above 0, at most 1, with at most 4 decimals, as in share:0.5")


def _lambda_tree(operation: str, text: str) -> Choice | None:
    choice = CATALOG[operation].get("lambda:L")
    parts = _parts(text, _WHOLE_LAMBDA)
    return choice._replace(parameter=parts) if choice and _WHOLE_LAMBDA <= parts <= 0xFFFF else None


def _with_number(operation: str, name: str) -> Choice | None:
    """kary:4, dissemination:2, lambda:2.5."""
    stem, _, number = name.partition(":")
    if stem == "lambda":
        return _lambda_tree(operation, number)
    choice = CATALOG[operation].get(stem + ":K")
    if choice is None or not re.fullmatch("[0-9]{1,18}", number):
        return None
    least = 2 if choice.algorithm == _DISSEMINATION else 1
    return choice._replace(parameter=int(number)) if least <= int(number) <= 0xFFFF else None


def choose(operation: str, name: str) -> Choice:
    """The algorithm of this name; the empty one is what the group plans. Raises Invalid with those that there are."""
    if name in ("", "planned"):
        return next(iter(_HALF_SHARES.values())) if operation in (DIVIDE, CONQUER) else Choice()
    if operation in (DIVIDE, CONQUER) and (name == "share" or name.startswith("share:")):
        return _share(name)
    name = "kary:2" if name == "binary" else name
    choice = CATALOG[operation].get(name) if name[-2:] not in (":K", ":L") else None
    choice = choice or _with_number(operation, name)
    if choice is None:
        raise Invalid(f'there is no algorithm "{name}" for {operation}; there are planned, '
                      + ", ".join(CATALOG[operation]))
    return choice
