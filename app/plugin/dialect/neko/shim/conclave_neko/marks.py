"""The decorators: each sets an attribute and returns what it decorates (contracts/neko, sections 5 and 7).

They stack in any order on one method, since none wraps another.
"""

import re

MARKS = "__neko_marks__"  # on functions: kind → what was said
TOOL = "__neko_llm_tool__"  # on functions: LlmToolMeta
PLUGIN = "__neko_plugin__"  # on classes

MAX_SECONDS = 300.0  # what a tool may declare; more is clamped
TIMINGS = ("before", "after", "around", "replace")

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


class LlmToolMeta:
    """What a tool declares."""

    __slots__ = ("name", "description", "parameters", "timeout_seconds", "role", "reply_tail")

    def __init__(self, name, description="", parameters=None, timeout_seconds=30.0, role=None, reply_tail=False):
        self.name = name
        self.description = description
        self.parameters = empty_schema() if parameters is None else parameters
        self.timeout_seconds = timeout_seconds
        self.role = role
        self.reply_tail = reply_tail

    def __eq__(self, other):
        return isinstance(other, LlmToolMeta) and all(getattr(self, key) == getattr(other, key) for key in self.__slots__)

    __hash__ = None

    # Plugins read it as a table, too.
    def __getitem__(self, key):
        if key not in self.__slots__:
            raise KeyError(key)
        return getattr(self, key)

    def get(self, key, default=None):
        return getattr(self, key) if key in self.__slots__ else default

    def keys(self):
        return list(self.__slots__)

    def __repr__(self):
        return "LlmToolMeta(%s)" % ", ".join("%s=%r" % (key, getattr(self, key)) for key in self.__slots__)


def empty_schema():
    return {"type": "object", "properties": {}}


def check_name(name):
    """Returns a tool's name. ValueError when it cannot be one."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError("invalid tool name %r: 1 to 64 of the characters A-Z, a-z, 0-9, _, . and -" % (name,))
    return name


def llm_tool(*, name=None, description="", parameters=None, timeout=30.0, role=None, reply_tail=False):
    """Offers a method to the model."""
    if parameters is not None and not isinstance(parameters, dict):
        raise TypeError("parameters must be a dict, not %s" % type(parameters).__name__)
    seconds = float(timeout)
    if not seconds > 0:
        raise ValueError("timeout must be positive, not %r" % (timeout,))

    def mark(function):
        if not callable(function):
            raise TypeError("llm_tool decorates functions, not %s" % type(function).__name__)
        chosen = check_name(name if isinstance(name, str) and name else function.__name__)
        setattr(function, TOOL, LlmToolMeta(chosen, description, parameters, seconds, role, bool(reply_tail)))
        return function

    return mark


def neko_plugin(cls):
    """Says that a class is a plugin."""
    setattr(cls, PLUGIN, True)
    for alias, id in (("on_start", "startup"), ("on_shutdown", "shutdown")):
        method = cls.__dict__.get(alias)
        if callable(method) and "lifecycle" not in marks_of(method):
            _set(method, "lifecycle", id=id, name=None, description="", metadata=None)
    return cls


def marks_of(function):
    """Returns what the decorators said of a function."""
    found = getattr(function, MARKS, None)
    return found if type(found) is dict else {}


def _set(function, what, **facts):
    target = getattr(function, "__func__", function)  # a static or class method
    found = dict(target.__dict__.get(MARKS, ())) if hasattr(target, "__dict__") else {}
    found[what] = facts
    setattr(target, MARKS, found)
    return function


def _marker(what, **facts):
    return lambda function: _set(function, what, **facts)


def lifecycle(*, id, name=None, description="", metadata=None, **others):
    """A method that runs at startup, shutdown, reload, config_change, freeze or unfreeze."""
    return _marker("lifecycle", id=id, name=name, description=description, metadata=metadata)


def plugin_entry(
    *, id=None, name=None, description="", input_schema=None, params=None, kind="action", auto_start=False, persist=None,
    model_validate=True, timeout=None, llm_result_fields=None, llm_result_model=None, fields=None, metadata=None,
    quick_action=False, **others
):  # fmt: skip
    """A function that a person, or another plugin, may call."""
    if input_schema is not None and params is not None:
        raise ValueError("give input_schema or params, not both")
    if sum(option is not None for option in (llm_result_fields, llm_result_model, fields)) > 1:
        raise ValueError("give one of llm_result_fields, llm_result_model and fields")
    if params is not None:
        input_schema = params.model_json_schema() if hasattr(params, "model_json_schema") else params if isinstance(params, dict) else None

    def mark(function):
        return _set(
            function, "entry", id=id or function.__name__, name=name, description=description, input_schema=input_schema,
            params=params if isinstance(params, type) else None, kind=kind, auto_start=auto_start, timeout=timeout,
            llm_result_fields=llm_result_fields or fields, metadata=metadata,
        )  # fmt: skip

    return mark


def timer_interval(*, id, seconds, name=None, description="", auto_start=True, metadata=None, **others):
    """A method that runs every so many seconds."""
    if not float(seconds) > 0:
        raise ValueError("seconds must be positive, not %r" % (seconds,))
    return _marker("timer", id=id, seconds=float(seconds), name=name, auto_start=auto_start)


def message(*, id, name=None, description="", source=None, **others):
    """A method for chat events. Conclave has none to give: it is never called."""
    return _marker("message", id=id, source=source)


def on_event(*args, **facts):
    """A method for an event. It is never called."""
    return _either("event", args, facts)


def custom_event(*args, **facts):
    """A method for an event between plugins. It is called once at the start when auto_start is set."""
    return _either("custom_event", args, facts)


def quick_action(*args, **facts):
    """A hint for N.E.K.O's panels."""
    return _either("quick_action", args, facts)


def hook(*args, timing="before", **facts):
    """A method around an entry."""
    if timing not in TIMINGS:
        raise ValueError("timing must be one of %s, not %r" % (", ".join(TIMINGS), timing))
    return _either("hook", args, dict(facts, timing=timing))


def _timed(timing):
    def decorate(*args, **facts):
        return _either("hook", args, dict(facts, timing=timing))

    decorate.__doc__ = "A method %s an entry." % timing
    return decorate


before_entry, after_entry, around_entry, replace_entry = [_timed(timing) for timing in TIMINGS]


def _either(what, args, facts):
    """Marks with and without brackets."""
    if len(args) == 1 and callable(args[0]) and not facts:
        return _set(args[0], what)
    facts.pop("what", None)
    return _marker(what, **facts)


class _Plugin:
    """`plugin`: the decorators as a namespace, and a class decorator itself."""

    entry = staticmethod(plugin_entry)
    event = staticmethod(on_event)
    hook = staticmethod(hook)
    lifecycle = staticmethod(lifecycle)
    message = staticmethod(message)
    timer = staticmethod(timer_interval)
    custom_event = staticmethod(custom_event)

    def __call__(self, cls=None, **facts):
        return neko_plugin if cls is None else neko_plugin(cls)


plugin = _Plugin()


class EntryKind:
    """The kinds of an entry."""

    ACTION = "action"
    SERVICE = "service"
    HOOK = "hook"
    LIFECYCLE = "lifecycle"
    TIMER = "timer"


def methods(instance):
    """Yields (attribute name, function) of the methods of an instance, alphabetically, inherited ones included."""
    cls = type(instance)
    for name in dir(cls):
        for base in cls.__mro__:
            if name in base.__dict__:
                value = base.__dict__[name]
                yield name, getattr(value, "__func__", value)
                break
