"""asyncio, without the modules that are imported by it and that hardly a plugin uses.

    from conclave_worker.aio import asyncio

asyncio imports ssl for connections that may never be made, subprocess for programs
that are never started, inspect for a few questions; what it imports besides is no
smaller, nor is pathlib, which not every plugin needs. In their places stand modules that
load themselves when something of them is used first; whoever imports one of them sees
no difference.
This has to come before other imports, since what is loaded already stays so.
"""

import sys
from _frozen_importlib_external import PathFinder
from _thread import RLock

_Module = type(sys)
_lock = RLock()  # held while one of them loads
_loading = set()  # their names


class _Later(_Module):
    """A module that is there and not loaded yet. What an import asks of it is set."""

    def __getattr__(self, name):
        _load(self)
        return _Module.__getattribute__(self, name)

    def __setattr__(self, name, value):
        _load(self)
        _Module.__setattr__(self, name, value)

    def __delattr__(self, name):
        _load(self)
        _Module.__delattr__(self, name)

    def __dir__(self):
        _load(self)
        return _Module.__dir__(self)


def _load(module):
    name = module.__name__
    with _lock:
        if type(module) is not _Later or name in _loading:
            return  # another thread was first, or this is what it is loaded by
        _loading.add(name)
        try:
            module.__loader__.exec_module(module)
        finally:
            _loading.discard(name)
        _Module.__setattr__(module, "__class__", _Module)


def _put_off(name, path=None, **known):
    """Puts off loading a module of the standard library, unless it is loaded already.

    What is known of it is there before.
    """
    spec = PathFinder.find_spec(name, path) if name not in sys.modules else None
    if spec is None:
        return
    module = _Later(name)
    facts = {"__spec__": spec, "__loader__": spec.loader, "__package__": spec.parent, "__file__": spec.origin, "__cached__": spec.cached}
    module.__dict__.update(facts, **known)
    if spec.submodule_search_locations is not None:  # a package
        module.__dict__["__path__"] = spec.submodule_search_locations
    sys.modules[name] = module


def _import():
    if "asyncio" not in sys.modules:
        for name in ("fnmatch", "inspect", "ipaddress", "locale", "ntpath", "pathlib", "textwrap", "tokenize"):
            _put_off(name)
        _put_off("subprocess", PIPE=-1, STDOUT=-2, DEVNULL=-3)  # which asyncio asks for
        if PathFinder.find_spec("_ssl") is not None:  # else asyncio has to find out that there is none
            _put_off("ssl")
            _put_off("asyncio.sslproto", PathFinder.find_spec("asyncio").submodule_search_locations)
    import asyncio

    asyncio.sslproto = sys.modules["asyncio.sslproto"]  # an import binds only what it loads
    return asyncio


asyncio = _import()
