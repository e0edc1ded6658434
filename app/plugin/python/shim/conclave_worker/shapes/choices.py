"""One of several: Literal, Enum, Union."""

from . import ANY, Mismatch, Shape
from .scalars import NULL

_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class OneOf(Shape):
    """One of a few values: (JSON value, the value the function is given)."""

    def __init__(self, pairs):
        self._pairs = pairs

    @property
    def null(self):
        return any(given is None for given, _ in self._pairs)

    def schema(self, refs):
        values = [given for given, _ in self._pairs]
        schema = {"const": values[0]} if len(values) == 1 else {"enum": values}
        kinds = {type(value) for value in values}
        if len(kinds) == 1 and kinds <= set(_JSON_TYPES):
            schema["type"] = _JSON_TYPES[kinds.pop()]
        return schema

    def convert(self, value):
        for given, meant in self._pairs:
            # 1.0 is 1, but true is not 1 and "1" is not either.
            if given == value and (type(given) is bool) == (type(value) is bool):
                return meant
        from .. import codec

        raise Mismatch("one of " + ", ".join(codec.text(given) for given, _ in self._pairs), value)

    def exact(self, value):
        return any(type(given) is type(value) and given == value for given, _ in self._pairs)


def literal(values):
    """Returns the shape of Literal[values]."""
    return OneOf([(getattr(value, "value", value) if hasattr(value, "name") else value, value) for value in values])


def enum(cls):
    """Returns the shape of an Enum class."""
    from .. import results

    return OneOf([(results.plain(member.value), member) for member in cls])


class Union(Shape):
    """One of several shapes: the first that fits exactly, else the first that converts."""

    def __init__(self, shapes):
        self.shapes = shapes

    @property
    def null(self):
        return any(shape.null for shape in self.shapes)

    def schema(self, refs):
        schemas = []
        for shape in self.shapes:
            schema = shape.schema(refs)
            if not schema:
                return {}
            if schema not in schemas:
                schemas.append(schema)
        return {"anyOf": schemas} if len(schemas) > 1 else schemas[0]

    def convert(self, value):
        for shape in self.shapes:
            if shape.exact(value):
                try:
                    return shape.convert(value)
                except Mismatch:
                    pass
        lines = []
        for shape in self.shapes:
            try:
                return shape.convert(value)
            except Mismatch as err:
                lines.append(err)
        # The problems of a single alternative to null are the useful ones.
        useful = [err for shape, err in zip(self.shapes, lines) if shape is not NULL]
        if len(useful) == 1:
            raise useful[0]
        options = [err.expected for err in useful]
        if len(useful) < len(lines):
            options.append("null")
        raise Mismatch(" or ".join(dict.fromkeys(options)), value)

    def exact(self, value):
        return any(shape.exact(value) for shape in self.shapes)


def union(shapes):
    """Returns the shape of Union[shapes]: nested ones are flattened, repeats dropped."""
    flat = []
    for shape in shapes:
        for one in shape.shapes if type(shape) is Union else [shape]:
            if one not in flat:
                flat.append(one)
    if any(shape.anything for shape in flat):
        return ANY
    return flat[0] if len(flat) == 1 else Union(flat)
