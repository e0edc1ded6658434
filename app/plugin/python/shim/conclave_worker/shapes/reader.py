"""From an annotation to its Shape (contracts/llm-functions, sections 4.3 and 4.4).

Nothing is imported to look at an annotation: when `typing` is not loaded, no
annotation can be made of it.
"""

import sys

from ..listing import ONLY_AST
from . import ANY, Shape, constraints, objects, scalars
from .choices import enum, literal, union
from .containers import Dict, List, Set, Tuple

MAX_DEPTH = 60  # of annotations within annotations; a text may name itself

_LISTS = (
    "list", "List", "Sequence", "MutableSequence", "Iterable", "Collection", "Container", "Iterator",
    "Reversible", "Generator",
)  # fmt: skip
_SETS = {"set": set, "Set": set, "MutableSet": set, "AbstractSet": set, "frozenset": frozenset, "FrozenSet": frozenset}
_DICTS = ("dict", "Dict", "Mapping", "MutableMapping")
_WRAPPERS = ("Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar", "Unpack")
_STDLIB = ("builtins", "typing", "typing_extensions", "collections", "collections.abc", "_collections_abc", "abc")


class About:
    """What an annotation says: its shape, and what Annotated adds."""

    __slots__ = ("shape", "description", "field", "required")

    def __init__(self, shape):
        self.shape = shape
        self.description = ""
        self.field = None  # a constraints.Field found in Annotated
        self.required = None  # what Required or NotRequired says


class Unknown(Exception):
    """An annotation that cannot be understood."""


