"""Programs that this process may not start, and that Conclave starts for it.

The system refuses them. Where a program would be started all the same, Conclave is asked to
start exactly that command, and asks the person first. What it prints comes back over the
wire, and what waits for the program (subprocess, asyncio) finds a process with an id that no
system has. It is no protection, and needs to be none: this process starts nothing.

Conclave gives a program the variables that it has for this process, and no others.
"""

import os
from _thread import allocate_lock, start_new_thread

import conclave_worker

from . import streams, walls
from .wire import Closed, HostError

_FIRST = 1 << 23  # above the ids of all processes
_SIGNALS = {"hangup": 1, "interrupt": 2, "quit": 3, "aborted": 6, "killed": 9, "segmentation fault": 11, "broken pipe": 13, "terminated": 15}

_lock = allocate_lock()  # guards both
_programs = {}  # id → _Program, until it was waited for
_next = _FIRST

_waitpid, _kill = os.waitpid, os.kill


def install():
    """Has what would be started be started by Conclave. subprocess is not loaded yet."""
    import _posixsubprocess

    _posixsubprocess.fork_exec = _start
    os.waitpid, os.kill = _wait, _signal
    if hasattr(os, "pidfd_open"):
        pidfd_open = os.pidfd_open

        def opened(pid, flags=0):
            program = _programs.get(pid)
            return pidfd_open(pid, flags) if program is None else program.watched()

        os.pidfd_open = opened


def _start(argv, executables, _close_fds, _pass_fds, cwd, _env, read, _w, _r, write, _er, error_write, *_):
    """Stands in for what forks and becomes the program. Returns an id."""
    global _next
    words = [os.fsdecode(word) for word in argv]
    found = os.fsdecode(executables[0])
    if os.sep in words[0] or os.path.basename(found) != words[0]:
        words[0] = found
    folder = os.getcwd() if cwd is None else os.path.abspath(os.fsdecode(cwd))
    call = streams.current.get()
    try:
        for word in words:
            word.encode()
        asked = conclave_worker.worker.wire.request("programs.start", {"argv": words, "folder": folder}, call.call_id if call is not None else None)
    except UnicodeEncodeError:
        raise PermissionError(13, "a command has to be text") from None
    except HostError as err:
        walls.refuse_program()
        kind = err.data.get("kind")
        if kind == "not_found":
            raise FileNotFoundError(2, str(err), words[0]) from None
        raise PermissionError(13, str(err).replace("PERMISSION_DENIED: programs: ", "")) from None
    except Closed as err:
        raise PermissionError(13, str(err)) from None
    program = _Program(asked["id"], *(os.dup(given if given != -1 else usual) for given, usual in ((read, 0), (write, 1), (error_write, 2))))
    with _lock:
        pid, _next = _next, _next + 1
        _programs[pid] = program
    start_new_thread(program.feed, ())
    start_new_thread(program.drain, ())
    return pid


class _Program:
    """A program that runs. Methods may be called from any thread."""

    def __init__(self, id, read, write, error):
        self.id, self.read, self.write, self.error = id, read, write, error
        self.status = None  # as waitpid has it, once it has ended
        self._done = allocate_lock()
        self._done.acquire()
        self._watchers = []  # descriptors that are closed then

    def feed(self):
        """Passes on its input."""
        try:
            while True:
                data = os.read(self.read, 1 << 16)
                conclave_worker.worker.wire.request("programs.write", {"id": self.id, "base64": _encode(data), "end": not data})
                if not data:
                    break
        except (OSError, HostError, Closed):
            pass  # it does not read any more
        os.close(self.read)

    def drain(self):
        """Passes on what it prints, until it ends."""
        status = 9
        try:
            while True:
                said = conclave_worker.worker.wire.request("programs.read", {"id": self.id})
                if "base64" not in said:
                    status = said["exit"] << 8 if "exit" in said else _SIGNALS.get(said.get("signal"), 9)
                    _write(self.error, _decode(said.get("error") or ""))
                    break
                if not _write(self.write, _decode(said["base64"])):
                    self.kill()
        except (HostError, Closed):
            pass
        os.close(self.write)
        os.close(self.error)
        with _lock:
            self.status = status
            watchers, self._watchers = self._watchers, []
        self._done.release()
        for fd in watchers:
            os.close(fd)

    def wait(self):
        self._done.acquire()
        self._done.release()

    def watched(self):
        """Returns a descriptor that can be read once it has ended."""
        seen, held = os.pipe()
        with _lock:
            if self.status is None:
                self._watchers.append(held)
                return seen
        os.close(held)
        return seen

    def kill(self):
        try:
            conclave_worker.worker.wire.request("programs.kill", {"id": self.id})
        except (HostError, Closed):
            pass  # it has ended


def _wait(pid, options):
    program = _programs.get(pid)
    if program is None:
        return _waitpid(pid, options)
    if options & os.WNOHANG and program.status is None:
        return 0, 0
    program.wait()
    with _lock:
        _programs.pop(pid, None)
    return pid, program.status


def _signal(pid, number):
    program = _programs.get(pid)
    if program is None:
        return _kill(pid, number)
    if number and program.status is None:
        program.kill()


def _write(fd, data):
    """Says whether somebody reads it still."""
    try:
        while data:
            data = data[os.write(fd, data) :]
    except OSError:
        return False
    return True


def _encode(data):
    from binascii import b2a_base64

    return b2a_base64(data, newline=False).decode()


def _decode(text):
    from binascii import a2b_base64

    return a2b_base64(text)
