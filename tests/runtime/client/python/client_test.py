"""What the Python client promises beside the results: kinds of vectors, messages, groups, and how calls fail.

Argument: the folder of the programs.
"""
import os
import signal
import sys
import threading
import time
import unittest
from array import array
from datetime import timedelta

from clusters import Background, Cluster
import fibocast
from fibocast import GivenTree, Share, Tree

BINARIES = sys.argv.pop()
NODES = 4

try:
    import numpy
except ImportError:
    numpy = None


def wait_until_under_way(client, call):
    while not client._connection._in_use.locked() and call.thread.is_alive():
        call.thread.join(0.01)


def wait_until_called(cluster, rank):
    """A call is under way at the daemon of this rank."""
    with cluster.client(rank) as watcher:
        end = time.monotonic() + 30
        while watcher.status().counters["now_requests"] == 0 and time.monotonic() < end:
            time.sleep(0.001)


class WithDaemons(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(BINARIES, NODES)
        cls.addClassCleanup(cls.cluster.close)

    def at_each_rank(self, work, ranks=None):
        return self.cluster.at_each_rank(work, ranks)

    def at_each_member(self, name, work):
        return self.at_each_rank(lambda client, _: work(client.open(name)))


class Values(WithDaemons):
    def test_a_vector_comes_back_as_it_was_given(self):
        given = [[1, 2], (1, 2), [0.5, 2.0], array("f", [1, 2]), array("q", [1, 2])]

        def work(group):
            return [group.allreduce(values) for values in given]

        for results in self.at_each_member("kinds", work):
            self.assertEqual(results, [[4, 8], (4, 8), [2.0, 8.0], array("f", [4, 8]), array("q", [4, 8])])
            self.assertIs(type(results[0][0]), int)

    def test_bytes_need_a_type(self):
        data = array("i", [-3, 5]).tobytes()
        for result in self.at_each_member("typed", lambda g: g.allreduce(bytearray(data), "min", type="int32")):
            self.assertEqual(result, bytearray(data))
        for result in self.at_each_member("bits", lambda g: g.allreduce(bytes([1 << g.rank]), "or")):
            self.assertEqual(result, b"\x0f")
        for result in self.at_each_member("view", lambda g: g.allreduce(memoryview(array("d", [g.rank])), "max")):
            self.assertEqual(result.tolist(), [NODES - 1.0])

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy(self):
        def work(group):
            grid = numpy.arange(6, dtype=numpy.float64).reshape(2, 3)
            halves = group.divide(1, grid.ravel() if group.rank == 1 else numpy.empty(0))
            return group.allreduce(grid), group.gather(0, grid[:, ::2]), halves

        results = self.at_each_member("numpy", work)
        for total, _, _ in results:
            numpy.testing.assert_array_equal(total, NODES * numpy.arange(6.0).reshape(2, 3))
            total[0, 0] = 1  # and may be written
        parts = [numpy.frombuffer(part) for part in numpy.split(numpy.frombuffer(results[0][1], "u1"), NODES)]
        self.assertEqual([part.tolist() for part in parts], [[0, 2, 3, 5]] * NODES)
        self.assertEqual(sorted(numpy.concatenate([part for _, _, part in results])), list(range(6)))

    def test_an_operator_of_ones_own_need_not_commute(self):
        def work(group):
            rank = group.rank
            join = lambda left, right: left + right  # noqa: E731
            take = lambda left, right: [10 * left[0] + right[0]]  # noqa: E731
            return (group.reduce_with(2, bytes([65 + rank]), join), group.allreduce_with([rank + 1], take),
                    group.allreduce_with([], take))

        for rank, result in enumerate(self.at_each_member("own", work)):
            self.assertEqual(result, (b"ABCD" if rank == 2 else b"", [1234], []))

    def test_blocks(self):
        def work(group):
            mine = group.scatter(1, [b"a0", b"b1", b"c2", b"d3"] if group.rank == 1 else b"")
            return mine, [bytes(block) for block in group.blocks(group.allgather(mine))]

        for rank, (mine, everybodys) in enumerate(self.at_each_member("blocks", work)):
            self.assertEqual(mine, everybodys[rank])
            self.assertEqual(everybodys, [b"a0", b"b1", b"c2", b"d3"])

    def test_large_payloads_cross_the_socket_in_pieces(self):
        data = os.urandom(8 << 20)
        results = self.at_each_member("large", lambda g: g.multicast(0, data if g.rank == 0 else b""))
        for rank, result in enumerate(results):
            self.assertTrue(result == (b"" if rank == 0 else data))

    def test_what_cannot_be_sent_is_a_sentence(self):
        with self.cluster.client(0) as client:
            group = client.open("alone")
            wrong = [
                lambda: group.allreduce(["one"]), lambda: group.allreduce([1 << 70]), lambda: group.allreduce(5),
                lambda: group.allreduce([1.5], "and"), lambda: group.allreduce([1], "median"),
                lambda: group.allreduce(b"1234", "sum"), lambda: group.allreduce(b"123", "sum", type="int32"),
                lambda: group.allreduce([1], type="int128"), lambda: group.allreduce(array("h", [1])),
                lambda: group.allreduce(array("d", [1]), type="float"), lambda: group.allreduce([1], "none"),
                lambda: group.alltoall(b"12345"), lambda: group.scatter(0, [b"1", b"2"]), lambda: group.multicast(0, 7),
                lambda: group.barrier(algorithm="quantum"), lambda: group.barrier(deadline=0),
                lambda: group.barrier(deadline=timedelta(seconds=-1)), lambda: group.barrier(deadline=float("nan")),
                lambda: group.multicast(-1), lambda: group.multicast(99, b""), lambda: group.conquer(0, 9, [1]),
                lambda: group.share(7, 10), lambda: group.share(0, 1 << 33), lambda: group.blocks(b"12345"),
                lambda: client.send(99, 1, b""), lambda: client.send(1, -1, b""), lambda: client.send(1, 1 << 63, b""),
                lambda: client.create_group("x", [0, 99]), lambda: client.create_group("x", [-1]),
                lambda: client.create_group("x", [0, 1], policy="perhaps"),
            ]
            for call in wrong:
                with self.assertRaises(fibocast.Invalid) as caught:
                    call()
                self.assertEqual(caught.exception.code, fibocast.Code.INVALID)
                self.assertTrue(caught.exception.sentence)
        self.assertTrue(all(self.at_each_member("alone", lambda g: g.barrier(deadline=timedelta(seconds=30)))))


class MessagesAndGroups(WithDaemons):
    def test_messages_come_in_order(self):
        with self.cluster.client(0) as zero, self.cluster.client(1) as one:
            for i in range(5):
                zero.send(1, 11, bytes([i]))
            zero.try_send(1, 12, array("i", [7]))
            self.assertEqual(one.receive(12).data, array("i", [7]).tobytes())
            got = [one.receive(11, deadline=30) for _ in range(5)]
            self.assertEqual([(m.rank, m.tag, m.data) for m in got], [(0, 11, bytes([i])) for i in range(5)])
            with self.assertRaises(fibocast.DeadlineExceeded):
                one.receive(13, deadline=0.01)

    def test_no_room_is_told(self):
        with self.cluster.client(2) as two, self.cluster.client(3) as three:
            with self.assertRaises(fibocast.WouldBlock):
                for _ in range(10_000):
                    two.try_send(3, 14, b"x" * 5000)
            self.assertEqual(three.receive(14).data, b"x" * 5000)

    def test_groups_are_created_planned_and_removed(self):
        with self.cluster.client(0) as zero, self.cluster.client(3) as three:
            zero.create_group("some", [0, 2, 3], reduction=Tree("binomial"), distribution=Tree("fibo", 27_000, 88_000))
            zero.create_group("some", [0, 2, 3], if_missing=True)
            with self.assertRaises(fibocast.Invalid):
                zero.create_group("some", [0, 2], if_missing=True)
            zero.create_group("given", [0, 1, 2], tree=GivenTree([1, None, 1], [2, 0, 1]))
            zero.plan_group("some", distribution=Tree("kary:2"))
            group = three.open("some")
            self.assertEqual((group.name, group.rank, group.size, group.info.nodes), ("some", 2, 3, (0, 2, 3)))
            by_name = {info.name: info for info in zero.status().groups}
            self.assertEqual((by_name["given"].size, by_name["given"].policy), (3, "all"))

        def total(client, rank):
            name = {0: "some", 1: None, 2: "some", 3: "some"}[rank]
            return client.open(name).allreduce([rank]) if name else None

        self.assertEqual(self.at_each_rank(total), [[5], None, [5], [5]])
        self.assertEqual(self.at_each_rank(lambda c, r: c.join("given").allreduce([r]), 3), [[3]] * 3)
        with self.cluster.client(0) as zero:
            zero.remove_group("some")
            self.assertNotIn("some", [info.name for info in zero.status().groups])

    def test_status(self):
        with self.cluster.client(2) as client:
            node = client.status()
            self.assertEqual((node.rank, node.size, client.rank, client.size), (2, NODES, 2, NODES))
            self.assertEqual(node.pid, self.cluster.pids[2])
            self.assertEqual({peer.state for peer in node.peers}, {"connected"})
            self.assertEqual(node.connected, NODES - 1)
            self.assertGreater(len(node.counters), 5)

    def test_another_daemon_is_reached_through_this_one(self):
        with fibocast.connect(self.cluster.sockets[0], node=3) as client:
            self.assertEqual(client.rank, 3)
            self.assertEqual(client.status().pid, self.cluster.pids[3])

    def test_shares(self):
        shares = self.at_each_member("shared", lambda g: g.share(1, 10))
        self.assertEqual([shares[rank] for rank in (1, 2, 3, 0)], [Share(0, 3), Share(3, 2), Share(5, 3), Share(8, 2)])
        self.assertEqual(list(range(10))[shares[2].slice], [3, 4])

    def test_a_barrier_tells_who_came_last(self):
        def work(client, rank):
            group = client.open("last")
            if rank == 2:
                for other in (0, 1, 3):
                    wait_until_called(self.cluster, other)
            return group.barrier(algorithm="sequential", deadline=30)

        outcomes = self.at_each_rank(work)
        self.assertEqual([o.straggler for o in outcomes], [2] * NODES)
        self.assertGreater(outcomes[0].straggler_late_ns, 0)
        self.assertEqual({o.generation for o in outcomes}, {0})


class Failures(WithDaemons):
    def test_a_deadline_names_who_is_missing(self):
        both = threading.Barrier(2)

        def work(client, rank):
            if rank in (1, 3):
                return None
            group = client.open("late")
            both.wait(60)
            with self.assertRaises(fibocast.DeadlineExceeded) as caught:
                group.barrier(deadline=0.7, label="start of work")
            return caught.exception

        errors = self.at_each_rank(work)
        for error in (errors[0], errors[2]):
            self.assertEqual(error.ranks, (1, 3))
            self.assertIn("start of work", str(error))

    def test_members_that_differ(self):
        ready = threading.Barrier(NODES)  # who opens a group after a mismatch begins with the generation behind it

        def work(client, rank):
            group = client.open("differ")
            ready.wait(60)
            with self.assertRaises(fibocast.Mismatch):
                group.allreduce([1] * (2 if rank == 1 else 3), deadline=30)
            return group.allreduce([1])

        self.assertEqual(self.at_each_rank(work), [[NODES]] * NODES)

    def test_cancel_ends_the_call_and_the_client_goes_on(self):
        with self.cluster.client(0) as client:
            client.cancel()  # nothing is under way
            call = Background(lambda: client.receive(99, deadline=50))
            while call.thread.is_alive():  # it may not have begun yet
                client.cancel()
                call.thread.join(0.01)
            self.assertIsInstance(call.wait(), fibocast.Cancelled)
            client.send(0, 99, b"after all")
            self.assertEqual(client.receive(99).data, b"after all")

    def test_close_ends_the_call(self):
        client = self.cluster.client(1)
        call = Background(lambda: client.open("closed").barrier(deadline=50))
        wait_until_under_way(client, call)
        client.close()
        client.close()
        self.assertIsInstance(call.wait(), (fibocast.Cancelled, fibocast.Unavailable))
        with self.assertRaisesRegex(fibocast.Unavailable, "closed"):
            client.status()

    def test_one_thread_at_a_time(self):
        with self.cluster.client(1) as client:
            call = Background(lambda: client.receive(98, deadline=50))
            wait_until_under_way(client, call)
            with self.assertRaisesRegex(fibocast.Invalid, "one thread"):
                client.status()
            with self.cluster.client(0) as other:
                other.send(1, 98, b"done")
            self.assertEqual(call.wait().data, b"done")

    def test_an_interrupted_call_is_given_up(self):
        """Ctrl-C in a call: the client is usable, and the daemon has forgotten the call."""
        def interrupt(*_):
            raise KeyboardInterrupt

        with self.cluster.client(0) as client:
            former = signal.signal(signal.SIGALRM, interrupt)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                with self.assertRaises(KeyboardInterrupt):
                    client.receive(97, deadline=50)
            finally:
                signal.signal(signal.SIGALRM, former)
            client.send(0, 97, b"for the next one")
            self.assertEqual(client.receive(97, deadline=30).data, b"for the next one")


class Payloads(unittest.TestCase):
    def test_that_can_never_fit_are_refused_with_one_sentence(self):
        """However much too large: the connection stays. The C++ library says the same: end_to_end/multicast_test.cc."""
        sentence = ": too many bytes for the budget of this node; raise limits.payload_bytes"
        limit = 4 << 20
        with Cluster(BINARIES, 1, "--settings", f"limits.payload_bytes={limit}") as cluster, \
                cluster.client(0) as client:
            group = client.open("all")
            for size in (limit, limit + 1, limit + (1 << 17), 40 << 20):  # the daemon refuses the first
                data = bytes(size)
                for about, call in (("message to rank 0", lambda: client.send(0, 1, data)),
                                    ("multicast 'all'", lambda: group.multicast(0, data)),
                                    ("multicast 'all' (label 'big')", lambda: group.multicast(0, data, label="big"))):
                    with self.assertRaises(fibocast.Invalid) as caught:
                        call()
                    self.assertEqual((caught.exception.code, str(caught.exception)),
                                     (fibocast.Code.INVALID, about + sentence), size)
            self.assertEqual(client.payload_limit, limit)
            group.barrier(deadline=30)


class Losses(unittest.TestCase):
    def test_a_daemon_that_is_killed_during_a_call(self):
        with Cluster(BINARIES, 3) as cluster, cluster.client(0) as zero, cluster.client(1) as one:
            calls = [Background(client.open("all").barrier) for client in (zero, one)]  # rank 2 never comes
            for rank in (0, 1):
                wait_until_called(cluster, rank)
            os.kill(cluster.pids[1], signal.SIGKILL)
            results = [call.wait() for call in calls]
            self.assertIsInstance(results[0], fibocast.PeerLost)
            self.assertEqual(results[0].ranks, (1,))
            self.assertIsInstance(results[1], fibocast.Unavailable)
            self.assertIn(cluster.sockets[1], str(results[1]))
            with self.assertRaises(fibocast.Unavailable):
                one.status()


    def test_a_group_that_goes_on_has_fewer_blocks(self):
        def work(client, rank):
            group = client.open("goes on")
            every = group.blocks(group.allgather(bytes([65 + rank, 66]), deadline=30), 2)
            joined = group.allreduce_with(bytes([65 + rank, 67]), lambda left, right: left + right, deadline=30)
            mine = group.scatter(0, [b"a1234", b"b1234", b"c1234"] if rank == 0 else b"", deadline=30)
            with self.assertRaises(fibocast.Invalid):
                group.alltoall(b"12345678901", deadline=30)
            return [bytes(block) for block in every], joined, mine

        with Cluster(BINARIES, 4) as cluster:
            with cluster.client(0) as zero:
                zero.create_group("goes on", range(4), policy="survivors")
            os.kill(cluster.pids[3], signal.SIGKILL)
            cluster.at_each_rank(lambda client, _: client.open("goes on").barrier(deadline=30), 3)
            results = cluster.at_each_rank(work, 3)
            for rank, (every, joined, mine) in enumerate(results):
                self.assertEqual((every, joined), ([b"AB", b"BB", b"CB"], b"ACBCCC"))
                self.assertEqual(mine, [b"a1234", b"b1234", b"c1234"][rank])


if __name__ == "__main__":
    unittest.main()
