"""Plain values: how an operation ended, what a node knows of itself and of its groups, and trees."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Sequence

from fibocast import client_pb2 as wire

_NO_RANK = 0xFFFFFFFF


@dataclass(frozen=True)
class Outcome:
    """Times are CLOCK_MONOTONIC of the daemon's host in nanoseconds, 0 where not known."""

    generation: int
    arrived_at_ns: int
    activated_at_ns: int
    first_send_at_ns: int
    lateness_ns: int
    straggler: int | None = None  # of a barrier: the rank that came last, where known
    straggler_late_ns: int = 0  # ... after the last one of the others

    @staticmethod
    def of(message: wire.Outcome) -> Outcome:
        last = message.straggler if message.HasField("straggler") else None
        return Outcome(message.generation, message.arrived_at_ns, message.activated_at_ns, message.first_send_at_ns,
                       message.lateness_ns, last, message.straggler_late_ns)


@dataclass(frozen=True)
class Message:
    """An application message: `rank` is the sender's in the cluster."""

    rank: int
    tag: int
    data: bytes


@dataclass(frozen=True)
class Tree:
    """A tree that is a formula, as `fibocast plan tree` names it: fibo, binomial, kary:K, ...; s and r in ns."""

    name: str
    s: int = 0
    r: int = 0


@dataclass(frozen=True)
class GivenTree:
    """Any tree of a group's ranks: the parent of each, None for the root; in which order parents send to children."""

    parents: Sequence[int | None]
    order: Sequence[int] = ()

    def fill(self, message: wire.GivenTree) -> None:
        message.parents.extend(_NO_RANK if parent is None else parent for parent in self.parents)
        message.order.extend(self.order)


@dataclass(frozen=True)
class SlowRank:
    """A rank that came last to barriers."""

    rank: int
    times: int
    total_ns: int
    largest_ns: int
    unseen_ns: int


@dataclass(frozen=True)
class GroupInfo:
    name: str
    rank: int  # of this node in the group
    size: int  # with participants: all but the routers
    participants: int  # local ones at each node
    next_generation: int
    nodes: tuple[int, ...]  # in the order of ranks
    routers: int = 0
    policy: str = "all"
    epoch: int = 0
    live: int = 0  # how many go on now
    outside: bool = False  # this node is not one of them, or cannot reach them
    slowest: tuple[SlowRank, ...] = ()  # the largest total first

    @staticmethod
    def of(message: wire.Group) -> GroupInfo:
        slowest = [SlowRank(s.rank, s.times, s.total_ns, s.largest_ns, s.unseen_ns) for s in message.slowest]
        slowest.sort(key=lambda row: -row.total_ns)
        return GroupInfo(message.name, message.rank, message.size - message.routers, message.participants,
                         message.next_generation, tuple(message.ranks), message.routers, message.policy, message.epoch,
                         message.live, message.outside, tuple(slowest))


@dataclass(frozen=True)
class PeerInfo:
    rank: int
    address: str
    state: str  # connected, connecting, lost, refused, closed
    frames_sent: int
    frames_received: int
    resends: int
    bare_acks: int
    duplicates: int
    round_trip_ns: int
    restarts: int


@dataclass(frozen=True)
class NodeInfo:
    rank: int
    size: int
    cluster: str
    transport: str
    version: str
    connected: int  # peers, this node not counted
    pid: int
    payload_bytes_used: int
    clients: int
    security: str  # for people: how its frames are protected
    keys: tuple[str, ...]  # names of its keys, the primary first
    peers: tuple[PeerInfo, ...] = ()
    groups: tuple[GroupInfo, ...] = ()
    counters: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def of(m: wire.NodeStatus) -> NodeInfo:
        peers = tuple(
            PeerInfo(p.rank, p.address, p.state, p.frames_sent, p.frames_received, p.resends, p.bare_acks, p.duplicates,
                     p.round_trip_ns, p.restarts) for p in m.peers)
        return NodeInfo(m.rank, m.size, m.cluster, m.transport, m.version, m.connected, m.pid, m.payload_bytes_used,
                        m.clients, m.security, tuple(m.keys), peers, tuple(GroupInfo.of(g) for g in m.groups),
                        dict(m.counters))
