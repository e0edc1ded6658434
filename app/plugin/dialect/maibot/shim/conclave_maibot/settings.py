"""config.toml beside plugin.py: made from the defaults, brought up to date, read again.

It is that of the plugin's desk, where it may write. A config.toml that the person
puts beside their plugin.py, or edits there, takes its place.

The file is the truth, as in MaiBot. What a person saves in Conclave's form is
written into it once, at the next start; an edit by hand after that counts again.
"""

import os

from conclave_worker import codec, problems, toml

_OFF = ("0", "false", "no", "off")


class Settings:
    def __init__(self, life):
        self.life = life
        config = life.worker.config
        self.path = os.path.join(config["home"], "config.toml")
        if not _writable(self.path) and config["storage"]:
            # A place where nothing may be written beside the code.
            self.path = os.path.join(config["storage"], "config.toml")
        # The person's own file, which is read and never written.
        self._person = os.path.join((config.get("extra") or {}).get("folder") or config["home"], "config.toml")
        self._taken = _state(self._person)
        self._applied = os.path.join(config["storage"] or config["home"], ".options.json")
        self._seen = None
        self.saved = False  # the person saved the form since the last start
        self.enabled = True

    def read(self):
        """Reads the file and gives the plugin its settings. Raises problems.Problem."""
        life = self.life
        instance = life.instance
        default = instance.get_default_config() or {}
        text, given = self._file()
        # Before the defaults fill it in: what the file itself says.
        self.enabled = _enabled(given, default)
        if life.worker.config["storage"]:
            given = self._with_options(given)
            self.enabled = _enabled(given, default)
        if not default and not given:
            instance.set_plugin_config({})
            return
        self._look_at_version(default)
        if default and not _version(given) and given:
            given = dict(given, plugin=dict(given.get("plugin") or {}, config_version="1.0.0"))
        try:
            data, changed = instance.normalize_plugin_config(given)
            instance.set_plugin_config(data)
        except Exception as error:
            raise self._unfit(error) from None
        self.enabled = _enabled(data, default)
        older = bool(given) and _version(given) != _version(data)
        if default and (text is None or older or self.saved) and data:
            self._write(text, data)
        self._seen = self._state()

    def _file(self):
        """Returns (the text or None, what is in it)."""
        try:
            with open(self.path, encoding="utf-8-sig") as file:
                text = file.read()
        except FileNotFoundError:
            return None, {}
        except (OSError, UnicodeDecodeError) as err:
            raise problems.Problem("unavailable", "config.toml cannot be read: %s." % err, file="config.toml") from None
        try:
            return text, toml.loads(text, self.life.worker.wire.request)
        except ValueError as err:
            raise problems.Problem(
                "script", "config.toml is not TOML: %s." % err, file="config.toml", hint="Mend the line, or delete the file to get the defaults."
            ) from None

    def _with_options(self, given):
        """Adds what the person saved in the form, once."""
        options = self.life.worker.config.get("options")
        if not isinstance(options, dict) or not options:
            return given
        secrets = self.life.worker.config.get("secrets") or []
        stamp = codec.text({"options": options, "secrets": secrets})
        try:
            with open(self._applied, encoding="utf-8") as file:
                known = file.read()
            before = codec.loads(known.encode("utf-8")).get("options")
        except (OSError, ValueError, AttributeError):
            known, before = "", None
        # Only what the person changed in the form: the rest may have been edited by hand.
        changed = _changed(before if isinstance(before, dict) else {}, options)
        merged = _merged(given, _unfolded(changed))
        for path in secrets:
            value = self.life.host.secret(path)
            if value is not None:
                _put(merged, path.split("."), value)
        self.saved = known != stamp
        with open(self._applied, "w", encoding="utf-8") as file:
            file.write(stamp)
        return merged

    def _write(self, text, data):
        secrets = self.life.worker.config.get("secrets") or []
        kept = _copied(data)
        for path in secrets:
            _put(kept, path.split("."), "")  # a secret lies with the keys, not here
        try:
            self._replace(toml.updated(text or "", kept, self.life.worker.wire.request))
        except (OSError, ValueError) as err:
            self.life._say("config.toml could not be written: %s" % err)

    def edited(self):
        """Says whether the file, or the person's own, changed since it was read."""
        if self._seen is None:
            return False
        now = _state(self._person)
        if now != self._taken and now != (0, 0):
            self._taken = now
            self._take()
        return self._state() != self._seen

    def _take(self):
        """Puts the person's file in the place of the plugin's."""
        if self._person == self.path:
            return
        try:
            with open(self._person, encoding="utf-8-sig") as file:
                self._replace(file.read())
        except (OSError, ValueError) as err:
            self.life._say("config.toml could not be taken up: %s" % err)

    def _replace(self, text):
        temp = self.path + ".tmp"
        with open(temp, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temp, self.path)

    def _state(self):
        return _state(self.path)

    def version(self):
        return _version(self.life.instance.get_plugin_config_data())

    def _look_at_version(self, default):
        if default and not _version(default):
            self.life._say("Its settings have no plugin.config_version; 1.0.0 is assumed.")

    def _unfit(self, error):
        found = []
        if hasattr(error, "errors"):
            try:
                found = ["%s: %s" % (".".join(str(part) for part in one["loc"]), one["msg"]) for one in error.errors()]
            except Exception:
                found = []
        text = "; ".join(found) or problems.describe(error)
        self._seen = self._state()
        return problems.Problem("script", "config.toml does not fit: %s." % text.rstrip("."), file="config.toml", hint="Mend it, or delete the file to get the defaults.")

    def form(self):
        """Returns the JSON Schema of the settings for the window, or None."""
        from . import form

        manifest = self.life.manifest
        author = manifest.get("author")
        about = {
            "plugin_id": self.life.id,
            "plugin_name": str(manifest.get("name") or ""),
            "plugin_version": str(manifest.get("version") or ""),
            "plugin_description": str(manifest.get("description") or ""),
            "plugin_author": str(author.get("name") or "") if isinstance(author, dict) else "",
        }
        try:
            schema = self.life.instance.get_webui_config_schema(**about)
            return form.schema(schema, self.life.instance.get_plugin_config_data())
        except Exception as error:
            self.life._say("Its settings cannot be shown: %s" % problems.describe(error))
            return None


