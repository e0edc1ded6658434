"""Types with named fields: dataclasses, TypedDicts, NamedTuples and models."""

import sys

from ..signature import annotations
from . import ANY, Mismatch, Shape, convert_all
from .choices import union
from .constraints import Field, constrained, is_field
from .containers import Tuple
from .defaults import NoForm, json_form
from .scalars import NULL

_MISSING = object()


class ObjectField:
    """One field: how it is called in JSON and in Python, and what may be in it."""

    def __init__(self, name, shape, required, key=None, default=_MISSING, description="", extra=None):
        self.name = name  # in Python
        self.key = key or name  # in JSON
        self.required = required
        if default is None and not shape.null:
            shape = union([shape, NULL])
        self.shape = shape
        self.default = default
        self.description = description
        self.extra = extra or {}

    def schema(self, refs):
        schema = self.shape.schema(refs)
        if self.description:
            schema["description"] = self.description
        if self.default is not _MISSING:
            try:
                schema["default"] = json_form(self.default)
            except NoForm:
                pass
        schema.update(self.extra)
        return schema


class Object(Shape):
    """An object with known fields, which `build(values by name)` makes a value of.

    The reader fills `fields` after making it, so that a type may contain
    itself; it then sets `recursive`.
    """

    null = False

    def __init__(self, name, build, description=""):
        self.name = name
        self.fields = []
        self.recursive = False
        self.extras = None  # whether further keys are allowed; None says nothing
        self._build = build
        self._description = description

    def schema(self, refs):
        return refs.reference(self, self.name, self._body) if self.recursive else self._body(refs)

    def _body(self, refs):
        schema = {"type": "object", "properties": {field.key: field.schema(refs) for field in self.fields}}
        required = [field.key for field in self.fields if field.required]
        if required:
            schema["required"] = required
        if self.extras is not None:
            schema["additionalProperties"] = self.extras
        if self._description:
            schema["description"] = self._description
        return schema

    def convert(self, value):
        if type(value) is not dict:
            raise Mismatch("an object", value)
        given = [field for field in self.fields if field.key in value]
        missing = [("." + f.key, "is required") for f in self.fields if f.required and f.key not in value]
        try:
            found = convert_all((("." + f.key, f.shape, value[f.key]) for f in given), list, "an object")
        except Mismatch as err:
            err.lines += missing
            raise
        if missing:
            raise Mismatch("an object", lines=missing)
        try:
            return self._build({field.name: item for field, item in zip(given, found)})
        except Exception as err:
            raise Mismatch("an object", lines=[("", "%s: %s" % (type(err).__name__, err))]) from None

    def exact(self, value):
        try:
            self.convert(value)
        except Mismatch:
            return False
        return True


class Model(Object):
    """A pydantic model, real or stand-in: it builds and validates itself."""

    def __init__(self, cls, description):
        super().__init__(cls.__name__, None, description)
        self._class = cls
        self.own_schema = None  # a schema that the class gave itself

    def _body(self, refs):
        return dict(self.own_schema) if self.own_schema is not None else Object._body(self, refs)

    def convert(self, value):
        validate = getattr(self._class, "model_validate", None) or self._class.parse_obj
        try:
            return validate(value)
        except Exception as err:
            errors = getattr(err, "errors", None)
            if not callable(errors):
                said = str(err)
                raise Mismatch("an object", lines=[("", "%s: %s" % (type(err).__name__, said[:200]))]) from None
            lines = []
            for one in errors():
                place = "".join("[%d]" % p if type(p) is int else ".%s" % p for p in one.get("loc", ()))
                lines.append((place, str(one.get("msg", "is wrong"))))
            raise Mismatch("an object", lines=lines) from None


class Record(Tuple):
    """A NamedTuple: an array, or an object with its field names."""

    def __init__(self, cls):
        super().__init__([], build=lambda values: cls(*values))
        self.names = cls._fields
        self._class = cls

    def convert(self, value):
        if type(value) is not dict:
            return Tuple.convert(self, value)
        required = self.names[: self.required]
        lines = [("." + name, "is required") for name in required if name not in value]
        lines += [("." + name, "is not a field") for name in value if name not in self.names]
        if lines:
            raise Mismatch("an object", lines=lines)
        pairs = [(n, item, value[n]) for n, item in zip(self.names, self.items) if n in value]
        return convert_all(
            (("." + n, item, v) for n, item, v in pairs),
            lambda found: self._class(**dict(zip((n for n, _, _ in pairs), found))),
            "an object",
        )


def kind_of(cls):
    """Returns the function that reads cls, or None when it is no such type."""
    if is_model(cls):
        return _model
    if "__dataclass_fields__" in cls.__dict__ or hasattr(cls, "__dataclass_fields__"):
        return _dataclass
    if type(cls).__name__ == "_TypedDictMeta":
        return _typed_dict
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _named_tuple
    return None


def is_model(cls):
    """Says whether cls is derived from pydantic's BaseModel."""
    return any(base.__name__ == "BaseModel" and base.__module__.split(".")[0] == "pydantic" for base in cls.__mro__)


def _owned(cls):
    """Returns {field: (annotation, the module globals to read it in)}, base classes first."""
    found = {}
    for base in reversed(cls.__mro__):
        if "__annotations__" in base.__dict__ or "__annotate_func__" in base.__dict__ or "__annotate__" in base.__dict__:
            scope = getattr(sys.modules.get(base.__module__), "__dict__", {})
            scope = dict(scope, **{base.__name__: base}) if base.__name__ not in scope else scope
            for name, annotation in annotations(base).items():
                found[name] = (annotation, scope)
    return found


def _docstring(cls):
    doc = cls.__dict__.get("__doc__")
    if not isinstance(doc, str):
        return ""
    from ..docstrings import clean

    return clean(doc)


