"""A small stand-in for pydantic, found only when the real package is not installed.

Enough for a file of tool functions: models with fields, Field, validation of
what a model sends, dumping. It is Conclave's own code and follows pydantic's
documented behaviour, not its source. Everything else raises AttributeError.
"""

from conclave_worker import codec as _codec
from conclave_worker import results as _results
from conclave_worker.shapes import Mismatch as _Mismatch
from conclave_worker.shapes import Refs as _Refs
from conclave_worker.shapes.constraints import Field as _Taken
from conclave_worker.shapes.constraints import constrained as _constrained
from conclave_worker.shapes.reader import Reader as _Reader
from conclave_worker.signature import annotations as _annotations

VERSION = "2.0.0+conclave"
__version__ = VERSION


class PydanticUndefinedType:
    """The type of "no default"."""

    def __repr__(self):
        return "PydanticUndefined"


_UNDEFINED = PydanticUndefinedType()


class FieldInfo:
    """What Field() says of a field or parameter."""

    def __init__(self, default=_UNDEFINED, **facts):
        self.default = _UNDEFINED if default is ... else default
        self.default_factory = facts.pop("default_factory", None)
        self.annotation = facts.pop("annotation", None)
        self.alias = facts.pop("alias", None)
        self.validation_alias = facts.pop("validation_alias", None)
        self.description = facts.pop("description", None)
        self.examples = facts.pop("examples", None)
        self.title = facts.pop("title", None)
        self.json_schema_extra = facts.pop("json_schema_extra", None)
        self.metadata = []
        for name in ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern"):
            setattr(self, name, facts.pop(name, None))
        self.other = facts  # repr, frozen, exclude …: accepted, without effect

    def is_required(self):
        return self.default is _UNDEFINED and self.default_factory is None

    def __repr__(self):
        return "FieldInfo(annotation=%r, required=%r)" % (self.annotation, self.is_required())


FieldInfo.__module__ = "pydantic.fields"


def Field(default=_UNDEFINED, **facts):
    """Describes a field: default, description, bounds (ge, le, min_length, pattern …)."""
    return FieldInfo(default, **facts)


class ValidationError(ValueError):
    """Values that do not fit a model."""

    def __init__(self, title, found):
        self.title = title
        self._found = found  # [{"loc", "msg", "type"}]
        super().__init__(str(self))

    def errors(self, **options):
        return [dict(one) for one in self._found]

    def error_count(self):
        return len(self._found)

    def __str__(self):
        head = "%d validation error%s for %s" % (len(self._found), "" if len(self._found) == 1 else "s", self.title)
        lines = [".".join(str(part) for part in one["loc"]) + "\n  " + one["msg"] for one in self._found]
        return "\n".join([head] + lines)


def ConfigDict(**options):
    """Options of a model: model_config = ConfigDict(extra="forbid")."""
    return options


def _marker(attribute):
    def decorate(function, facts):
        target = getattr(function, "__func__", function)
        setattr(target, attribute, facts)
        return function

    return decorate


def field_validator(*fields, mode="after", **options):
    """Marks a class method that checks or changes one field: (cls, value) → value."""
    return lambda function: _marker("__field_validator__")(function, (fields, mode))


def model_validator(*, mode="after"):
    """Marks a method that checks the whole model."""
    return lambda function: _marker("__model_validator__")(function, mode)


class _Fields:
    """Gives `model_fields` of a class, read from its annotations when first asked."""

    def __get__(self, instance, cls):
        found = cls.__dict__.get("__conclave_fields__")
        if found is None:
            found = cls.__conclave_fields__ = _fields_of(cls)
        return found


def _fields_of(cls):
    found = {}
    for base in reversed(cls.__mro__):
        if base is object or base.__name__ == "BaseModel":
            continue
        for name, annotation in _annotations(base).items() if "__annotations__" in base.__dict__ else ():
            if name.startswith("_") or name == "model_config" or "ClassVar" in str(annotation):
                continue
            default = base.__dict__.get(name, _UNDEFINED)
            info = default if isinstance(default, FieldInfo) else FieldInfo(default)
            info.annotation = annotation
            found[name] = info
    return found


def _key(name, info):
    alias = info.validation_alias or info.alias
    return alias if isinstance(alias, str) else name


