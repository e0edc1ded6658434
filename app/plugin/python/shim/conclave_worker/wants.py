"""What a plugin's source asks for by name, so that the person can set it.

A tool that reads os.environ["WEATHER_KEY"] or llm.get_key(alias="weather") finds
there what was filled in under the plugin's settings: the groups "environment"
and "keys". A process has no environment of the person's.
"""

import os

_TITLES = {"environment": "Environment variables", "keys": "Keys"}
_SAID = {
    "environment": "Variables that this plugin reads; they are set for it alone.",
    "keys": "Keys that this plugin asks for by these names.",
}

# Variables that say where one is, which nobody sets for a plugin.
_USUAL = {
    "PATH", "HOME", "USER", "USERNAME", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP", "PWD",
    "EDITOR", "VISUAL", "DISPLAY", "PYTHONPATH", "VIRTUAL_ENV", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "SYSTEMROOT",
    "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "NO_COLOR", "COLUMNS", "LINES", "PAGER", "CI",
}  # fmt: skip
_SECRET = ("API_KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "_KEY", "_PAT")
MAX_NAMES = 40  # of one group


def add(settings, group, name):
    """Adds a text to a group of settings. Returns whether it is new."""
    schema = settings.get(group)
    if schema is None:
        schema = {"type": "object", "title": _TITLES[group], "description": _SAID[group], "properties": {}}
    properties = schema["properties"]
    if name in properties or len(properties) >= MAX_NAMES or "." in name or not name:
        return False
    settings[group] = schema
    properties[name] = {"type": "string"}
    if group == "keys" or name.upper().endswith(_SECRET):
        properties[name]["format"] = "password"
    return True


def read(text, settings):
    """Adds what a source text asks for."""
    if "environ" not in text and "getenv" not in text and "get_key" not in text:
        return
    try:
        tree = compile(text, "?", "exec", 0x400, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    todo = [tree]
    while todo:
        node = todo.pop()
        kind = type(node).__name__
        if kind == "Call":
            _call(node, settings)
        elif kind == "Subscript" and _last(node.value) == "environ" and type(node.ctx).__name__ == "Load":
            index = getattr(node.slice, "value", node.slice)
            _variable(getattr(index, "value", index), settings)
        for field in node._fields:
            child = getattr(node, field, None)
            if type(child) is list:
                todo.extend(item for item in reversed(child) if hasattr(item, "_fields"))
            elif hasattr(child, "_fields"):
                todo.append(child)


def _call(node, settings):
    name, first = _last(node.func), _text(node.args[0]) if node.args else None
    if name == "getenv" or name in ("get", "pop") and _last(getattr(node.func, "value", None)) == "environ":
        _variable(first, settings)
    elif name == "get_key":
        named = {word.arg: _text(word.value) for word in node.keywords}
        alias = named.get("alias") or named.get("key_alias") or (_text(node.args[1]) if len(node.args) > 1 else None)
        alias = alias or named.get("env") or named.get("env_var") or (_text(node.args[2]) if len(node.args) > 2 else None)
        if alias:
            add(settings, "keys", alias)


def _variable(name, settings):
    if isinstance(name, str) and name.upper() not in _USUAL and name not in os.environ:
        add(settings, "environment", name)


def _last(node):
    """Returns the last part of a name or attribute."""
    return getattr(node, "attr", None) or getattr(node, "id", None)


def _text(node):
    value = getattr(node, "value", None)
    return value if type(node).__name__ == "Constant" and isinstance(value, str) else None
