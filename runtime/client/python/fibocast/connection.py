"""The application's end of the local socket: frames, the two buffers, one call at a time, and how it is given up."""
from __future__ import annotations

import math
import os
import select
import socket
import threading
import time

from google.protobuf.message import DecodeError

from fibocast.client_pb2 import CODE_OK, Request, Response
from fibocast.errors import Cancelled, Invalid, Unavailable, error_of

_LENGTH_BYTES = 4
_READ_BYTES = 256 << 10
_CLOSED = "the client was closed"


def _frame(message: Request) -> bytes:
    body: bytes = message.SerializeToString()
    return len(body).to_bytes(_LENGTH_BYTES, "little") + body


class Connection:
    """exchange() belongs to one thread at a time; cancel() and close() to any."""

    def __init__(self, path: str, max_message: int):
        self.path = path
        self._max_message = max_message
        self._in_use = threading.Lock()
        self._next_id = 1
        self._broken = ""  # why the connection is of no use any more
        self._complaint = ""  # what the daemon said before it closed the connection
        self._torn = False  # how far the socket was read or written is not known while this is set
        self._in, self._out, self._sent = bytearray(), bytearray(), 0
        self._cancel_wanted = self._closing = False
        self._socket = self._connect(path)
        self._woken, self._waker = socket.socketpair()
        for end in (self._socket, self._woken, self._waker):
            end.setblocking(False)

    @staticmethod
    def _connect(path: str) -> socket.socket:
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connected.connect(path)
        except OSError as error:
            connected.close()
            if error.errno is None:  # Python's own: it names no limit
                raise Invalid(f"the socket path '{path}' is longer than the system allows (107 bytes)") from error
            raise Unavailable(
                f"no daemon answers at {path} ({os.strerror(error.errno)}): is fibocastd up?") from error
        except BaseException:
            connected.close()
            raise
        return connected

    def exchange(self, request: Request, until: float = math.inf) -> Response:
        """Gives `request` its id, sends it and waits for the answer, until this time.monotonic() at the latest.

        Raises what the answer's status says.
        """
        if not self._in_use.acquire(blocking=False):
            raise Invalid("another thread is in a call of this client: one thread at a time, or a client for each")
        try:
            response = self._exchange(request, until)
        finally:
            self._in_use.release()
            if self._closing:
                self._shut_if_free()
        if response.status.code != CODE_OK:
            raise error_of(response.status.code, response.status.sentence, response.status.ranks)
        return response

    def cancel(self) -> None:
        """The call that is under way in another thread, if any, ends with Cancelled, or its result if that is there."""
        if self._in_use.locked():
            self._cancel_wanted = True
            self._wake()

    def close(self) -> None:
        """What is under way in another thread ends with Cancelled."""
        self._closing = True
        self._wake()
        self._shut_if_free()

    # -- one call

    def _exchange(self, request: Request, until: float) -> Response:
        if self._closing:
            raise Unavailable(_CLOSED)
        request.id = self._next_id
        self._next_id += 1
        frame = _frame(request)
        if len(frame) - _LENGTH_BYTES > self._max_message:
            raise Invalid(f"a request of {len(frame) - _LENGTH_BYTES} bytes is too large for this client: at most "
                          f"{self._max_message}; send less at a time, or connect with a larger max_message")
        self._cancel_wanted = False
        self._check()
        self._out += frame
        try:
            return self._await(request.id, until)
        except BaseException:  # Ctrl-C, too: the others need not wait for us
            self._give_up(request.id)
            raise

    def _await(self, wanted: int, until: float) -> Response:
        cancelled = False
        self._flush()
        while True:
            while (response := self._next_response()) is not None:
                if response.id == wanted:
                    return response  # an answer to what was given up before is dropped
                if response.id == 0:
                    self._complaint = response.status.sentence
            self._check()
            if self._closing:
                raise Cancelled(_CLOSED)
            if self._cancel_wanted and not cancelled:
                cancelled = True
                self._queue_cancel(wanted)
            if time.monotonic() >= until:
                raise Unavailable(f"the daemon at {self.path} does not answer: is it stopped?")
            self._wait(until)

    def _check(self) -> None:
        if self._torn:
            self._break("a call was interrupted in the middle of a message")
        if self._broken:
            raise Unavailable(self._broken)

    def _break(self, why: str) -> None:
        self._broken = f"lost the daemon at {self.path}: {self._complaint or why}"

    def _queue_cancel(self, request_id: int) -> None:
        request = Request()
        request.id = self._next_id
        self._next_id += 1
        request.cancel.id = request_id
        self._out += _frame(request)
        self._flush()

    def _give_up(self, request_id: int) -> None:
        if not self._torn and not self._broken:
            self._queue_cancel(request_id)

    # -- the socket

    def _wait(self, until: float) -> None:
        ready = select.poll()
        writing = self._sent < len(self._out)
        ready.register(self._socket, select.POLLIN | (select.POLLOUT if writing else 0))
        ready.register(self._woken, select.POLLIN)
        left = until - time.monotonic()
        events = dict(ready.poll(None if math.isinf(left) else max(0, math.ceil(left * 1000))))
        if self._woken.fileno() in events:
            self._drain_wakes()
        event = events.get(self._socket.fileno(), 0)
        if event & select.POLLOUT:
            self._flush()
        if event & ~select.POLLOUT and not self._broken:
            self._read()

    def _flush(self) -> None:
        while self._sent < len(self._out) and not self._broken:
            with memoryview(self._out) as all_bytes, all_bytes[self._sent:] as rest:
                try:
                    self._torn = True
                    self._sent += self._socket.send(rest, socket.MSG_NOSIGNAL)
                    self._torn = False
                except BlockingIOError:
                    self._torn = False
                    return
                except OSError as error:
                    self._torn = False
                    self._read_last_words()
                    self._break(os.strerror(error.errno or 0))
        self._out, self._sent = bytearray(), 0

    def _read(self) -> None:
        try:
            self._torn = True
            received = self._socket.recv(_READ_BYTES)
            self._in += received
            self._torn = False
            if not received:
                self._break("it closed the connection")
        except BlockingIOError:
            self._torn = False
        except OSError as error:
            self._torn = False
            self._break(os.strerror(error.errno or 0))

    def _read_last_words(self) -> None:
        """Why it closed the connection in the middle of a request."""
        self._read()
        while (response := self._next_response()) is not None:
            if response.id == 0:
                self._complaint = response.status.sentence

    def _next_response(self) -> Response | None:
        if len(self._in) < _LENGTH_BYTES:
            return None
        length = int.from_bytes(self._in[:_LENGTH_BYTES], "little")
        if not 0 < length <= self._max_message:
            self._reject(f"it announces an answer of {length} bytes; this client takes 1 to {self._max_message}")
            return None
        if len(self._in) < _LENGTH_BYTES + length:
            return None
        response = Response()
        try:
            with memoryview(self._in) as received, received[_LENGTH_BYTES:_LENGTH_BYTES + length] as body:
                response.MergeFromString(body)
        except DecodeError:
            self._reject("what it says is not Fibocast's protocol")
            return None
        del self._in[:_LENGTH_BYTES + length]
        return response

    def _reject(self, why: str) -> None:
        self._in.clear()
        self._break(why)

    # -- from other threads

    def _wake(self) -> None:
        try:
            self._waker.send(b"!")
        except OSError:
            pass  # awake already, or closed

    def _drain_wakes(self) -> None:
        try:
            while self._woken.recv(64):
                pass
        except BlockingIOError:
            pass

    def _shut_if_free(self) -> None:
        if self._in_use.acquire(blocking=False):
            for end in (self._socket, self._woken, self._waker):
                end.close()
            self._in_use.release()
