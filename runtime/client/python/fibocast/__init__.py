"""Barriers, multicasts and the other operations of a cluster, through the daemon of this host.

    import fibocast

    with fibocast.connect() as client:                  # the daemon of FIBOCAST_SOCKET
        group = client.open("all")
        group.barrier(deadline=5.0)                     # seconds
        total = group.allreduce([0.5, 1.5], "sum")      # the same bits at every rank
        client.send(1, tag=7, data=b"hello")
        try:
            group.barrier(deadline=5.0)
        except fibocast.DeadlineExceeded as late:
            print(late, late.ranks)                     # who has not come

Every member of a group makes the same calls in the same order. One that raises Invalid counts for nothing: the next
call is made in its place, so repeat it as it should be where the other ranks were not refused. All others count.
A call returns what this rank gets, or raises an Error that says why in one sentence. Deadlines are seconds from now, or
a timedelta; without one the daemon's default holds (30 s).

Thread rule: one thread at a time for a Client and its groups; a second one is refused. Client.cancel() and
Client.close() may be called from any thread, or from a signal handler, and end the call that is under way.
"""
from fibocast.client import Client, connect
from fibocast.errors import (Cancelled, Code, DeadlineExceeded, Error, Failed, Invalid, Mismatch, Partitioned, PeerLost,
                             Refused, Stale, Unavailable, WouldBlock)
from fibocast.group import Group
from fibocast.info import GivenTree, GroupInfo, Message, NodeInfo, Outcome, PeerInfo, SlowRank, Tree
from fibocast.shares import Share

__all__ = [
    "Cancelled", "Client", "Code", "DeadlineExceeded", "Error", "Failed", "GivenTree", "Group", "GroupInfo", "Invalid",
    "Message", "Mismatch", "NodeInfo", "Outcome", "Partitioned", "PeerInfo", "PeerLost", "Refused", "Share", "SlowRank",
    "Stale", "Tree", "Unavailable", "WouldBlock", "connect",
]
