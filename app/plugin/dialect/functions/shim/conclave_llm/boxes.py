"""Toolboxes: their settings, and one instance for each chat.

An instance is made in the thread it is used in, and used in no other: what a
constructor opens (a SQLite connection) often works only there. A toolbox with
async methods lives on the event loop, all of it; any other gets one thread for
each chat, on which its calls run one after another.
"""

from _thread import allocate_lock

import llm
from conclave_worker import problems, streams, tools
from conclave_worker.pool import Lane

from . import offers

MAX_CHATS = 16  # instances kept; the one not used for longest goes

# Settings that look like a secret are asked for and kept as one.
_SECRET = ("api_key", "apikey", "token", "secret", "password", "passwd", "passphrase")


# Settings of these names are paths: the plugin may read what a person fills in.
_PATH = ("path", "file", "folder", "directory", "dir")


def looks_secret(name):
    """Says whether a setting or variable of that name is likely a secret."""
    name = name.lower()
    return any(name == word or name.endswith(("_" + word, word)) for word in _SECRET) or name.endswith(("_key", "_pat"))


class Unfit(problems.Said):
    """Settings with which no instance can be made."""


class Box:
    """One registered toolbox: a class with what is set for it, or an instance."""

    def __init__(self, worker, registered, name=None):
        self.worker = worker
        self.single = registered if isinstance(registered, llm.Toolbox) else None
        self.kind = type(registered) if self.single is not None else registered
        self.name = name or self.kind.__name__
        self.problem = ""
        self.is_async = False
        self._slots = {}  # conversation → Slot, the one used last at the end
        self._lock = allocate_lock()  # guards _slots
        init = self.kind.__init__
        self._constructor = None
        if self.single is None and init is not object.__init__:
            self._constructor = tools.Tool(self.name, offers.unbound(init))
        self.settings = worker.options.get(self.name)

    def schema(self):
        """Returns the JSON Schema of its settings, or None when it has none."""
        if self._constructor is None or not self._constructor.offered:
            return None
        schema = dict(self._constructor.schema, title=self.name)
        text = tools.docstring(self.kind) or self._constructor.description
        if text:
            import inspect

            schema["description"] = inspect.cleandoc(text)
        for name, one in schema["properties"].items():
            if one.get("type") != "string":
                continue
            if looks_secret(name):
                one["format"] = "password"
            elif name.lower().split("_")[-1] in _PATH and "format" not in one:
                one["format"] = "path"
        return schema

    def needs(self):
        """Returns the names of the settings without which no instance can be made, when none are set."""
        if self._constructor is None or self.settings is not None:
            return []
        return [one.name for one in self._constructor.offered if one.required]

    def make(self):
        """Returns a new instance. Raises Unfit, or whatever the constructor raises."""
        if self.single is not None:
            return self.single
        needs = self.needs()
        if needs:
            raise Unfit("%s needs settings: %s" % (self.name, ", ".join(needs)))
        if self._constructor is None:
            return self.kind()
        given = self.settings
        if isinstance(given, list):  # by position, as -T 'Name("x")' gives them
            named = [one.name for one in self._constructor.offered]
            if len(given) > len(named):
                raise Unfit("%s takes %d settings, not %d" % (self.name, len(named), len(given)))
            given = dict(zip(named, given))
        try:
            args, kwargs = self._constructor.bind(given or {})
        except tools.BadArguments as err:
            raise Unfit("the settings do not fit %s: %s" % (self.name, "; ".join(err.lines))) from None
        return self.kind(*args, **kwargs)

    def instance_text(self):
        """Returns what is on record of its settings: Name({…}), secrets masked."""
        if not self.settings:
            return self.name
        from conclave_worker import codec

        shown = self.settings
        if isinstance(shown, list) and self._constructor is not None:
            shown = dict(zip([one.name for one in self._constructor.offered], shown))
        if isinstance(shown, dict):
            shown = {name: "•••" if looks_secret(name) else value for name, value in shown.items()}
        return "%s(%s)" % (self.name, codec.text(shown))

    def tools(self):
        """Returns its tools. What is wrong with its settings is in problem afterwards."""
        try:
            found = self._listed()
        except Unfit as err:
            self.problem = str(err)
        except BaseException as err:
            if self.worker.stuck:
                raise
            self.problem = "%s could not be made: %s" % (self.name, problems.describe(err))
        if self.problem:
            # Its methods can be told of without an instance; their calls say why not.
            bare = offers.llm.Tool
            found = [
                bare.function(getattr(value, "__func__", value), "%s_%s" % (self.kind.__name__, name))
                for name, value in offers.methods(self.kind)
            ]
        made = []
        for tool in found:
            try:
                made.append(offers.offered(tool, self.worker))
            except offers.signature.NoSignature as err:
                self.worker.wire.log("warning", self.worker.config["id"], "%s is not offered: %s." % (tool.name, err))
        self.is_async = self.is_async or any(tool.is_async for tool in made)
        instance = self.instance_text()
        for tool in made:
            tool.name = str(tool.name)
            tool.box, tool.instance = self, instance
            tool.unready = bool(self.problem)
            tool.is_async = self.is_async
            tool.pool = self._pool
            tool.function = self._dispatch(tool.name)
        return made

    def _listed(self):
        box = self.make()
        box.prepare()
        if type(box).prepare_async is not llm.Toolbox.prepare_async:
            self.is_async = True
            self.worker.complete(box.prepare_async())
        return list(box.tools())

    # -- calls --

    def _pool(self, call):
        return None if self.is_async else self._slot(call).lane()

    def _slot(self, call):
        chat = (call.meta.get("conclave/conversation") if call is not None else None) or ""
        with self._lock:
            slot = self._slots.pop(chat, None) or Slot(self)
            self._slots[chat] = slot
            gone = self._slots.pop(next(iter(self._slots))) if len(self._slots) > MAX_CHATS else None
        if gone is not None:
            gone.end()
        return slot

    def _dispatch(self, name):
        if self.is_async:

            async def call(*args, **kwargs):
                slot = self._slot(streams.current.get())
                await slot.ready_async()
                value = slot.implementation(name)(*args, **kwargs)
                if hasattr(value, "__anext__"):
                    return [item async for item in value]
                if hasattr(value, "__await__"):
                    value = await value
                if hasattr(value, "__next__") and hasattr(value, "__iter__") and not hasattr(value, "read"):
                    value = list(value)
                return value

        else:

            def call(*args, **kwargs):
                slot = self._slot(streams.current.get())
                slot.ready()
                return slot.implementation(name)(*args, **kwargs)

        return call


