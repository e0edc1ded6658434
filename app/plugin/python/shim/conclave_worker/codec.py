"""JSON text to values and back, without importing `json`.

`json` imports `re`, which costs more than everything else the worker needs at
its start. The scanner and the encoder that `json` is built on are in `_json`
and need neither. Where `_json` is missing or shaped differently, `json` itself
is used.
"""


def _refuse_constant(name):
    raise ValueError("%s is not JSON" % name)


class _Strict:
    """What `_json.make_scanner` asks of its context."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_refuse_constant)
    memo = {}


def _unencodable(value):
    raise TypeError("%s has no JSON form" % type(value).__name__)


try:
    import _json

    _scan = _json.make_scanner(_Strict())
    _encode = _json.make_encoder(
        None, _unencodable, _json.encode_basestring, None, ":", ",", False, False, False
    )

    def _parse(text):
        try:
            value, end = _scan(text, 0)
        except StopIteration:
            raise ValueError("not JSON") from None
        if end != len(text):
            raise ValueError("not JSON: more text after the value")
        return value

    def text(value):
        """Returns compact JSON text. ValueError for NaN and infinities."""
        return "".join(_encode(value, 0))

    if _parse('{"a":[1.5,null]}') != {"a": [1.5, None]} or text({"a": "é"}) != '{"a":"é"}':
        raise ImportError("_json behaves differently")
except Exception:
    import json

    def _parse(text):
        return json.loads(text, parse_constant=_refuse_constant)

    def text(value):
        """Returns compact JSON text. ValueError for NaN and infinities."""
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def loads(data):
    """Returns the value of one JSON text given as UTF-8. Raises ValueError."""
    return _parse(data.decode("utf-8").strip())


def dumps(value):
    """Returns compact JSON as UTF-8; a lone surrogate becomes a question mark."""
    return text(value).encode("utf-8", "replace")
