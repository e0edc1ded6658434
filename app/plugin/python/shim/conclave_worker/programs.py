"""Programs that this process may not start, and that Conclave starts for it.

The system refuses them. Where a program would be started all the same, Conclave is asked to
start exactly that command, and asks the person first. What it prints comes back over the
wire, and what waits for the program (subprocess, asyncio) finds a process with an id that no
system has. It is no protection, and needs to be none: the system holds this process to what it
may start.

A program gets the variables that it would have got from this process.
"""

import os
from _thread import allocate_lock, start_new_thread

import conclave_worker

from . import streams, walls
from .wire import Closed, HostError

_FIRST = 1 << 23  # above the ids of all processes
# Said of bubblewrap, whose own words are about the system.
_NO_SANDBOX_INSIDE = (
    b"conclave: bubblewrap cannot set up a sandbox here: the program runs in that of its plugin, in which no namespace can be made.\n"
)
_LAST = 4096  # how much of a program's output is looked through for what it was refused
_SIGNALS = {"hangup": 1, "interrupt": 2, "quit": 3, "aborted": 6, "killed": 9, "segmentation fault": 11, "broken pipe": 13, "terminated": 15}

_lock = allocate_lock()  # guards both
_programs = {}  # id → _Program, until it was waited for
_next = _FIRST

_waitpid, _kill = os.waitpid, os.kill
_fork_exec = None
_executes = ()  # the files and folders of programs that this process may start by itself


def install(executes):
    """Has what this process may not start be started by Conclave. subprocess is not loaded yet."""
    global _fork_exec, _executes
    import _posixsubprocess

    _executes = tuple(executes)
    _fork_exec, _posixsubprocess.fork_exec = _posixsubprocess.fork_exec, _start
    os.waitpid, os.kill = _wait, _signal
    if hasattr(os, "pidfd_open"):
        pidfd_open = os.pidfd_open

        def opened(pid, flags=0):
            program = _programs.get(pid)
            return pidfd_open(pid, flags) if program is None else program.watched()

        os.pidfd_open = opened


def _own(executables, folder):
    """Returns the files of a program that this process may start by itself, or None.

    Where the variables of the program have no PATH, its name is looked up as Conclave does, in that of this process.
    """
    name = os.path.basename(os.fsdecode(executables[0]))
    usual = [os.fsencode(os.path.join(at, name)) for at in os.get_exec_path()] if len(executables) > 1 else ()
    for files in executables, usual:
        for path in files:
            path = os.path.join(folder, os.fsdecode(path))
            if os.path.isfile(path):
                path = os.path.realpath(path)
                return files if any(path == one or path.startswith(one.rstrip(os.sep) + os.sep) for one in _executes) else None
    return None


def _variables(given):
    """Returns the variables for a program as text: those that it is given, or else those of this process."""
    if given is None:
        return dict(os.environ)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in (one.partition(b"=") for one in given)}


def _start(argv, executables, close_fds, pass_fds, cwd, env, read, _w, _r, write, _er, error_write, *more):
    """Stands in for what forks and becomes the program. Returns an id."""
    global _next
    folder = os.getcwd() if cwd is None else os.path.abspath(os.fsdecode(cwd))
    own = _own(executables, folder) if _executes else None
    if own is not None or _executes and not walls.is_loaded():
        return _fork_exec(argv, own or executables, close_fds, pass_fds, cwd, env, read, _w, _r, write, _er, error_write, *more)
    words = [os.fsdecode(word) for word in argv]
    found = os.fsdecode(executables[0])
    if os.sep in words[0] or os.path.basename(found) != words[0]:
        words[0] = found
    call = streams.current.get()
    try:
        variables = _variables(env)
        "".join(words + list(variables) + list(variables.values())).encode()
        asked = conclave_worker.worker.wire.request("programs.start", {"argv": words, "folder": folder, "env": variables}, call.call_id if call is not None else None)
    except UnicodeEncodeError:
        raise PermissionError(13, "a command, and its variables, have to be text") from None
    except HostError as err:
        kind = err.data.get("kind")
        if kind == "not_found":
            raise FileNotFoundError(2, str(err).rstrip("."), words[0]) from None
        if kind == "unavailable":
            raise BlockingIOError(11, str(err)) from None
        if kind == "denied":
            walls.refuse_program()
        raise PermissionError(13, str(err).replace("PERMISSION_DENIED: programs: ", "")) from None
    except Closed as err:
        raise PermissionError(13, str(err)) from None
    program = _Program(asked["id"], folder, *(os.dup(given if given != -1 else usual) for given, usual in ((read, 0), (write, 1), (error_write, 2))))
    with _lock:
        pid, _next = _next, _next + 1
        _programs[pid] = program
    start_new_thread(program.feed, ())
    start_new_thread(program.drain, ())
    return pid


class _Program:
    """A program that runs. Methods may be called from any thread."""

    def __init__(self, id, folder, read, write, error):
        self.id, self.folder, self.read, self.write, self.error = id, folder, read, write, error
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
        status, last = 9, b""
        try:
            while True:
                said = conclave_worker.worker.wire.request("programs.read", {"id": self.id})
                if "base64" not in said:
                    status = said["exit"] << 8 if "exit" in said else _SIGNALS.get(said.get("signal"), 9)
                    error = _decode(said.get("error") or "")
                    if status:
                        walls.look_in(last + b"\n" + error, self.folder)
                        if b"bwrap: " in error:
                            error += _NO_SANDBOX_INSIDE
                    _write(self.error, error)
                    break
                data = _decode(said["base64"])
                last = (last + data)[-_LAST:]
                if not _write(self.write, data):
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
