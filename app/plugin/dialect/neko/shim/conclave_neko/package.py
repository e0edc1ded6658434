"""The plugin's modules: read from its folder, known as `plugins.<package>` and `plugin.plugins.<package>`.

Both names are the same module objects (contracts/neko, item 10). Only this plugin is
below them; its folder is not on sys.path. `vendor` comes first of all.
"""

import os
import sys
from _frozen_importlib import ModuleSpec

from conclave_worker import loading, problems

_OWN = "plugins."
_ALIAS = "plugin.plugins."

# What belongs to N.E.K.O itself: of these, the shim has what plugins were seen
# to import.
_FOREIGN = ("plugin", "config", "utils", "main_logic")


def install(host):
    """Makes the plugin importable."""
    vendor = host.extra.get("vendor")
    if vendor:
        sys.path.insert(0, vendor)
    import plugin

    for name, parent in (("plugins", None), ("plugin.plugins", plugin)):
        sys.modules[name] = package = _empty(name)
        if parent is not None:
            parent.plugins = package
    sys.meta_path.insert(0, _Finder(host))
    sys.meta_path.append(_Nothing())


def entry_class(host):
    """Imports the entry's module and returns its class. Raises problems.Problem."""
    name = _OWN + host.package + ("." + host.extra["module"] if host.extra["module"] else "")
    class_name = host.extra["class"]
    try:
        __import__(name)
    except BaseException as err:
        raise problems.of_import(err, host.worker.sources) from None
    found = getattr(sys.modules[name], class_name, None)
    if isinstance(found, type):
        return found
    from difflib import get_close_matches

    sources = host.worker.sources
    classes = [key for key, value in vars(sys.modules[name]).items() if isinstance(value, type) and value.__module__ == name]
    close = get_close_matches(class_name, classes, 1, 0.0)
    raise problems.Problem(
        "script",
        "Its entry names the class %s, which %s does not have." % (class_name, sources.relative(sources.entry)),
        file=sources.relative(sources.entry),
        line=1,
        hint="Did you mean %s?" % close[0] if close else "Define it: class %s(NekoPluginBase): …" % class_name,
    )


def _empty(name):
    """Returns a package without a folder."""
    module = type(sys)(name)
    module.__path__ = []
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    module.__package__ = name
    return module


class _Finder:
    """Finds the plugin's modules, ahead of everything on sys.path."""

    def __init__(self, host):
        self._name = host.package
        self._root, self._home = host.root, host.home
        self._sources = host.worker.sources

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith(_ALIAS):
            return self._alias(fullname)
        if not fullname.startswith(_OWN):
            return None
        rest = fullname[len(_OWN):]
        if rest == self._name:
            return self._package(fullname, "", always=True)
        if not rest.startswith(self._name + "."):
            if rest.partition(".")[0] != self._name:
                raise ModuleNotFoundError("%s is another plugin: a plugin imports its own modules only" % fullname, name=fullname)
            return None
        below = rest[len(self._name) + 1:].replace(".", os.sep)
        return self._package(fullname, below) or self._module(fullname, below)

    def _package(self, fullname, below, always=False):
        file = os.path.join(self._root, below, "__init__.py")
        folder = os.path.join(self._home, below) if below else self._home
        if os.path.isfile(file):
            return loading._spec(loading._Loader(fullname, file, os.path.join(folder, "__init__.py"), self._sources), [folder])
        real = os.path.join(self._root, below)
        if always or loading._holds_python(real):
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [folder]
            return spec
        return None

    def _module(self, fullname, below):
        file = os.path.join(self._root, below + ".py")
        if not os.path.isfile(file):
            return None
        return loading._spec(loading._Loader(fullname, file, os.path.join(self._home, below + ".py"), self._sources), None)

    def _alias(self, fullname):
        name = _OWN + fullname[len(_ALIAS):]
        __import__(name)
        module = sys.modules[name]
        return ModuleSpec(fullname, _Alias(module), origin=getattr(module, "__file__", None), is_package=hasattr(module, "__path__"))


class _Alias:
    """Loads a module that is there already, under its other name."""

    def __init__(self, module):
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        module.__spec__ = self._spec  # importlib has put the alias's there


class _Nothing:
    """Asked last: stands for the parts of N.E.K.O that are not here.

    Its helpers (`utils.…`) can be imported, and fail at their use; the rest is
    missing, with a sentence.
    """

    def find_spec(self, fullname, path=None, target=None):
        first, _, rest = fullname.partition(".")
        if not rest or first not in _FOREIGN or fullname.startswith(_ALIAS):
            return None
        if first == "utils":
            return ModuleSpec(fullname, _Helper(fullname), is_package=True)
        raise ModuleNotFoundError("%s is a part of N.E.K.O that Conclave does not have" % fullname, name=fullname)


class _Helper:
    """Loads a module whose functions are all refused when they are called."""

    def __init__(self, name):
        self._name = name

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        from .answers import SdkError

        name = self._name

        def missing(attribute):
            if attribute.startswith("__"):
                raise AttributeError(attribute)

            def refused(*args, **kwargs):
                raise SdkError("%s.%s is a part of N.E.K.O that Conclave does not have" % (name, attribute))

            return refused

        module.__getattr__ = missing
