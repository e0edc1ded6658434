"""The base class, where older plugins look for it."""

from conclave_neko.base import NekoPluginBase, PluginRouter

__all__ = ["NekoPluginBase", "PluginRouter"]
