"""NekoPluginBase, the context it is made with, and routers (contracts/neko, section 6)."""

import pathlib

from . import journal, messages, state, store
from .absent import Absent, Refused
from .answers import PluginRouterError
from .entries import Entries
from .settings import PluginConfig
from .texts import PluginI18n


class Images:
    """ctx.images: N.E.K.O keeps pictures for a while; here one becomes part of the message itself."""

    async def upload(self, data, *, mime=None, **others):
        if not isinstance(data, (bytes, bytearray)):
            raise TypeError("a picture is bytes, not %s" % type(data).__name__)
        return {"type": "image", "data": bytes(data), "mime": mime or "image/jpeg"}


class MessageQueue:
    """The channel on which a plugin's process told N.E.K.O of its tools.

    Plugins put their registrations on it again, to survive N.E.K.O's forgetting
    them. Here that changes nothing, and is not needed.
    """

    def __init__(self, host):
        self._host = host

    def put_nowait(self, message):
        if not isinstance(message, dict):
            return
        if message.get("plugin_id") not in (None, self._host.id):
            self._host.log("warning", "A message in the name of %s was ignored." % message["plugin_id"])
            return
        entries = self._host.life.entries
        if message.get("type") == "LLM_TOOL_REGISTER":
            entries.announce(message)
        elif message.get("type") == "LLM_TOOL_UNREGISTER":
            entries.withdraw(message.get("name"))

    def put(self, message, *args, **kwargs):
        self.put_nowait(message)


class Context:
    """`ctx`: what a plugin is made with."""

    def __init__(self, host, config):
        self._host, self._config = host, config
        self.plugin_id = host.id
        self.config_path = pathlib.Path(host.home) / "plugin.toml"
        self.logger = journal.Logger()
        self.metadata = dict(host.about)
        self.bus = Absent("bus")
        self.images = Images()
        self.message_queue = MessageQueue(host)
        self.run_id = None

    def push_message(self, **facts):
        return messages.push(self._host, self._told(facts))

    def _told(self, facts):
        return self._host.life.i18n.told(facts)

    async def push_message_async(self, **facts):
        """The same without holding up the plugin's loop, which waits for the answer."""
        import asyncio

        return await asyncio.to_thread(messages.push, self._host, self._told(facts))

    def update_status(self, status=None, **facts):
        """Tells whoever waits for the current call how far it is."""
        import conclave

        status = dict(status, **facts) if isinstance(status, dict) else facts or {"status": status}
        status = self._told(status)
        text = status.get("message") or status.get("status") or status.get("state")
        conclave.progress(text if text else status)

    async def get_own_config(self, timeout=None):
        return _answer(self._config.effective())

    get_own_effective_config = get_own_config

    async def get_own_base_config(self, timeout=None):
        return _answer(await self._config.base_dump())

    async def update_own_config(self, patch, timeout=None):
        return _answer(self._config.patch(patch))

    async def replace_own_config(self, table, timeout=None):
        return _answer(await self._config.replace(table))

    async def run_update(self, *args, **kwargs):
        return Refused("run_update")

    export_push = run_update

    async def finish(self, **facts):
        return facts.get("data")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        async def refused(*args, **kwargs):
            raise RuntimeError("%s is not available in Conclave" % name)

        return refused


def _answer(table):
    """Returns a configuration as N.E.K.O hands it to a context: also below `config`."""
    return table if "config" in table else dict(table, config=table)


