"""What the walls around this process refuse, in a sentence that names the grant.

The system refuses it anyway, with an error number alone. Where a system has no
walls, this is all there is, and no protection against code that means to get out.

A file that may not be opened is noted and left to the system: only that knows.
"""

import os
import sys
from _thread import allocate_lock

_INET = (2, 10, 23, 30)  # AF_INET, and AF_INET6 on Linux, Windows and macOS

_SERVERS = ("create_server", "start_server")  # functions that make one
_HERE = (None, "", "localhost", "127.0.0.1", "::1", b"localhost", b"127.0.0.1", b"::1")  # names of this computer

_NETWORK = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.connect", "socket.bind", "socket.sendto"}
_PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile", "pty.spawn"}
_LISTS = {"os.listdir", "os.scandir"}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

# Where libraries look for files of the machine's: nobody grants those.
_SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/run", "/sbin", "/sys", "/usr", "/var")

MAX_REFUSED = 8  # of one answer
_LINES = 50  # of a program's output that are looked through

_refused = {}  # (permission, path, write) → whether the plugin was loaded by then, and whether a folder was listed; in order
_loaded = False
_reads = _writes = ()  # what this process may read, and write
_starts = False  # whether Conclave is asked to start programs
_lock = allocate_lock()  # guards _refused


def install(config):
    """Guards what was not granted."""
    global _reads, _writes
    granted = config.get("granted") or ()
    network, programs, listens = "network" in granted, "programs" in granted, "listen" in granted
    reads, writes = _reads, _writes = _roots(config.get("reads")), _roots(config.get("writes"))
    allow = "To allow it: in its menu under What it may reach, or conclave plugins grant %s " % config["id"]
    no_network = "this plugin may not use the network. %snetwork" % allow
    no_ports = "this plugin may not listen on ports. %slisten" % allow
    no_programs = "this plugin may not start other programs. %sprograms" % allow

    executes = config.get("executes") or ()
    if sys.platform.startswith("linux"):
        os.system = _system

    def hook(event, args):
        if event == "open":
            if type(args[0]) is str:
                write = type(args[1]) is str and any(c in args[1] for c in "wax+") or type(args[2]) is int and args[2] & _WRITES
                _look(args[0], writes if write else reads, bool(write))
        elif event in _LISTS:
            if type(args[0]) is str:
                _look(args[0], reads, False, True)
        elif not network and (event == "socket.__new__" and args[1] in _INET or event in _NETWORK and _reaches_out(event, args)):
            if listens and _stays_here(event, args):
                return
            if not listens and _serves(event):
                _refuse("listen")
                raise PermissionError(13, no_ports)
            _refuse("network")
            raise PermissionError(13, no_network)
        elif not programs and event in _PROGRAMS:
            if event == "subprocess.Popen" and _starts and _loaded:
                return  # Conclave is asked to start it
            _refuse("programs")
            raise PermissionError(13, no_programs)
        elif event == "import" and args[0] == "_posixsubprocess":
            _start_programs(executes)

    sys.addaudithook(hook)


def _start_programs(executes):
    """Has Conclave asked to start what this process may not, before anything is loaded that would start it."""
    global _starts
    if _starts or not sys.platform.startswith("linux"):
        return
    _starts = True
    from . import programs

    programs.install(executes)


def _system(command):
    """Stands in for os.system."""
    import subprocess

    status = subprocess.call(command, shell=True)
    return status << 8 if status >= 0 else -status


def refuse(permission):
    """Notes for the plugin's card that it lacked a permission which the person can grant."""
    _refuse(permission)


def refuse_program():
    """Notes that a program was not started."""
    _refuse("programs")


def look_in(text, folder):
    """Notes the files that a program which ran in folder was refused, by what it printed."""
    if b"ermission denied" not in text:
        return
    import re

    for line in text.decode("utf-8", "replace").split("\n")[-_LINES:]:
        said = line.partition("ermission denied")[0]
        if said == line:
            continue
        quoted = re.findall("['\"`‘]([^'\"`’]+)['\"’]", line)
        changes = re.search(r"\b(create|touch|write|remove|move|rename|unlink|mkdir|rmdir|copy to)\b", line) is not None
        # The file stands right before, behind words perhaps: “sh: 1: cannot create /home/me/x: Permission denied”
        last = said.rpartition(": ")[0].rpartition(": ")[2]
        for named in quoted or [last[last.find(" " + os.sep) + 1 :].strip()]:
            path = os.path.join(folder, named)
            write = changes or not os.path.exists(path)
            if os.sep in named or os.path.exists(path):
                _look(path, _writes if write else _reads, write)


def is_writable(path):
    """Says whether this process may change what lies at a path by itself."""
    return os.path.join(path, "").startswith(_writes)


def refuse_change(path):
    """Notes the folder of a file that was not made, renamed or deleted."""
    _look(path, _writes, True)


def loaded():
    """Says that what is refused from now on is not the loading's."""
    global _loaded
    _loaded = True


def is_loaded():
    """Says whether the plugin is loaded."""
    return _loaded


def take():
    """Returns what was refused since it was last asked, as the host is told."""
    if not _refused:
        return []
    with _lock:
        found = list(_refused.items())
        _refused.clear()
    return [
        {"permission": permission, "path": path, "write": write, "loading": not late, "listing": listing}
        for (permission, path, write), (late, listing) in found
    ]


def let(path):
    """Forgets that a file was refused: it was opened after all."""
    path = os.path.realpath(path)
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    with _lock:
        for write in (False, True):
            _refused.pop(("filesystem", folder, write), None)


def askable(path):
    """Says whether a person may be asked about a path that was refused."""
    path = os.path.abspath(path)
    return _loaded and not (path + os.sep).startswith(_SYSTEM) and (os.sep + ".") not in path


def _roots(paths):
    return tuple(path.rstrip(os.sep) + os.sep for path in paths or ())


def _refuse(permission, path="", write=False, listing=False):
    with _lock:
        refusal = (permission, path, write)
        if refusal in _refused or len(_refused) < MAX_REFUSED:
            _refused[refusal] = _loaded, listing or _refused.get(refusal, (False, False))[1]


def _look(path, roots, write, listing=False):
    """Notes a file of the person's that may not be opened."""
    if path.startswith(roots) or not roots:
        return
    path = os.path.abspath(path)
    if (path + os.sep).startswith(roots) or (path + os.sep).startswith(_SYSTEM) or (os.sep + ".") in path:
        return
    try:
        path = os.path.realpath(path)
        if (path + os.sep).startswith(roots) or (path + os.sep).startswith(_SYSTEM):
            return
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        if os.path.isdir(folder) and (write or os.path.exists(path)):
            _refuse("filesystem", folder, write, listing)
    except (OSError, ValueError):
        pass  # nothing is there


def _serves(event):
    """Says whether what is refused was to be a server."""
    if event == "socket.bind":
        return True
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_name in _SERVERS or code.co_filename.endswith("socketserver.py"):
            return True
        frame = frame.f_back
    return False


def _stays_here(event, args):
    """Says whether an event concerns a socket that does not leave this computer: the system decides about its port."""
    if event == "socket.__new__":
        return args[2] & 15 == 1  # SOCK_STREAM
    if event in ("socket.bind", "socket.connect"):
        host = args[1][0] if isinstance(args[1], tuple) and args[1] else ""
        return event == "socket.bind" or host in _HERE
    return event != "socket.sendto" and args[0] in _HERE


def _reaches_out(event, args):
    """Says whether an event concerns a socket of the network."""
    if event in ("socket.connect", "socket.bind", "socket.sendto"):
        return getattr(args[0], "family", None) in _INET
    return True
