"""A function becomes a tool: parameters, schema, description, and how it is called.

The rules are contracts/llm-functions, sections 4 to 6.
"""

from . import docstrings, signature
from .call import BadArguments
from .shapes import ANY, Mismatch, Refs, scalars
from .shapes.choices import union
from .shapes.constraints import Field, constrained, is_field
from .shapes.containers import Dict, List
from .shapes.defaults import NoForm, json_form
from .shapes.reader import Reader
from .signature import ARGS, Empty, KWARGS, POSITIONAL_ONLY, is_async

# Longer descriptions are sent whole, with a warning: they cost on every request.
MAX_DESCRIPTION = 1024


class ToolCall:
    """What a function gets that declares a parameter called llm_tool_call."""

    def __init__(self, name, arguments, tool_call_id):
        self.name = name
        self.arguments = arguments
        self.tool_call_id = tool_call_id


class Offered:
    """One parameter that a model may fill."""

    def __init__(self, parameter, about):
        self.name = parameter.name
        self.description = about.description
        self.extra = {}
        self.fill = None  # makes the value of an omitted argument; None: Python does
        self.default = parameter.default  # Empty when there is none to show
        self.factory = False
        marks = {}
        field = about.field
        if is_field(parameter.default):
            field = Field(parameter.default)
            marks = field.marks
            self.default = Empty
        if field is not None:
            self.description = field.description or self.description
            self.extra = field.extra
            if self.default is Empty and field.optional:
                self.fill = field.make
                self.factory = not field.has_default
                self.default = field.default if field.has_default else Empty
        shape = about.shape
        if shape is None:
            shape = _by_default(self.default)
        shape = constrained(shape, marks)
        if self.default is None and not shape.null:
            shape = union([shape, scalars.NULL])
        self.shape = shape

    @property
    def required(self):
        return self.default is Empty and not self.factory

    def schema(self, refs, warnings):
        schema = self.shape.schema(refs)
        if self.description:
            schema["description"] = self.description
        if self.default is not Empty:
            try:
                schema["default"] = json_form(self.default)
            except NoForm:
                warnings.append("The default of %s has no JSON form, so the model is not told it." % self.name)
        schema.update(self.extra)
        return schema


def _by_default(default):
    """Returns the shape of a parameter without annotation (contracts/llm-functions, section 4.2)."""
    kind = type(default)
    if default is Empty or kind is str:
        return scalars.TEXT
    if default is None:
        return union([scalars.TEXT, scalars.NULL])
    if kind in (bool, int, float):
        return scalars.PLAIN[kind]
    if kind in (list, tuple, set):
        return List(ANY)
    return Dict(ANY, ANY) if kind is dict else ANY


