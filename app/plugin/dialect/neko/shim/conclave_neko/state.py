"""The facts of this process. `current` is set before any of the plugin runs."""

import pathlib
import time

current = None  # the Host


def open(worker):
    """Makes the Host of this process."""
    global current
    current = Host(worker)
    return current


class Host:
    """What the rest of the shim knows of Conclave and of the plugin."""

    def __init__(self, worker):
        config = worker.config
        self.worker = worker
        self.extra = config["extra"]
        self.id = self.extra["plugin"]
        self.package = self.extra["package"]
        self.manifest = self.extra["manifest"]
        self.root = config["root"]  # the folder its code is read from
        self.home = config["home"]  # the folder it believes it lies in, which it may write
        self.storage = pathlib.Path(config["storage"])
        self.began = time.monotonic()
        self.life = None
        if self.extra.get("example"):
            self._begin_config()

    @property
    def about(self):
        """The [plugin] table."""
        table = self.manifest.get("plugin")
        return table if isinstance(table, dict) else {}

    def table(self, *names):
        """Returns a table of the manifest, empty when it is missing or no table."""
        value = self.manifest
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value if isinstance(value, dict) else {}

    @property
    def runtime_config(self):
        return self.storage / "config" / "plugin.toml"

    def _begin_config(self):
        """Writes the runtime configuration that the plugin brings for its first run."""
        try:
            self.runtime_config.parent.mkdir(parents=True, exist_ok=True)
            with self.runtime_config.open("x", encoding="utf-8") as file:
                file.write(self.extra["example"])
        except OSError as err:
            self.log("warning", "The first runtime configuration could not be written: %s" % err)

    def log(self, level, text):
        """Writes to the plugin's log. level: debug, info, warning or error."""
        self.worker.wire.log(level, self.id, text)

    def note(self, text):
        """Puts a sentence on the plugin's card, and into its log."""
        self.worker.notes.append(text)
        self.log("warning", text)

    def ask(self, capability, args, seconds):
        """Asks Conclave and waits so long. Returns the value or raises; see conclave_worker.wire."""
        import _thread

        from conclave_worker import streams

        call = streams.current.get()
        done, box = _thread.allocate_lock(), []
        done.acquire()

        def answered(value, error):
            box.append((value, error))
            done.release()

        self.worker.wire.ask(capability, args, call.call_id if call is not None else None, answered)
        if not done.acquire(True, seconds):
            raise TimeoutError("Conclave did not answer %s within %g s" % (capability, seconds))
        value, error = box[0]
        if error is not None:
            raise error
        return value
