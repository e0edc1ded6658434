"""config: what the manifest says, and what was changed of it (contracts/neko, section 6).

Changes go to the runtime configuration, never to the manifest. Paths are dotted.
"""

import copy
import os
from _thread import allocate_lock

from conclave_worker import toml

from .answers import SdkError, TransportError

MISSING = object()


class PluginConfig:
    """The configuration of the plugin. Its methods are coroutines, as in N.E.K.O."""

    def __init__(self, host):
        self._host = host
        self._runtime = host.extra["runtime"]
        self._lock = allocate_lock()

    # -- reading --

    def effective(self):
        """Returns the manifest with the changes in it, as a copy."""
        return merge(copy.deepcopy(self._host.manifest), self._runtime)

    async def dump(self, *, timeout=None):
        return self.effective()

    async def base_dump(self, *, timeout=None):
        return copy.deepcopy(self._host.manifest)

    async def get(self, path="", default=None, *, timeout=None):
        return self._at(path, default)

    async def require(self, path, *, timeout=None):
        found = self._at(path, MISSING)
        if found is MISSING:
            raise SdkError("the configuration has no %s" % path)
        return found

    async def get_bool(self, path, default=None, *, timeout=None):
        return self._typed(path, default, bool)

    async def get_int(self, path, default=None, *, timeout=None):
        return self._typed(path, default, int)

    async def get_float(self, path, default=None, *, timeout=None):
        return self._typed(path, default, (int, float))

    async def get_str(self, path, default=None, *, timeout=None):
        return self._typed(path, default, str)

    def _typed(self, path, default, kind):
        found = self._at(path, MISSING)
        if found is MISSING:
            return default
        if not isinstance(found, kind) or isinstance(found, bool) and kind is not bool:
            raise SdkError("%s in the configuration is %s" % (path, type(found).__name__))
        return found

    def _at(self, path, default):
        found = self.effective()
        for part in path.split(".") if path else ():
            if not isinstance(found, dict) or part not in found:
                return default
            found = found[part]
        return found

    # -- writing --

    async def set(self, path, value, *, timeout=None):
        if not isinstance(path, str) or not path:
            raise SdkError("set needs a path")
        patch = value
        for part in reversed(path.split(".")):
            patch = {part: patch}
        return self.patch(patch)

    async def update(self, patch, *, timeout=None, **others):
        if not isinstance(patch, dict):
            raise SdkError("update needs a dict")
        return self.patch(patch)

    async def replace(self, table, *, timeout=None):
        if not isinstance(table, dict):
            raise SdkError("replace needs a dict")
        return self._write({}, table)

    def patch(self, patch):
        """Writes a change. Returns the configuration as it is now."""
        return self._write(self._runtime, patch)

    def _write(self, before, patch):
        with self._lock:
            runtime = merge(copy.deepcopy(before), copy.deepcopy(patch))
            try:
                text = toml.dumps(runtime)
            except TypeError as err:
                raise SdkError(str(err)) from None
            path = self._host.runtime_config
            part = path.with_name(path.name + ".part")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                part.write_text(text, encoding="utf-8")
                os.replace(part, path)
            except OSError as err:
                raise TransportError("the configuration could not be written: %s" % err) from None
            self._runtime = runtime
        return self.effective()

    # -- profiles: Conclave keeps one configuration for each plugin --

    async def profile_list(self, *args, **kwargs):
        return []

    profiles = profile_list

    async def profile_active(self, *args, **kwargs):
        return None

    async def profile_get(self, *args, **kwargs):
        return {}

    async def profile_ensure_active(self, name="default", initial=None, *, timeout=None, **others):
        return {}

    def __getattr__(self, name):
        if name.startswith("profile_"):

            async def refused(*args, **kwargs):
                raise TransportError("configuration profiles are not available in Conclave")

            return refused
        raise AttributeError("config has no %s" % name)


def merge(table, patch):
    """Puts patch into table, tables into tables, and returns it."""
    for key, value in patch.items():
        if isinstance(value, dict) and isinstance(table.get(key), dict):
            merge(table[key], value)
        else:
            table[key] = value
    return table
