"""Deadlines: one thread that calls back when something took too long.

The thread sleeps until the earliest deadline it knew when it fell asleep.
Adding a later one does not wake it, so a quick call costs it nothing.
"""

import time
from _thread import allocate_lock

from . import threads

_FOREVER = float("inf")


class Clock:
    """Calls back at deadlines. Methods may be called from any thread."""

    def __init__(self):
        self._lock = allocate_lock()
        self._bell = allocate_lock()
        self._bell.acquire()
        self._due = {}  # token → (monotonic seconds, callback)
        self._until = None  # when the thread will wake by itself; None before it runs

    def add(self, token, when, callback):
        """Calls callback() soon after `when` (time.monotonic) unless removed first."""
        with self._lock:
            self._due[token] = (when, callback)
            if self._until is None:
                self._until = when
                threads.start(threads.SYSTEM, self._run)
            elif when < self._until:
                self._until = when
                self._ring()

    def remove(self, token):
        self._due.pop(token, None)

    def _ring(self):
        try:
            self._bell.release()
        except RuntimeError:
            pass  # it is ringing already

    def _run(self):
        while True:
            now = time.monotonic()
            with self._lock:
                over = [token for token, (when, _) in self._due.items() if when <= now]
                over = [self._due.pop(token)[1] for token in over]
                self._until = min((when for when, _ in self._due.values()), default=_FOREVER)
                wait = self._until - now
            for callback in over:
                callback()
            if over:
                continue
            if wait == _FOREVER:
                self._bell.acquire()
            else:
                # TIMEOUT_MAX is weeks; an hour is safe everywhere and harmless.
                self._bell.acquire(True, min(wait, 3600.0))
