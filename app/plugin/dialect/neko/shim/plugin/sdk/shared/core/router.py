"""Routers."""

from conclave_neko.base import PluginRouter

__all__ = ["PluginRouter"]
