"""What a plugin may ask of Conclave. Importing it is never required.

    import conclave

    @conclave.tool(timeout=120, serial=True)
    def rebuild(name: str) -> str:
        "Rebuild an index."
        path = conclave.storage_dir() / (name + ".idx")
        conclave.progress("reading")
        ...

Requests that Conclave refuses raise PermissionDenied, others HostError.
"""

__all__ = [
    "HostError", "PermissionDenied", "tool", "storage_dir", "log", "progress", "host", "host_async",
    "conversation", "user", "deadline", "cancelled", "on_event",
]  # fmt: skip

import conclave_worker as _own
from conclave_worker import streams as _streams
from conclave_worker.wire import Closed as _Closed
from conclave_worker.wire import HostError

_listeners = {}  # name of an event → functions


class PermissionDenied(HostError):
    """The plugin has not been granted what it asked for."""


def tool(function=None, *, title=None, description=None, timeout=None, serial=False, visibility=None):
    """Says more of a tool than its signature can. Usable with and without brackets.

    timeout is in seconds; serial runs one call at a time; visibility is
    "direct", "deferred" or "hidden".
    """
    options = {"title": title, "description": description, "timeout": timeout, "serial": serial, "visibility": visibility}

    def mark(function):
        function.__conclave__ = {name: value for name, value in options.items() if value}
        return function

    return mark if function is None else mark(function)


def storage_dir():
    """Returns the plugin's own folder for data, as a pathlib.Path."""
    import pathlib

    return pathlib.Path(_own.worker.config["storage"])


def log(text, level="info"):
    """Writes a line to the plugin's log. level: debug, info, warning or error."""
    _own.worker.wire.log(level, _own.worker.config["id"], str(text))


def progress(note, done=None, total=None):
    """Tells whoever waits for the current call how far it is. No call, no effect."""
    call = _streams.current.get()
    token = call.meta.get("progressToken") if call is not None else None
    if token is None or call.over:
        return
    call.steps += 1
    params = {"progressToken": token, "progress": call.steps if done is None else done, "message": str(note)}
    if total is not None:
        params["total"] = total
    _own.worker.wire.notify("notifications/progress", params)


def host(capability, **args):
    """Asks Conclave for something and waits: host("storage.read", path="a.txt").

    Blocks the thread; in `async def` use host_async.
    """
    try:
        return _own.worker.wire.request(capability, args, _call_id())
    except HostError as err:
        raise _typed(err) from None


async def host_async(capability, **args):
    """Asks Conclave for something: await host_async("chats.active")."""
    import asyncio

    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def settle(value, error):
        if future.done():
            return
        if error is not None:
            future.set_exception(_typed(error))
        else:
            future.set_result(value)

    def answered(value, error):
        loop.call_soon_threadsafe(settle, value, error)

    _own.worker.wire.ask(capability, args, _call_id(), answered)
    return await future


def conversation():
    """Returns the id of the conversation the current call belongs to, or None."""
    return _meta("conclave/conversation")


def user():
    """Returns a stable id of the person, or None."""
    return _meta("conclave/user")


def deadline():
    """Returns the Unix time in seconds by which the current call must end, or None."""
    call = _streams.current.get()
    return call.deadline() if call is not None else None


def cancelled():
    """Says whether nobody waits for the current call any more; long loops should ask."""
    call = _streams.current.get()
    return call is not None and call.over


def on_event(name, function):
    """Calls function(payload) on the main thread whenever Conclave sends the event."""
    _listeners.setdefault(name, []).append(function)


def _event(name, payload):
    for function in _listeners.get(name, ()):
        try:
            function(payload)
        except Exception as err:
            log("%s in a listener of %s: %s" % (type(err).__name__, name, err), "error")


def _call_id():
    call = _streams.current.get()
    return call.call_id if call is not None else None


def _meta(key):
    call = _streams.current.get()
    return call.meta.get(key) if call is not None else None


def _typed(error):
    if isinstance(error, _Closed) or error.code != -32010:
        return error
    return PermissionDenied(error.code, str(error), error.data)
