"""One llm.Tool, or one method of a toolbox, as a tool of the worker."""

import llm
from conclave_worker import results, signature, tools

_METHOD = type(llm.hookimpl.__call__)
_FUNCTION = type(lambda: None)


def methods(kind):
    """Returns (name, what it is in its class) of the methods that a toolbox class offers.

    Functions, static and class methods of the class and its bases, in the order
    they are defined; nothing is evaluated to find them (contracts/llm-functions, section 3.5).
    """
    found = {}
    for base in reversed(kind.__mro__):
        if base in (object, llm.Toolbox):
            continue
        for name, value in base.__dict__.items():
            if name.startswith("_") or name in llm.Toolbox._blocked:
                continue
            if _is_method(value):
                found[name] = value  # where a base has it, at its place
            else:
                found.pop(name, None)  # a property in place of an inherited method
    return list(found.items())


def _is_method(value):
    if isinstance(value, type) or isinstance(value, property):
        return False
    inner = getattr(value, "__func__", value)
    return callable(inner) and hasattr(type(value), "__get__")


def unbound(value):
    """Returns the plain function behind a method where its signature can be read without self."""
    function = getattr(value, "__func__", None)
    if type(value) is not _METHOD and not isinstance(value, (staticmethod, classmethod)):
        function = value
    if isinstance(value, staticmethod) or type(function) is not _FUNCTION:
        return function if isinstance(value, staticmethod) else value
    if hasattr(function, "__wrapped__"):
        return value
    first = function.__code__.co_varnames[:1]
    return function if first in (("self",), ("cls",)) and first[0] not in signature.annotations(function) else value


class Function(tools.Tool):
    """A tool whose schema is read from a signature."""

    def __init__(self, tool, worker):
        implementation = tool.implementation
        line, file = place(implementation, worker)
        said = None if tool._own_words else tool.description or ""
        super().__init__(str(tool.name), unbound(implementation), line, file, said)
        self.function = implementation


class Given(tools.Tool):
    """A tool whose schema the plugin wrote; arguments are checked against it by Conclave."""

    strict = True

    def __init__(self, tool, worker):
        implementation = tool.implementation
        line, file = place(implementation, worker)
        self.start(str(tool.name), implementation, line, file)
        schema = results.plain(tool._schema)
        if not isinstance(schema, dict):
            schema = {}
            self.warnings.append("Its parameters are no JSON Schema, so it is offered without any.")
        self.schema = dict({"type": "object", "properties": {}}, **schema) if not schema.get("type") else schema
        self.description = tool.description or ""
        try:
            self._wants_call = any(p.name == "llm_tool_call" for p in signature.parameters(implementation))
        except signature.NoSignature:
            self._wants_call = False

    def bind(self, arguments, call_id=""):
        values = dict(arguments)
        if self._wants_call:
            values["llm_tool_call"] = tools.ToolCall(self.name, arguments, call_id)
        return [], values


def offered(tool, worker=None):
    """Returns the worker's tool for a llm.Tool. Raises signature.NoSignature."""
    if tool.implementation is None:
        raise signature.NoSignature("it has no implementation")
    return (Given if tool._given else Function)(tool, worker)


def place(function, worker):
    """Returns the line and file of a function of the plugin's, as far as they are known."""
    code = getattr(signature.innermost(function), "__code__", None)
    if code is None or worker is None:
        return 0, ""
    file = worker.sources.relative(code.co_filename)
    return (code.co_firstlineno, file) if file else (0, "")
