"""The calls that both libraries make: every operation, type, operator and algorithm, with the same inputs."""
import random
import struct
from array import array
from dataclasses import dataclass

from fibocast import algorithms
from fibocast.shares import final_share
from fibocast.values import ELEMENT_BYTES, OPERATORS

CODES = {"int32": "i", "int64": "q", "uint64": "Q", "float": "f", "double": "d"}
COUNTS = (0, 3, 300)


@dataclass(frozen=True)
class Call:
    operation: str
    root: int = 0
    type: str = "bytes"
    operator: str = "none"
    algorithm: str = ""
    count: int = 0  # elements of a vector, or bytes of a block

    def brings(self, rank, ranks):
        """The bytes of this rank; the same every time."""
        source = random.Random(f"{self} {rank} {ranks}")
        is_root = rank == self.root
        if self.operation in ("multicast", "divide") and not is_root:
            return b""
        if self.operation == "conquer":
            alpha = algorithms.choose("divide", self.algorithm).parameter
            return elements(source, self.type, final_share((rank - self.root) % ranks, ranks, self.count, alpha).count)
        if self.operation == "scatter":
            return source.randbytes(self.count * ranks) if is_root else b""
        if self.operation == "alltoall":
            return source.randbytes(self.count * ranks)
        return elements(source, self.type, self.count)

    def line(self, rank, ranks):
        words = (rank, self.operation, self.root, self.type, self.operator, self.algorithm or "-", self.count,
                 self.brings(rank, ranks).hex() or "-")
        return " ".join(map(str, words))


def elements(source, kind, count):
    if kind == "bytes":
        return source.randbytes(count)
    if kind in ("float", "double"):
        return array(CODES[kind], [source.uniform(-2, 2) for _ in range(count)]).tobytes()
    return source.randbytes(count * struct.calcsize("<" + CODES[kind]))


def operators_of(kind):
    return [op for op in OPERATORS[1:] if kind not in ("float", "double") or op not in ("and", "or", "xor")]


def by_algorithm():
    """Every algorithm of every operation; flooding needs routers."""
    for operation, entries in algorithms.CATALOG.items():
        combines = operation in ("reduce", "allreduce", "conquer")
        rooted = operation not in ("barrier", "allreduce", "allgather", "alltoall")
        for name in ["", *entries]:
            if name == "flooding":
                continue
            name = name.replace(":K", ":3").replace(":L", ":3.5").replace(":ALPHA", ":0.7")
            for count in COUNTS if operation != "barrier" else (0,):
                yield operation, rooted, Call(operation, 0, "int64" if combines else "bytes",
                                              "sum" if combines else "none", name, count)


def all_calls(ranks):
    """For a group of so many ranks."""
    calls = []
    for i, (_, rooted, call) in enumerate(by_algorithm()):
        root = i % ranks if rooted else 0
        calls.append(Call(call.operation, root, call.type, call.operator, call.algorithm, call.count))
    for kind in CODES:
        calls += [Call("allreduce", 0, kind, op, "", 5) for op in operators_of(kind)]
        calls += [Call("reduce", (ranks - 1) // 2, kind, op, "", 5) for op in operators_of(kind)]
        calls += [Call("divide", ranks - 1, kind, "none", "share:0.3", 50),
                  Call("conquer", ranks - 1, kind, "max", "share:0.8", 50), Call("conquer", 0, kind, "none", "", 50)]
    return calls


def vector(call, data):
    """As an application would hold it."""
    return data if call.type == "bytes" else array(CODES[call.type], data)


def make(group, call, data):
    """The call in Python; its result as bytes."""
    more = {"deadline": 30, "algorithm": call.algorithm}
    if call.operation == "barrier":
        group.barrier(**more)
        return b""
    if call.operation in ("multicast", "scatter", "gather"):
        return getattr(group, call.operation)(call.root, data, **more)
    if call.operation in ("allgather", "alltoall"):
        return getattr(group, call.operation)(data, **more)
    given = vector(call, data)
    if call.operation == "allreduce":
        result = group.allreduce(given, call.operator, **more)
    elif call.operation == "reduce":
        result = group.reduce(call.root, given, call.operator, **more)
    elif call.operation == "divide":
        result = group.divide(call.root, given, **more)
    else:
        result = group.conquer(call.root, call.count, given, call.operator, **more)
    assert type(result) is type(given), (type(result), call)
    assert len(bytes(result)) % ELEMENT_BYTES[call.type] == 0
    return bytes(result)
