"""The conversation with Conclave: an MCP server for one plugin.

Threads: the main thread loads the plugin, answers initialize and tools/list,
and then runs the event loop if there are async tools; one thread reads the
wire and hands out calls; the pool runs functions that are not async; the clock
ends calls at their deadlines. Only the main thread imports the plugin.
"""

import os
import sys
import time
from _queue import SimpleQueue
from _thread import allocate_lock, get_ident

import conclave_worker

from . import VERSION, codec, files, homes, problems, results, streams, threads, walls
from .call import BadArguments, Call
from .clock import Clock
from .jobs import Jobs
from .pool import Pool
from .wire import Closed, HostError, Wire

PROTOCOLS = ("2025-06-18", "2025-03-26", "2024-11-05")

# Conclave ends a worker that has not listed its tools after 10 s; the problem
# must be there before (docs/WIRE.md, section 1).
LOAD_MS = 9000

# The reading thread's stack: JSON of the deepest nesting that Python 3.12 reads
# takes 2.5 MB. Stacks count against the worker's memory limit.
_READER_STACK = 4 * 1024 * 1024


class Worker:
    """Serves one plugin until the end of its input."""

    def __init__(self, config):
        self.config = config
        self.wire = Wire.claim()
        streams.install()
        self.sources = problems.Sources(config["home"], config["display"])
        self.tools = {}
        self.options = config.get("options") or {}  # what the person set; secrets are in it once read
        self.notes = []  # sentences for the plugin's card
        self.empty = ""  # a sentence that says why there are no tools; for the card while there are none
        self._settings = {}  # JSON Schemas of what may be set, by name
        self.current = False  # whether the defaults of those are what is set now, in a file of the plugin's
        conclave_worker.worker = self
        self._problem = None  # why the plugin did not load
        self._stuck = False  # it was given up on while loading
        self._main = SimpleQueue()  # jobs for the main thread: (function, args), None ends it
        self._loop = None  # the loop that answers; not before loading is over
        self._early = None  # the loop that loading needed already
        self._loaded = False  # loading is over, well or badly
        self._lock = allocate_lock()  # guards _loop's coming, the end of loading, _calls and serial tools
        self._calls = {}  # id of the request → Call
        self._pool = Pool()
        self._clock = Clock()
        self.jobs = Jobs(self.wire, config["id"])

    def run(self):
        """Loads, serves, and leaves the process."""
        threads.install()
        threads.start(_READER_STACK, self._read)
        self._load()
        while True:
            if self._loop is not None:  # loading needed it already
                self._run_loop()
                break
            job = self._main.get()
            if job is None:
                break
            function, args = job
            function(*args)
        self._leave()

    # -- loading --

    def _load(self):
        limit = (self.config.get("load_ms") or LOAD_MS) / 1000
        main = get_ident()

        def stuck():
            # On a busy computer little of the time was this process's own.
            left = self._left()
            if left > 0:
                self._clock.add("load", time.monotonic() + max(left, 0.1), stuck)
                return
            frame = sys._current_frames().get(main)
            with self._lock:
                if self._loaded:
                    return
                self._stuck = True
            self._problem = problems.of_stuck(frame, self.sources, results.seconds(limit))
            # The main thread will not answer: this one does, from now on.
            while True:
                job = self._main.get()
                if job is None:
                    os._exit(1)
                job[0](*job[1])

        self._clock.add("load", time.monotonic() + limit, stuck)
        walls.install(self.config)
        files.install()
        homes.install(self.config)
        if "HTTP_PROXY" in os.environ:
            from . import outward

            outward.install()
        try:
            name = self.config["loader"]
            __import__(name)
            sys.modules[name].load(self)
        except problems.Problem as err:
            self._problem = err
        except BaseException as err:
            # A fault of the worker's own, reported like the plugin's.
            self._problem = problems.of_import(err, self.sources)
        if "threading" in sys.modules:
            self.jobs.watch_threads(sys.modules["threading"])
        walls.loaded()
        with self._lock:
            self._loaded = not self._stuck
            if self._loaded:
                self._loop = self._early
        if not self._loaded:
            # Too late: the clock's thread has taken over and the process will end.
            SimpleQueue().get()
        self._clock.remove("load")

    def _left(self):
        """Returns how many seconds the plugin may still load, as Conclave counts them."""
        if self._loaded:
            return 0
        try:
            return self.wire.request("load.left", {})["ms"] / 1000
        except (HostError, Closed, KeyError, TypeError):
            return 0

    @property
    def stuck(self):
        """Whether loading was given up on."""
        return self._stuck

    def complete(self, awaitable):
        """Awaits something while the plugin loads. On the main thread only."""
        if self._early is None:
            from .loop import Loop

            self._early = Loop()
        return self._early.complete(awaitable)

    def adopt(self, loop):
        """Gives a loader's own loop to the worker, which answers on it once loading is over.

        Not before: a request that came while the plugin awaits something would
        be answered with what is there so far.
        """
        self._early = loop

    # -- what the person sets --

    def secret(self, path):
        """Returns a secret setting. Raises wire.HostError."""
        return self.wire.request("options.secret", {"name": path})["value"]

    def read_secrets(self):
        """Puts the secret settings into options, but for keys, which are read when they are asked for."""
        for path in self.config.get("secrets") or ():
            *above, last = path.split(".")
            if above == ["keys"]:
                continue
            inner = self.options
            for step in above:
                inner = inner.setdefault(step, {})
            inner[last] = self.secret(path)

    def offer_option(self, name, schema):
        """Lets the person set something: schema is its JSON Schema."""
        self._settings[name] = schema

    def want(self, group, name):
        """Lets the person set a text that the plugin asked for while it ran."""
        from . import wants

        if wants.add(self._settings, group, name):
            self.wire.notify("notifications/tools/list_changed", {})

    # -- the reading thread --

    def _read(self):
        while True:
            message = self.wire.read()
            if message is None:
                break
            method, id, params = message["method"], message.get("id"), message.get("params")
            if type(params) is not dict:
                params = {}
            if method == "tools/call":
                self._call(id, params)
            elif method == "notifications/cancelled":
                call = self._calls.get(params.get("requestId"))
                if call is not None:
                    call.cancel(params.get("reason"))
            elif id is None:
                if method == "conclave/event" and params.get("name") == "conclave.asking":
                    self._asking(params.get("payload") or {})
                elif method == "conclave/event":
                    self._post(self._event, params)
            else:
                handler = getattr(self, "_on_" + str(method).replace("/", "_"), None)
                if handler is None:
                    self.wire.error(id, -32601, "There is no method %s." % method)
                else:
                    self._post(handler, id, params)
        self._main.put(None)
        with self._lock:
            if self._loop is not None:
                self._loop.stop()

    def _asking(self, question):
        """Moves the deadlines of the calls that run while a person is asked for what they do."""
        with self._lock:
            calls = list(self._calls.values())
        for call in calls:
            deadline = call.move(question.get("id"), question.get("over") is True, question.get("ms") or 0)
            if deadline is not None and not call.over:
                self._clock.add(call, time.monotonic() + deadline - time.time(), call.time_out)
                if call.over:
                    self._clock.remove(call)

    def _post(self, function, *args):
        """Runs a function on the main thread."""
        with self._lock:
            if self._loop is not None:
                self._loop.post(function, *args)
            else:
                self._main.put((function, args))

    # -- requests, on the main thread --

    def _on_initialize(self, id, params):
        if self._problem is not None:
            self.wire.error(id, -32001, str(self._problem), {"problem": self._problem.facts})
            return
        version = params.get("protocolVersion")
        self.wire.reply(id, {
            "protocolVersion": version if version in PROTOCOLS else PROTOCOLS[0],
            "capabilities": {"tools": {"listChanged": True}, "logging": {}, "experimental": {"conclave/host": {"version": 1}}},
            "serverInfo": {"name": self.config["id"], "version": VERSION},
        })  # fmt: skip

    def _on_tools_list(self, id, params):
        answer = {"tools": [tool.entry() for tool in self.tools.values()]}
        meta = {}
        if self._settings:
            meta["conclave/options"] = {"type": "object", "properties": self._settings}
            if self.current:
                meta["conclave/options"]["x-conclave-current"] = True
        notes = list(self.notes) if self.tools or not self.empty else [self.empty] + self.notes
        if notes:
            meta["conclave/notes"] = notes
        if meta:
            answer["_meta"] = meta
        try:
            self.wire.reply(id, answer)
        except Exception:  # one of them cannot be written down: the others can
            answer["tools"] = [entry for entry in answer["tools"] if self._writable(entry)]
            self.wire.reply(id, answer)
        # Nobody waits now. threading must first be imported on the main thread,
        # else it takes the thread that imports it for the main one.
        import threading  # noqa: F401

        if any(tool.is_async for tool in self.tools.values()):
            self._need_loop()

    def _writable(self, entry):
        try:
            codec.dumps(entry)
            return True
        except Exception as err:
            self.wire.log("warning", self.config["id"], "%s is not offered: its definition cannot be written down: %s." % (entry["name"], err))
            return False

    def _on_ping(self, id, params):
        self.wire.reply(id, {})

    def _on_logging_setLevel(self, id, params):
        self.wire.reply(id, {})

    def _event(self, params):
        conclave = sys.modules.get("conclave")
        if conclave is not None:
            conclave._event(params.get("name"), params.get("payload"))

    # -- calls --

    def _call(self, id, params):
        call = Call(self, id, params)
        tool = self.tools.get(call.name)
        if tool is None:
            call.end(results.Outcome("unknown", self._unknown(call.name)))
            return
        arguments = call.arguments
        if arguments is None:
            arguments = call.arguments = {}
        if type(arguments) is not dict:
            call.end(_bad(call.name, ["the arguments are no object"]))
            return
        call.tool = tool
        with self._lock:
            self._calls[id] = call
            if tool.serial:
                if tool.running:
                    tool.waiting.append(call)
                    start = False
                else:
                    tool.running, start = 1, True
            else:
                start = True
        deadline = call.deadline()
        if deadline is not None:
            self._clock.add(call, time.monotonic() + deadline - time.time(), call.time_out)
        if start:
            self._start(call)

    def _start(self, call):
        if call.tool.is_async:
            self._post(self._start_async, call)
        else:
            (call.tool.pool(call) or self._pool).submit(self._run_sync, call)

    def ended(self, call):
        """Hears of every call that is over, before it is answered."""
        self._clock.remove(call)
        with self._lock:
            self._calls.pop(call.id, None)

    def _released(self, call):
        """Lets the next call of a serial tool begin, once this one's code is through."""
        tool = call.tool
        if not tool.serial:
            return
        with self._lock:
            following = None
            while tool.waiting and following is None:
                following = tool.waiting.pop(0)
                if following.over:
                    following = None
            tool.running = 1 if following is not None else 0
        if following is not None:
            self._start(following)

    def _run_sync(self, call):
        """Runs a call on a thread of the pool. Returns whether it was abandoned."""
        if not call.begin((call.tool.pool(call) or self._pool).abandon):
            self._released(call)
            return False
        token = streams.current.set(call)
        try:
            args, kwargs = call.tool.bind(call.arguments, call.call_id)
            value = call.tool.function(*args, **kwargs)
            if hasattr(value, "__next__") and hasattr(value, "__iter__") and not hasattr(value, "read"):
                value = list(value)
            if hasattr(value, "__await__") or hasattr(value, "__anext__"):
                # A plain function that returned a coroutine: it goes to the loop.
                if call.begin(None):
                    self._post(self._continue_async, call, value)
                    return False
                self._released(call)
                return True
            outcome = results.returned(value)
        except BadArguments as err:
            outcome = _bad(call.name, err.lines)
        except BaseException as err:
            outcome = results.raised(err)
        finally:
            streams.current.reset(token)
        self._released(call)
        return not call.end(outcome)

    def _start_async(self, call):
        if call.over:
            self._released(call)
            return
        try:
            args, kwargs = call.tool.bind(call.arguments, call.call_id)
            token = streams.current.set(call)
            try:
                value = call.tool.function(*args, **kwargs)
            finally:
                streams.current.reset(token)
        except BaseException as err:
            self._done(call, None, err)
        else:
            self._continue_async(call, value)

    def _continue_async(self, call, value):
        """Awaits what a function returned. On the main thread."""
        self._need_loop()
        if hasattr(value, "__anext__"):
            from .loop import collect

            value = collect(value)
        if not hasattr(value, "__await__"):
            self._done(call, value, None)
            return
        self._loop.start(call, value, self._done)

    def _done(self, call, value, error):
        if error is None:
            try:
                outcome = results.returned(value)
            except BaseException as err:
                error = err
        if isinstance(error, BadArguments):
            outcome = _bad(call.name, error.lines)
        elif error is not None:
            outcome = results.raised(error)
        self._released(call)
        call.end(outcome)

    def _unknown(self, name):
        import difflib

        close = difflib.get_close_matches(str(name), self.tools, 3, 0.0)
        others = [other for other in self.tools if other not in close]
        return 'Error: no tool named "%s". Tools: %s' % (name, ", ".join(close + others) or "none")

    # -- the event loop --

    def _need_loop(self):
        """Makes the loop; the main thread runs it as soon as it is free."""
        if self._loop is not None:
            return
        from .loop import Loop

        loop = Loop()
        with self._lock:
            self._loop = loop

    def _run_loop(self):
        # What was queued before the loop was there comes first; an end of input
        # among it ends the loop as soon as it runs.
        while not self._main.empty():
            job = self._main.get()
            if job is None:
                self._loop.stop()
            else:
                self._loop.post(job[0], *job[1])
        self._loop.run()

    def _leave(self):
        """Ends the process the short way: the plugin's atexit functions, no teardown."""
        try:
            import atexit

            atexit._run_exitfuncs()
            sys.stdout.flush()
        finally:
            os._exit(0)


def _bad(name, lines):
    return results.Outcome("bad_arguments", "Error: arguments do not fit %s:\n%s" % (name, "\n".join("- " + line for line in lines)))
