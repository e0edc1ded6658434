"""The decorators, under their own module."""

from conclave_neko.marks import (
    after_entry, around_entry, before_entry, custom_event, hook, lifecycle, llm_tool, message, neko_plugin, on_event, plugin,
    plugin_entry, quick_action, replace_entry, timer_interval,
)  # fmt: skip

__all__ = [
    "after_entry", "around_entry", "before_entry", "custom_event", "hook", "lifecycle", "llm_tool", "message", "neko_plugin",
    "on_event", "plugin", "plugin_entry", "quick_action", "replace_entry", "timer_interval",
]  # fmt: skip
