"""The key-value store."""

from conclave_neko.store import PluginStore

__all__ = ["PluginStore"]
