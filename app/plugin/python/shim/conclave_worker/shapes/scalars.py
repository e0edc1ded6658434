"""Scalars: what JSON has no more than a string or a number for.

Conversions are those of pydantic's normal mode (contracts/llm-functions, section 6.3).
"""

from . import Mismatch, Shape

_TRUE = ("true", "yes", "on", "t", "y", "1")
_FALSE = ("false", "no", "off", "f", "n", "0")


class Null(Shape):
    """None."""

    def schema(self, refs):
        return {"type": "null"}

    def convert(self, value):
        if value is not None:
            raise Mismatch("null", value)
        return None

    def exact(self, value):
        return value is None


class Scalar(Shape):
    """A scalar with a function that converts it and the JSON types it may be."""

    null = False

    def __init__(self, name, schema, convert, exact=()):
        self._name = name  # for messages: "an integer"
        self._schema = schema
        self._convert = convert  # raises ValueError, TypeError or OverflowError
        self._exact = exact

    def schema(self, refs):
        return dict(self._schema)

    def convert(self, value):
        try:
            return self._convert(value)
        except (ValueError, TypeError, OverflowError, ArithmeticError):
            raise Mismatch(self._name, value) from None

    def exact(self, value):
        return type(value) in self._exact


class Subclass(Shape):
    """A class derived from a scalar type: its base, then the class itself."""

    null = False

    def __init__(self, base, cls):
        self._base, self._class = base, cls

    def schema(self, refs):
        return self._base.schema(refs)

    def convert(self, value):
        value = self._base.convert(value)
        try:
            return self._class(value)
        except (ValueError, TypeError):
            raise Mismatch("a %s" % self._class.__name__, value) from None

    def exact(self, value):
        return self._base.exact(value)


def _refuse(value=None):
    raise ValueError


def _text(value):
    return value if type(value) is str else _refuse()


def _integer(value):
    if type(value) is str:
        text = value.strip()
        whole, point, rest = text.partition(".")
        if point and rest.strip("0"):
            _refuse()
        return int(whole)
    if type(value) is float:
        return int(value) if value == int(value) else _refuse()
    return int(value) if type(value) in (int, bool) else _refuse()


def _number(value):
    return float(value) if type(value) in (int, float, bool, str) else _refuse()


def _boolean(value):
    if type(value) is bool:
        return value
    if type(value) is str:
        text = value.lower()
        return True if text in _TRUE else False if text in _FALSE else _refuse()
    if type(value) in (int, float) and value in (0, 1):
        return bool(value)
    return _refuse()


def _bytes(value):
    return _text(value).encode("utf-8")


def _complex(value):
    return complex(value.replace(" ", "")) if type(value) is str else complex(_number(value))


TEXT = Scalar("text", {"type": "string"}, _text, (str,))
INTEGER = Scalar("an integer", {"type": "integer"}, _integer, (int,))
NUMBER = Scalar("a number", {"type": "number"}, _number, (float,))
BOOLEAN = Scalar("true or false", {"type": "boolean"}, _boolean, (bool,))
NULL = Null()

PLAIN = {
    str: TEXT,
    int: INTEGER,
    float: NUMBER,
    bool: BOOLEAN,
    None: NULL,
    type(None): NULL,
    bytes: Scalar("text", {"type": "string", "format": "binary"}, _bytes),
    complex: Scalar("a complex number", {"type": "string"}, _complex),
}


def find(module, name):
    """Returns the shape of a type of the standard library by its name, or None."""
    if module == "datetime":
        from . import dates

        return dates.SHAPES.get(name)
    if (module, name) == ("uuid", "UUID"):
        return _UUID
    if (module, name) in (("decimal", "Decimal"), ("_decimal", "Decimal")):
        return _DECIMAL
    if name in _PATHS and (module.startswith("pathlib") or module == "os"):
        return Scalar("a path", {"type": "string", "format": "path"}, _path(name))
    if name == "Pattern" and module in ("re", "typing"):
        return _PATTERN
    return None


_PATHS = ("PurePath", "PurePosixPath", "PureWindowsPath", "Path", "PosixPath", "WindowsPath", "PathLike")


def _path(name):
    def convert(value):
        import pathlib

        return getattr(pathlib, name if name != "PathLike" else "Path")(_text(value))

    return convert


def _uuid(value):
    import uuid

    return uuid.UUID(_text(value))


def _decimal(value):
    import decimal

    if type(value) not in (str, int, float):
        _refuse()
    found = decimal.Decimal(value.strip() if type(value) is str else str(value))
    return found if found.is_finite() else _refuse()


def _pattern(value):
    import re

    try:
        return re.compile(_text(value))
    except re.error:
        raise ValueError from None


_UUID = Scalar("a UUID", {"type": "string", "format": "uuid"}, _uuid)
_DECIMAL = Scalar("a decimal number", {"anyOf": [{"type": "number"}, {"type": "string"}]}, _decimal)
_PATTERN = Scalar("a regular expression", {"type": "string", "format": "regex"}, _pattern)
