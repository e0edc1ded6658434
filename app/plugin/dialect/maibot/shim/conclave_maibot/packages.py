"""The plugin's files as modules, and which maibot_sdk they import.

The folder is one package with a made-up name, so that `from .x import y` works.
It is importable by its own name and as `plugins.<folder>` too; its modules are
found without their folder's name once the plugin has put that on sys.path.
"""

import os
import sys

from conclave_worker import listing, loading, problems

_SHIM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SDK = os.path.join(_SHIM, "sdk")
_OLDEST = (2, 7, 1)


class Sdk:
    """The maibot_sdk in use."""

    def __init__(self):
        import maibot_sdk
        import maibot_sdk.context

        self.context = maibot_sdk.context
        self.version = getattr(maibot_sdk, "__version__", "")
        self.own = os.path.abspath(maibot_sdk.__file__).startswith(_SDK + os.sep)


class _Finder(loading._Siblings):
    """Finds the plugin's modules below its package, `plugins.<folder>` and `<folder>`."""

    def __init__(self, config, sources):
        super().__init__(dict(config, folder=True, siblings=()), sources)
        self._base = os.path.basename(self._home)
        self._parent = os.path.dirname(self._home)

    def find_spec(self, fullname, path=None, target=None):
        if path is None:
            if fullname == self._base and not loading._standard(fullname):
                if self._on_path() and self._holds(fullname):
                    return self._at(fullname, fullname, self._root, self._home)
                return self._package(fullname)
            if fullname == "plugins":
                spec = loading.ModuleSpec(fullname, None, is_package=True)
                spec.submodule_search_locations = [self._parent]
                return spec
            if self._on_path() and not loading._standard(fullname):
                return self._at(fullname, fullname, self._root, self._home)
            return None
        if fullname == "plugins." + self._base:
            return self._package(fullname)
        return super().find_spec(fullname, path, target)

    def _holds(self, name):
        """Says whether the folder has a module or package of that name in it."""
        inner = os.path.join(self._root, name)
        return os.path.isfile(inner + ".py") or os.path.isfile(os.path.join(inner, "__init__.py"))

    def _package(self, fullname):
        real = os.path.join(self._root, "__init__.py")
        if os.path.isfile(real):
            return self._spec(fullname, real, os.path.join(self._home, "__init__.py"), [self._home])
        spec = loading.ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [self._home]
        return spec

    def _on_path(self):
        return any(isinstance(entry, str) and os.path.normpath(entry) == self._home for entry in sys.path)


def create(worker, manifest, choice, say):
    """Returns (the Sdk, what create_plugin() made). Raises problems.Problem."""
    installed = _installed(manifest) if choice != "shim" else None
    if choice == "installed" and installed is None:
        say("There is no fit maibot_sdk installed for it; it runs on Conclave's own.")
    if installed is not None:
        try:
            sdk = Sdk()
            return sdk, _create(worker, manifest)
        except problems.Problem as problem:
            if not _missing_name(problem):
                raise
            say("The installed maibot_sdk %s lacks what it imports; it runs on Conclave's own. (%s)" % (installed, problem))
        except ImportError as error:
            say("The installed maibot_sdk %s cannot be imported; it runs on Conclave's own. (%s)" % (installed, error))
        _forget(worker, manifest)
    sys.path.insert(0, _SDK)
    return Sdk(), _create(worker, manifest)


def _installed(manifest):
    """Returns the version of an installed maibot_sdk that fits the manifest, or None."""
    from _frozen_importlib_external import PathFinder

    try:
        spec = PathFinder.find_spec("maibot_sdk", [entry for entry in sys.path if entry != _SDK])
    except (ImportError, OSError, ValueError):
        spec = None
    if spec is None or not spec.origin:
        return None
    version = _version_of(spec.origin)
    numbers = _numbers(version)
    asked = manifest.get("sdk") if isinstance(manifest.get("sdk"), dict) else {}
    low, high = _numbers(asked.get("min_version")), _numbers(asked.get("max_version"))
    if numbers is None or numbers < _OLDEST or low is not None and numbers < low or high is not None and numbers > high:
        return None
    return version


