"""What a handler returned, as what the model is given (contracts/maibot, sections 7.3 and 7.4)."""

from binascii import Error as NotBase64
from binascii import a2b_base64

from conclave_worker import codec, problems, results

_KINDS = ("text", "image", "audio", "resource_link", "resource", "binary")
_MEDIA = ("image", "audio", "resource_link", "resource", "binary")
_LONG = 4096  # a text past this may be a file in disguise
_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_\r\n")


def failed(why):
    return results.Outcome("raised", "Error: %s" % why)


def raised(error):
    text = _shown(error).strip() or type(error).__name__
    return results.Outcome("raised", "Error: " + text, error_type="", traceback=problems.traceback_text(error))


def returned(value, name, call):
    """Returns the Outcome of what a handler returned."""
    success, content, error, structured, items = _read(value)
    stop = value.get("stop_after_execution") if isinstance(value, dict) else None
    if stop is not None and not isinstance(stop, bool):
        return failed("stop_after_execution must be true or false, not %s" % type(stop).__name__)
    text = content or "\n".join(_summary(item) for item in items) or _structured(structured) or error
    if not success:
        return results.Outcome("raised", "Error: " + (error or text or "the tool failed"))
    text = without_files(text or "ok")
    plain = results.plain(structured) if structured is not None else None
    call_id = (call.call_id if call is not None else "").rpartition("/")[2] or name or "tool"
    return Answer(text, _placeholders(plain), [_Media(item, n, call_id) for n, item in enumerate(items, 1) if _is_media(item)], bool(stop))


class Answer(results.Outcome):
    """A good outcome, with media: the text names each, and each follows with its header."""

    def __init__(self, text, plain, media, stop):
        super().__init__("ok", text, result=plain, typed=plain is not None)
        self.parts, self.stop = media, stop

    def line(self, id, printed):
        meta = {"conclave/status": "ok"}
        if self.typed:
            meta["conclave/result"] = self.result
        if self.stop:
            meta["conclave/end-turn"] = True
        if printed:
            meta["conclave/printed"] = printed
        text = results.cut(self.text, 1 << 20)
        if self.parts:
            rows = ["<media %s />" % part.attributes() for part in self.parts]
            text += "\n\n<tool_result_media_list>\n%s\n</tool_result_media_list>" % "\n".join(rows)
        content = [{"type": "text", "text": text}]
        room = results.MAX_MEDIA
        for part in self.parts:
            block = part.block(room)
            room -= len(part.data or b"") if "data" in block else 0
            content.append(block)
        message = {"jsonrpc": "2.0", "id": id, "result": {"content": content, "isError": False, "_meta": meta}}
        data = codec.dumps(message)
        if len(data) > results.MAX_LINE:
            meta.pop("conclave/result", None)
            data = codec.dumps(message)
        if len(data) > results.MAX_LINE:
            content[0]["text"] = results.cut(text, results.MAX_LINE // 7)
            del content[1:]
            data = codec.dumps(message)
        return data + b"\n"


def _read(value):
    """Returns (success, content, error, structured, items)."""
    if isinstance(value, dict):
        success = bool(value.get("success", True))
        said = value["content"] if "content" in value else value.get("message")
        content = _content(said)
        error = ""
        if not success:
            error = _content(value.get("error")) or _content(value.get("message")) or content
        items = value.get("content_items")
        items = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        structured = {key: item for key, item in value.items() if key != "content_items"}
        if set(structured) <= {"success", "content", "message", "error", "stop_after_execution"}:
            structured = None
        return success, content, error, structured, items
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], bool):
        said = _content(value[1]) if len(value) > 1 else ""
        return value[0], said if value[0] else "", "" if value[0] else said, None, []
    return True, _content(value), "", None, []


def _content(value):
    if value is None or value is False and not isinstance(value, str):
        return ""
    if isinstance(value, (dict, list, tuple)):
        return codec.text(_placeholders(results.plain(value))) if value else ""
    if isinstance(value, (bytes, bytearray)):
        value = results.plain(value)
    return _shown(value).strip()


def _shown(value):
    try:
        return str(value)
    except Exception:
        return repr(type(value))


