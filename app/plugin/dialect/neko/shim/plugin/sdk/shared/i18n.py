"""Translations."""

from conclave_neko import state
from conclave_neko.texts import PluginI18n, tr


def load_plugin_i18n_from_dir(folder, *, default_locale="en", **others):
    """Returns the translations in a folder, or in the i18n folder of a plugin's."""
    return PluginI18n(state.current, folder=folder, default_locale=default_locale)


__all__ = ["PluginI18n", "load_plugin_i18n_from_dir", "tr"]
