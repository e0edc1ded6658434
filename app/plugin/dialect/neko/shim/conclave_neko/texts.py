"""Translations: references made by tr(), and the files of a plugin's i18n folder."""

import os
import re

MAX_FILE = 512 * 1024  # a larger file of translations is ignored

# Conclave speaks English; N.E.K.O's plugins fall back to Chinese.
LOCALE = "en"

_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}|\{(\w+)\}")


def tr(key, *, default="", **params):
    """Returns a reference to a translation, which stands where a text is expected."""
    if not isinstance(key, str) or not key:
        raise ValueError("tr needs a key")
    found = {"$i18n": key}
    if default:
        found["default"] = default
    if params:
        found["params"] = params
    return found


class PluginI18n:
    """The plugin's texts in the languages it brings."""

    def __init__(self, host, folder=None, default_locale=None):
        table = host.table("plugin", "i18n")
        self.default_locale = default_locale or table.get("default_locale") or "en"
        locales = table.get("locales_dir") or "i18n"
        if folder is None:
            folder = os.path.join(host.root, locales)
        elif os.path.isdir(os.path.join(folder, locales)):
            folder = os.path.join(folder, locales)
        self._folder = os.fspath(folder)
        self._host = host
        self._locales = {}

    def t(self, key, *, locale=None, default="", **params):
        """Returns the text of a key, in the first language that has it."""
        for name in self._order(locale):
            text = self._texts(name).get(key)
            if isinstance(text, str):
                return fill(text, params)
        return fill(default or key, params)

    def resolve(self, value, locale=None):
        """Returns value with every reference in it replaced by its text."""
        if isinstance(value, dict):
            key = value.get("$i18n")
            if isinstance(key, str):
                params = value.get("params")
                default = value.get("default")
                text = self.t(key, locale=locale, default=default if isinstance(default, str) else "")
                return fill(text, params) if isinstance(params, dict) else text
            return {name: self.resolve(item, locale) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.resolve(item, locale) for item in value]
        return value

    def told(self, value):
        """Returns value as a person or a model is told it: resolved, or itself where it refers to no translation."""
        try:
            return self.resolve(value) if _refers(value, set()) else value
        except RecursionError:  # it holds itself; whoever writes it as JSON says so
            return value

    def _order(self, locale):
        wanted = locale or LOCALE
        names = [wanted, wanted.partition("-")[0]]
        if names[-1] == "zh":
            names.append("zh-CN")
        names += [self.default_locale, self.default_locale.partition("-")[0], "en", "zh-CN"]
        return list(dict.fromkeys(names))

    def _texts(self, locale):
        """Returns one language's texts by dotted key; none when there is no such file."""
        if locale not in self._locales:
            self._locales[locale] = self._read(locale)
        return self._locales[locale]

    def _read(self, locale):
        if os.sep in locale or "/" in locale or locale.startswith("."):
            return {}
        path = os.path.join(self._folder, locale + ".json")
        try:
            if os.path.getsize(path) > MAX_FILE:
                self._host.log("warning", "The translations in %s.json are larger than 512 KiB and are ignored." % locale)
                return {}
            import json

            with open(path, encoding="utf-8-sig") as file:
                return _flat(json.load(file))
        except (OSError, ValueError):
            return {}


def _refers(value, seen):
    """Says whether a reference stands in a value."""
    if isinstance(value, dict):
        if isinstance(value.get("$i18n"), str):
            return True
        inner = value.values()
    elif isinstance(value, (list, tuple)):
        inner = value
    else:
        return False
    if id(value) in seen:
        return False
    seen.add(id(value))
    return any(_refers(item, seen) for item in inner)


def _flat(table, prefix=""):
    """Returns nested tables by dotted key; a key that has dots itself stays as it is."""
    found = {}
    for key, value in table.items() if isinstance(table, dict) else ():
        if isinstance(value, dict):
            found.update(_flat(value, prefix + key + "."))
        else:
            found[prefix + key] = value
    return found


def fill(text, params):
    """Fills {name} and {{name}}; an unknown name stays as it is."""
    if not params:
        return text
    return _PLACE.sub(lambda m: str(params.get(m.group(1) or m.group(2), m.group(0))), text)
