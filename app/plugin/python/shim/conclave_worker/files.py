"""Files that this process may not open, and that Conclave opens for it.

The system refuses them. What it refused is asked for once more, with openat2, which no
library uses: Conclave answers that call, and may ask the person before it does. With a
yes it puts the open file into this process; without one the first error stands. It is
no protection, and needs to be none: where nobody answers, the system refuses again.
"""

import builtins
import io
import os
import sys

import conclave_worker

from . import homes, streams, walls
from .wire import Closed, HostError

_OPENAT2 = 437  # on every architecture
_AT_FDCWD = -100

_open, _os_open, _listdir, _scandir = io.open, os.open, os.listdir, os.scandir
_mkdir, _rmdir, _unlink, _rename, _replace = os.mkdir, os.rmdir, os.unlink, os.rename, os.replace

# What the system refuses: a folder or a file, or that something leaves its folder.
_REFUSED, _ELSEWHERE = 13, 18


def install():
    """Has what is refused asked for."""
    if sys.platform.startswith("linux"):
        files = _Files()  # its methods, unlike functions, are none of the class that keeps one
        builtins.open = io.open = files.open
        os.open, os.listdir, os.scandir = files.os_open, files.listdir, files.scandir
        os.mkdir, os.rmdir, os.unlink, os.remove = files.mkdir, files.rmdir, files.unlink, files.unlink
        os.rename, os.replace = files.rename, files.replace
        os.supports_dir_fd.update((os.open, os.mkdir, os.rmdir, os.unlink, os.rename))
        os.supports_fd.update((os.listdir, os.scandir))


class _Files:
    """Stands in for what opens files and folders."""

    def open(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
        try:
            return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        except FileNotFoundError:
            homes.missed(file)
            raise
        except PermissionError as refused:
            if opener is not None or not _askable(file, refused):
                raise
            first = refused

        def ask(path, flags):
            fd = _ask(path, flags, 0o666)
            if fd is None:
                raise first
            return fd

        return _open(file, mode, buffering, encoding, errors, newline, closefd, ask)

    def os_open(self, path, flags, mode=0o777, *, dir_fd=None):
        try:
            return _os_open(path, flags, mode, dir_fd=dir_fd)
        except FileNotFoundError:
            homes.missed(path)
            raise
        except PermissionError as refused:
            if dir_fd is not None or not _askable(path, refused):
                raise
            fd = _ask(path, flags | os.O_CLOEXEC, mode)
            if fd is None:
                raise
            return fd

    def listdir(self, path="."):
        try:
            return _listdir(path)
        except FileNotFoundError:
            homes.missed(path)
            raise
        except PermissionError as refused:
            return _names(path, refused)

    def scandir(self, path="."):
        try:
            return _scandir(path)
        except FileNotFoundError:
            homes.missed(path)
            raise
        except PermissionError as refused:
            return _Scan(os.fspath(path), _names(path, refused))


    def mkdir(self, path, mode=0o777, *, dir_fd=None):
        try:
            return _mkdir(path, mode, dir_fd=dir_fd)
        except OSError as refused:
            _change("mkdir", refused, dir_fd, path)

    def rmdir(self, path, *, dir_fd=None):
        try:
            return _rmdir(path, dir_fd=dir_fd)
        except OSError as refused:
            _change("rmdir", refused, dir_fd, path)

    def unlink(self, path, *, dir_fd=None):
        try:
            return _unlink(path, dir_fd=dir_fd)
        except OSError as refused:
            _change("unlink", refused, dir_fd, path)

    def rename(self, src, dst, *, src_dir_fd=None, dst_dir_fd=None):
        try:
            return _rename(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        except OSError as refused:
            _change("rename", refused, src_dir_fd if dst_dir_fd is None else dst_dir_fd, src, dst)

    def replace(self, src, dst, *, src_dir_fd=None, dst_dir_fd=None):
        try:
            return _replace(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        except OSError as refused:
            _change("rename", refused, src_dir_fd if dst_dir_fd is None else dst_dir_fd, src, dst)


def _change(do, refused, dir_fd, path, to=None):
    """Has Conclave do what was refused, or raises that."""
    named = [path] if to is None else [path, to]
    if dir_fd is not None or refused.errno not in (_REFUSED, _ELSEWHERE):
        raise refused
    try:
        named = [os.path.abspath(os.fsdecode(one)) for one in named]
        if not any(walls.askable(one) and not walls.is_writable(one) for one in named):
            raise refused
        args = {"do": do, "path": named[0]}
        if to is not None:
            args["to"] = named[1]
        call = streams.current.get()
        done = conclave_worker.worker.wire.request("files.change", args, call.call_id if call is not None else None)
    except (HostError, Closed, TypeError, ValueError):
        for one in named:
            walls.refuse_change(one)
        raise refused from None
    if done.get("errno"):
        raise OSError(done["errno"], os.strerror(done["errno"]), path)


def _names(path, refused):
    """Returns what a folder holds that was refused, or raises that."""
    fd = _ask(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) if _askable(path, refused) else None
    if fd is None:
        raise refused
    try:
        names = _listdir(fd)
    finally:
        os.close(fd)
    return [os.fsencode(name) for name in names] if isinstance(os.fspath(path), bytes) else names


def _askable(path, refused):
    """Says whether to ask for a path that was refused."""
    if refused.errno != 13 or isinstance(path, int):
        return False
    try:
        return walls.askable(os.fsdecode(path))
    except (TypeError, ValueError):
        return False


def _ask(path, flags, mode=0):
    """Asks Conclave for a file, and returns its descriptor, or None."""
    try:
        import ctypes
        import struct
    except ImportError:
        return None
    path = os.path.abspath(os.fsencode(path))
    how = struct.pack("=QQQ", flags, mode & 0o7777 if flags & os.O_CREAT else 0, 0)
    libc = ctypes.CDLL(None)
    fd = libc.syscall(ctypes.c_long(_OPENAT2), ctypes.c_long(_AT_FDCWD), ctypes.c_char_p(path), ctypes.c_char_p(how), ctypes.c_size_t(len(how)))
    if fd < 0:
        return None
    walls.let(os.fsdecode(path))
    return fd


class _Scan:
    """Stands in for the iterator of os.scandir."""

    def __init__(self, path, names):
        self._entries = iter([_Entry(path, name) for name in names])

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._entries = iter(())


class _Entry:
    """Stands in for os.DirEntry."""

    def __init__(self, folder, name):
        self.name, self.path = name, os.path.join(folder, name)

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return "<DirEntry %r>" % self.name

    def inode(self):
        return os.lstat(self.path).st_ino

    def stat(self, *, follow_symlinks=True):
        return os.stat(self.path, follow_symlinks=follow_symlinks)

    def is_symlink(self):
        return os.path.islink(self.path)

    def is_dir(self, *, follow_symlinks=True):
        return os.path.isdir(self.path) and (follow_symlinks or not self.is_symlink())

    def is_file(self, *, follow_symlinks=True):
        return os.path.isfile(self.path) and (follow_symlinks or not self.is_symlink())
