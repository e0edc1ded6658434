"""The key-value store: one file of JSON in the plugin's storage."""

import json
import os
from _thread import allocate_lock

from .answers import Err, Ok, SdkError


def _put(values, key, value):
    values[key] = json.loads(json.dumps(value, allow_nan=False))


def _plain(answer):
    """Returns the value of an answer. Raises what an Err says."""
    if isinstance(answer, Err):
        raise answer.error
    return answer.value


class PluginStore:
    """Keeps JSON values by name. Its methods are coroutines that return Ok or Err.

    While it is not enabled it keeps nothing: get gives the default, set does
    nothing, and neither is an error.
    """

    def __init__(self, host):
        self.enabled = bool(host.table("plugin", "store").get("enabled"))
        self._path = host.storage / "data" / "store.json"
        self._values = None
        self._lock = allocate_lock()

    async def get(self, key, default=None):
        return self._do(key, lambda values: values.get(key, default), default)

    async def set(self, key, value):
        return self._do(key, lambda values: _put(values, key, value), None, write=True)

    async def delete(self, key):
        return self._do(key, lambda values: values.pop(key, None) is not None, False, write=True)

    async def exists(self, key):
        return self._do(key, lambda values: key in values, False)

    async def keys(self, prefix=""):
        return self._do(None, lambda values: [key for key in values if key.startswith(prefix)], [])

    async def clear(self):
        def clear(values):
            count = len(values)
            values.clear()
            return count

        return self._do(None, clear, 0, write=True)

    async def count(self):
        return self._do(None, len, 0)

    async def dump(self):
        return self._do(None, lambda values: json.loads(json.dumps(values)), {})

    async def close(self):
        return Ok(None)

    # What get, set and delete are made of there. Plugins use them where nothing can
    # be awaited, and have an exception where the others answer Err.

    def _read_value(self, key, default=None):
        return _plain(self._do(key, lambda values: values.get(key, default), default))

    def _write_value(self, key, value):
        _plain(self._do(key, lambda values: _put(values, key, value), None, write=True))

    def _delete_value(self, key):
        return _plain(self._do(key, lambda values: values.pop(key, None) is not None, False, write=True))

    def _do(self, key, action, disabled, write=False):
        if key is not None and (not isinstance(key, str) or not key):
            return Err(SdkError("the store needs a key that is text and not empty"))
        if not self.enabled:
            return Ok(disabled)
        with self._lock:
            try:
                values = self._read()
                changed = dict(values) if write else values
                found = action(changed)
                if write:
                    self._write(changed)
                    self._values = changed
            except (TypeError, ValueError) as err:
                return Err(SdkError("%s has no JSON form: %s" % (key, err) if write else str(err)))
            except OSError as err:
                return Err(SdkError("the store could not be used: %s" % err))
        return Ok(found)

    def _read(self):
        if self._values is None:
            try:
                with open(self._path, encoding="utf-8") as file:
                    values = json.load(file)
            except FileNotFoundError:
                values = {}
            if not isinstance(values, dict):
                raise ValueError("the store's file holds no table")
            self._values = values
        return self._values

    def _write(self, values):
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_name("store.json.part")
        with open(part, "w", encoding="utf-8") as file:
            json.dump(values, file, ensure_ascii=False)
        os.replace(part, self._path)
