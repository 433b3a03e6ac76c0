"""The operations of a group, as one participant calls them."""
from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Callable, Sequence, TypeVar, Union

from fibocast import algorithms as names
from fibocast.algorithms import Choice, choose
from fibocast.client_pb2 import Request
from fibocast.errors import Error, Invalid
from fibocast.info import GroupInfo, Outcome
from fibocast.shares import MOST_ELEMENTS, WHOLE_SHARE, Share, final_share
from fibocast.values import ELEMENT_BYTES, OPERATORS, TYPES, BytesLike, Vector, number_of, to_bytes, vector_of

if TYPE_CHECKING:
    from fibocast.client import Client

V = TypeVar("V")
Deadline = Union[float, timedelta, None]


class Group:
    """All members make the same calls in the same order. Each ends with the right result or raises an Error that names
    the reason; an operation that fails leaves the group usable. Who is to get nothing gets it as empty bytes, or an
    empty vector of the kind that was given.

    Every operation takes
      deadline   seconds or a timedelta; None is the daemon's default
      algorithm  as `fibocast plan schedule` names it: ring, fibo, kary:4, share:0.5; the same at every rank (of
                 multicast, scatter and divide: at the root); empty is what the group plans
      label      appears in the sentences of failures

    Vectors are lists or tuples of numbers, array.array, numpy's arrays, or bytes with a `type`: int32, int64, uint64,
    float or double. In a list floats are double and integers int64, unless `type` says otherwise. Results are of the
    kind that was given. Operators: min, max, sum, prod, and, or, xor.
    """

    def __init__(self, client: Client, info: GroupInfo, participants: int):
        self._client = client
        self._participants = participants
        self.info = info
        self.last: Outcome | None = None  # times and generation of the last operation that went well

    name = property(lambda self: self.info.name, doc="Of the group.")
    rank = property(lambda self: self.info.rank, doc="Of this node in the group.")
    size = property(lambda self: self.info.size, doc="How many ranks call.")

    def barrier(self, *, deadline: Deadline = None, algorithm: str = "", label: str = "") -> Outcome:
        """Returns when every participant of every member has called; the outcome says who came last."""
        self._operate(names.BARRIER, 0, b"", deadline, algorithm, label)
        assert self.last is not None
        return self.last

    def multicast(self, root: int, data: BytesLike = b"", *, deadline: Deadline = None, algorithm: str = "",
                  label: str = "") -> bytes:
        """The root gives the bytes, the others none and get the root's; the root gets nothing."""
        return self._operate(names.MULTICAST, root, to_bytes(data), deadline, algorithm, label)

    def reduce(self, root: int, values: V, operator: str = "sum", *, type: str | None = None,
               deadline: Deadline = None, algorithm: str = "", label: str = "") -> V:
        """Every rank gives a vector of the same length; the root gets them combined element by element."""
        vector = vector_of(values, type)
        return vector.restore(self._combine(names.REDUCE, root, vector, operator, deadline, algorithm, label))

    def allreduce(self, values: V, operator: str = "sum", *, type: str | None = None, deadline: Deadline = None,
                  algorithm: str = "", label: str = "") -> V:
        """... everybody gets them combined. Floats give the same bits at every rank, every time."""
        vector = vector_of(values, type)
        return vector.restore(self._combine(names.ALLREDUCE, 0, vector, operator, deadline, algorithm, label))

    def reduce_with(self, root: int, values: V, combine: Callable[[V, V], V], *, type: str | None = None,
                    deadline: Deadline = None, algorithm: str = "", label: str = "") -> V:
        """With an operator of one's own, which takes two vectors and gives one. It must be associative and need not
        commute. The vectors are gathered and combined at the root in the order of the ranks."""
        vector = vector_of(values, type)
        return self._fold(vector, self.gather(root, vector.data, deadline=deadline, algorithm=algorithm, label=label),
                          combine)

    def allreduce_with(self, values: V, combine: Callable[[V, V], V], *, type: str | None = None,
                       deadline: Deadline = None, algorithm: str = "", label: str = "") -> V:
        """... everybody gathers and combines: `algorithm` is one of allgather."""
        vector = vector_of(values, type)
        return self._fold(vector, self.allgather(vector.data, deadline=deadline, algorithm=algorithm, label=label),
                          combine)

    def scatter(self, root: int, blocks: BytesLike | Sequence[BytesLike] = b"", *, deadline: Deadline = None,
                algorithm: str = "", label: str = "") -> bytes:
        """The root gives size() blocks of equal length, one behind the other or as a list; each rank gets its block."""
        return self._operate(names.SCATTER, root, self._joined(names.SCATTER, blocks), deadline, algorithm, label)

    def gather(self, root: int, block: BytesLike, *, deadline: Deadline = None, algorithm: str = "",
               label: str = "") -> bytes:
        """Every rank gives a block of the same length; the root gets all, in the order of the ranks: blocks()."""
        return self._operate(names.GATHER, root, to_bytes(block), deadline, algorithm, label)

    def allgather(self, block: BytesLike, *, deadline: Deadline = None, algorithm: str = "", label: str = "") -> bytes:
        """... everybody gets all."""
        return self._operate(names.ALLGATHER, 0, to_bytes(block), deadline, algorithm, label)

    def alltoall(self, blocks: BytesLike | Sequence[BytesLike], *, deadline: Deadline = None, algorithm: str = "",
                 label: str = "") -> bytes:
        """Every rank gives one block for each rank, as in scatter(), and gets one from each."""
        return self._operate(names.ALLTOALL, 0, self._joined(names.ALLTOALL, blocks), deadline, algorithm, label)

    def divide(self, root: int, vector: V, *, type: str | None = None, deadline: Deadline = None, algorithm: str = "",
               label: str = "") -> V:
        """The root gives its vector, each rank gets its share() of it: halves of halves, or by algorithm="share:ALPHA".
        The others give an empty vector of the kind they want: array("d"), numpy.empty(0), b""."""
        given = vector_of(vector, type)
        return given.restore(self._operate(names.DIVIDE, root, given.data, deadline, algorithm, label,
                                           element_type=given.type))

    def conquer(self, root: int, elements: int, share: V, operator: str = "none", *, type: str | None = None,
                deadline: Deadline = None, algorithm: str = "", label: str = "") -> V:
        """The way back: each rank gives its share() of a vector of `elements`; the root gets the vector. Where shares
        overlap (ALPHA > 1/2) they are combined, in the order of the ranks from the root on; what nobody has is zero."""
        vector = vector_of(share, type)
        self._check_share(root, elements, vector, algorithm)
        return vector.restore(self._combine(names.CONQUER, root, vector, operator, deadline, algorithm, label,
                                            elements * ELEMENT_BYTES[vector.type]))

    def share(self, root: int, elements: int, *, algorithm: str = "") -> Share:
        """The elements that this rank gets of such a divide and brings to such a conquer."""
        choice = choose(names.DIVIDE, algorithm)
        if not 0 <= elements <= MOST_ELEMENTS:
            raise Invalid(f"{elements} elements cannot be shared out: 0 to {MOST_ELEMENTS} can")
        if not 0 <= root < self.size:
            raise Invalid(f"there is no rank {root} to be the root")
        return final_share((self.rank - root) % self.size, self.size, elements, choice.parameter)

    def blocks(self, data: BytesLike, length: int | None = None) -> list[memoryview]:
        """What gather(), allgather() or alltoall() gave, as one block for each rank. In a group that goes on without
        lost members (policy survivors, quorum) there are fewer: then say the length of a block."""
        view = memoryview(to_bytes(data))
        if length is None and len(view) % self.size == 0:
            length = len(view) // self.size
            return [view[rank * length:(rank + 1) * length] for rank in range(self.size)]
        if not length or length < 0 or len(view) % length != 0:
            raise Invalid(f"{len(view)} bytes are no blocks of equal length: of {length} bytes, or {self.size} of them")
        return [view[begin:begin + length] for begin in range(0, len(view), length)]

    # -- one call

    def _operate(self, operation: str, root: int, payload: bytes, deadline: Deadline, algorithm: str, label: str, *,
                 element_type: str = "bytes", operator: str = "none", total_bytes: int = 0) -> bytes:
        choice = self._choose(operation, algorithm)
        self._client.check_fits(payload, f"{operation} '{self.info.name}'" + (f" (label '{label}')" if label else ""))
        request = Request()
        call = request.operate
        call.group = self.info.name
        call.kind = names.OPERATIONS.index(operation) + 1  # type: ignore[assignment]
        self._client.set_number(call, "root", root, "root")
        call.deadline_ns = self._client.nanoseconds(deadline)
        call.payload = payload
        call.label = label
        call.participants = self._participants
        call.algorithm, call.tree, call.parameter = choice
        call.element_type = TYPES.index(element_type)
        call.combine_operator = number_of(operator, OPERATORS, "operator")
        call.total_bytes = total_bytes
        outcome = self._client.exchange(request, deadline).outcome
        self.last = Outcome.of(outcome)
        return outcome.payload

    def _choose(self, operation: str, algorithm: str) -> Choice:
        if self.info.size <= self.rank < self.info.size + self.info.routers:
            raise self._invalid(operation, f"rank {self.rank} is a router; call at a rank from 0 to {self.size - 1}")
        try:
            return choose(operation, algorithm)
        except Invalid as error:
            raise self._invalid(operation, error.sentence) from None

    def _invalid(self, operation: str, why: str) -> Error:
        return Invalid(f"{operation} '{self.info.name}': {why}")

    def _combine(self, operation: str, root: int, vector: Vector[V], operator: str, deadline: Deadline, algorithm: str,
                 label: str, total_bytes: int = 0) -> bytes:
        bitwise = operator in ("and", "or", "xor")
        defined = vector.type not in ("float", "double") if bitwise else vector.type != "bytes" or operator == "none"
        number_of(operator, OPERATORS, "operator")
        if not defined or (operator == "none" and operation != names.CONQUER):
            raise self._invalid(operation, f"the operator {operator} is not defined for elements of type {vector.type}")
        size = ELEMENT_BYTES[vector.type]
        if len(vector.data) % size != 0:
            raise self._invalid(operation, f"a vector of {len(vector.data)} bytes does not hold whole elements of "
                                           f"{size} bytes")
        return self._operate(operation, root, vector.data, deadline, algorithm, label, element_type=vector.type,
                             operator=operator, total_bytes=total_bytes)

    def _joined(self, operation: str, blocks: BytesLike | Sequence[BytesLike]) -> bytes:
        """Of a group that goes on without some only the daemon knows how many blocks there are to be."""
        counted = self.info.policy == "all"
        if not isinstance(blocks, (list, tuple)):
            joined = to_bytes(blocks)  # type: ignore[arg-type]
            if counted and len(joined) % self.size != 0:
                raise self._invalid(operation, f"{len(joined)} bytes are no {self.size} blocks of equal length")
            return joined
        parts = [to_bytes(block) for block in blocks]
        if (counted and len(parts) not in (0, self.size)) or len(set(map(len, parts))) > 1:
            raise self._invalid(operation, f"blocks of {', '.join(str(len(p)) for p in parts[:16])} bytes are no "
                                           f"{self.size} blocks of equal length")
        return b"".join(parts)

    def _check_share(self, root: int, elements: int, vector: Vector[V], algorithm: str) -> None:
        alpha = self._choose(names.CONQUER, algorithm).parameter
        share = self.share(root, elements, algorithm=f"share:{alpha}/{WHOLE_SHARE}")
        wanted = share.count * ELEMENT_BYTES[vector.type]
        if len(vector.data) != wanted:
            raise self._invalid(names.CONQUER, f"rank {self.rank} must bring its share of {elements} elements: "
                                f"{share.count} from number {share.first} on, {wanted} bytes, not {len(vector.data)}")

    def _fold(self, vector: Vector[V], gathered: bytes, combine: Callable[[V, V], V]) -> V:
        """A group that goes on without some has fewer vectors than ranks: their length says how many."""
        length = len(vector.data)
        result = vector.restore(gathered[:length])
        for begin in range(length, len(gathered) if length else 0, length or 1):
            result = combine(result, vector.restore(gathered[begin:begin + length]))
        return result
