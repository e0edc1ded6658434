"""push_message: what a plugin says to the chat (contracts/neko, section 6).

Its text becomes a note in the open conversation, under the plugin's name, with
the permission chat_mutation; what is for the screen alone is shown beside it.
A message with `blind` is kept from the model. Nothing makes the model speak by
itself, and pictures are not passed on.
"""

import time

from conclave_worker.wire import Closed, HostError

from . import state

VISIBLE = ("chat", "hud")
BEHAVIOURS = ("respond", "read", "blind")

# More than these a minute are not passed on.
MAX_A_MINUTE = 10

_sent = []  # when the last ones were, by time.monotonic

# How long a plugin waits to hear whether its message was taken, in seconds.
PATIENCE = 2.0


def push(host, facts):
    """Sends one message. Returns what N.E.K.O's push_message does."""
    parts, visibility, behaviour = _read(facts)
    text = "\n".join(_text(part) for part in parts)
    text = text.replace("{MASTER_NAME}", "you").replace("{LANLAN_NAME}", "Conclave").strip()
    if not text:
        return {"ok": not parts, "submitted": not parts, **({"reason": "transport_unavailable"} if parts else {})}
    if behaviour == "blind" and not visibility:
        return {"ok": True, "submitted": True}
    now = time.monotonic()
    _sent[:] = [when for when in _sent if now - when < 60]
    if len(_sent) >= MAX_A_MINUTE:
        return {"ok": False, "submitted": False, "reason": "backpressure"}
    _sent.append(now)
    title = state.current.about.get("name")
    title = title if isinstance(title, str) else host.id
    try:
        if "chat" in visibility or behaviour != "blind":
            note = {"role": "user", "content": "[%s] %s" % (title, text), "hidden": behaviour == "blind"}
            host.ask("chats.append", note, PATIENCE)
        else:
            host.ask("toast", {"kind": "info", "text": text, "title": title}, PATIENCE)
    except TimeoutError:
        pass  # it was sent; that it is written can take as long as the answer under way
    except Closed:
        return {"ok": False, "submitted": False, "reason": "transport_unavailable"}
    except HostError as err:
        host.log("warning", "A message was not passed on: %s. It said: %s" % (str(err).rstrip("."), text[:200]))
        return {"ok": False, "submitted": False, "reason": "transport_unavailable" if err.code == -32011 else "transport_error"}
    return {"ok": True, "submitted": True}


def _read(facts):
    """Returns (parts, visibility, behaviour) of either form of the call."""
    visibility = facts.get("visibility")
    visibility = [visibility] if isinstance(visibility, str) else list(visibility or ())
    for one in visibility:
        if one not in VISIBLE:
            raise ValueError("visibility is of %s, not %r" % (", ".join(VISIBLE), one))
    behaviour = facts.get("ai_behavior") or "respond"
    if behaviour not in BEHAVIOURS:
        raise ValueError("ai_behavior is one of %s, not %r" % (", ".join(BEHAVIOURS), behaviour))
    parts = facts.get("parts")
    if parts is None:  # the first form
        content = facts.get("content") or facts.get("description")
        parts = [{"type": "text", "text": str(content)}] if content else []
        if facts.get("binary_data") is not None or facts.get("binary_url"):
            parts.append({"type": "image", "data": facts.get("binary_data"), "url": facts.get("binary_url"), "mime": facts.get("mime")})
    for part in parts:
        data = part.get("data") if isinstance(part, dict) else None
        if data is not None and not isinstance(data, (bytes, bytearray, memoryview, str)):
            raise TypeError("data of a part is bytes, not %s" % type(data).__name__)
    return [part for part in parts if isinstance(part, dict)], visibility, behaviour


def _text(part):
    kind = part.get("type")
    if kind == "text":
        return str(part.get("text") or "")
    return "%s: %s" % (kind, part["url"]) if part.get("url") else ""
