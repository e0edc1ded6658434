"""A socket or a program that the plugin may not use fails with a sentence.

The walls around the process refuse it anyway, with an error number alone. Where
a system has no walls, this is all there is, and no protection against code that
means to get out.
"""

import sys

_INET = (2, 10, 23, 30)  # AF_INET, and AF_INET6 on Linux, Windows and macOS

_NETWORK = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.connect", "socket.bind", "socket.sendto"}
_PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile", "pty.spawn"}

# Modules by which a plugin reaches out, for the note at its start.
_SAID = {
    "network": "It may not use the network; what needs it will fail. To allow it: conclave plugins grant %s network",
    "programs": "It may not start other programs; what needs them will fail. To allow it: conclave plugins grant %s programs",
}


def install(host):
    """Guards what was not granted, and notes what the plugin will want of it."""
    network, programs = host.extra["network"], host.extra["programs"]
    id = host.worker.config["id"]
    for permission, granted in (("network", network), ("programs", programs)):
        if not granted and permission in host.extra["wants"]:
            host.note(_SAID[permission] % id)
    if network and programs:
        return
    no_network = "this plugin may not use the network. To allow it: conclave plugins grant %s network" % id
    no_programs = "this plugin may not start other programs. To allow it: conclave plugins grant %s programs" % id

    def hook(event, args):
        if not network and (event == "socket.__new__" and args[1] in _INET or event in _NETWORK and _reaches_out(event, args)):
            raise PermissionError(13, no_network)
        if not programs and event in _PROGRAMS:
            raise PermissionError(13, no_programs)

    sys.addaudithook(hook)


def _reaches_out(event, args):
    """Says whether an event concerns a socket of the network."""
    if event in ("socket.connect", "socket.bind", "socket.sendto"):
        return getattr(args[0], "family", None) in _INET
    return True
