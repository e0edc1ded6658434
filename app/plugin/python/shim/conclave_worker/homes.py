"""The home folder that this process has, and the person's.

HOME is the plugin's storage. What the person granted of their own home is a link there, so that a
plugin finds it under its name. What a plugin looks for there in vain is noted as a look at “~/name”:
whether the person has such a file is nothing that this process knows.
"""

import os
import sys

from . import walls

_MAX = 8  # of one answer

_home = ""
_looks = {}  # the names that were looked for, in order

_stat, _lstat, _access = os.stat, os.lstat, os.access


def install(config):
    """Links what was granted of the person's home, and has what is missed noted."""
    global _home
    if not config.get("storage") or not sys.platform.startswith("linux"):
        return
    _home = os.path.join(config["storage"], "")
    for name, target in sorted((config.get("granted_home") or {}).items()):
        path = _home + name
        try:
            if os.path.islink(path) and os.readlink(path) != target:
                os.unlink(path)  # what was granted before
            if not os.path.lexists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.symlink(target, path)
        except OSError:
            pass  # the plugin has a file of that name, or no room
    looks = _Looks()  # its methods, unlike functions, are none of the class that keeps one
    os.stat, os.lstat, os.access = looks.stat, looks.lstat, looks.access
    for there, stand_in in ((_stat, os.stat), (_access, os.access)):
        for known in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks, os.supports_effective_ids):
            if there in known:
                known.add(stand_in)


class _Looks:
    """Stands in for what looks whether a file is there."""

    def stat(self, path, *, dir_fd=None, follow_symlinks=True):
        try:
            return _stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        except FileNotFoundError:
            missed(path)
            raise

    def lstat(self, path, *, dir_fd=None):
        try:
            return _lstat(path, dir_fd=dir_fd)
        except FileNotFoundError:
            missed(path)
            raise

    def access(self, path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
        there = _access(path, mode, dir_fd=dir_fd, effective_ids=effective_ids, follow_symlinks=follow_symlinks)
        if not there:
            missed(path)
        return there


def missed(path):
    """Notes what is not there, if it would be in the person's home."""
    if not _home or not walls.is_loaded() or len(_looks) >= _MAX or isinstance(path, int):
        return
    try:
        path = os.path.abspath(os.fsdecode(path))
    except (TypeError, ValueError, OSError):
        return
    if path.startswith(_home) and path != _home:
        _looks["~/" + path[len(_home) :]] = True


def take():
    """Returns the looks since it was last asked, as the host is told of refusals."""
    if not _looks:
        return []
    found = list(_looks)
    _looks.clear()
    return [{"permission": "filesystem", "path": path} for path in found]
