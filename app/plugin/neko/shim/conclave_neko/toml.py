"""Writes a table as TOML. Reading it is Conclave's part, in Go."""

import re

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def dumps(table):
    """Returns the text of a table. TypeError for a value that has no form in TOML."""
    lines = []
    _table(table, (), lines)
    return "\n".join(lines) + "\n"


def _table(table, path, lines):
    below = []
    for key, value in table.items():
        if isinstance(value, dict):
            below.append((key, value))
        elif value is not None:  # TOML has no null: the key is left out
            lines.append("%s = %s" % (_key(key), _value(value)))
    for key, value in below:
        place = path + (_key(key),)
        lines.append("" if not lines else "\n[%s]" % ".".join(place))
        if not lines[-1]:
            lines[-1] = "[%s]" % ".".join(place)
        _table(value, place, lines)


def _key(key):
    return key if isinstance(key, str) and _BARE.match(key) else _text(str(key))


def _text(text):
    found = []
    for char in text:
        if char in _ESCAPES:
            found.append(_ESCAPES[char])
        elif ord(char) < 32 or ord(char) == 127:
            found.append("\\u%04X" % ord(char))
        else:
            found.append(char if not 0xD800 <= ord(char) < 0xE000 else "?")
    return '"%s"' % "".join(found)


def _value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2 ** 63) <= value < 2 ** 63:
            raise TypeError("TOML has no integers as large as %d" % value)
        return str(int(value))
    if isinstance(value, float):
        text = repr(float(value))
        return text if text not in ("inf", "-inf", "nan") else text
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(_value(item) for item in value if item is not None)
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s = %s" % (_key(key), _value(item)) for key, item in value.items() if item is not None)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "__fspath__"):
        return _text(str(value))
    raise TypeError("%s has no form in TOML" % type(value).__name__)
