"""Connections of Python code, through the proxy that Conclave gave this process.

The system lets the process connect to that proxy and to nothing else, and look up no
names. Libraries that use the variables of a proxy do so by themselves; for others, a
TCP connection becomes a tunnel here: the proxy is told the host, and looks it up. It
is no protection, and needs to be none.
"""

import base64
import errno
import os
import socket
from _thread import allocate_lock
from urllib.parse import unquote, urlsplit

_plain = socket.socket.__mro__[1]  # of C
_getaddrinfo, _gethostbyname = socket.getaddrinfo, socket.gethostbyname
_INET = (socket.AF_INET, socket.AF_INET6)

MAX_NAMES = 65536  # that stand for an address at once
LONGEST = 600  # seconds that an open connection may take, while a person is asked
MAX_HEAD = 65536  # bytes of the proxy's answer

_lock = allocate_lock()  # guards both
_addresses = {}  # name → the address that stands for it
_names = {}  # the other way round


def install():
    """Leads connections through the proxy, if the process has one."""
    proxy = os.environ.get("HTTP_PROXY")
    if not proxy:
        return
    at = urlsplit(proxy)
    address = (at.hostname, at.port)
    credential = base64.b64encode(("%s:%s" % (unquote(at.username or ""), unquote(at.password or ""))).encode()).decode()

    def connect(self, to):
        if self.family not in _INET or self.type != socket.SOCK_STREAM or tuple(to[:2]) == address:
            return _plain.connect(self, to)
        host, port = _names.get(_bare(to[0]), to[0]), to[1]
        if not isinstance(host, str) or not isinstance(port, int):
            return _plain.connect(self, to)
        waits = _plain.gettimeout(self)
        _plain.settimeout(self, LONGEST if waits == 0 else waits)
        try:
            _plain.connect(self, address if self.family == socket.AF_INET else ("::ffff:" + address[0], address[1]))
            _tunnel(self, host, port, credential)
        finally:
            _plain.settimeout(self, waits)

    def connect_ex(self, to):
        try:
            connect(self, to)
        except OSError as error:
            if error.errno is None:
                raise
            return error.errno
        return 0

    socket.socket.connect, socket.socket.connect_ex = connect, connect_ex
    socket.getaddrinfo, socket.gethostbyname = _look_up, _stand_in


def _tunnel(sock, host, port, credential):
    """Asks the proxy for a host, and raises what it says if that is no yes."""
    name = "[%s]" % host if ":" in host else host.encode("idna").decode()
    if any(c in name for c in " \r\n/"):
        raise OSError(errno.EINVAL, "that is no host")
    request = "CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\nProxy-Authorization: Basic %s\r\n\r\n" % (name, port, name, port, credential)
    _plain.sendall(sock, request.encode())
    head = b""
    while b"\r\n\r\n" not in head:  # what follows is the host's
        more = _plain.recv(sock, 4096, socket.MSG_PEEK)
        end = (head + more).find(b"\r\n\r\n")
        take = len(more) if end < 0 else end + 4 - len(head)
        more = _plain.recv(sock, take) if more else b""
        head += more
        if not more or len(head) > MAX_HEAD:
            raise ConnectionResetError(errno.ECONNRESET, "Conclave's proxy ended the connection")
    status, _, reason = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")[2].partition(" ")
    if status == "403":
        raise PermissionError(errno.EACCES, reason)
    if status != "200":
        raise ConnectionRefusedError(errno.ECONNREFUSED, reason)


def _bare(host):
    return host[7:] if isinstance(host, str) and host.startswith("::ffff:") else host


def _is_address(host):
    for family in _INET:
        try:
            socket.inet_pton(family, host.partition("%")[0])
            return True
        except OSError:
            pass
    return False


def _stand_in(name):
    """Returns an address that stands for a name, of those that nobody has (240.0.0.0/4)."""
    if _is_address(name):
        return name
    name = name.rstrip(".").lower()
    with _lock:
        if name not in _addresses:
            if len(_addresses) >= MAX_NAMES:
                raise socket.gaierror(socket.EAI_AGAIN, "too many names were looked up")
            n = len(_addresses) + 1
            address = "240.0.%d.%d" % (n >> 8, n & 255)
            _addresses[name], _names[address] = address, name
        return _addresses[name]


def _look_up(host, port, family=0, type=0, proto=0, flags=0):
    """Stands in for socket.getaddrinfo."""
    if isinstance(host, bytes):
        host = host.decode("idna")
    if not host or _is_address(host) or flags & socket.AI_NUMERICHOST or type == socket.SOCK_DGRAM:
        return _getaddrinfo(host, port, family, type, proto, flags)
    address = _stand_in(host)
    if family == socket.AF_INET6:
        address = "::ffff:" + address
    return _getaddrinfo(address, port, family, type or socket.SOCK_STREAM, proto, flags & ~getattr(socket, "AI_ADDRCONFIG", 0))
