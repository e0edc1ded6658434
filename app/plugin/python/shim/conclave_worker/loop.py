"""The event loop of `async def` tools: made when the first one needs it.

Importing asyncio costs more than starting the worker, so a plugin without async
functions never does. The loop runs on the main thread, where Python expects it.
"""

import conclave_worker

from . import streams


class Loop:
    """Runs coroutines. `run` belongs to the main thread, the rest to any."""

    def __init__(self):
        from .aio import asyncio

        self._asyncio = asyncio
        self.loop = asyncio.new_event_loop()
        conclave_worker.worker.jobs.watch(self.loop, asyncio)
        self._tasks = set()  # the loop keeps only weak references

    def run(self):
        """Runs until stop, then cancels what is left and gives it a moment."""
        self._asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                self.loop.run_until_complete(self._asyncio.wait(self._tasks, timeout=0.1))
        finally:
            self._asyncio.set_event_loop(None)

    def complete(self, awaitable):
        """Awaits something before `run`. On the main thread only."""
        self._asyncio.set_event_loop(self.loop)
        try:
            return self.loop.run_until_complete(awaitable)
        finally:
            self._asyncio.set_event_loop(None)

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)

    def post(self, function, *args):
        """Calls a function on the main thread soon."""
        self.loop.call_soon_threadsafe(function, *args)

    def start(self, call, awaitable, done):
        """Awaits something for a call; `done(call, value, error)` hears how it ended.

        On the main thread only. The coroutine sees its call as the current one.
        """
        tasks = []
        if not call.begin(lambda: self.post(lambda: tasks[0].cancel())):
            done(call, None, None)
            return
        reported = []

        def report(value, error):
            reported.append(True)
            done(call, value, error)

        def finished(task):
            self._tasks.discard(task)
            if not reported:  # cancelled before its first step
                done(call, None, self._asyncio.CancelledError())

        token = streams.current.set(call)
        try:
            task = self.loop.create_task(self._guard(awaitable, report))
        finally:
            streams.current.reset(token)
        tasks.append(task)
        self._tasks.add(task)
        task.add_done_callback(finished)

    async def _guard(self, awaitable, report):
        try:
            value = await awaitable
        except BaseException as err:
            # SystemExit would end the loop, KeyboardInterrupt the worker.
            report(None, err)
        else:
            report(value, None)


async def collect(generator):
    """Returns the items of an async generator."""
    return [item async for item in generator]
