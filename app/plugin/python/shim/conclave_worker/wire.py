"""The stream to Conclave: one JSON message per line, on descriptors of our own.

`claim` takes the process's standard input and output away from the plugin: the
wire moves to private descriptors, descriptor 0 reads as empty, and descriptor 1
is pointed at 2, the plugin's log. After that nothing a plugin or its child
processes print can break the conversation.
"""

import os
from _thread import allocate_lock

from . import codec

# A line may be 4 MiB on the wire (docs/WIRE.md); what the worker sends stays a
# little below, since the bound counts the newline and the envelope too.
MAX_LINE = 4 * 1024 * 1024 - 4096


class Closed(Exception):
    """The stream to Conclave has ended."""


class HostError(Exception):
    """Conclave refused or could not do what was asked of it."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code = code
        self.data = data or {}


class Wire:
    """One end of the conversation. Methods may be called from any thread."""

    def __init__(self, fd_in, fd_out):
        self._in = open(fd_in, "rb", buffering=1 << 16)
        self._out = fd_out
        self._write = allocate_lock()
        self._state = allocate_lock()
        self._waiting = {}  # id of a request to Conclave → what to call with its answer
        self._next = 0
        self._closed = False

    @classmethod
    def claim(cls):
        """Takes descriptors 0 and 1 for the wire and leaves harmless ones behind."""
        wire = cls(os.dup(0), os.dup(1))
        empty, other = os.pipe()
        os.close(other)
        os.dup2(empty, 0)
        os.close(empty)
        os.dup2(2, 1)
        return wire

    def read(self):
        """Returns the next message, or None at the end. Blocks.

        A line that is not a JSON object is answered with a parse error and
        skipped; answers to our own requests are taken out of the stream.
        """
        for line in self._in:
            try:
                message = codec.loads(line)
            except (ValueError, RecursionError) as err:
                self.error(None, -32700, "The line is not JSON: %s." % err)
                continue
            if type(message) is not dict:
                self.error(None, -32600, "A message is a JSON object.")
                continue
            if "method" in message:
                return message
            self._answered(message)
        self._end()
        return None

    def send(self, message):
        """Writes one message. Silently does nothing once the other side is gone."""
        message["jsonrpc"] = "2.0"
        self.send_line(codec.dumps(message) + b"\n")

    def send_line(self, data):
        with self._write:
            try:
                sent = os.write(self._out, data)
                while sent < len(data):
                    sent += os.write(self._out, memoryview(data)[sent:])
            except OSError:
                self._closed = True

    def reply(self, id, result):
        self.send({"id": id, "result": result})

    def error(self, id, code, message, data=None):
        body = {"code": code, "message": message}
        if data is not None:
            body["data"] = data
        self.send({"id": id, "error": body})

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def log(self, level, logger, text):
        self.notify("notifications/message", {"level": level, "logger": logger, "data": text})

    # -- requests to Conclave (docs/WIRE.md, section 5) --

    def ask(self, capability, args, call, answered):
        """Sends a request; `answered(value, error)` is called once, on any thread."""
        params = {"capability": capability, "args": args}
        if call:
            params["call"] = call
        with self._state:
            if self._closed:
                raise Closed("Conclave is gone")
            self._next += 1
            id = "w%d" % self._next
            self._waiting[id] = answered
        self.send({"id": id, "method": "conclave/host", "params": params})

    def request(self, capability, args, call=None):
        """Asks and waits. Returns the value or raises HostError or Closed."""
        done, box = allocate_lock(), []
        done.acquire()

        def answered(value, error):
            box.append((value, error))
            done.release()

        self.ask(capability, args, call, answered)
        done.acquire()
        value, error = box[0]
        if error is not None:
            raise error
        return value

    def _answered(self, message):
        with self._state:
            answered = self._waiting.pop(message.get("id"), None)
        if answered is None:
            return
        error = message.get("error")
        if error is None:
            answered(message.get("result"), None)
        else:
            answered(None, HostError(error.get("code"), error.get("message") or "refused", error.get("data")))

    def _end(self):
        with self._state:
            self._closed = True
            waiting, self._waiting = self._waiting, {}
        for answered in waiting.values():
            answered(None, Closed("Conclave is gone"))
