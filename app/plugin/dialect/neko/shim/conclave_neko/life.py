"""The life of a plugin: made, started, kept ticking, shut down (contracts/neko, section 3).

Start, tools and shutdown share one event loop, so what the start left running
keeps running. Each timer has a thread and a loop of its own: one that blocks
delays no tool.
"""

import atexit
import threading
import time

from conclave_worker import problems
from conclave_worker.aio import asyncio
from conclave_worker.loop import Loop

from . import base, package
from .entries import Entries
from .marks import PLUGIN
from .settings import PluginConfig
from .texts import PluginI18n

# How long loading and the start may take before the tools are listed without the
# start's end: a worker that has listed nothing after 9 s is given up on.
MAX_START = 8.0
DEFAULT_START = 10.0

# How long the shutdown functions may take together.
SHUTDOWN = 1.5


class Life:
    """The plugin of this process."""

    def __init__(self, host):
        host.life = self
        self.host = host
        self.config = PluginConfig(host)
        self.i18n = PluginI18n(host)
        self.context = base.Context(host, self.config)
        self.entries = None
        self.instance = None
        self._timers = []
        self._loop = None
        self._told = threading.Lock()  # held while a change waits to be told
        self._tasks = []  # the loop keeps only weak references
        self._begun = False
        self._dirty = False  # the tools changed before anybody could be told
        self._over = False

    def begin(self):
        """Makes the plugin and starts it. Raises problems.Problem."""
        cls = package.entry_class(self.host)
        self._refuse_routers(cls)
        ours = Loop()
        self._loop = ours.loop
        asyncio.set_event_loop(self._loop)
        try:
            self.instance = self._make(cls)
        except BaseException as err:
            raise problems.of_import(err, self.host.worker.sources) from None
        if self.entries is None:  # its __init__ does not call the base's, or it has no base
            if isinstance(self.instance, base.NekoPluginBase):
                base.NekoPluginBase.__init__(self.instance, self.context)
            else:
                self.entries = Entries(self.instance, self.host, self.i18n)
        self._start()
        self.entries.offer_entries()
        for facts, handler in self.entries.timers:
            if facts["auto_start"]:
                self._timers.append(Timer(self, facts, handler))
        for timer in self._timers:
            timer.start()
        for handler in self.entries.auto:
            self._soon(handler)
        hook = getattr(self.instance, "_on_command_loop_start", None)
        if callable(hook):
            self._soon(hook)
        atexit.register(self._end)
        self.host.worker.adopt(ours)
        self._begun = True
        if self._dirty:
            self.changed()

    def _refuse_routers(self, cls):
        sources = self.host.worker.sources
        if issubclass(cls, base.PluginRouter):
            raise problems.Problem(
                "script", "Its entry %s is a router, which is a part of a plugin." % cls.__name__,
                file=sources.relative(sources.entry), line=1, hint="Name the class that is a NekoPluginBase.",
            )  # fmt: skip
        if not issubclass(cls, base.NekoPluginBase) and not getattr(cls, PLUGIN, False):
            raise problems.Problem(
                "script", "Its entry %s is no plugin: it is neither a NekoPluginBase nor marked with @neko_plugin." % cls.__name__,
                file=sources.relative(sources.entry), line=1, hint="Write class %s(NekoPluginBase): …" % cls.__name__,
            )  # fmt: skip

    def _make(self, cls):
        if cls.__init__ is object.__init__:
            return cls()
        return cls(self.context)

    # -- the start --

    def _start(self):
        now = time.monotonic()
        limit = max(0.5, min(self.host.extra["startup"] or DEFAULT_START, self.host.began + MAX_START - now))
        until = now + limit
        for handler in self.entries.lifecycles.get("startup", ()):
            task = self._loop.create_task(self._started(handler))
            self._loop.run_until_complete(asyncio.wait({task}, timeout=max(0.0, until - time.monotonic())))
            if not task.done():
                self.host.log("warning", "Its start was still under way after %.1f s. It goes on; its tools are offered." % limit)
                continue
            error = task.result()
            if error is not None and self.host.extra["failure"] == "fail":
                raise problems.of_import(error, self.host.worker.sources)

    async def _started(self, handler):
        """Runs a start function. Returns what it raised."""
        try:
            await _settled(handler)
        except BaseException as err:
            if isinstance(err, asyncio.CancelledError) and self._over:
                raise
            said = "Its start failed, and its tools are offered anyway."
            if self.host.extra["failure"] == "ignore":
                self.host.log("info", said + "\n" + problems.traceback_text(err).rstrip())
            else:
                self.host.worker.jobs.failed("start", err, said)
            return err
        return None

    def _soon(self, handler):
        """Runs a function when the loop runs."""

        async def run():
            try:
                await _settled(handler)
            except asyncio.CancelledError:
                raise
            except BaseException as err:
                self.host.worker.jobs.failed("task " + _name(handler), err, "%s failed." % _name(handler))

        self._tasks.append(self._loop.create_task(run()))

    # -- changes --

    def changed(self):
        """Tells Conclave, soon and once, that the tools changed. From any thread."""
        if not self._begun:
            self._dirty = True
            return
        if self._over or not self._told.acquire(False):
            return
        self._loop.call_soon_threadsafe(self._tell)

    def _tell(self):
        self._told.release()
        self.host.worker.wire.notify("notifications/tools/list_changed", {})

    # -- the end --

    def _end(self):
        """Stops the timers and shuts the plugin down. On the main thread, after the loop."""
        self._over = True
        for timer in self._timers:
            timer.stop()
        asyncio.set_event_loop(self._loop)
        until = time.monotonic() + SHUTDOWN
        for handler in self.entries.lifecycles.get("shutdown", ()):
            task = self._loop.create_task(self._ended(handler))
            self._loop.run_until_complete(asyncio.wait({task}, timeout=max(0.01, until - time.monotonic())))
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left, timeout=0.05))

    async def _ended(self, handler):
        try:
            await _settled(handler)
        except asyncio.CancelledError:
            raise
        except BaseException as err:
            self.host.log("error", "Its shutdown failed.\n" + problems.traceback_text(err).rstrip())


class Timer:
    """One timer: it ticks at once, then so many seconds after each tick ended."""

    def __init__(self, life, facts, handler):
        self._life, self._facts, self._handler = life, facts, handler
        self._stopped = threading.Event()

    def start(self):
        threading.Thread(target=self._run, name="timer " + str(self._facts["id"]), daemon=True).start()

    def stop(self):
        self._stopped.set()

    def _run(self):
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        jobs, job = self._life.host.worker.jobs, "timer %s" % self._facts["id"]
        jobs.watch(loop, asyncio)
        while not self._stopped.is_set():
            try:
                loop.run_until_complete(_settled(self._handler))
            except BaseException as err:
                jobs.failed(job, err)
            else:
                jobs.worked(job)
            if self._stopped.wait(self._facts["seconds"]):
                break


async def _settled(handler):
    """Calls a function without arguments, and awaits what it returned if that can be."""
    value = handler()
    if hasattr(value, "__await__"):
        value = await value
    return value


def _name(handler):
    return getattr(handler, "__name__", None) or type(handler).__name__