def _state(path):
    """Returns what tells one save of a file from another."""
    try:
        info = os.stat(path)
    except OSError:
        return (0, 0)
    return (info.st_mtime_ns, info.st_size)


def _enabled(data, default):
    table = data.get("plugin") if isinstance(data.get("plugin"), dict) else None
    if table is None or "enabled" not in table:
        table = default.get("plugin") if isinstance(default.get("plugin"), dict) else {}
    value = table.get("enabled", True)
    if isinstance(value, str):
        return value.strip().lower() not in _OFF
    return bool(value)


def _version(data):
    table = data.get("plugin")
    return str((table.get("config_version") if isinstance(table, dict) else "") or "").strip()


def _merged(base, over):
    out = dict(base)
    for key, value in over.items():
        before = out.get(key)
        out[key] = _merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return out


def _changed(before, now):
    """Returns what of now differs from before, objects within objects alike."""
    out = {}
    for key, value in now.items():
        if key in before and before[key] == value:
            continue
        was = before.get(key)
        out[key] = _changed(was, value) if isinstance(was, dict) and isinstance(value, dict) else value
    return out


def _unfolded(options):
    """Puts the fields of the section "general" where they belong: at the top."""
    out = {key: value for key, value in options.items() if key != "general"}
    general = options.get("general")
    if isinstance(general, dict):
        out.update(general)
    return out


def _put(data, path, value):
    path = path[1:] if path[0] == "general" and len(path) > 1 else path
    for step in path[:-1]:
        data = data.setdefault(step, {})
    data[path[-1]] = value


def _copied(value):
    import copy

    return copy.deepcopy(value)


def _writable(path):
    folder = os.path.dirname(path)
    return os.access(path if os.path.exists(path) else folder, os.W_OK)