class Reader:
    """Reads annotations. `warnings` gathers a sentence for each that is not understood."""

    def __init__(self):
        self.warnings = []
        self.where = ""  # the parameter being read, for warnings
        self._classes = {}  # class → its shape
        self._open = []  # classes whose fields are being read
        self._depth = 0

    def read(self, annotation, scope):
        """Returns the About of an annotation whose names are found in scope (a dict)."""
        about = About(ANY)
        self._depth += 1
        try:
            about.shape = self._shape(annotation, scope, about)
        except Unknown as err:
            self._warn(err)
        finally:
            self._depth -= 1
        return about

    def _warn(self, what):
        said = "The type of %s (%s) is not known, so any value is accepted." % (self.where, str(what)[:120])
        if said not in self.warnings:
            self.warnings.append(said)

    def _inner(self, annotation, scope):
        """Returns the shape of an annotation within another; unknown ones are anything."""
        return self.read(annotation, scope).shape

    def _shape(self, annotation, scope, about):
        if self._depth > MAX_DEPTH:
            raise Unknown("it nests too deeply")
        try:
            known = scalars.PLAIN.get(annotation)
        except TypeError:  # unhashable, such as Annotated[int, []]
            known = None
        if known is not None:
            return known
        if isinstance(annotation, str):
            return self._text(annotation, scope, about)
        if type(annotation).__name__ == "ForwardRef":
            return self._text(annotation.__forward_arg__, self._home(annotation, scope), about)
        if isinstance(annotation, type) and getattr(annotation, "__origin__", None) is None:
            return self._class(annotation)
        return self._special(annotation, scope, about)

    @staticmethod
    def _home(reference, scope):
        module = getattr(reference, "__forward_module__", None)
        if isinstance(module, str):
            module = sys.modules.get(module)
        return getattr(module, "__dict__", scope)

    def _special(self, annotation, scope, about):
        """Reads what is not a plain class: generics and typing's forms."""
        name = _name(annotation)
        if name == "Any" and _is_typing(annotation):
            return ANY
        metadata = getattr(annotation, "__metadata__", None)
        if metadata is not None:
            return self._annotated(annotation, metadata, scope, about)
        if type(annotation).__name__ == "TypeVar":
            if annotation.__bound__ is not None:
                return self._shape(annotation.__bound__, scope, about)
            if annotation.__constraints__:
                return union([self._inner(one, scope) for one in annotation.__constraints__])
            return ANY
        if type(annotation).__name__ == "UnionType":
            return union([self._inner(one, scope) for one in annotation.__args__])
        for attribute in ("__supertype__", "__value__"):  # NewType; `type X = …`
            behind = getattr(annotation, attribute, None)
            if behind is not None:
                return self._shape(behind, scope, about)
        if type(annotation).__name__ == "InitVar":
            return self._shape(annotation.type, scope, about)
        origin = getattr(annotation, "__origin__", None)
        if origin is None:
            if name in _WRAPPERS and _is_typing(annotation):
                return ANY  # a bare Final says nothing of the type
            raise Unknown(_display(annotation))
        return self._generic(origin, getattr(annotation, "__args__", ()), scope, about)

    def _annotated(self, annotation, metadata, scope, about):
        shape = self._shape(annotation.__origin__, scope, about)
        found = {}
        for mark in metadata:
            if constraints.is_field(mark):
                about.field = constraints.Field(mark)
                found.update(about.field.marks)
                about.description = about.field.description or about.description
                continue
            about.description = about.description or constraints.described(mark)
            if not isinstance(mark, (str, type)):
                found.update(constraints.marks(mark))
        return constraints.constrained(shape, found)

    def _generic(self, origin, args, scope, about):
        """Reads origin[args]; origin is a class or one of typing's forms."""
        name, module = _name(origin), getattr(origin, "__module__", "")
        if getattr(origin, "__value__", None) is not None:  # `type X[T] = …`
            return self._shape(origin.__value__, scope, about)
        if module not in _STDLIB:
            if isinstance(origin, type):
                return self._class(origin)  # a generic class of the plugin's own
            raise Unknown(_display(origin))
        if name in ("Union", "UnionType"):
            return union([self._inner(one, scope) for one in args])
        if name == "Optional":
            return union([self._inner(args[0], scope), scalars.NULL])
        if name == "Literal":
            return literal(args)
        if name in _WRAPPERS:
            if name in ("Required", "NotRequired"):
                about.required = name == "Required"
            return self._shape(args[0], scope, about) if args else ANY
        first = self._inner(args[0], scope) if args and args[0] is not ... and args[0] != () else ANY
        if name in _LISTS:
            return List(first)
        if name in ("deque", "Deque"):
            import collections

            return List(first, collections.deque)
        if name in _SETS:
            return Set(first, _SETS[name])
        if name in ("tuple", "Tuple"):
            if not args or len(args) == 2 and args[1] is ...:
                return List(first, tuple) if args != ((),) else Tuple([])
            return Tuple([self._inner(one, scope) for one in args if one != ()])
        if name in _DICTS or name in ("OrderedDict", "defaultdict", "DefaultDict", "Counter"):
            return self._dict(name, first, args, scope)
        raise Unknown(_display(origin))

    def _dict(self, name, key, args, scope):
        import collections

        if name == "Counter":
            return Dict(key, scalars.INTEGER, collections.Counter)
        value = self._inner(args[1], scope) if len(args) > 1 else ANY
        build = {
            "OrderedDict": collections.OrderedDict,
            "defaultdict": lambda pairs: collections.defaultdict(None, pairs),
            "DefaultDict": lambda pairs: collections.defaultdict(None, pairs),
        }.get(name, dict)
        return Dict(key, value, build)

    def _class(self, cls):
        """Reads a class."""
        if cls is object:
            return ANY
        name, module = cls.__name__, cls.__module__
        if module in _STDLIB:
            if name == "Any":  # a class since Python 3.11
                return ANY
            try:
                return self._generic(cls, (), {}, None)
            except Unknown:
                pass
        known = scalars.find(module, name)
        if known is not None:
            return known
        enumeration = sys.modules.get("enum")
        if enumeration is not None and issubclass(cls, enumeration.Enum):
            return enum(cls)
        if cls in self._classes:
            shape = self._classes[cls]
            if cls in self._open:
                shape.recursive = True
            return shape
        read = objects.kind_of(cls)
        if read is not None:
            return self._fields(cls, read)
        for base in (str, int, float):
            if issubclass(cls, base):
                shape = scalars.Subclass(scalars.PLAIN[base], cls)
                # pydantic 1 keeps the bounds of conint() and constr() on the class.
                return constraints.constrained(shape, constraints.marks(cls) if module.startswith("pydantic") else {})
        raise Unknown(_display(cls))

    def _fields(self, cls, read):
        def keep(shape):
            self._classes[cls] = shape
            self._open.append(cls)
            return shape

        try:
            return read(cls, self, keep)
        finally:
            if cls in self._open:
                self._open.remove(cls)

    # -- annotations written as text --

    def _text(self, text, scope, about):
        try:
            found = eval(text, dict(scope))
        except NameError:
            import typing

            try:
                found = eval(text, dict(vars(typing), **scope))
            except Exception:
                return self._unevaluable(text, scope)
        except Exception:
            # Such as int | None before Python 3.10.
            return self._unevaluable(text, scope)
        return self._shape(found, scope, about)

    def _unevaluable(self, text, scope):
        """Reads the text of an annotation that Python cannot evaluate."""
        try:
            node = compile(text.strip(), "<annotation>", "eval", ONLY_AST).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise Unknown(text) from None
        return self._node(node, text, scope)

    def _node(self, node, text, scope):
        kind = type(node).__name__
        if kind == "Constant" and (node.value is None or isinstance(node.value, str)):
            return self._inner(node.value, scope)
        if kind == "BinOp" and type(node.op).__name__ == "BitOr":
            return union([self._node(node.left, text, scope), self._node(node.right, text, scope)])
        if kind in ("Name", "Attribute"):
            return self._inner(self._value(node, text, scope), scope)
        if kind != "Subscript":
            raise Unknown(text)
        name = getattr(node.value, "id", None) or getattr(node.value, "attr", None)
        inner = node.slice
        inner = getattr(inner, "value", inner) if type(inner).__name__ == "Index" else inner
        items = inner.elts if type(inner).__name__ == "Tuple" else [inner]
        if name == "Literal":
            values = [getattr(item, "value", items) for item in items]
            if any(value is items for value in values):
                raise Unknown(text)
            return literal(values)
        if name == "Annotated":
            return self._node(items[0], text, scope)
        if name in ("Optional", "Union"):
            shapes = [self._node(item, text, scope) for item in items]
            return union(shapes + [scalars.NULL] if name == "Optional" else shapes)
        if name in _LISTS or name in _SETS or name in _DICTS or name in ("tuple", "Tuple"):
            return self._subscript(name, [self._item(item, text, scope) for item in items])
        raise Unknown(text)

    def _item(self, node, text, scope):
        if type(node).__name__ == "Constant" and node.value is ...:
            return ...
        return self._node(node, text, scope)

    def _subscript(self, name, shapes):
        if name in _SETS:
            return Set(shapes[0], _SETS[name])
        if name in _DICTS:
            return Dict(shapes[0], shapes[1] if len(shapes) > 1 else ANY)
        if name in ("tuple", "Tuple"):
            if len(shapes) == 2 and shapes[1] is ...:
                return List(shapes[0], tuple)
            return Tuple([shape for shape in shapes if isinstance(shape, Shape)])
        return List(shapes[0])

    def _value(self, node, text, scope):
        import typing
        import _ast

        expression = _ast.Expression(body=node)
        try:
            return eval(compile(expression, "<annotation>", "eval"), dict(vars(typing), **scope))
        except Exception:
            raise Unknown(text) from None


def _name(annotation):
    return getattr(annotation, "_name", None) or getattr(annotation, "__name__", None) or ""


def _is_typing(annotation):
    return getattr(annotation, "__module__", "") in ("typing", "typing_extensions")


def _display(annotation):
    name = getattr(annotation, "__qualname__", None) or getattr(annotation, "__name__", None)
    return name or str(annotation)
