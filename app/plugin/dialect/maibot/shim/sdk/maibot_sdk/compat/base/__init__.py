"""The types of settings of the old kind; its plugin classes are not run."""

from .config_types import ConfigField, ConfigLayout, ConfigSection, ConfigTab, section_meta


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(
        "maibot_sdk.compat.base.%s is not available in Conclave: plugins of the old kind are not run; "
        "derive from MaiBotPlugin" % name
    )
