"""The Python client against a daemon that the test plays: nobody there, garbage, silence, a connection that breaks."""
import os
import socket
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import fibocast
from fibocast import client as client_module
from fibocast.client_pb2 import CODE_INVALID, CODE_REFUSED, Request, Response


def framed(message):
    body = message.SerializeToString()
    return len(body).to_bytes(4, "little") + body


class FakeDaemon:
    """Greets, then answers with what `answer(request)` gives: a Response, bytes as they are, or None to hang up."""

    def __init__(self, answer, default_deadline_ns=0, payload_limit=0):
        self.answer = answer
        self.payload_limit = payload_limit
        self.default_deadline_ns = default_deadline_ns
        self.requests = []
        self.folder = tempfile.TemporaryDirectory(prefix="fibocast-python-")
        self.path = str(Path(self.folder.name) / "socket")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(1)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return
        with connection, connection.makefile("rb") as stream:
            while length := stream.read(4):
                request = Request.FromString(stream.read(int.from_bytes(length, "little")))
                self.requests.append(request)
                answer = self.greeting(request) if request.HasField("hello") else self.answer(request)
                if answer is None:
                    return
                connection.sendall(answer if isinstance(answer, bytes) else framed(answer))

    def greeting(self, request):
        response = Response(id=request.id)
        response.welcome.major, response.welcome.rank, response.welcome.size = 1, 1, 3
        response.welcome.default_deadline_ns = self.default_deadline_ns
        response.welcome.payload_limit = self.payload_limit
        return response

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(30)
        self.folder.cleanup()


def opened(request):
    response = Response(id=request.id)
    response.group.name, response.group.rank, response.group.size = request.open_group.name, 1, 3
    return response