def _version_of(origin):
    folder = os.path.dirname(os.path.dirname(origin))
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith("maibot_plugin_sdk-") and name.endswith(".dist-info"))
    except OSError:
        names = []
    if names:
        return names[-1][len("maibot_plugin_sdk-"):-len(".dist-info")]
    import re

    try:
        with open(origin, encoding="utf-8") as file:
            found = re.search(r"""^__version__\s*=\s*["']([^"']+)["']""", file.read(65536), re.M)
    except (OSError, ValueError):
        return ""
    return found.group(1) if found else ""


def _numbers(version):
    parts = str(version or "").split(".")
    try:
        return tuple(int(part) for part in parts[:3]) if len(parts) >= 2 else None
    except ValueError:
        return None


def _missing_name(problem):
    """Says whether a problem is a name that this maibot_sdk has not."""
    return problem.facts.get("type") in ("ImportError", "ModuleNotFoundError", "AttributeError") and "maibot_sdk" in str(problem)


def _forget(worker, manifest):
    """Lets go of all that a failed attempt imported."""
    own = _module_name(manifest, worker)
    base = os.path.basename(worker.config["home"])
    for name in list(sys.modules):
        first = name.split(".")[0]
        if first in ("maibot_sdk", own, "plugins", base):
            del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]


def _module_name(manifest, worker):
    import re

    return "_maibot_plugin_" + re.sub(r"[^0-9A-Za-z_]", "_", str(manifest.get("id") or worker.config["id"]))


def _create(worker, manifest):
    config, sources = worker.config, worker.sources
    path = config["display"]
    try:
        with open(config["entry"], "rb") as file:
            source = file.read()
    except OSError as err:
        raise problems.Problem("unavailable", "plugin.py cannot be read: %s." % (err.strerror or err)) from None
    sources.add(path, source.decode("utf-8", "replace"))
    try:
        code = compile(listing.parse(source, path), path, "exec", dont_inherit=True)
    except SyntaxError as err:
        raise problems.of_syntax(err, sources, path) from None
    name = _module_name(manifest, worker)
    loader = loading._Entry(name, config["entry"], path, sources)
    loader.code = code
    module = type(sys)(name)
    module.__spec__ = loading._spec(loader, [config["home"]])
    module.__loader__, module.__file__, module.__package__, module.__path__ = loader, path, name, [config["home"]]
    sys.modules[name] = module
    sys.meta_path.insert(0, _Finder(config, sources))
    parent = os.path.dirname(config["home"])
    if parent not in sys.path:
        sys.path.insert(0, parent)
    try:
        exec(code, module.__dict__)
        create_plugin = module.__dict__.get("create_plugin")
        if not callable(create_plugin):
            raise _no_factory(module, source)
        instance = create_plugin()
    except problems.Problem:
        raise
    except ImportError as err:
        if str(err.name or "").split(".")[0] == "src":
            raise _older() from None
        raise problems.of_import(err, sources) from None
    except BaseException as err:
        raise problems.of_import(err, sources) from None
    if hasattr(instance, "__await__"):
        instance.close()
        raise problems.Problem("script", "create_plugin() is async; MaiBot calls it without waiting.", file="plugin.py")
    return instance


def _older():
    return problems.Problem(
        "unavailable",
        "It was written for MaiBot before 1.0 (it imports src.plugin_system), which Conclave does not run.",
        file="plugin.py",
        hint="Look for a version of it with manifest_version 2.",
    )


def _no_factory(module, source):
    if b"register_plugin" in source or b"BasePlugin" in source:
        return _older()
    return problems.Problem(
        "script",
        "plugin.py has no function create_plugin().",
        file="plugin.py",
        hint="Add: def create_plugin(): return YourPlugin()",
    )
