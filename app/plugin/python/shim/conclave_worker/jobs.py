"""What runs in a plugin's background: timers, tasks that nobody waits for, threads.

A job that fails is in the log, and on the plugin's card until it works again
(docs/WIRE.md, section 7). A job is known by its name, as in "timer tick".
"""

from . import problems

# How long a task may have failed before it counts as one that nobody waits for.
_WAITED_FOR = 1.0


class Jobs:
    """The jobs of one plugin. Its methods belong to any thread."""

    def __init__(self, wire, plugin):
        self._wire, self._plugin = wire, plugin
        self._failed = set()

    def failed(self, job, error, said=None):
        """Notes that a job failed. said is the line for the log, before the traceback."""
        self._failed.add(job)
        self._note("error", "%s\n%s" % (said or "The %s failed." % job, problems.traceback_text(error).rstrip()),
                   {"conclave/job": job, "conclave/failure": problems.describe(error)[:1000]})  # fmt: skip

    def worked(self, job):
        """Notes that a job did what it should."""
        if job in self._failed:
            self._failed.discard(job)
            self._note("info", "The %s works again." % job, {"conclave/job": job})

    def _note(self, level, text, meta):
        self._wire.notify("notifications/message", {"level": level, "logger": self._plugin, "data": text, "_meta": meta})

    def watch(self, loop, asyncio):
        """Notes the tasks of a loop that fail although nobody waits for them."""

        def make(loop, coroutine, **options):
            task = asyncio.Task(coroutine, loop=loop, **options)
            task.add_done_callback(self._ended)
            return task

        loop.set_task_factory(make)

    def _ended(self, task):
        if task.cancelled():
            return
        if task._exception is None:
            self.worked(_task(task))
        elif not task.get_loop().is_closed():
            task.get_loop().call_later(_WAITED_FOR, self._left, task)

    def _left(self, task):
        if task._log_traceback:  # whoever waits for a task takes its exception
            self.failed(_task(task), task.exception())

    def watch_threads(self, threading):
        """Notes the threads that fail."""

        def failed(args):
            if not issubclass(args.exc_type, SystemExit):
                self.failed(_thread(args.thread), args.exc_value or args.exc_type())

        threading.excepthook = failed


def _task(task):
    coroutine = task.get_coro()
    return "task " + getattr(coroutine, "__qualname__", type(coroutine).__name__)


def _thread(thread):
    """Names a thread after its function, where it has no name of its own."""
    function = getattr(thread, "function", None)  # a threading.Timer's
    if function is not None:
        return "timer " + getattr(function, "__qualname__", type(function).__name__)
    name = getattr(thread, "name", "") or ""
    if name.startswith("Thread-"):  # "Thread-3 (poll)", or "Thread-3" before Python 3.10
        name = name.partition(" (")[2][:-1]
    return ("thread " + name).strip()