class Connecting(unittest.TestCase):
    def test_no_daemon(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(fibocast.Unavailable, "is fibocastd up"):
                fibocast.connect(folder + "/nobody")
            with self.assertRaisesRegex(fibocast.Invalid, "107 bytes"):
                fibocast.connect(folder + "/" + "x" * 200)

    def test_the_environment_names_the_socket(self):
        with mock.patch.dict(os.environ, {"FIBOCAST_SOCKET": ""}), self.assertRaisesRegex(fibocast.Invalid, "SOCKET"):
            fibocast.connect()
        with FakeDaemon(opened) as daemon, mock.patch.dict(os.environ, {"FIBOCAST_SOCKET": daemon.path}):
            with fibocast.connect(program="me") as client:
                self.assertEqual((client.rank, client.size), (1, 3))
                self.assertEqual(client.open("gate").name, "gate")
            hello = daemon.requests[0].hello
            self.assertEqual((hello.major, hello.minor, hello.program), (1, 0, "me"))

    def test_another_version_is_refused(self):
        def refuse(request):
            response = Response(id=request.id)
            response.status.code, response.status.sentence = CODE_REFUSED, "the client speaks version 1"
            return response

        with FakeDaemon(opened) as daemon:
            daemon.greeting = refuse
            with self.assertRaisesRegex(fibocast.Refused, "version 1"):
                fibocast.connect(daemon.path)


class Answers(unittest.TestCase):
    def check(self, answer, kind, pattern, call=lambda client: client.open("all")):
        with FakeDaemon(answer) as daemon, fibocast.connect(daemon.path) as client:
            with self.assertRaisesRegex(kind, pattern):
                call(client)
            with self.assertRaisesRegex(fibocast.Unavailable, pattern):
                client.status()  # the same reason again

    def test_garbage(self):
        self.check(lambda _: b"\x05\0\0\0\xff\xff\xff\xff\xff", fibocast.Unavailable, "not Fibocast's protocol")

    def test_an_answer_of_impossible_length(self):
        self.check(lambda _: b"\xff\xff\xff\xff", fibocast.Unavailable, "4294967295 bytes")
        self.check(lambda _: b"\0\0\0\0", fibocast.Unavailable, "0 bytes")

    def test_the_daemon_hangs_up(self):
        self.check(lambda _: None, fibocast.Unavailable, "it closed the connection")

    def test_the_daemon_says_why_it_hangs_up(self):
        complaint = Response(id=0)
        complaint.status.code, complaint.status.sentence = CODE_INVALID, "a frame of impossible length"
        answers = iter([framed(complaint), None])
        self.check(lambda _: next(answers), fibocast.Unavailable, "impossible length",
                   lambda client: (self.swallow(client), client.status()))

    @staticmethod
    def swallow(client):
        """The first call is never answered; it is given up, and the cancellation makes the daemon hang up."""
        with mock.patch.object(client_module, "_PATIENCE_S", 0):
            try:
                client.receive(1, deadline=0.2)
            except fibocast.Unavailable:
                pass

    def test_an_answer_in_pieces_and_with_others(self):
        def answer(request):
            foreign = Response(id=request.id + 1000)
            return framed(foreign) + framed(opened(request))

        with FakeDaemon(answer) as daemon, fibocast.connect(daemon.path) as client:
            self.assertEqual(client.open("one").name, "one")
            self.assertEqual(client.open("two").name, "two")

    def test_a_daemon_that_is_stopped(self):
        with FakeDaemon(lambda _: b"") as daemon, fibocast.connect(daemon.path) as client:
            with mock.patch.object(client_module, "_PATIENCE_S", 0), \
                    self.assertRaisesRegex(fibocast.Unavailable, "is it stopped"):
                client.receive(1, deadline=0.05)
            client.close()
            daemon.thread.join(30)
            self.assertEqual([r.WhichOneof("body") for r in daemon.requests], ["hello", "receive", "cancel"])

    def test_a_stopped_daemon_ends_calls_that_give_no_deadline(self):
        with FakeDaemon(lambda _: b"", 1_000_000) as daemon, fibocast.connect(daemon.path) as client, \
                mock.patch.object(client_module, "_PATIENCE_S", 0):
            for call in (lambda: client.receive(1), lambda: client.send(2, 1, b""),
                         lambda: client.create_group("n", [0, 2]), lambda: client.plan_group("n")):
                with self.assertRaisesRegex(fibocast.Unavailable, "is it stopped"):
                    call()

    def test_too_large_for_this_client(self):
        with FakeDaemon(opened) as daemon, fibocast.connect(daemon.path, max_message=1000) as client:
            with self.assertRaisesRegex(fibocast.Invalid, "at most 1000"):
                client.send(0, 1, b"x" * 1000)
            self.assertEqual(client.open("goes on").size, 3)

    def test_too_large_for_the_daemon(self):
        with FakeDaemon(opened, payload_limit=1000) as daemon, fibocast.connect(daemon.path) as client:
            group = client.open("g")
            with self.assertRaisesRegex(fibocast.Invalid, "^message to rank 2: too many bytes"):
                client.send(2, 1, b"x" * 1001)
            with self.assertRaisesRegex(fibocast.Invalid, "^multicast 'g' \\(label 'big'\\): too many bytes"):
                group.multicast(1, b"x" * 1001, label="big")
            self.assertEqual(client.payload_limit, 1000)
            client.send(2, 1, b"x" * 1000)
        bodies = [request.WhichOneof("body") for request in daemon.requests]
        self.assertEqual(bodies, ["hello", "open_group", "send"])

    def test_statuses_become_exceptions(self):
        for code in fibocast.Code:
            def answer(request, code=code):
                response = Response(id=request.id)
                response.status.code, response.status.sentence = int(code), "why"
                response.status.ranks.extend([2, 5])
                return response

            if code == fibocast.Code.OK:
                continue
            with FakeDaemon(answer) as daemon, fibocast.connect(daemon.path) as client:
                with self.assertRaises(fibocast.Error) as caught:
                    client.open("all")
                self.assertEqual((caught.exception.code, str(caught.exception), caught.exception.ranks),
                                 (code, "why", (2, 5)))

    def test_what_is_asked(self):
        def answer(request):
            response = Response(id=request.id)
            if request.HasField("open_group"):
                return opened(request)
            response.outcome.payload = request.operate.payload
            return response

        with FakeDaemon(answer) as daemon, fibocast.connect(daemon.path) as client:
            client.open("g").reduce(2, [1], "max", deadline=1.5, algorithm="kary:3", label="why not", type="int32")
            asked = daemon.requests[2].operate
            self.assertEqual((asked.group, asked.kind, asked.root, asked.deadline_ns, asked.label, asked.algorithm,
                              asked.tree, asked.parameter, asked.element_type, asked.combine_operator, asked.payload),
                             ("g", 3, 2, 1_500_000_000, "why not", 1, 3, 3, 1, 2, b"\x01\0\0\0"))


if __name__ == "__main__":
    unittest.main()