def _structured(value):
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return codec.text(_placeholders(results.plain(value)))


def _summary(item):
    kind = _kind(item)
    if kind == "text":
        return _shown(item.get("text") or "")
    label = item.get("name") or item.get("uri") or item.get("description") or ""
    if kind in ("image", "audio", "binary"):
        return "[%s%s]" % (kind, " " + str(item["mime_type"]) if item.get("mime_type") else "")
    if str(label).startswith("data:"):
        label = ""
    return "[%s%s]" % (kind, " " + str(label) if label else "")


def _kind(item):
    kind = str(item.get("content_type") or item.get("type") or "").lower()
    return kind if kind in _KINDS else "unknown"


def _is_media(item):
    return _kind(item) in _MEDIA and any(item.get(key) for key in ("data", "base64", "uri", "name", "description", "mime_type"))


class _Media:
    """One media item of a result."""

    def __init__(self, item, number, call_id):
        self.kind = _kind(item)
        self.index = "tool_result:%s:%d" % (call_id, number)
        self.mime = str(item.get("mime_type") or "")
        self.name = str(item.get("name") or "")
        metadata = item.get("metadata") if isinstance(item.get("metadata"), dict) else {}
        self.context_key = metadata.get("context_key")
        self.source_url = metadata.get("source_url")
        mime, self.data = _bytes(item.get("data") or item.get("base64"))
        if self.data is None and str(item.get("uri") or "").startswith("data:"):
            mime, self.data = _bytes(item["uri"])
        self.mime = self.mime or mime
        picture = self.kind == "image" or self.kind == "binary" and self.mime.startswith("image/")
        if not picture:
            self.data = None
        elif self.data is not None and not self.mime:
            self.mime = results.sniff(self.data)

    def attributes(self):
        facts = (
            ("msg_id", self.index),
            ("type", self.kind),
            ("mime", self.mime),
            ("name", self.name),
            ("context_key", self.context_key),
            ("source_url", self.source_url),
        )
        return " ".join('%s="%s"' % (key, _escaped(value)) for key, value in facts if value)

    def block(self, room):
        """Returns the content block: the picture under its header, or the header alone."""
        header = "<tool_result_media %s />" % self.attributes()
        meta = {"conclave/media": {"index": self.index, "header": header}}
        if self.data is None or len(self.data) > room:
            return {"type": "text", "text": header, "_meta": meta}
        from binascii import b2a_base64

        data = b2a_base64(self.data, newline=False).decode("ascii")
        return {"type": "image", "data": data, "mimeType": self.mime, "name": self.index, "_meta": meta}


def _escaped(value):
    text = str(value)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(char, entity)
    return "".join(char if char >= " " else " " for char in text)


def _bytes(data):
    """Returns (media type, bytes) of base64 with or without a data: prefix; None for garbage."""
    if isinstance(data, (bytes, bytearray)):
        return "", bytes(data)
    if not isinstance(data, str) or not data.strip():
        return "", None
    mime = ""
    if data.startswith("data:"):
        head, _, data = data.partition(",")
        mime = head[len("data:"):].split(";")[0]
    text = "".join(data.split()).replace("-", "+").replace("_", "/").rstrip("=")
    if not text or not set(text) <= _ALPHABET or len(text) % 4 == 1:
        return mime, None
    try:
        return mime, a2b_base64(text + "=" * (-len(text) % 4))
    except (NotBase64, ValueError):
        return mime, None


def without_files(text):
    """Puts a note in place of a text that is a file in base64."""
    if len(text) <= _LONG or not _disguised(text):
        return text
    return "[%d characters of base64 left out]" % len(text)


def _disguised(text):
    if text.startswith("data:") and ";base64," in text[:200]:
        return True
    if not set(text) <= _ALPHABET:
        return False
    begin = _bytes(text[:64])[1]
    if begin is not None and results.sniff(begin) != "application/octet-stream":
        return True
    # Prose has spaces; a run of letters this long does not occur in it.
    return len(set(text)) > 16 and "\n" not in text[:200]


def _placeholders(value):
    if isinstance(value, str):
        return without_files(value)
    if isinstance(value, dict):
        return {key: _placeholders(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_placeholders(item) for item in value]
    return value
