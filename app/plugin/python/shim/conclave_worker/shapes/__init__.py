"""One annotation, understood once: its JSON schema and its conversion.

A Shape is made from an annotation by `reader.Reader`. `schema` is what the
model is told (contracts/llm-functions, section 4.3), `convert` makes the value
that the function is given of the JSON value that the model sent (the same, section 6.3).
One class holds both, so that they cannot drift apart.

    scalars      str, int, dates, paths …
    containers   lists, sets, tuples, dicts
    choices      Literal, Enum, Union
    objects      dataclasses, TypedDicts, NamedTuples, models
    constraints  bounds, lengths and patterns; Field and Annotated
    defaults     the JSON form of a default value
"""

MAX_SHOWN = 60  # characters of a wrong value in a message


class Mismatch(Exception):
    """A value that does not fit. Holds one (path, what is wrong) per place."""

    def __init__(self, expected, value=None, lines=None):
        super().__init__(expected)
        self.expected = expected
        self.lines = lines if lines is not None else [("", "expected %s, got %s" % (expected, shown(value)))]

    def within(self, place):
        """Returns itself, its paths now starting at place."""
        self.lines = [(place + path, said) for path, said in self.lines]
        return self


def shown(value):
    """Returns a JSON value for a message, shortened."""
    from .. import codec

    try:
        text = codec.text(value)
    except (ValueError, TypeError, RecursionError):
        text = repr(value)
    if len(text) > MAX_SHOWN:
        text = text[: MAX_SHOWN - 1] + "…"
    names = {str: "text", bool: "boolean", int: "integer", float: "number", list: "list", dict: "object"}
    name = names.get(type(value))
    return "the %s %s" % (name, text) if name else text


def convert_all(pairs, build, expected):
    """Converts every (place, shape, value), gathering all mismatches before raising."""
    lines, converted = [], []
    for place, shape, value in pairs:
        try:
            converted.append(shape.convert(value))
        except Mismatch as err:
            lines += err.within(place).lines
    if lines:
        raise Mismatch(expected, lines=lines)
    return build(converted)


class Refs:
    """Gathers the schemas of types that contain themselves, for "$defs"."""

    def __init__(self):
        self.definitions = {}  # name → schema
        self._names = {}  # shape → name

    def reference(self, shape, name, schema):
        """Returns a $ref to shape, calling schema(self) the first time."""
        if shape not in self._names:
            number, unique = 1, name
            while unique in self.definitions:
                number += 1
                unique = "%s_%d" % (name, number)
            self._names[shape] = unique
            self.definitions[unique] = None
            self.definitions[unique] = schema(self)
        return {"$ref": "#/$defs/" + self._names[shape]}


class Shape:
    """Anything at all: the shape of Any, and of annotations nobody knows."""

    null = True  # whether None fits

    def schema(self, refs):
        """Returns a new JSON schema."""
        return {}

    def convert(self, value):
        """Returns the value for the function. Raises Mismatch."""
        return value

    def exact(self, value):
        """Says whether value is of this type without any conversion."""
        return True

    @property
    def anything(self):
        """Whether the schema says nothing."""
        return type(self) is Shape


ANY = Shape()
