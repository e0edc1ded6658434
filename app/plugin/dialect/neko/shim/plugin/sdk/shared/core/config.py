"""The configuration."""

from conclave_neko.settings import PluginConfig

__all__ = ["PluginConfig"]
