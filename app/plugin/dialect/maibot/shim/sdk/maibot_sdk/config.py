"""A plugin's settings: a class with a field for each, read from config.toml.

The model behind it is pydantic where that is installed, so that what a plugin
takes from pydantic fits together with it; else Conclave's stand-in for it.
"""

import enum
import typing

import pydantic
from pydantic import BaseModel, Field

__all__ = ["Field", "PluginConfigBase", "PluginConfigVersionError"]

_STANDIN = bool(getattr(BaseModel, "__conclave_standin__", False))
_NONE = type(None)


class PluginConfigVersionError(ValueError):
    """A configuration without plugin.config_version."""


if _STANDIN:

    class PluginConfigBase(BaseModel):
        """The base of a plugin's settings, and of each table in them."""

        def __setattr__(self, name, value):
            info = type(self).model_fields.get(name)
            if info is None:
                raise ValueError("%s has no field %s" % (type(self).__name__, name))
            made = type(self)(**dict(self.model_dump(), **{name: value}))
            self.__dict__[name] = made.__dict__[name]

else:

    class PluginConfigBase(BaseModel):
        """The base of a plugin's settings, and of each table in them."""

        model_config = pydantic.ConfigDict(validate_assignment=True, extra="ignore")


def is_plugin_config_class(candidate):
    return isinstance(candidate, type) and issubclass(candidate, PluginConfigBase) and candidate is not PluginConfigBase


def validate_plugin_config(config_class, config_data):
    """Returns the typed settings. Raises pydantic's ValidationError."""
    return config_class.model_validate(dict(config_data or {}))


def build_plugin_default_config(config_class):
    """Returns the defaults as plain data."""
    return config_class().model_dump(mode="json")


def extract_plugin_config_version(config_data):
    """Returns plugin.config_version. Raises PluginConfigVersionError without one."""
    table = (config_data or {}).get("plugin")
    version = table.get("config_version") if hasattr(table, "get") else None
    text = str(version or "").strip()
    if not text:
        raise PluginConfigVersionError("plugin.config_version is missing")
    return text


def merge_plugin_config_data(default_config, current_config):
    """Returns (what is set, with what is missing from the defaults; whether anything was)."""
    merged, changed = {}, False
    for key, value in current_config.items():
        default = default_config.get(key)
        if isinstance(value, dict) and isinstance(default, dict):
            merged[key], inner = merge_plugin_config_data(default, value)
            changed = changed or inner
        else:
            merged[key] = value
    for key, value in default_config.items():
        if key not in merged:
            merged[key], changed = _copied(value), True
    return merged, changed


def rebuild_plugin_config_data(default_config, current_config):
    """Returns the defaults with those values of before whose kind is still the same."""
    rebuilt = {}
    for key, default in default_config.items():
        value = current_config.get(key) if hasattr(current_config, "get") else None
        if isinstance(default, dict) and default and isinstance(value, dict):
            rebuilt[key] = rebuild_plugin_config_data(default, value)
        elif key in current_config and _same_kind(default, value):
            rebuilt[key] = _copied(value)
        else:
            rebuilt[key] = _copied(default)
    return rebuilt


def _same_kind(default, value):
    if default is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    return type(default) is type(value)


def _copied(value):
    import copy

    return copy.deepcopy(value)


# -- the form --


