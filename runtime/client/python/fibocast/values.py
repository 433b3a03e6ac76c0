"""Between what an application holds - lists, arrays, numpy's arrays, bytes - and the bytes that travel.

A vector comes back as it was given: a list as a list, an array.array as such, numpy's as numpy's with its shape if the
length is the same, bytes as bytes. numpy is not needed; who passes its arrays has imported it.
"""
from __future__ import annotations

import sys
from array import array
from mmap import mmap
from typing import Any, Callable, Generic, NamedTuple, Protocol, Sequence, TypeVar, Union

from fibocast.errors import Invalid

V = TypeVar("V")


class _HasBytes(Protocol):
    def tobytes(self) -> bytes: ...


# Anything with the buffer protocol: memoryview, array.array and numpy's arrays have tobytes().
BytesLike = Union[bytes, bytearray, mmap, _HasBytes]

# By the numbers of collectives/shape.h.
TYPES = ("bytes", "int32", "int64", "uint64", "float", "double")
OPERATORS = ("none", "min", "max", "sum", "prod", "and", "or", "xor")
ELEMENT_BYTES = {"bytes": 1, "int32": 4, "int64": 8, "uint64": 8, "float": 4, "double": 8}
_CODES = {"int32": "i", "int64": "q", "uint64": "Q", "float": "f", "double": "d"}
_BY_KIND = {"i4": "int32", "i8": "int64", "u8": "uint64", "f4": "float", "f8": "double", "u1": "bytes", "i1": "bytes"}
_KINDS = {"i": "i", "l": "i", "q": "i", "b": "i", "I": "u", "L": "u", "Q": "u", "B": "u", "c": "u", "f": "f", "d": "f"}


class Vector(NamedTuple, Generic[V]):
    """A vector's bytes, the name of its element type, and how bytes become the kind of vector that was given."""

    data: bytes
    type: str
    restore: Callable[[bytes], V]


def to_bytes(data: BytesLike) -> bytes:
    """The bytes of anything that has the buffer protocol, copied unless they are bytes already."""
    if isinstance(data, bytes):
        return data
    try:
        with memoryview(data) as view:  # type: ignore[arg-type]
            return view.tobytes()
    except TypeError as error:
        raise Invalid(f"{type(data).__name__} holds no bytes: give bytes, an array or another buffer") from error


def number_of(name: str, names: Sequence[str], what: str) -> int:
    if name not in names:
        raise Invalid(f'there is no {what} "{name}"; there are {", ".join(n for n in names if n != "none")}')
    return names.index(name)


def vector_of(values: V, wanted: str | None) -> Vector[V]:
    """Reads a vector; `wanted` names the type of elements where that is not seen (bytes), or must be this one."""
    if wanted is not None:
        number_of(wanted, TYPES, "type")
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(values, numpy.ndarray):
        return _of_numpy(numpy, values, wanted)
    if isinstance(values, array):
        code = values.typecode
        return Vector(values.tobytes(), _checked(_kind_of(code, values.itemsize), code, wanted),
                      lambda data: array(code, data))  # type: ignore[arg-type, return-value]
    if isinstance(values, (bytes, bytearray)):
        same: Any = type(values)
        return Vector(bytes(values), wanted or "bytes", same)
    if isinstance(values, memoryview):
        return _of_view(values, wanted)
    if isinstance(values, (list, tuple)):
        return _of_sequence(values, wanted)
    raise Invalid(f"{type(values).__name__} is no vector: give a list of numbers, an array, numpy's or bytes")


def _kind_of(code: str, size: int) -> str | None:
    return _BY_KIND.get(_KINDS.get(code, "?") + str(size))


def _checked(found: str | None, given: object, wanted: str | None) -> str:
    if found is None:
        raise Invalid(f"elements of kind {given} cannot be sent; there are {', '.join(TYPES)}")
    if wanted is not None and wanted != found:
        raise Invalid(f"the elements are of type {found}, not {wanted}")
    return found


def _of_numpy(numpy: Any, values: Any, wanted: str | None) -> Vector[Any]:
    kind = values.dtype
    found = _checked(_BY_KIND.get(kind.kind + str(kind.itemsize)) if kind.isnative else None, kind, wanted)

    def restore(data: bytes) -> Any:
        result = numpy.frombuffer(data, kind).copy()
        return result.reshape(values.shape) if result.size == values.size else result

    return Vector(values.tobytes(), found, restore)


def _of_view(values: memoryview, wanted: str | None) -> Vector[Any]:
    code = values.format
    found = _kind_of(code, values.itemsize)
    if found == "bytes":
        return Vector(values.tobytes(), wanted or "bytes", lambda data: memoryview(data).cast(code))
    return Vector(values.tobytes(), _checked(found, code, wanted),
                  lambda data: memoryview(data).cast(code))


def _of_sequence(values: Sequence[Any], wanted: str | None) -> Vector[Any]:
    name = wanted or ("double" if any(isinstance(v, float) for v in values) else "int64")
    if name == "bytes":
        raise Invalid("bytes are given as bytes, not as a list of numbers")
    code = _CODES[name]
    try:
        data = array(code, values).tobytes()
    except (TypeError, OverflowError) as error:
        raise Invalid(f"these are no elements of type {name}: {error}") from error
    same = type(values)
    return Vector(data, name, lambda data: same(array(code, data)))  # type: ignore[call-arg]
