"""The life of one call: asked, running, ended exactly once.

Whoever ends a call first answers it: the function's return, its exception, its
deadline, a cancellation. The others find it over and do nothing.
"""

import time
from _thread import allocate_lock

from . import results, streams


class BadArguments(Exception):
    """Arguments that do not fit: one line for each problem."""

    def __init__(self, lines):
        super().__init__("; ".join(lines))
        self.lines = lines


class Call:
    """One tools/call request. Ending it is safe from any thread."""

    def __init__(self, worker, id, params):
        meta = params.get("_meta")
        self.meta = meta if type(meta) is dict else {}
        self.worker = worker
        self.id = id  # of the JSON-RPC request
        self.name = params.get("name")
        self.arguments = params.get("arguments")
        self.tool = None
        self.call_id = self.meta.get("conclave/call-id") or ""
        self.printed = streams.Printed()
        self.began = time.time()
        self.steps = 0  # progress notes sent
        self.asked = set()  # the questions to a person that it stands still for
        self.still = 0  # since when, and the deadline that it had then
        self.due = 0
        self.interrupt = None  # stops the running code; set while it runs
        self._lock = allocate_lock()
        self._over = False

    @property
    def over(self):
        return self._over

    def deadline(self):
        """Returns the Unix time by which it must be answered, or None."""
        ms = self.meta.get("conclave/deadline-ms")
        return ms / 1000 if type(ms) in (int, float) else None

    def move(self, question, over, ms):
        """Stands still for a question to a person: until it and all others are over, or for so many milliseconds.

        Returns the new deadline, or None if it stays."""
        deadline = self.deadline()
        if deadline is None or (question in self.asked) != over:
            return None  # it began later
        now = time.time()
        if over:
            self.asked.discard(question)
            if self.asked:
                return None
            stood = now - self.still
        else:
            if not self.asked:
                self.still, self.due = now, deadline
            self.asked.add(question)
            stood = now - self.still + ms / 1000
        self.meta["conclave/deadline-ms"] = (self.due + stood) * 1000
        return self.deadline()

    def begin(self, interrupt):
        """Marks it as running. Returns False when it has been ended already."""
        with self._lock:
            if not self._over:
                self.interrupt = interrupt
            return not self._over

    def end(self, outcome):
        """Answers with a results.Outcome. Returns False when it was over before."""
        forced = outcome.forced
        with self._lock:
            if self._over:
                return False
            self._over = True
            interrupt, self.interrupt = self.interrupt, None
        self.worker.ended(self)
        streams.log.end(self.printed)
        try:
            line = outcome.line(self.id, self.printed.text())
        except Exception as err:  # no memory to write it down with, most likely
            outcome = results.unsayable(err)
            line = outcome.line(self.id, "")
        self.worker.wire.send_line(line)
        if interrupt is not None and forced:
            interrupt()
        return True

    def time_out(self):
        """Ends it because its deadline has passed."""
        took = results.seconds((self.deadline() or self.began) - self.began)
        self.end(results.Outcome("timeout", "Error: %s took longer than %s and was stopped" % (self.name, took), forced=True))

    def cancel(self, reason):
        """Ends it because nobody waits for it any more."""
        self.end(results.Outcome("cancelled", "Cancelled: %s" % (reason or "it was stopped"), forced=True))
