"""The loader of MaiBot plugins: runs one folder with _manifest.json and plugin.py.

A plugin sees `maibot_sdk` and nothing of this. Read in this order:

    __init__    the plugin's life: load, come into service, change, leave
    packages    its files as modules, and which maibot_sdk it gets
    settings    config.toml: defaults, versions, what the person set
    form        the schema of its settings for the window
    tool        one tool: schema, arguments, the call
    answers     what a handler returned, as Conclave says it
    host        what a plugin asks for through self.ctx
    shapes      messages, chats and requests as MaiBot has them
"""

import os
import sys

from conclave_worker import aio  # noqa: F401 - before all that imports more
from conclave_worker import problems, streams

from . import packages

# How long a plugin may take to leave (contracts/maibot, section 10).
UNLOAD_SECONDS = 5
# How often config.toml is looked at while the plugin runs.
LOOK_SECONDS = 1

# Why there are no tools, on the card.
_OFF = "It is switched off in its settings ([plugin] enabled = false), so it offers no tools."
_NONE = "It has no tools: its commands, hooks and other parts are not used by Conclave."


def load(worker):
    """Loads the plugin and puts its tools into worker.tools. Raises problems.Problem."""
    Life(worker).begin()


class Life:
    """One plugin from its load to its end. All of it happens on the main thread."""

    def __init__(self, worker):
        self.worker = worker
        extra = worker.config.get("extra") or {}
        self.manifest = extra.get("manifest") or {}
        self.choice = extra.get("sdk") or ""
        self.id = self.manifest.get("id") or worker.config["id"]
        self.instance = None
        self.serving = False
        self.warnings = []
        worker.notes.extend(extra.get("notes") or ())

    def begin(self):
        from conclave_worker.loop import Loop

        from .host import Host
        from .settings import Settings

        worker = self.worker
        self.loop = Loop()
        self._logging()
        self.sdk, self.instance = packages.create(worker, self.manifest, self.choice, self._say)
        self.host = Host(self)
        self.settings = Settings(self)
        for needed in ("_set_context", "get_components"):
            if not hasattr(self.instance, needed):
                raise problems.Problem(
                    "script",
                    "create_plugin() returned %s, which is no MaiBotPlugin." % type(self.instance).__name__,
                    file="plugin.py",
                )
        self._set_context()
        self.settings.read()
        if self.settings.enabled:
            self._come()
        else:
            self._say(_OFF, "info")
        self._explain()
        self._settings_applied()
        self.loop.loop.call_soon(self._watch)
        import atexit

        atexit.register(self._leave)
        self._offer()
        # Once loading is over the wire's requests run on the loop that the plugin's
        # own tasks live on.
        worker.adopt(self.loop)

    # -- steps --

    def _set_context(self):
        context = self.sdk.context
        data, runtime = (os.path.join(self.worker.config["storage"] or self.worker.config["home"], n) for n in ("data", "runtime"))
        for folder in (data, runtime):
            os.makedirs(folder, exist_ok=True)

        def paths():
            from pathlib import Path

            return context.PluginPaths(data_dir=Path(data), runtime_dir=Path(runtime))

        if not self.sdk.own:  # which has them from the start
            paths = paths()
        self.instance._set_context(context.PluginContext(plugin_id=self.id, rpc_call=self.host.rpc_call, paths=paths))

    def _come(self):
        """Offers the tools, then runs on_load, which may use everything already."""
        from . import tool

        tools = tool.collect(self)
        self._run(self.instance.on_load, "on_load")
        self.worker.tools.update(tools)
        self.serving = True

    def _run(self, function, what):
        try:
            self.loop.loop.run_until_complete(_finished(function))
        except Exception as error:
            problem = problems.of_import(error, self.worker.sources)
            problem.facts["message"] = "%s failed: %s" % (what, problem.facts["message"])
            raise problem from error

    def _settings_applied(self):
        """Tells the plugin that its settings were saved since it last ran."""
        if not self.settings.saved or not self.serving:
            return
        data = self.instance.get_plugin_config_data()
        self._run(lambda: self.instance.on_config_update("self", data, self.settings.version()), "on_config_update")

    def _leave(self):
        if not self.serving:
            return
        self.serving = False
        import asyncio

        try:
            self.loop.loop.run_until_complete(asyncio.wait_for(_finished(self.instance.on_unload), UNLOAD_SECONDS))
        except BaseException as error:
            self._say("on_unload failed: %s" % problems.describe(error))

    def _explain(self):
        """Says on the card why there are no tools, while there are none."""
        self.worker.empty = _NONE if self.settings.enabled else _OFF

    def _offer(self):
        """Lets the person set what the plugin's settings are."""
        self.worker.current = True  # config.toml is the truth
        form = self.settings.form()
        for name, schema in form["properties"].items() if form else ():
            self.worker.offer_option(name, schema)

    # -- config.toml, edited while the plugin runs --

    def _watch(self):
        self.loop.loop.call_later(LOOK_SECONDS, self._watch)
        self.look()

    def look(self):
        """Takes up an edit of config.toml."""
        if not self.settings.edited() or self.loop.loop.is_closed():
            return
        task = self.loop.loop.create_task(self._take_up())
        self.taking = task

    async def _take_up(self):
        was = self.serving
        try:
            self.settings.read()
        except problems.Problem as problem:
            self._say(str(problem))  # what it had before stays in force
            return
        try:
            if was and not self.settings.enabled:
                self.serving = False
                self.worker.tools.clear()
                await _finished(self.instance.on_unload)
            elif not was and self.settings.enabled:
                from . import tool

                tools = tool.collect(self)
                await _finished(self.instance.on_load)
                self.worker.tools.update(tools)
                self.serving = True
            elif was:
                data = self.instance.get_plugin_config_data()
                await _finished(lambda: self.instance.on_config_update("self", data, ""))
        except Exception as error:
            self._say("It did not take up its changed settings: %s" % problems.describe(error))
        self._offer()
        self._explain()
        self.worker.wire.notify("notifications/tools/list_changed", {})

    # -- its log --

    def _say(self, text, level="warning"):
        self.worker.wire.log(level, self.worker.config["id"], text)

    def _logging(self):
        import logging

        wire, name = self.worker.wire, self.worker.config["id"]

        class ToLog(logging.Handler):
            def emit(self, record):
                try:
                    level = "error" if record.levelno >= 40 else "warning" if record.levelno >= 30 else "info"
                    if record.levelno < 20:
                        level = "debug"
                    text = record.getMessage()
                    if record.exc_info and record.exc_info[1] is not None:
                        text += "\n" + problems.traceback_text(record.exc_info[1])
                    wire.log(level, name, text[:16384])
                except Exception:
                    pass  # a log line is not worth a call

        logging.basicConfig(handlers=[ToLog()], level=logging.INFO, force=True)
        for own in ("plugin", "plugin_runtime"):
            logging.getLogger(own).setLevel(logging.DEBUG)


async def _finished(function):
    """Runs a function of the plugin that may or may not be async."""
    value = function()
    if hasattr(value, "__await__"):
        value = await value
    return value