class Slot:
    """One chat's instance of a toolbox, made at its first call."""

    def __init__(self, box):
        self._box = box
        self._tools = None
        self._lane = None
        self._making = None

    def lane(self):
        if self._lane is None:
            self._lane = Lane()
        return self._lane

    def end(self):
        if self._lane is not None:
            self._lane.end()

    def ready(self):
        """Makes the instance, on the thread that will use it."""
        if self._tools is None:
            box = self._box.make()
            if self._box.single is None:
                box.prepare()
            self._tools = {str(tool.name): tool for tool in box.tools()}

    async def ready_async(self):
        """Makes the instance on the event loop; calls that come meanwhile wait for it."""
        if self._tools is not None:
            return
        import asyncio

        if self._making is None:
            self._making = asyncio.ensure_future(self._make_async())
        try:
            await asyncio.shield(self._making)
        finally:
            if self._making is not None and self._making.done():
                self._making = None

    async def _make_async(self):
        box = self._box.make()
        if self._box.single is None:
            box.prepare()
            await box.prepare_async()
        self._tools = {str(tool.name): tool for tool in box.tools()}

    def implementation(self, name):
        tool = self._tools.get(name)
        if tool is None:
            raise LookupError("with these settings, %s has no tool named %s" % (self._box.name, name))
        return tool.implementation
