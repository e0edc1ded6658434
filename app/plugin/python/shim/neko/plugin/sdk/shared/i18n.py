"""Translations."""

from conclave_neko.texts import PluginI18n, tr

__all__ = ["PluginI18n", "tr"]
