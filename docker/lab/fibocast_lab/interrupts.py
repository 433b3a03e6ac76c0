"""Signals: they end a run in an orderly way, and do not disturb what takes things down."""
import signal
from contextlib import contextmanager

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt(*_):
    raise KeyboardInterrupt


@contextmanager
def handled_by(handler):
    before = [signal.signal(number, handler) for number in NUMBERS]
    try:
        yield
    finally:
        for number, old in zip(NUMBERS, before):
            signal.signal(number, old)


def interruptible():
    """SIGTERM and SIGHUP are as Ctrl-C for a block: what is up goes down."""
    return handled_by(interrupt)


def undisturbed():
    """Whoever presses Ctrl-C again while things are taken down does not stop that."""
    return handled_by(signal.SIG_IGN)