class Tool:
    """One callable tool. Raises signature.NoSignature when made of the uncallable."""

    strict = False  # whether Conclave checks arguments against the schema, which nobody here converts by
    instance = ""  # what is on record of the object it belongs to
    unready = False  # whether it is kept from models for now

    def __init__(self, name, function, line=0, file="", description=None):
        self.start(name, function, line, file)
        self._read(function, description)

    def start(self, name, function, line, file):
        """Sets what does not depend on a signature."""
        self.name = name
        self.function = function
        self.line = line
        self.file = file
        self.warnings = []
        self.options = getattr(function, "__conclave__", None) or {}
        self.title = self.options.get("title") or ""
        self.is_async = self.shares = is_async(function)  # shares: other calls may run while one waits
        self.running = 0  # calls under way, when serial
        self.waiting = []  # calls waiting for their turn, when serial
        self.offered, self._extra, self._wants_call = [], None, False

    def pool(self, call):
        """Returns what runs a call that is not async; None for the worker's own threads."""
        return None

    def _read(self, function, description):
        reader = Reader()
        inner = signature.innermost(function)
        scope = getattr(inner, "__globals__", {})
        self._positional = []  # positional-only parameters, offered or not, in order
        self._hidden = {}  # name → makes the value of a parameter that is not offered
        for number, parameter in enumerate(signature.parameters(function)):
            self._take(number, parameter, reader, scope)
        self._by_name = {one.name: one for one in self.offered}

        self.description = self._describe(function) if description is None else description
        refs = Refs()
        properties = {one.name: one.schema(refs, self.warnings) for one in self.offered}
        self.warnings += reader.warnings
        self.schema = {"type": "object", "properties": properties}
        required = [one.name for one in self.offered if one.required]
        if required:
            self.schema["required"] = required
        if self._extra is not None:
            self.schema["additionalProperties"] = self._extra.schema(refs) or True
        if refs.definitions:
            self.schema["$defs"] = refs.definitions
        if len(self.description) > MAX_DESCRIPTION:
            self.warnings.append(
                "The description has %d characters; all of it is sent with every request." % len(self.description)
            )

    @property
    def serial(self):
        return bool(self.options.get("serial"))

    def _take(self, number, parameter, reader, scope):
        name, hint = parameter.name, parameter.annotation
        if name == "llm_tool_call":
            self._wants_call = True
            return
        if number == 0 and name in ("self", "cls") and hint is Empty:
            return
        reader.where = name
        if parameter.kind == ARGS:
            self.warnings.append("*%s is not offered: a model gives arguments by name." % name)
            return
        if parameter.kind == KWARGS:
            self._extra = ANY if hint is Empty else reader.read(hint, scope).shape
            return
        if parameter.kind == POSITIONAL_ONLY:
            self._positional.append(parameter)
        field = Field(parameter.default) if is_field(parameter.default) else None
        if name.startswith("_") and parameter.default is not Empty and (field is None or field.optional):
            if field is not None:
                self._hidden[name] = field.make
            return
        about = reader.read(hint if hint is not Empty else object, scope)
        if hint is Empty:
            about.shape = None
        self.offered.append(Offered(parameter, about))

    def _describe(self, function):
        given = self.options.get("description")
        if isinstance(given, str):
            return given
        text = docstring(function)
        if not text:
            return ""
        text, said, stray = docstrings.read(text, self._by_name)
        for name, description in said.items():
            one = self._by_name[name]
            one.description = one.description or description
        if stray:
            self.warnings.append(
                "The docstring describes %s, which %s no parameter." % (", ".join(stray), "is" if len(stray) == 1 else "are")
            )
        return text

    def bind(self, arguments, call_id=""):
        """Returns (args, kwargs) for the function. Raises BadArguments with every problem."""
        lines, values = [], {}
        for name, value in arguments.items():
            one = self._by_name.get(name)
            if one is None and self._extra is None:
                accepted = ", ".join(self._by_name) or "no arguments"
                lines.append("%s: is not a parameter; it takes %s" % (name, accepted))
                continue
            try:
                values[name] = (one.shape if one else self._extra).convert(value)
            except Mismatch as err:
                lines += ["%s%s: %s" % (name, path, said) for path, said in err.lines]
        for one in self.offered:
            if one.required and one.name not in arguments:
                lines.append("%s: is required" % one.name)
        if lines:
            raise BadArguments(lines)
        for one in self.offered:
            if one.name not in values and one.fill is not None:
                values[one.name] = one.fill()
        values.update((name, make()) for name, make in self._hidden.items())
        args = [values.pop(p.name) if p.name in values else p.default for p in self._positional]
        if self._wants_call:
            values["llm_tool_call"] = ToolCall(self.name, arguments, call_id)
        return args, values

    def entry(self):
        """Returns its entry in tools/list."""
        meta = {}
        if self.line:
            meta["conclave/line"] = self.line
        if self.file:
            meta["conclave/file"] = self.file
        if self.warnings:
            meta["conclave/warnings"] = self.warnings
        if self.serial:
            meta["conclave/serial"] = True
        if self.shares:
            meta["conclave/async"] = True
        timeout = self.options.get("timeout")
        if isinstance(timeout, (int, float)) and timeout > 0:
            meta["conclave/timeout-ms"] = int(timeout * 1000)
        if self.unready:
            meta["conclave/visibility"] = "hidden"
        elif self.options.get("visibility") in ("direct", "deferred", "hidden"):
            meta["conclave/visibility"] = self.options["visibility"]
        if self.strict:
            meta["conclave/strict"] = True
        if self.instance:
            meta["conclave/instance"] = self.instance
        entry = {"name": self.name, "description": self.description, "inputSchema": self.schema, "_meta": meta}
        if self.title:
            entry["title"] = self.title
        return entry


def docstring(function):
    """Returns the docstring of the function itself, not of its type."""
    doc = getattr(function, "__doc__", None)
    if not isinstance(doc, str) or doc is getattr(type(function), "__doc__", None):
        # A partial, or an object with __call__.
        inner = signature.innermost(function)
        doc = getattr(inner, "__doc__", None) if inner is not function else None
    return doc if isinstance(doc, str) else ""
