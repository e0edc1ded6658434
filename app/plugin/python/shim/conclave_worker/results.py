"""What a function returned, as text for the model and as JSON for the record.

The rules are contracts/llm-functions, section 7.
"""

import sys

from . import codec, homes, walls
from .wire import MAX_LINE

MAX_REPR = 500  # characters of an object that has no other form
# Of nested containers: readers of JSON, ours and a model server's, give up on deep values. Deeper ones
# become their repr, which says so.
MAX_DEPTH = 100
MAX_MEDIA = 2_900_000  # bytes of all media that still fit a line of 4 MiB in base64
MAX_FILES = 20  # media of one result, as many as Conclave keeps


class Outcome:
    """How a call ended, ready to be sent.

    status is one of docs/WIRE.md section 4; forced says that it was ended from
    outside while its code was still running.
    """

    def __init__(self, status, text, result=None, typed=False, media=None, error_type="", traceback="", forced=False):
        self.status = status
        self.text = text
        self.result = result  # the JSON value, when typed
        self.typed = typed  # whether result says more than text
        self.media = media or []  # content blocks
        self.error_type = error_type
        self.traceback = traceback
        self.forced = forced

    def line(self, id, printed):
        """Returns the whole response line, cut down if it would not fit the wire."""
        meta = {"conclave/status": self.status}
        if self.typed:
            meta["conclave/result"] = self.result
        if self.error_type:
            meta["conclave/error-type"] = self.error_type
        if self.traceback:
            meta["conclave/traceback"] = self.traceback
        if printed:
            meta["conclave/printed"] = printed
        refused = walls.take() + homes.take()
        if refused:
            meta["conclave/refused"] = refused
        if len(self.text) > 4 * MAX_LINE:  # writing it down first would cost several times its size
            self.text = clip(self.text, MAX_LINE // 7)
        content = [{"type": "text", "text": self.text}]
        content += self.media
        result = {"content": content, "isError": self.status not in ("ok", "paused"), "_meta": meta}
        message = {"jsonrpc": "2.0", "id": id, "result": result}
        data = codec.dumps(message)
        if len(data) > MAX_LINE:
            meta.pop("conclave/result", None)
            data = codec.dumps(message)
        if len(data) > MAX_LINE:
            # Escapes can make six bytes of one character's, so this always fits.
            content[0]["text"] = cut(self.text, MAX_LINE // 7)
            data = codec.dumps(message)
        return data + b"\n"


# Stands last, since Conclave may leave out the middle once more.
_whole = "\n[The whole result had %d %s.]"


def clip(text, size):
    """Is cut for a text so long that its bytes are not counted: size is in characters."""
    note = "\n… %d characters left out: the result is too large to pass on …\n" % (len(text) - size // 2 * 2)
    return text[: size // 2] + note + text[-(size // 2):] + _whole % (len(text), "characters")


def cut(text, size):
    """Keeps the head and the tail of text, about size bytes, and says what is missing."""
    data = text.encode("utf-8", "replace")
    if len(data) <= size:
        return text
    head, tail = data[: size // 2], data[-(size // 2):]
    note = "\n… %d bytes left out: the result is too large to pass on …\n" % (len(data) - len(head) - len(tail))
    return head.decode("utf-8", "ignore") + note + tail.decode("utf-8", "ignore") + _whole % (len(data), "bytes")


def seconds(value):
    """Returns a duration for a sentence: "30 s", "1.5 s", "200 ms"."""
    if value < 1:
        return "%d ms" % max(1, round(value * 1000))
    return "%g s" % round(value, 1)


def returned(value):
    """Returns the Outcome of a function that returned value."""
    if isinstance(value, Outcome):  # a dialect has read it already
        return value
    kind = type(value)
    if kind is str or (isinstance(value, str) and not _is_enum(value)):
        return Outcome("ok", str.__str__(value))
    if _of_llm(value, "ToolOutput"):
        return _attached(value.output, value.attachments)
    if _of_llm(value, "Attachment"):
        return _attached(None, [value])
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _bytes(bytes(value))
    if isinstance(value, float) and not _finite(value):
        return Outcome("ok", str(float(value)))
    plain, known = natural(value)
    if not known:
        return Outcome("ok", plain)
    return Outcome("ok", codec.text(plain), result=plain, typed=True)


def raised(error):
    """Returns the Outcome of a function that raised error."""
    from . import problems

    name = "" if isinstance(error, problems.Said) else type(error).__name__
    if _of_llm(error, "CancelToolCall"):
        return Outcome("cancelled", "Cancelled: " + (str(error) or "the tool cancelled the call"), error_type=name)
    if _of_llm(error, "PauseChain"):
        return Outcome("paused", str(error) or "The call waits to be resumed.", error_type=name)
    return Outcome(
        "raised", "Error: " + problems.describe(error), error_type=name, traceback=problems.traceback_text(error)
    )


def unsayable(error):
    """Returns the Outcome of a result that could not be written down."""
    name = type(error).__name__
    said = "there is not enough memory to pass its result on; return less" if name == "MemoryError" else "its result cannot be written down"
    return Outcome("raised", "Error: %s: %s" % (name, said), error_type=name)


def natural(value):
    """Returns (JSON value, whether the type was known rather than shown by repr)."""
    return _natural(value, 0, [])


def plain(value):
    """Returns the JSON value alone."""
    return _natural(value, 0, [])[0]


def _natural(value, depth, above):
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value, True
    if kind is int:
        return _int(value), True
    if kind is float:
        return (value if _finite(value) else str(value)), True
    if any(value is other for other in above):
        return _shown(value), False
    if depth > MAX_DEPTH:
        return "[nested over %d levels deep; the rest as text: %s]" % (MAX_DEPTH, _shown(value)), False
    if kind in (list, tuple, dict, set, frozenset):
        pass
    elif _is_enum(value):
        return _natural(value.value, depth + 1, above + [value])
    elif isinstance(value, str):
        return str.__str__(value), True
    elif isinstance(value, int):
        return _int(int(value)), True
    elif isinstance(value, float):
        return (float(value) if _finite(value) else str(float(value))), True
    elif isinstance(value, (bytes, bytearray)):
        try:
            return bytes(value).decode("utf-8"), True
        except UnicodeDecodeError:
            return "<%d bytes>" % len(value), True
    else:
        fields = _fields(value)
        if fields is not None:
            value = fields
        else:
            text = _texts(value)
            if text is not None:
                return text, True

    above = above + [value]
    if isinstance(value, dict) or _is_mapping(value):
        return {_key(k): _natural(v, depth + 1, above)[0] for k, v in value.items()}, True
    if isinstance(value, (list, tuple)) or _is_sequence(value):
        return [_natural(item, depth + 1, above)[0] for item in value], True
    if isinstance(value, (set, frozenset)) or _is_set(value):
        items = [_natural(item, depth + 1, above)[0] for item in value]
        try:
            items.sort()
        except TypeError:
            items.sort(key=repr)
        return items, True
    return _shown(value), False


def _key(key):
    if type(key) is str:
        return key
    if _is_enum(key):
        key = key.value
    if isinstance(key, str):
        return str.__str__(key)
    try:
        return str(key)[:MAX_REPR]
    except Exception:
        return _shown(key)


def _int(value):
    # Python 3.11 refuses to write out integers of more than 4,300 digits.
    try:
        str(value)
    except ValueError:
        return hex(value)[:MAX_REPR]
    return value


def _finite(value):
    return value - value == 0


def _shown(value):
    try:
        return repr(value)[:MAX_REPR]
    except Exception:
        return "<%s object>" % type(value).__name__


def _is_enum(value):
    enum = sys.modules.get("enum")
    return enum is not None and isinstance(value, enum.Enum)


def _is_mapping(value):
    import _collections_abc

    return isinstance(value, _collections_abc.Mapping)


def _is_sequence(value):
    # deque is no Sequence by inheritance, but is registered as one.
    import _collections_abc

    return isinstance(value, (_collections_abc.Sequence, _collections_abc.ValuesView, _collections_abc.ItemsView))


def _is_set(value):
    import _collections_abc

    return isinstance(value, (_collections_abc.Set, _collections_abc.KeysView))


def _fields(value):
    """Returns the fields of a dataclass, NamedTuple or model as a dict, or None."""
    kind = type(value)
    if hasattr(kind, "__dataclass_fields__"):
        names = [f.name for f in kind.__dataclass_fields__.values() if f._field_type.name == "_FIELD"]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return dict(zip(kind._fields, value))
    if isinstance(value, BaseException):
        return None
    for dump in ("model_dump", "dict"):
        method = getattr(kind, dump, None)
        if method is not None and (hasattr(kind, "model_fields") or hasattr(kind, "__fields__")):
            return method(value)
    return None


def _texts(value):
    """Returns the text of a date, path, id and the like, or None."""
    for kind in type(value).__mro__:
        module, name = kind.__module__, kind.__name__
        if module == "datetime" and name in ("datetime", "date", "time"):
            return value.isoformat()
        if module == "datetime" and name == "timedelta":
            return _duration(value)
        if name in ("UUID", "Decimal", "Fraction") and module in ("uuid", "decimal", "fractions"):
            return str(value)
        if name == "PurePath" and module.startswith("pathlib"):
            return str(value)
        if name == "Pattern" and module == "re":
            return value.pattern if isinstance(value.pattern, str) else _shown(value.pattern)
        if kind is complex:
            return str(value)
    return None


def _duration(value):
    """Returns a timedelta as ISO 8601, like pydantic: "P1DT2H0.5S"."""
    sign = ""
    if value.days < 0:
        sign, value = "-", -value
    hours, rest = divmod(value.seconds, 3600)
    minutes, whole = divmod(rest, 60)
    text = ("%dD" % value.days) if value.days else ""
    clock = ("%dH" % hours if hours else "") + ("%dM" % minutes if minutes else "")
    if value.microseconds:
        clock += ("%d.%06d" % (whole, value.microseconds)).rstrip("0") + "S"
    elif whole or not (clock or text):
        clock += "%dS" % whole
    return sign + "P" + text + ("T" + clock if clock else "")


# -- bytes --

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF87a", 0, "image/gif"),
    (b"GIF89a", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"WAVE", 8, "audio/wav"),
    (b"ID3", 0, "audio/mpeg"),
    (b"\xff\xfb", 0, "audio/mpeg"),
    (b"OggS", 0, "audio/ogg"),
    (b"fLaC", 0, "audio/flac"),
    (b"%PDF-", 0, "application/pdf"),
    (b"PK\x03\x04", 0, "application/zip"),
    (b"\x1f\x8b", 0, "application/gzip"),
)


def sniff(data):
    """Returns the media type that data begins like."""
    for mark, at, media_type in _SIGNATURES:
        if data[at:at + len(mark)] == mark:
            return media_type
    return "application/octet-stream"


def _bytes(data):
    media_type = sniff(data)
    if media_type == "application/octet-stream":
        try:
            return Outcome("ok", data.decode("utf-8"))
        except UnicodeDecodeError:
            pass
    if len(data) > MAX_MEDIA:
        return Outcome("ok", "<%d bytes of %s, too large to pass on>" % (len(data), media_type))
    return Outcome("ok", "<%d bytes>" % len(data), media=[_block(data, media_type)])


# -- attachments --


def _of_llm(value, name):
    """Says whether value is an instance of one of the module llm's classes."""
    kind = getattr(sys.modules.get("llm"), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _attached(output, attachments):
    """Returns the Outcome of an output with pictures, sounds or files."""
    outcome = returned("" if output is None else output)
    left, said = MAX_MEDIA, []
    for number, one in enumerate(attachments):
        if number >= MAX_FILES:
            said.append("%d more attachments were left out: a result may have %d" % (len(attachments) - number, MAX_FILES))
            break
        name = one.path.rpartition("/")[2] if isinstance(one.path, str) else getattr(one.path, "name", "") or ""
        if one.content is None and not one.path and one.url:
            outcome.media.append({"type": "resource_link", "uri": str(one.url), "name": name or "attachment", "mimeType": one.type or ""})
            continue
        data = one.content_bytes()
        media_type = one.type or sniff(data)
        if len(data) > left:
            said.append("%s has %d bytes of %s; the attachments of a result may have %d" % (name or "an attachment", len(data), media_type, MAX_MEDIA))
            continue
        left -= len(data)
        outcome.media.append(_block(data, media_type, name))
    if said:
        outcome.text = (outcome.text + "\n[" + "; ".join(said) + "]").strip()
    elif not outcome.text and outcome.media:
        outcome.text = "(1 attachment)" if len(outcome.media) == 1 else "(%d attachments)" % len(outcome.media)
    return outcome


def _block(data, media_type, name=""):
    """Returns the MCP content block for media."""
    from binascii import b2a_base64

    text = b2a_base64(data, newline=False).decode("ascii")
    family = media_type.split("/")[0]
    if family in ("image", "audio"):
        block = {"type": family, "data": text, "mimeType": media_type}
        if name:
            block["name"] = name
        return block
    return {"type": "resource", "resource": {"uri": name or "conclave://result", "mimeType": media_type, "blob": text}}
