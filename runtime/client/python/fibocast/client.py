"""One connection to a daemon, and one participant of every group it opens."""
from __future__ import annotations

import math
import os
import random
import time
from datetime import timedelta
from types import TracebackType
from typing import Any, Sequence

from fibocast.client_pb2 import Request, Response
from fibocast.connection import Connection
from fibocast.errors import Invalid, Refused
from fibocast.group import Deadline, Group
from fibocast.info import GivenTree, GroupInfo, Message, NodeInfo, Tree
from fibocast.values import BytesLike, to_bytes

_MAJOR, _MINOR = 1, 0  # of client.proto
_LONGEST_NS = 365 * 86_400 * 10**9
# A daemon that is alive answers by the deadline plus a few suspicion times; one that is stopped never does.
_PATIENCE_S = 60.0
_GREETING_S = 10.0
# Of members that try to make one group at a time each has what the others refuse: they try again, and not together.
_TRY_TO_MAKE_S, _FIRST_PAUSE_S, _LONGEST_PAUSE_S = 10.0, 0.032, 1.024
_MAX_MESSAGE = 1 << 30


def connect(path: str | None = None, *, program: str = "python", node: int | None = None,
            max_message: int = _MAX_MESSAGE) -> Client:
    """Connects to the daemon at this socket, or of FIBOCAST_SOCKET, and greets it.

    program      is for the daemon's log
    node         is the rank of the daemon that is meant, reached through the one at the socket
    max_message  bounds what is sent and received at a time, in bytes
    """
    path = path or os.environ.get("FIBOCAST_SOCKET")
    if not path:
        raise Invalid("no socket is known: give its path or set FIBOCAST_SOCKET")
    client = Client(Connection(path, max_message))
    try:
        client.greet(program, node)
    except BaseException:
        client.close()
        raise
    return client