def generate_plugin_config_schema(
    config_class, *, plugin_id="", plugin_name="", plugin_version="", plugin_description="", plugin_author=""
):
    """Returns what a form for these settings shows: sections and their fields."""
    sections, loose = {}, {}
    for order, (name, info) in enumerate(config_class.model_fields.items()):
        inner = _model_in(info.annotation)
        if inner is None:
            loose[name] = _field(name, info, len(loose))
            continue
        sections[name] = {
            "name": name,
            "title": getattr(inner, "__ui_label__", None) or name,
            "description": info.description or "",
            "icon": getattr(inner, "__ui_icon__", None),
            "collapsed": False,
            "order": getattr(inner, "__ui_order__", order),
            "i18n": getattr(inner, "__ui_i18n__", None),
            "fields": {key: _field(key, about, at) for at, (key, about) in enumerate(inner.model_fields.items())},
        }
    if loose:
        sections["general"] = {
            "name": "general",
            "title": getattr(config_class, "__ui_label__", None) or "general",
            "description": "",
            "icon": getattr(config_class, "__ui_icon__", None),
            "collapsed": False,
            "order": -1,
            "fields": loose,
        }
    return {
        "plugin_id": plugin_id,
        "plugin_info": {
            "name": plugin_name,
            "version": plugin_version,
            "description": plugin_description,
            "author": plugin_author,
        },
        "sections": sections,
        "layout": {"type": "auto", "tabs": []},
    }


_HINTS = ("placeholder", "hint", "icon", "step", "input_type", "rows", "group", "depends_on", "depends_value")
_HINTS += ("min_items", "max_items", "example", "i18n", "x-widget", "x-icon")


def _field(name, info, order):
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    kind, widget, choices, items = _widget(info.annotation)
    bounds = _bounds(info)
    about = {
        "name": name,
        "type": kind,
        "default": _default(info),
        "description": info.description or "",
        "required": False,
        "choices": choices,
        "min": bounds.get("ge", bounds.get("gt")),
        "max": bounds.get("le", bounds.get("lt")),
        "pattern": extra.get("pattern") or bounds.get("pattern"),
        "max_length": extra.get("max_length") or bounds.get("max_length"),
        "label": extra.get("label") or info.title or name,
        "hidden": bool(extra.get("hidden")),
        "disabled": bool(extra.get("disabled")),
        "order": extra.get("order", order),
        "ui_type": widget,
        "item_type": items,
        "item_fields": None,
    }
    about.update((key, extra.get(key)) for key in _HINTS)
    return about


def _bounds(info):
    found = {}
    for one in [info] + list(getattr(info, "metadata", None) or ()):
        for name in ("ge", "gt", "le", "lt", "pattern", "max_length"):
            value = getattr(one, name, None)
            if value is not None:
                found[name] = value
    return found


def _default(info):
    if info.default_factory is not None:
        value = info.default_factory()
    elif info.is_required():
        return None
    else:
        value = info.default
    return _data(value)


def _data(value):
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_data(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _data(item) for key, item in value.items()}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    secret = getattr(value, "get_secret_value", None)
    return secret() if secret is not None else str(value)


def _args(annotation):
    return typing.get_args(annotation)


def _bare(annotation):
    """Returns an annotation without Annotated and without None."""
    while True:
        if getattr(annotation, "__metadata__", None) is not None:
            annotation = _args(annotation)[0]
            continue
        if _is_union(annotation):
            left = [one for one in _args(annotation) if one is not _NONE]
            if len(left) == 1:
                annotation = left[0]
                continue
        return annotation


def _is_union(annotation):
    return typing.get_origin(annotation) is typing.Union or type(annotation).__name__ == "UnionType"


def _model_in(annotation):
    annotation = _bare(annotation)
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _widget(annotation):
    """Returns (type, widget, choices, type of the items)."""
    annotation = _bare(annotation)
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        return "select", "select", [_data(one) for one in _args(annotation)], None
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return "select", "select", [one.value for one in annotation], None
    if annotation is bool:
        return "boolean", "switch", None, None
    if annotation is int:
        return "integer", "number", None, None
    if annotation is float:
        return "number", "number", None, None
    if annotation in (list, set, tuple) or origin in (list, set, tuple, frozenset):
        inner = _bare((_args(annotation) or (str,))[0])
        kind, _, choices, _ = _widget(inner)
        if choices:
            return "array", "multi_select", choices, "string"
        return "array", "list", None, "object" if _model_in(inner) or kind == "object" else kind
    if annotation is dict or origin is dict or _model_in(annotation):
        return "object", "json", None, None
    if getattr(annotation, "__name__", "") == "SecretStr":
        return "string", "password", None, None
    return "string", "text", None, None