class NekoPluginBase:
    """What a plugin's class inherits."""

    def __init__(self, ctx=None):
        host = state.current
        life = host.life
        self.ctx = self._host_ctx = ctx if ctx is not None else life.context
        self.logger = self.ctx.logger
        self.config = life.config
        self.i18n = life.i18n
        self.store = store.PluginStore(host)
        self.plugin_id = host.id
        self.metadata = self.ctx.metadata
        self.plugin_dir = self.config_dir = pathlib.Path(host.home)
        self.storage_dir = host.storage
        self.runtime_config_path = host.runtime_config
        self.plugins = Absent("plugins")
        self.bus = self.ctx.bus
        self.db = Absent("db")
        self.system_info = Absent("system_info")
        self.memory = Absent("memory")
        self._routers = []
        try:
            life.entries = Entries(self, host, life.i18n)
        except Exception as err:
            host.log("error", "Its tools could not be registered: %s: %s" % (type(err).__name__, err))
            life.entries = Entries(None, host, life.i18n)
        self._llm_tools = life.entries.tools

    # -- files --

    def data_path(self, *parts):
        """Returns a path below the folder for the plugin's data."""
        return _below(self.storage_dir / "data", parts)

    def cache_path(self, *parts):
        return _below(self.storage_dir / "cache", parts)

    def enable_file_logging(self, *, log_level="INFO", log_dir=None, max_bytes=None, backup_count=None, **others):
        self.file_logger = journal.with_file(log_level, log_dir, max_bytes, backup_count)
        return self.file_logger

    @property
    def sdk_logger(self):
        return self.logger

    def get_logger(self, name=None):
        """Returns a logger of the plugin's log, with a name before each line."""
        return journal.Logger(str(name)) if name else self.logger

    def setup_logger(self, *args, **kwargs):
        return self.logger

    # -- messages --

    def push_message(self, **facts):
        return self.ctx.push_message(**facts)

    def report_status(self, status=None, **facts):
        self.ctx.update_status(status, **facts)

    async def finish(self, **facts):
        return facts.get("data")

    async def run_update(self, *args, **kwargs):
        return Refused("run_update")

    async def export_push(self, *args, **kwargs):
        return Refused("export_push")

    # -- tools --

    def register_llm_tool(self, *, name, description="", parameters=None, handler, timeout=30.0, role=None, reply_tail=False):
        return self._entries().register_tool(
            name=name, description=description, parameters=parameters, handler=handler, timeout=timeout, role=role, reply_tail=reply_tail
        )

    def unregister_llm_tool(self, name):
        return self._entries().unregister_tool(name)

    def list_llm_tools(self):
        return self._entries().list_tools()

    def _notify_llm_tool_registered(self, meta):
        return self._entries().announce(meta)

    def _notify_llm_tool_unregistered(self, name, role=None):
        self._entries().withdraw(name)

    # -- entries --

    def register_dynamic_entry(
        self, entry_id, handler, name="", description="", input_schema=None, kind="action", auto_start=False, timeout=None,
        llm_result_fields=None, **others
    ):  # fmt: skip
        return self._entries().register_entry(
            {"id": entry_id, "name": name, "description": description, "input_schema": input_schema, "kind": kind,
             "auto_start": auto_start, "timeout": timeout, "llm_result_fields": llm_result_fields}, handler,
        )  # fmt: skip

    def unregister_dynamic_entry(self, entry_id):
        return self._entries().unregister_entry(entry_id)

    def enable_entry(self, entry_id):
        return self._entries().enable(entry_id, True)

    def disable_entry(self, entry_id):
        return self._entries().enable(entry_id, False)

    def list_entries(self, include_disabled=False):
        return self._entries().list(include_disabled)

    def is_entry_enabled(self, entry_id):
        """Returns whether an entry is on; None without one."""
        row = self._entries().rows.get(entry_id)
        return None if row is None else row["enabled"]

    def get_input_schema(self):
        """Returns the schema that the class has as input_schema, {} without one."""
        schema = getattr(self, "input_schema", None)
        return schema if isinstance(schema, dict) else {}

    def collect_entries(self, *args, **kwargs):
        return self._entries().handlers()

    def _notify_dynamic_entry_registered(self, entry_id, meta=None, enabled=True):
        return True

    def include_router(self, router, prefix=""):
        """Takes up the entries and tools of a router."""
        if not isinstance(router, PluginRouter):
            raise PluginRouterError("include_router needs a PluginRouter, not %s" % type(router).__name__)
        router._mount(self)
        self._routers.append(router)
        self._entries().include(router, prefix or router.prefix)
        state.current.life.changed()
        return True

    def get_router(self, name):
        """Returns an included router by its name, or None."""
        return next((one for one in self._routers if one.name == name), None)

    def list_routers(self):
        return [str(one.name) for one in self._routers]

    def exclude_router(self, router):
        """Lets go of a router, given itself or by its name."""
        if isinstance(router, str):
            router = self.get_router(router)
        if router not in self._routers:
            return False
        self._routers.remove(router)
        router.on_unmount()
        return True

    def _entries(self):
        return state.current.life.entries

    # -- panels: Conclave shows none of them --

    def register_static_ui(self, *args, **kwargs):
        return False

    def set_list_actions(self, *args, **kwargs):
        return False

    def get_list_actions(self):
        return []

    def clear_list_actions(self):
        return False

    def register_list_action(self, *args, **kwargs):
        return False

    def get_static_ui_config(self):
        return None

    def _notify_static_ui_registered(self, *args, **kwargs):
        """Plugins tell N.E.K.O's window of their pages with it."""


def _below(folder, parts):
    folder.mkdir(parents=True, exist_ok=True)
    return folder.joinpath(*[str(part) for part in parts])


class _Name(str):
    """The name of a router: a text in the first SDK, a method in the second."""

    __slots__ = ()

    def __call__(self):
        return str(self)


class PluginRouter:
    """Holds some of a plugin's entries in a class of their own."""

    def __init__(self, *, prefix="", name=None, tags=None, **others):
        self.prefix = prefix
        self.name = _Name(name or type(self).__name__)
        self.tags = tags or []
        self._main = None

    def set_prefix(self, prefix):
        self.prefix = prefix

    @property
    def main_plugin(self):
        if self._main is None:
            raise PluginRouterError("the router %s is not mounted" % self.name)
        return self._main

    @property
    def is_bound(self):
        return self._main is not None

    def _mount(self, plugin):
        self._main = plugin
        self.on_mount()

    def on_mount(self):
        pass

    def on_unmount(self):
        pass

    def __getattr__(self, name):
        # logger, config, store and the like are the plugin's.
        if name.startswith("_"):
            raise AttributeError(name)
        main = self.__dict__.get("_main")
        if main is None:
            raise PluginRouterError("the router %s is not mounted, so it has no %s" % (type(self).__name__, name))
        return getattr(main, name)
