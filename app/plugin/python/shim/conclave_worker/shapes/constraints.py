"""Bounds, lengths and patterns, and what else Field and Annotated say.

`marks` reads them from any object that carries them under the usual names:
pydantic's FieldInfo (1, 2 and the stand-in), annotated-types' Ge, Len …
"""

from . import Mismatch, Shape, shown

_BOUNDS = (
    ("ge", "minimum", "at least", lambda value, bound: value >= bound),
    ("gt", "exclusiveMinimum", "more than", lambda value, bound: value > bound),
    ("le", "maximum", "at most", lambda value, bound: value <= bound),
    ("lt", "exclusiveMaximum", "less than", lambda value, bound: value < bound),
    ("multiple_of", "multipleOf", "a multiple of", lambda value, bound: value % bound == 0),
)
_LENGTHS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems"), "object": ("minProperties", "maxProperties")}
_NAMES = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern", "regex")


def marks(carrier):
    """Returns {name: value} of the constraints that an object carries."""
    found = {}
    for name in _NAMES:
        value = getattr(carrier, name, None)
        if value is None or callable(value):
            continue
        if name in ("pattern", "regex"):
            value = getattr(value, "pattern", value)  # a compiled one
            if isinstance(value, str):
                found["pattern"] = value
        elif name in ("min_length", "max_length"):
            if type(value) is int:
                found[name] = value
        elif not isinstance(value, (str, bytes, bool)):
            found[name] = value
    for more in getattr(carrier, "metadata", None) or ():
        found.update(marks(more))
        extra = getattr(more, "__dict__", None)
        if isinstance(extra, dict):  # pydantic 2 keeps pattern here
            found.update({k: v for k, v in extra.items() if k == "pattern" and isinstance(v, str)})
    if found.get("min_length") == 0:
        del found["min_length"]
    return found


def constrained(shape, found):
    """Returns shape with constraints, or shape itself when there are none."""
    return Constrained(shape, found) if found else shape


class Constrained(Shape):
    """A shape whose values must also lie within bounds."""

    def __init__(self, shape, found):
        self._shape, self._marks = shape, found

    @property
    def null(self):
        return self._shape.null

    def schema(self, refs):
        schema = self._shape.schema(refs)
        for branch in schema.get("anyOf", [schema]):
            self._apply(branch, only_fitting=branch is not schema)
        return schema

    def _apply(self, schema, only_fitting):
        kind = schema.get("type")
        for name, keyword, _, _ in _BOUNDS:
            if name in self._marks and not (only_fitting and kind not in ("integer", "number")):
                schema[keyword] = _json(self._marks[name])
        least, most = _LENGTHS.get(kind, _LENGTHS["string"])
        if not only_fitting or kind in _LENGTHS:
            if "min_length" in self._marks:
                schema[least] = self._marks["min_length"]
            if "max_length" in self._marks:
                schema[most] = self._marks["max_length"]
        if "pattern" in self._marks and not (only_fitting and kind != "string"):
            schema["pattern"] = self._marks["pattern"]

    def convert(self, value):
        given, value = value, self._shape.convert(value)
        if value is None:
            return None
        for name, _, words, holds in _BOUNDS:
            if name in self._marks:
                self._check(holds, value, self._marks[name], "%s %s" % (words, _json(self._marks[name])), given)
        if "min_length" in self._marks:
            least = self._marks["min_length"]
            self._check(lambda v, n: len(v) >= n, value, least, "a length of at least %d" % least, given)
        if "max_length" in self._marks:
            most = self._marks["max_length"]
            self._check(lambda v, n: len(v) <= n, value, most, "a length of at most %d" % most, given)
        if "pattern" in self._marks and isinstance(value, str):
            import re

            if not re.search(self._marks["pattern"], value):
                raise Mismatch("text matching %s" % self._marks["pattern"], given)
        return value

    @staticmethod
    def _check(holds, value, bound, expected, given):
        try:
            kept = holds(value, bound)
        except TypeError:
            return  # a bound that does not apply to this branch of a union
        if not kept:
            raise Mismatch(expected, given)

    def exact(self, value):
        return self._shape.exact(value)


def _json(bound):
    from .defaults import NoForm, json_form

    try:
        form = json_form(bound)
    except NoForm:
        return str(bound)
    if isinstance(form, str):  # a Decimal bound
        try:
            return float(form) if "." in form else int(form)
        except ValueError:
            pass
    return form


# -- pydantic's Field --


def is_field(value):
    """Says whether value is what pydantic's Field() returns, real or stand-in."""
    for cls in type(value).__mro__:
        if cls.__name__ == "FieldInfo" and cls.__module__.split(".")[0] == "pydantic":
            return True
    return False


class Field:
    """A FieldInfo taken apart: default, factory, description, constraints, extras."""

    def __init__(self, info):
        default = getattr(info, "default", ...)
        self.has_default = default is not ... and type(default).__name__ not in ("PydanticUndefinedType", "UndefinedType")
        self.default = default if self.has_default else None
        self.factory = getattr(info, "default_factory", None)
        self.description = getattr(info, "description", None)
        self.marks = marks(info)
        extra = getattr(info, "json_schema_extra", None)
        legacy = getattr(info, "extra", None)  # pydantic 1 keeps unknown keywords here
        self.extra = dict(legacy) if isinstance(legacy, dict) else {}
        if isinstance(extra, dict):
            self.extra.update(extra)
        if isinstance(self.extra.pop("json_schema_extra", None), dict):
            self.extra.update(legacy["json_schema_extra"])
        self.extra.pop("title", None)
        examples = getattr(info, "examples", None)
        if examples:
            self.extra["examples"] = list(examples)

    @property
    def optional(self):
        return self.has_default or self.factory is not None

    def make(self):
        """Returns the default, new when a factory makes it."""
        if self.factory is not None and not self.has_default:
            return self.factory()
        return self.default


def described(value):
    """Returns the description that a mark in Annotated gives, or ""."""
    if isinstance(value, str):
        return value
    if type(value).__name__ == "Doc":
        return getattr(value, "documentation", "") or ""
    return ""
