"""A source file becomes a module (contracts/llm-functions, section 3.2).

The plugin may be read from another place than the one it believes it lies at:
when the last good copy of a broken file is served, `display` is the person's
file and `entry` the copy. Its modules get the path of the person's file.
"""

import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import SourceLoader

from . import listing, problems


class Loaded:
    """A plugin's module, and the functions in it that are tools."""

    def __init__(self, module, functions, hook):
        self.module = module
        self.functions = functions  # [(listing.Function, value)], in order
        self.hook = hook  # whether it is a plugin of the llm program, which registers its tools


class _Loader(SourceLoader):
    """Loads one module from a real path under the path the plugin believes in."""

    def __init__(self, fullname, real, display, sources):
        self.name = fullname
        self.path = display
        self._real = real
        self._sources = sources

    def get_filename(self, fullname):
        return self.path

    def get_data(self, path):
        with open(self._real if path == self.path else path, "rb") as file:
            return file.read()

    def get_code(self, fullname):
        # No bytecode is read or written: a copy's would be mistaken for the
        # original's, and nothing is written beside a person's file.
        source = self.get_data(self.path)
        self._sources.add(self.path, source.decode("utf-8", "replace"))
        return compile(source, self.path, "exec", dont_inherit=True)


class _Entry(_Loader):
    """The plugin's own file, which has been read and parsed already."""

    code = None

    def get_code(self, fullname):
        return self.code


class _Siblings:
    """Finds the plugin's other modules, ahead of everything on sys.path.

    A folder's modules come first, whatever they are called. Beside a single
    file lie other plugins, so it sees only the modules that it was found to
    import, and names of the standard library mean the standard library.
    """

    def __init__(self, config, sources):
        self._root, self._home = config["root"], config["home"]
        self._folder = config.get("folder", False)
        self._paths = config.get("paths") or [""]  # folders of it that modules are found in
        self._allowed = {name for name in config.get("siblings") or () if not _standard(name)}
        self._sources = sources

    def find_spec(self, fullname, path=None, target=None):
        name = fullname.rpartition(".")[2]
        if path is None:
            if not self._folder and name not in self._allowed:
                return None
            for inner in self._paths:
                spec = self._at(fullname, name, os.path.join(self._root, inner), os.path.join(self._home, inner))
                if spec is not None:
                    return spec
            return None
        for folder in path:
            if folder == self._home or folder.startswith(self._home + os.sep):
                spec = self._at(fullname, name, self._root + folder[len(self._home):], folder)
                if spec is not None:
                    return spec
        return None

    def _at(self, fullname, name, real, display):
        package = os.path.join(real, name, "__init__.py")
        if os.path.isfile(package):
            folder = os.path.join(display, name)
            return self._spec(fullname, package, os.path.join(folder, "__init__.py"), [folder])
        if os.path.isfile(os.path.join(real, name + ".py")):
            return self._spec(fullname, os.path.join(real, name + ".py"), os.path.join(display, name + ".py"), None)
        if self._folder and _holds_python(os.path.join(real, name)):
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [os.path.join(display, name)]
            return spec
        return None

    def _spec(self, fullname, real, display, locations):
        return _spec(_Loader(fullname, real, display, self._sources), locations)


def _standard(name):
    """Says whether name is a module of the standard library."""
    known = getattr(sys, "stdlib_module_names", None)  # Python 3.10
    if known is not None:
        return name in known
    path = os.path.join(os.path.dirname(os.__file__), name)
    return name in sys.builtin_module_names or os.path.exists(path + ".py") or os.path.isdir(path)


def _holds_python(folder):
    """Says whether a folder without __init__.py holds Python files."""
    try:
        return any(name.endswith(".py") for name in os.listdir(folder))
    except OSError:
        return False


def _spec(loader, locations):
    spec = ModuleSpec(loader.name, loader, origin=loader.path, is_package=locations is not None)
    spec.has_location = True
    if locations is not None:
        spec.submodule_search_locations = locations
    return spec


def _protect_ourselves(root):
    """Imports what the worker may need later, before a plugin's module can hide it.

    Only when a folder holds a module named like one of the standard library.
    """
    try:
        names = {name[:-3] if name.endswith(".py") else name for name in os.listdir(root)}
    except OSError:
        return
    if any(_standard(name) for name in names):
        import asyncio, ast, collections, dataclasses, datetime, decimal, enum, inspect  # noqa: E401,F401
        import linecache, pathlib, threading, traceback, typing, uuid  # noqa: E401,F401


def load(config, sources):
    """Runs the plugin's file as a module. Raises problems.Problem."""
    path = config["display"]
    try:
        with open(config["entry"], "rb") as file:
            source = file.read()
    except OSError as err:
        raise problems.Problem("unavailable", "It cannot be read: %s." % (err.strerror or err)) from None
    sources.add(path, source.decode("utf-8", "replace"))
    try:
        tree = listing.parse(source, path)
        found = listing.read(tree)
        code = compile(tree, path, "exec", dont_inherit=True)
    except SyntaxError as err:
        raise problems.of_syntax(err, sources, path) from None
    except RecursionError:
        raise problems.Problem("script", "It nests too deeply to be compiled.", file=sources.relative(path), line=1) from None
    del tree

    from binascii import crc32

    name = "conclave_fn_%08x" % crc32(path.encode("utf-8", "replace") + b"\0" + source)
    loader = _Entry(name, config["entry"], path, sources)
    loader.code = code
    locations = [config["home"]] if config.get("package") else None
    module = type(sys)(name)
    module.__spec__ = _spec(loader, locations)
    module.__loader__, module.__file__ = loader, path
    if locations is None:
        module.__package__ = ""
    else:
        module.__package__, module.__path__ = name, locations
        # A package may import itself by the name of its folder.
        own = os.path.basename(config["home"])
        if own.isidentifier() and own not in sys.modules:
            sys.modules[own] = module
    sys.modules[name] = module
    if config.get("folder"):
        _protect_ourselves(config["root"])
        sys.path.insert(0, config["home"])
    sys.meta_path.insert(0, _Siblings(config, sources))
    try:
        exec(code, module.__dict__)
    except BaseException as err:
        raise problems.of_import(err, sources) from None
    loader.code = None
    return _tools(module, found)


def import_points(config, sources):
    """Imports the modules that entry points name, and returns them. Raises problems.Problem.

    An entry point is "module", or "module:object" for something in it.
    """
    _protect_ourselves(config["root"])
    for inner in reversed(config.get("paths") or [""]):
        sys.path.insert(0, os.path.join(config["home"], inner).rstrip(os.sep))
    sys.meta_path.insert(0, _Siblings(config, sources))
    found = []
    for point in config["extra"]["points"]:
        name, _, attribute = point.partition(":")
        try:
            __import__(name)
            value = sys.modules[name]
            for step in attribute.split(".") if attribute else ():
                value = getattr(value, step)
        except BaseException as err:
            raise problems.of_import(err, sources) from None
        found.append(value)
    return found


def _tools(module, found):
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name in found.functions if found.offers(name)]
    else:
        names = [name for name in names if isinstance(name, str)]
    functions = []
    for name in dict.fromkeys(names):
        value = module.__dict__.get(name)
        if not callable(value) or isinstance(value, type):
            continue
        function = found.functions.get(name)
        if function is None:
            function = listing.Function(name, found.assigned.get(name, 0), None)
        functions.append((function, value))
    return Loaded(module, functions, bool(found.hook))
