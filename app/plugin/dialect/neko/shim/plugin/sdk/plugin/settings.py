"""Settings as a pydantic model, for plugins that declare theirs so."""


def SettingsField(default=..., *, description="", **facts):
    """Describes one setting."""
    from pydantic import Field

    known = {key: facts[key] for key in ("ge", "gt", "le", "lt", "min_length", "max_length", "title", "default_factory") if key in facts}
    if "default_factory" in known:
        return Field(description=description, **known)
    return Field(default, description=description, **known)


def __getattr__(name):
    if name == "PluginSettings":
        # pydantic is needed by those plugins alone, so it is imported for them alone.
        from pydantic import BaseModel

        PluginSettings = type("PluginSettings", (BaseModel,), {"__module__": __name__, "__doc__": "The settings of a plugin."})
        globals()["PluginSettings"] = PluginSettings
        return PluginSettings
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
