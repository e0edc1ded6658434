"""The threads that run functions which are not `async`.

Conclave makes as many calls at once as the person set for the plugin, four by default
(contracts/llm-functions, section 8.3). So there are threads for the most that can be set
(limit.PluginCalls in Go); one more call waits its turn. A thread whose call was given up
on (deadline, cancelled) cannot be stopped, so it is replaced, and ends when its function
returns.
"""

from _queue import SimpleQueue
from _thread import allocate_lock

from . import threads

SIZE = 32


class Pool:
    """Runs jobs on up to SIZE threads, first come, first served.

    A job is a function that returns whether it was abandoned meanwhile.
    """

    def __init__(self):
        self._jobs = SimpleQueue()
        self._lock = allocate_lock()
        self._threads = 0
        self._open = 0  # jobs submitted, neither finished nor abandoned

    def submit(self, job, *args):
        with self._lock:
            self._open += 1
            start = self._threads < SIZE and self._threads < self._open
            if start:
                self._threads += 1
        self._jobs.put((job, args))
        if start:
            threads.start(threads.SYSTEM, self._run)

    def abandon(self):
        """Replaces the thread of one running job, which must then return True."""
        with self._lock:
            self._open -= 1
        threads.start(threads.SYSTEM, self._run)

    def _run(self):
        while True:
            job, args = self._jobs.get()
            if job(*args):
                return
            del job, args
            with self._lock:
                self._open -= 1


# A lane's stack: there may be many, and stacks count against the worker's memory.
_LANE_STACK = 2 * 1024 * 1024


class Lane:
    """One thread of its own for jobs that must run one after another on the same thread."""

    def __init__(self):
        self._jobs = SimpleQueue()
        threads.start(_LANE_STACK, self._run)

    def submit(self, job, *args):
        self._jobs.put((job, args))

    def abandon(self):
        """A job that was given up on holds the lane until it ends: others could not use its state."""

    def end(self):
        """Ends the thread once what was submitted is through."""
        self._jobs.put(None)

    def _run(self):
        while True:
            job = self._jobs.get()
            if job is None:
                return
            job[0](*job[1])
            del job