class Client:
    """Made by connect(). A context manager: it is closed at the end of its `with`.

    Thread rule: one thread at a time; cancel() and close() from any.
    """

    rank = 0  # of the daemon in its cluster
    size = 0  # nodes in the cluster
    cluster = ""
    payload_limit = 0  # bytes: a request with more is refused, here as by the daemon; 0: it did not say
    _default_s = 0.0  # the daemon's deadline of calls that give none; 0: it did not say

    def __init__(self, connection: Connection):
        self._connection = connection

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """What is under way in another thread ends with Cancelled; later calls, of groups too, raise Unavailable."""
        self._connection.close()

    def cancel(self) -> None:
        """The call that is under way in another thread ends with Cancelled, unless it has its result already.

        The operation is counted all the same: the next call of this participant is the next operation.
        """
        self._connection.cancel()

    # -- groups

    def open(self, name: str, participants: int = 0) -> Group:
        """Becomes a participant of this group, which from now on numbers its own operations.

        `all`, and every name that nobody has created, is the group of all nodes. `participants`: local ones at each
        node; 0 is whatever the group has, or 1.
        """
        request = Request()
        request.open_group.name = name
        self.set_number(request.open_group, "participants", participants, "number of participants")
        info = GroupInfo.of(self.exchange(request, _GREETING_S).group)
        return Group(self, info, info.participants)

    def join(self, name: str, participants: int = 0) -> Group:
        """The group without a number of one's own, for callers that come and go: each operation joins the generation
        that is open at that time."""
        node = self.status()
        everybody = GroupInfo(name, node.rank, node.size, participants, 0, tuple(range(node.size)))
        info = next((group for group in node.groups if group.name == name), everybody)
        if info.rank >= info.size + info.routers:
            raise Invalid(f"node {self.rank} is not in group '{name}'")
        return Group(self, info, participants)

    def create_group(self, name: str, ranks: Sequence[int], *, participants: int = 1, reduction: Tree | None = None,
                     distribution: Tree | None = None, tree: GivenTree | None = None, segment_bytes: int = 0,
                     routers: int = 0, policy: str = "", if_missing: bool = False) -> None:
        """Creates a group of these nodes, once, at one of its members; returns when all members have it.

        Trees that are not named are the daemon's plan. `routers`: so many of the last nodes have no participants.
        `policy`: all, survivors or quorum:K - what becomes of the group when members are lost (runtime/README.md).
        `if_missing`: one of this name that is like it, but for its trees, is as good: all members may ask at a time.
        """
        request = Request()
        create = request.create_group
        create.name, create.policy = name, policy
        self._set_ranks(create.ranks, ranks)
        self.set_number(create, "participants", participants, "number of participants")
        self.set_number(create, "routers", routers, "number of routers")
        self._set_trees(create, reduction, distribution, segment_bytes)
        if tree is not None:
            tree.fill(create.tree)
        create.if_missing = if_missing
        self._make(request)

    def _make(self, request: Request) -> None:
        until, longest = time.monotonic() + _TRY_TO_MAKE_S, _FIRST_PAUSE_S
        while True:
            try:
                self.exchange(request, None)
                return
            except Refused:
                pause = random.uniform(0.001, longest)
                if not request.create_group.if_missing or time.monotonic() + pause > until:
                    raise
                time.sleep(pause)
                longest = min(2 * longest, _LONGEST_PAUSE_S)

    def plan_group(self, name: str, *, reduction: Tree | None = None, distribution: Tree | None = None,
                   segment_bytes: int = 0) -> None:
        """A new plan for a group that somebody created, while its operations go on; ends when all members have it."""
        request = Request()
        request.plan_group.name = name
        self._set_trees(request.plan_group, reduction, distribution, segment_bytes)
        self.exchange(request, None)

    def remove_group(self, name: str) -> None:
        request = Request()
        request.remove_group.name = name
        self.exchange(request, _GREETING_S)

    def status(self) -> NodeInfo:
        """What the daemon knows of itself, its peers and its groups."""
        request = Request()
        request.get_status.SetInParent()
        return NodeInfo.of(self.exchange(request, _GREETING_S).node_status)

    # -- messages: delivered exactly once, per (sender, tag) in the order of send()

    def send(self, rank: int, tag: int, data: BytesLike, *, deadline: Deadline = None) -> None:
        """To a node of the cluster. Waits only for room in the daemon, never for the peer."""
        self._send(rank, tag, data, deadline, False)

    def try_send(self, rank: int, tag: int, data: BytesLike) -> None:
        """Raises WouldBlock instead of waiting for room."""
        self._send(rank, tag, data, None, True)

    def receive(self, tag: int, *, deadline: Deadline = None) -> Message:
        """The next message with this tag, from whomever."""
        request = Request()
        self.set_number(request.receive, "tag", tag, "tag")
        request.receive.deadline_ns = self.nanoseconds(deadline)
        message = self.exchange(request, deadline).message
        return Message(message.rank, message.tag, message.payload)

    def _send(self, rank: int, tag: int, data: BytesLike, deadline: Deadline, try_only: bool) -> None:
        request = Request()
        self.set_number(request.send, "rank", rank, "rank")
        self.set_number(request.send, "tag", tag, "tag")
        payload = to_bytes(data)
        self.check_fits(payload, f"message to rank {rank}")
        request.send.payload = payload
        request.send.deadline_ns = self.nanoseconds(deadline)
        request.send.try_only = try_only
        self.exchange(request, deadline)

    # -- for connect() and Group

    def greet(self, program: str, node: int | None) -> None:
        request = Request()
        request.hello.major, request.hello.minor, request.hello.program = _MAJOR, _MINOR, program
        if node is not None:
            self.set_number(request.hello, "node", node, "rank")
        until = time.monotonic() + _GREETING_S
        welcome = self._connection.exchange(request, until).welcome
        if node is not None and welcome.rank != node:
            raise Refused(f"the daemon at {self._connection.path} passes nothing on to others; start one of this "
                          "version")
        self.rank, self.size, self.cluster = welcome.rank, welcome.size, welcome.cluster
        self.payload_limit = welcome.payload_limit
        self._default_s = welcome.default_deadline_ns / 1e9

    def check_fits(self, payload: bytes, about: str) -> None:
        """The daemon would close the connection in the midst of the frame: its sentence is said instead."""
        if 0 < self.payload_limit < len(payload):
            raise Invalid(f"{about}: too many bytes for the budget of this node; raise limits.payload_bytes")

    def exchange(self, request: Request, deadline: Deadline) -> Response:
        """Without a deadline the daemon's default holds."""
        seconds = self.nanoseconds(deadline) / 1e9 or self._default_s
        return self._connection.exchange(request, time.monotonic() + seconds + _PATIENCE_S if seconds else math.inf)

    @staticmethod
    def nanoseconds(deadline: Deadline) -> int:
        """At most a year, and 0 for None."""
        if deadline is None:
            return 0
        seconds = deadline.total_seconds() if isinstance(deadline, timedelta) else deadline
        if not seconds > 0:
            raise Invalid(f"a deadline of {seconds} s: give more than 0 s, or None for the daemon's default")
        return max(1, _LONGEST_NS if seconds * 1e9 >= _LONGEST_NS else int(seconds * 1e9))

    @staticmethod
    def set_number(message: Any, field: str, value: int, what: str) -> None:
        """What does not fit the field is told in a sentence of ours."""
        try:
            setattr(message, field, value)
        except (ValueError, TypeError) as error:
            raise Invalid(f"{value!r} is no {what}") from error

    @staticmethod
    def _set_ranks(field: Any, ranks: Sequence[int]) -> None:
        try:
            field.extend(ranks)
        except (ValueError, TypeError) as error:
            raise Invalid(f"{list(ranks)[:16]!r} are no ranks") from error

    def _set_trees(self, message: Any, reduction: Tree | None, distribution: Tree | None, segment_bytes: int) -> None:
        for tree, field in ((reduction, "reduction"), (distribution, "distribution")):
            if tree is not None:
                spec = getattr(message, field)
                spec.name = tree.name
                self.set_number(spec, "s", tree.s, "time s in ns")
                self.set_number(spec, "r", tree.r, "time r in ns")
        self.set_number(message, "segment_bytes", segment_bytes, "number of bytes")
