"""What a plugin prints: to the log, line by line, and to the record of the call.

`sys.stdout` and `sys.stderr` become text streams over descriptor 2. Printing is
attributed to the call in whose context it happens (a tool's own thread or task,
`asyncio.to_thread`, tasks it started); a bare thread has no call, and what it
prints is in the log alone, like everything printed past Python.
"""

import io
import os
import sys
from _contextvars import ContextVar
from _thread import allocate_lock

# The call that the running code belongs to, or None.
current = ContextVar("conclave_call", default=None)

MAX_PRINTED = 8 * 1024  # bytes kept for the record, the last ones
_MAX_LINE = 64 * 1024  # a longer line goes to the log in pieces


class Printed:
    """The last bytes that one call printed, and its unfinished line."""

    __slots__ = ("_kept", "_line")

    def __init__(self):
        self._kept = bytearray()
        self._line = bytearray()

    def add(self, data):
        """Keeps the tail of data; returns the whole lines now ready for the log."""
        self._kept += data
        if len(self._kept) > 4 * MAX_PRINTED:
            del self._kept[:-MAX_PRINTED]
        self._line += data
        end = self._line.rfind(b"\n") + 1
        if not end and len(self._line) > _MAX_LINE:
            end = len(self._line)
        ready = bytes(self._line[:end])
        del self._line[:end]
        return ready

    def text(self):
        """Returns what was printed: its last 8 KiB, beginning at a whole character."""
        tail = self._kept[-MAX_PRINTED:]
        while tail and len(tail) < len(self._kept) and tail[0] & 0xC0 == 0x80:
            del tail[0]
        return tail.decode("utf-8", "replace")

    def rest(self):
        """Returns the unfinished line, ended, for the log."""
        rest, self._line = bytes(self._line), bytearray()
        return rest + b"\n" if rest else b""


class _Log(io.RawIOBase):
    """The binary stream under `sys.stdout`: writes everything, or drops it."""

    def __init__(self):
        self._lock = allocate_lock()
        self._loose = Printed()  # printed outside of any call

    def writable(self):
        return True

    def fileno(self):
        return 2

    def write(self, data):
        data = bytes(data)
        call = current.get()
        with self._lock:
            self._out((call.printed if call is not None else self._loose).add(data))
        return len(data)

    def end(self, printed):
        """Ends a call's last line in the log."""
        with self._lock:
            self._out(printed.rest())

    def _out(self, data):
        try:
            while data:
                data = data[os.write(2, data):]
        except OSError:
            pass  # nobody reads the log any more


log = _Log()


class _Empty(io.RawIOBase):
    """Standard input: there is nobody to type."""

    def readable(self):
        return True

    def fileno(self):
        return 0

    def readinto(self, buffer):
        return 0


def _no_input(prompt=""):
    raise EOFError("a tool cannot ask with input(): nobody is at its keyboard; take it as a parameter")


def install():
    """Replaces the standard streams and `input`."""
    import builtins

    for name in ("stdout", "stderr"):
        stream = io.TextIOWrapper(log, encoding="utf-8", errors="backslashreplace", write_through=True)
        setattr(sys, name, stream)
        setattr(sys, "__%s__" % name, stream)
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(_Empty()), encoding="utf-8")
    builtins.input = _no_input
