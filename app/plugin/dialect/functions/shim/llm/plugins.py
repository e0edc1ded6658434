"""The plugin manager: what is registered with it while the plugin loads is heard too."""


class _Manager:
    def __init__(self):
        self.registered = []  # in order

    def register(self, plugin, name=None):
        self.registered.append(plugin)
        return name or getattr(plugin, "__name__", type(plugin).__name__)

    def unregister(self, plugin=None, name=None):
        if plugin in self.registered:
            self.registered.remove(plugin)

    def get_plugins(self):
        return list(self.registered)

    def list_plugin_distinfo(self):
        return []


pm = _Manager()


def load_plugins():
    """Does nothing: Conclave loads the plugin."""