def _dataclass(cls, reader, shape):
    shape = shape(Object(cls.__name__, lambda values: cls(**values)))
    owned = _owned(cls)
    for field in cls.__dataclass_fields__.values():
        if not field.init or field._field_type.name == "_FIELD_CLASSVAR":
            continue
        annotation, scope = owned.get(field.name, (field.type, {}))
        missing = type(field.default).__name__ == "_MISSING_TYPE"
        has_factory = type(field.default_factory).__name__ != "_MISSING_TYPE"
        about = reader.read(annotation, scope)
        default = _MISSING if missing else field.default
        info = None
        if is_field(default):  # pydantic's dataclasses accept Field
            info = Field(default)
            default = info.default if info.has_default else _MISSING
            missing, has_factory = not info.has_default, info.factory is not None
        description = field.metadata.get("description") if field.metadata else ""
        shape.fields.append(
            ObjectField(
                field.name,
                constrained(about.shape, info.marks) if info else about.shape,
                missing and not has_factory,
                default=default,
                description=(info and info.description) or about.description or (description if isinstance(description, str) else ""),
            )
        )
    return shape


def _typed_dict(cls, reader, shape):
    shape = shape(Object(cls.__name__, dict, _docstring(cls)))
    scope = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    required = getattr(cls, "__required_keys__", None)
    for name, annotation in annotations(cls).items():
        about = reader.read(annotation, scope)
        needed = about.required
        if needed is None:
            needed = name in required if required is not None else getattr(cls, "__total__", True)
        shape.fields.append(ObjectField(name, about.shape, needed, description=about.description))
    return shape


def _named_tuple(cls, reader, shape):
    shape = shape(Record(cls))
    owned = _owned(cls)
    for name in cls._fields:
        annotation, scope = owned.get(name, (None, None))
        shape.items.append(ANY if scope is None else reader.read(annotation, scope).shape)
    shape.required = len(cls._fields) - len(getattr(cls, "_field_defaults", ()))
    return shape


def _model(cls, reader, shape):
    shape = shape(Model(cls, _docstring(cls)))
    real = not getattr(cls, "__conclave_standin__", False)
    if real and _overrides_schema(cls):
        shape.own_schema = _asked(cls)
        if shape.own_schema is not None:
            return shape
    config = getattr(cls, "model_config", None)
    extra = config.get("extra") if isinstance(config, dict) else getattr(getattr(cls, "__config__", None), "extra", None)
    shape.extras = {"forbid": False, "allow": True}.get(getattr(extra, "value", extra))
    before = len(reader.warnings)
    owned = _owned(cls)
    for name, info, required, key in _model_fields(cls):
        annotation, scope = owned.get(name, (None, None))
        resolved = getattr(info, "annotation", None)  # pydantic 2
        if resolved is not None and not isinstance(resolved, str) or scope is None:
            annotation, scope = resolved, scope or {}
        field = Field(info)
        about = reader.read(annotation, scope)
        shape.fields.append(
            ObjectField(
                name,
                constrained(about.shape, field.marks),
                required if required is not None else not field.optional,
                key=key,
                default=field.default if field.has_default else _MISSING,
                description=field.description or about.description,
                extra=field.extra,
            )
        )
    if real and len(reader.warnings) > before:
        # A type that only pydantic knows: let the model describe itself.
        shape.own_schema = _asked(cls)
        if shape.own_schema is not None:
            del reader.warnings[before:]
    return shape


def _model_fields(cls):
    """Yields (name, FieldInfo, required or None, JSON key) for pydantic 2, 1 and the stand-in."""
    fields = getattr(cls, "model_fields", None)
    if isinstance(fields, dict):
        for name, info in fields.items():
            alias = getattr(info, "validation_alias", None) or getattr(info, "alias", None)
            yield name, info, None, alias if isinstance(alias, str) else name
        return
    for name, field in cls.__fields__.items():
        yield name, field.field_info, bool(field.required), field.alias


def _overrides_schema(cls):
    for base in cls.__mro__:
        if base.__module__.split(".")[0] == "pydantic":
            return base.__name__.startswith("RootModel")  # no object at all
        if "__get_pydantic_json_schema__" in base.__dict__ or "__modify_schema__" in base.__dict__:
            return True
    return False


def _asked(cls):
    """Returns the schema that a model gives itself: references inlined, titles dropped."""
    try:
        schema = cls.model_json_schema() if hasattr(cls, "model_json_schema") else cls.schema()
    except Exception:
        return None
    definitions = dict(schema.pop("$defs", None) or {}, **(schema.pop("definitions", None) or {}))
    try:
        return _inlined(schema, definitions, ())
    except RecursionError:
        return None


def _inlined(schema, definitions, above):
    """Returns a schema without titles, its references replaced. Raises RecursionError for a ring."""
    if type(schema) is not dict:
        return schema
    reference = schema.get("$ref")
    if type(reference) is str:
        name = reference.rpartition("/")[2]
        if name in above:
            raise RecursionError
        found = dict(_inlined(definitions.get(name, {}), definitions, above + (name,)))
        found.update({k: v for k, v in schema.items() if k not in ("$ref", "title")})
        return found
    found = {}
    for key, value in schema.items():
        if key == "title":
            continue
        if key in ("properties", "patternProperties") and type(value) is dict:
            value = {name: _inlined(one, definitions, above) for name, one in value.items()}
        elif key in ("items", "additionalProperties", "not", "propertyNames"):
            value = _inlined(value, definitions, above)
        elif key in ("anyOf", "allOf", "oneOf", "prefixItems") and type(value) is list:
            value = [_inlined(one, definitions, above) for one in value]
        found[key] = value
    return found
