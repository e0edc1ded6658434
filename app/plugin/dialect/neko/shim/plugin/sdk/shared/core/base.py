"""The base class, under its own module."""

from conclave_neko.base import NekoPluginBase, PluginRouter

__all__ = ["NekoPluginBase", "PluginRouter"]