class BaseModel:
    """A class whose annotations are checked fields."""

    __conclave_standin__ = True
    model_fields = _Fields()
    model_config = {}

    def __init__(self, /, **given):
        self._fill(given)

    def _fill(self, given):
        cls = type(self)
        for check in cls._validators("__model_validator__", "before"):
            given = check(given)
        values, wrong = {}, []
        shapes = cls._shapes()
        for name, info in cls.model_fields.items():
            key = _key(name, info)
            if key not in given and name in given and cls.model_config.get("populate_by_name"):
                key = name
            if key not in given:
                if info.is_required():
                    wrong.append({"type": "missing", "loc": (key,), "msg": "Field required"})
                else:
                    values[name] = _Taken(info).make() if info.default_factory else _copied(info.default)
                continue
            try:
                value = given[key]
                for check in cls._validators("__field_validator__", "before", name):
                    value = check(value)
                value = _converted(shapes[name], value)
                for check in cls._validators("__field_validator__", "after", name):
                    value = check(value)
                values[name] = value
            except _Mismatch as err:
                wrong += [{"type": "value_error", "loc": (key,) + _place(path), "msg": said} for path, said in err.lines]
            except (ValueError, AssertionError) as err:
                wrong.append({"type": "value_error", "loc": (key,), "msg": "Value error, %s" % err})
        known = {_key(name, info) for name, info in cls.model_fields.items()} | set(cls.model_fields)
        extra = cls.model_config.get("extra")
        for key in given:
            if key not in known and extra == "forbid":
                wrong.append({"type": "extra_forbidden", "loc": (key,), "msg": "Extra inputs are not permitted"})
            elif key not in known and extra == "allow":
                values[key] = given[key]
        if wrong:
            raise ValidationError(cls.__name__, wrong)
        self.__dict__.update(values)
        for check in cls._validators("__model_validator__", "after"):
            try:
                check(self)
            except (ValueError, AssertionError) as err:
                found = [{"type": "value_error", "loc": (), "msg": "Value error, %s" % err}]
                raise ValidationError(cls.__name__, found) from None

    @classmethod
    def _shapes(cls):
        found = cls.__dict__.get("__conclave_shapes__")
        if found is None:
            import sys

            reader, found = _Reader(), {}
            for name, info in cls.model_fields.items():
                scope = {}
                for base in reversed(cls.__mro__):
                    if name in base.__dict__.get("__annotations__", ()):
                        scope = dict(vars(sys.modules[base.__module__]), **{cls.__name__: cls})
                reader.where = name
                about = reader.read(info.annotation, scope)
                shape = _constrained(about.shape, _Taken(info).marks)
                found[name] = shape
            cls.__conclave_shapes__ = found
        return found

    @classmethod
    def _validators(cls, attribute, mode, field=None):
        for base in reversed(cls.__mro__):
            for name, member in list(base.__dict__.items()):
                facts = getattr(getattr(member, "__func__", member), attribute, None)
                if facts is None:
                    continue
                fields, its_mode = facts if field is not None else ((), facts)
                if its_mode != mode or field is not None and field not in fields and "*" not in fields:
                    continue
                if field is None and mode == "after":
                    yield getattr(cls, name)
                else:
                    # A validator is a class method, also when it is not marked as one.
                    yield (member if isinstance(member, classmethod) else classmethod(member)).__get__(None, cls)

    @classmethod
    def model_validate(cls, value, **options):
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict):
            message = "Input should be a valid dictionary or instance of %s" % cls.__name__
            raise ValidationError(cls.__name__, [{"type": "model_type", "loc": (), "msg": message}])
        return cls(**value)

    @classmethod
    def model_validate_json(cls, text, **options):
        data = text if isinstance(text, (bytes, bytearray)) else text.encode("utf-8")
        try:
            value = _codec.loads(data)
        except ValueError as err:
            raise ValidationError(cls.__name__, [{"type": "json_invalid", "loc": (), "msg": "Invalid JSON: %s" % err}]) from None
        return cls.model_validate(value)

    @classmethod
    def model_json_schema(cls, **options):
        refs = _Refs()
        schema = _Reader().read(cls, {}).shape.schema(refs)
        return dict(schema, **{"$defs": refs.definitions}) if refs.definitions else schema

    def model_dump(self, *, mode="python", exclude=None, include=None, exclude_none=False, **options):
        found = {}
        for name, value in self.__dict__.items():
            if exclude and name in exclude or include is not None and name not in include:
                continue
            if exclude_none and value is None:
                continue
            found[name] = _results.plain(value) if mode == "json" else _dumped(value)
        return found

    def model_dump_json(self, *, indent=None, **options):
        found = _results.plain(self.model_dump(mode="json", **options))
        if indent is None:
            return _codec.text(found)
        import json

        return json.dumps(found, ensure_ascii=False, indent=indent)

    def model_copy(self, *, update=None, deep=False):
        import copy

        made = copy.deepcopy(self) if deep else copy.copy(self)
        made.__dict__.update(update or {})
        return made

    def __eq__(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % item for item in self.__dict__.items()))

    __str__ = __repr__


def _converted(shape, value):
    """Converts a JSON value; a value that already is what is wanted may pass as itself."""
    if isinstance(value, BaseModel):
        return value
    try:
        return shape.convert(value)
    except _Mismatch:
        plain = _results.plain(value)
        if plain == value and type(plain) is type(value):
            raise
        shape.convert(plain)  # raises when the natural form does not fit either
        return value


def _copied(value):
    """Returns a default of its own for each instance."""
    if isinstance(value, (list, dict, set)):
        import copy

        return copy.deepcopy(value)
    return value


def _dumped(value):
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
        return type(value)(_dumped(item) for item in value)
    if isinstance(value, dict):
        return {key: _dumped(item) for key, item in value.items()}
    return value


def _place(path):
    """Returns the parts of a path such as ".lines[2].price"."""
    parts = path.replace("[", ".").replace("]", "").split(".")
    return tuple(int(part) if part.isdigit() else part for part in parts if part)


def __getattr__(name):
    raise AttributeError(
        "Conclave's stand-in for pydantic has no %s; install the real package: pip install pydantic" % name
    )
