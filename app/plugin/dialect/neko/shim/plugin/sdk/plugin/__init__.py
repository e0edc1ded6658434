"""What N.E.K.O's plugins import: conclave_neko, under the names they know."""

from conclave_neko.absent import stand_for
from conclave_neko.answers import EntryConflictError, Err, Ok, Result, SdkError, TransportError, unwrap, unwrap_or
from conclave_neko.base import NekoPluginBase, PluginRouter
from conclave_neko.journal import Logger
from conclave_neko.marks import (
    EntryKind, after_entry, around_entry, before_entry, custom_event, hook, lifecycle, message, neko_plugin, on_event,
    plugin, plugin_entry, quick_action, replace_entry, timer_interval,
)  # fmt: skip
from conclave_neko.marks import PLUGIN as NEKO_PLUGIN_META_ATTR
from conclave_neko.settings import PluginConfig
from conclave_neko.store import PluginStore
from conclave_neko.texts import PluginI18n, tr

from . import ui
from .llm_tool import LlmToolMeta, llm_tool
from .settings import SettingsField

NEKO_PLUGIN_TAG = "__neko_plugin_tag__"

MemoryClient = stand_for("MemoryClient")
Plugins = stand_for("Plugins")
SystemInfo = stand_for("SystemInfo")
PluginMeta = stand_for("PluginMeta")
OsActivitySnapshot = stand_for("OsActivitySnapshot")


def get_os_activity_snapshot(*args, **kwargs):
    """What the person is doing at their computer is not told."""
    raise SdkError("get_os_activity_snapshot is not available in Conclave")


def get_plugin_logger(name="", *args, **kwargs):
    """Returns a logger."""
    return Logger(str(name) if name else "")


def __getattr__(name):
    if name == "PluginSettings":
        from . import settings

        return settings.PluginSettings
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


__all__ = [
    "EntryConflictError", "EntryKind", "Err", "LlmToolMeta", "MemoryClient", "NEKO_PLUGIN_META_ATTR", "NEKO_PLUGIN_TAG",
    "NekoPluginBase", "Ok", "OsActivitySnapshot", "PluginConfig", "PluginI18n", "PluginMeta", "PluginRouter", "PluginStore", "Plugins", "Result", "SdkError", "SettingsField", "SystemInfo", "TransportError", "after_entry", "around_entry",
    "before_entry", "custom_event", "get_os_activity_snapshot", "get_plugin_logger", "hook", "lifecycle", "llm_tool", "message",
    "neko_plugin", "on_event", "plugin", "plugin_entry", "quick_action", "replace_entry", "timer_interval", "tr", "ui", "unwrap",
    "unwrap_or",
]  # fmt: skip
