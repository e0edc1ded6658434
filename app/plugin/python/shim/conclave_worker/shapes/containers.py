"""Lists, sets, tuples and dicts."""

from . import Mismatch, Shape, convert_all


class List(Shape):
    """A list, or anything built from one (deque, tuple of one type)."""

    null = False

    def __init__(self, item, build=list):
        self.item = item
        self._build = build

    def schema(self, refs):
        return {"type": "array", "items": self.item.schema(refs)}

    def convert(self, value):
        if type(value) is not list:
            raise Mismatch("a list", value)
        return convert_all((("[%d]" % n, self.item, v) for n, v in enumerate(value)), self._build, "a list")

    def exact(self, value):
        return type(value) is list and all(self.item.exact(v) for v in value)


class Set(List):
    """A set or frozenset."""

    def schema(self, refs):
        return dict(List.schema(self, refs), uniqueItems=True)

    def convert(self, value):
        try:
            return List.convert(self, value)
        except TypeError:
            raise Mismatch("a list of values that can be in a set", value) from None


class Tuple(Shape):
    """A tuple with one type for each place; the last ones may be left out."""

    null = False

    def __init__(self, items, required=None, build=tuple):
        self.items = items
        self.required = len(items) if required is None else required
        self._build = build

    def schema(self, refs):
        schema = {"type": "array", "prefixItems": [item.schema(refs) for item in self.items]}
        if not self.items:
            del schema["prefixItems"]
        schema["minItems"], schema["maxItems"] = self.required, len(self.items)
        return schema

    def convert(self, value):
        if type(value) is not list or not self.required <= len(value) <= len(self.items):
            least = "" if self.required == len(self.items) else "%d to " % self.required
            raise Mismatch("a list of %s%d" % (least, len(self.items)), value)
        return convert_all(
            (("[%d]" % n, item, v) for n, (item, v) in enumerate(zip(self.items, value))), self._build, "a list"
        )

    def exact(self, value):
        return (
            type(value) is list
            and self.required <= len(value) <= len(self.items)
            and all(item.exact(v) for item, v in zip(self.items, value))
        )


class Dict(Shape):
    """A dict with any keys of one type."""

    null = False

    def __init__(self, key, value, build=dict):
        self._key, self._value, self._build = key, value, build

    def schema(self, refs):
        return {"type": "object", "additionalProperties": self._value.schema(refs) or True}

    def convert(self, value):
        if type(value) is not dict:
            raise Mismatch("an object", value)
        places = []
        for key, item in value.items():
            places.append(("." + key + " (key)", self._key, key))
            places.append(("." + key, self._value, item))
        return convert_all(places, lambda found: self._build(zip(found[::2], found[1::2])), "an object")

    def exact(self, value):
        return type(value) is dict and all(self._value.exact(v) for v in value.values())
