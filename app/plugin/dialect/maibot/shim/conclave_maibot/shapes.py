"""The shapes that MaiBot gives to messages, chats and requests, made of Conclave's and back."""

import time

from conclave_worker import codec, results

from .answers import _bytes


def positive(value, default):
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default


def seconds(value, default):
    try:
        return float(value)
    except (TypeError, ValueError):
        return default


def as_text(value):
    return value if isinstance(value, str) else codec.text(results.plain(value))


def as_medium(data, label):
    mime, raw = _bytes(data)
    if raw is None:
        return None
    from binascii import b2a_base64

    mime = mime or results.sniff(raw)
    return {"mime_type": mime, "base64": b2a_base64(raw, newline=False).decode("ascii"), "name": label}


def of_segments(segments):
    """Returns (text, media) of a list of segments."""
    lines, media = [], []
    for one in segments if isinstance(segments, (list, tuple)) else ():
        if isinstance(one, str):
            lines.append(one)
            continue
        if not isinstance(one, dict):
            continue
        kind, content = str(one.get("type") or "text"), one.get("content", one.get("data"))
        if kind == "text":
            lines.append(content.get("text", "") if isinstance(content, dict) else as_text(content or ""))
            continue
        if isinstance(content, dict):
            content = content.get("data") or content.get("base64") or content.get("url")
        medium = as_medium(content, kind) if kind in ("image", "emoji", "voice", "video", "file") else None
        if medium is not None:
            media.append(medium)
        else:
            lines.append("[%s]" % kind)
    return "\n".join(lines), media


def of_prompt(prompt):
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    found = []
    for one in prompt if isinstance(prompt, (list, tuple)) else ():
        if not isinstance(one, dict):
            found.append({"role": "user", "content": str(one)})
            continue
        content = one.get("content")
        if isinstance(content, list):
            content = "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict) and part.get("type", "text") == "text")
        role = str(one.get("role") or "user").lower()
        found.append({"role": role if role in ("system", "user", "assistant") else "user", "content": str(content or "")})
    return found


def as_definition(tool):
    """Returns {name, description, parameters}, whichever of the two usual forms was given."""
    function = tool.get("function") if isinstance(tool.get("function"), dict) else tool
    return {
        "name": str(function.get("name") or ""),
        "description": str(function.get("description") or ""),
        "parameters": function.get("parameters") or {"type": "object", "properties": {}},
    }


def as_call(call):
    function = call.get("function") if isinstance(call.get("function"), dict) else call
    arguments = function.get("arguments", function.get("args"))
    if isinstance(arguments, str):
        try:
            arguments = codec.loads(arguments.encode("utf-8"))
        except ValueError:
            arguments = {}
    name = function.get("name") or ""
    return {"id": str(call.get("id") or ""), "type": "function", "function": {"name": str(name), "arguments": arguments if isinstance(arguments, dict) else {}}}


def as_message(one, chat):
    """Returns a message as MaiBot has it."""
    role = str(one.get("role") or "")
    person = role == "user"
    name = str(one.get("name") or ("local" if person else "Conclave"))
    text = one.get("content", one.get("text"))
    text = text if isinstance(text, str) else as_text(text) if text else ""
    user = {"user_id": "local" if person else "conclave", "user_nickname": name, "user_cardname": ""}
    return {
        "message_id": str(one.get("id", one.get("seq", ""))),
        "timestamp": "%.3f" % _when(one),
        "platform": "conclave",
        "message_info": {"user_info": user, "group_info": None, "additional_config": {}},
        "raw_message": [{"type": "text", "data": text}],
        "is_mentioned": person,
        "is_at": False,
        "is_emoji": False,
        "is_picture": False,
        "is_command": text.startswith("/"),
        "is_notify": False,
        "session_id": chat,
        "processed_plain_text": text,
    }


def _when(one):
    for key in ("created_ms", "timestamp_ms"):
        if isinstance(one.get(key), (int, float)):
            return one[key] / 1000
    for key in ("created", "timestamp", "created_at", "time"):
        value = one.get(key)
        if isinstance(value, (int, float)):
            return value / 1000 if value > 1e11 else float(value)
        if isinstance(value, str) and value:
            import datetime

            try:
                return datetime.datetime.fromisoformat(value.replace("Z", "+00:00")[:19] + "+00:00").timestamp()
            except ValueError:
                continue
    return time.time()


def as_stream(one):
    id = str(one.get("id") or one.get("chat") or "")
    return {
        "session_id": id,
        "stream_id": id,
        "platform": "conclave",
        "user_id": "local",
        "user_nickname": "local",
        "user_cardname": "",
        "group_id": "",
        "group_name": str(one.get("title") or ""),
        "account_id": "conclave",
        "scope": "",
        "is_group_session": False,
        "chat_type": "private",
    }
