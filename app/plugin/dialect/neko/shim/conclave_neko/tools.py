"""One tool: what a model is told of it, and how it is called (contracts/neko, section 7).

It has the shape that conclave_worker.serve knows of a tool.
"""

import contextlib

from conclave_worker import codec, results, signature, streams
from conclave_worker.call import BadArguments

from . import answers, images
from .marks import MAX_SECONDS, empty_schema

# Whom a plugin hears of when no council member asks.
NOBODY = "Conclave"


class LlmTool:
    """A handler of the plugin's, as a tool."""

    serial = False
    title = ""
    hidden = False

    def __init__(self, meta, handler, i18n, source=None):
        self.meta = meta
        self.name = meta.name
        self.handler = handler
        self._told = i18n.told
        self.warnings = []
        self.running, self.waiting = 0, []  # what serve keeps for serial tools
        self._facts = source or {}
        self.is_async = signature.is_async(handler)
        self.function = self._call_async if self.is_async else self._call
        self.description = _as_text(i18n.resolve(meta.description))
        self.schema = _schema(i18n.resolve(meta.parameters))
        self._properties = self.schema.get("properties") or {}
        self._names, self._required, self._open = _accepts(handler)
        self.seconds = meta.timeout_seconds
        if self.seconds > MAX_SECONDS:
            self.seconds = MAX_SECONDS
            self.warnings.append("Its timeout of %g s is more than a tool may have; it has %g s." % (meta.timeout_seconds, MAX_SECONDS))
        if meta.role:
            self.warnings.append("It is meant for the council member %s." % meta.role)

    def pool(self, call):
        """Returns the threads that run a call, or None for the worker's own."""
        return None

    def entry(self):
        """Returns its entry in tools/list."""
        meta = dict(self._facts, **{"conclave/timeout-ms": max(1, int(self.seconds * 1000))})
        if self.warnings:
            meta["conclave/warnings"] = self.warnings
        if self.meta.role:
            meta["conclave/council-members"] = [self.meta.role]
        if self.is_async:
            meta["conclave/async"] = True
        if self.hidden:
            meta["conclave/visibility"] = "hidden"
        entry = {"name": self.name, "description": self.description, "inputSchema": self.schema, "_meta": meta}
        if self.title:
            entry["title"] = self.title
        return entry

    def bind(self, arguments, call_id=""):
        """Returns (args, kwargs) for the handler. Raises BadArguments with every problem.

        A number or a truth value that came as text becomes what the schema says.
        What the handler does not take is left out unless the schema declares it.
        """
        lines, values = [], {}
        for name, value in arguments.items():
            if name == "_ctx":
                continue
            if not self._open and name not in self._names and name not in self._properties:
                continue
            values[name] = _coerced(value, self._properties.get(name))
        for name in self._required:
            if name not in values and name != "_ctx":
                lines.append("%s: is required" % name)
        for name in values:
            if not self._open and name not in self._names:
                lines.append("%s: its function does not take it" % name)
        if lines:
            raise BadArguments(lines)
        return (), values

    def _kwargs(self, kwargs):
        if "_ctx" in self._names:
            call = streams.current.get()
            member = (call.meta.get("conclave/council-member") if call is not None else None) or {}
            kwargs["_ctx"] = {"lanlan_name": member.get("name") or NOBODY}
        return kwargs

    def _call(self, **kwargs):
        with self._saying():
            value = self.handler(**self._kwargs(kwargs))
        if hasattr(value, "__await__"):
            return self._finish(value)
        return outcome(value, self._told)

    async def _call_async(self, **kwargs):
        return await self._finish(self.handler(**self._kwargs(kwargs)))

    async def _finish(self, awaitable):
        with self._saying():
            value = await awaitable
        return outcome(value, self._told)

    @contextlib.contextmanager
    def _saying(self):
        """Has an error say a text, where its message refers to a translation."""
        try:
            yield
        except answers.SdkError as error:
            error.message = self._told(error.message)
            raise


def outcome(value, told):
    """Returns what a handler's result is for the worker (contracts/neko, item 40). An Err is raised.

    References to translations become texts, for which told is asked.
    """
    if answers.is_result(value):
        if not value.is_ok():
            error = answers.as_exception(told(value.error))
            if isinstance(error, answers.SdkError):
                error.message = told(error.message)
            raise error
        value = value.value
    value = told(value)
    if type(value) is not dict:
        return value
    if "is_error" in value:
        rest = {key: item for key, item in value.items() if key not in ("is_error", "error", "output", "images")}
        output = value["output"] if "output" in value else rest
        return _envelope(output, value.get("images"), value["is_error"], value.get("error"))
    if "output" in value and "images" in value:
        return _envelope(value["output"], value["images"], False, None)
    return value


def _envelope(output, pictures, is_error, error):
    blocks, warnings = images.read(pictures) if pictures is not None else ([], [])
    if warnings:
        output = dict(output) if isinstance(output, dict) else {"result": output}
        output["_image_warnings"] = warnings
    if not is_error:
        found = results.returned(output)
        found.media = blocks or found.media
        return found
    text = "Error: " + (str(error) if error else "the tool says that it failed")
    if output not in (None, "", {}):
        text += "\n" + (output if isinstance(output, str) else codec.text(results.plain(output)))
    return results.Outcome("raised", text, error_type="ToolError")


def _as_text(value):
    return value if isinstance(value, str) else "" if value is None else str(value)


def _schema(value):
    """Returns a schema of an object, whatever was declared."""
    if not isinstance(value, dict) or not value:
        return empty_schema()
    found = results.plain(value)
    found.setdefault("type", "object")
    if found["type"] == "object" and not isinstance(found.get("properties"), dict):
        found["properties"] = {}
    return found


def _accepts(handler):
    """Returns (names a handler takes, names it must get, whether it takes any others)."""
    try:
        parameters = signature.of_handler(handler)
    except signature.NoSignature:
        return set(), [], True
    named = [p for p in parameters if p.kind in (signature.POSITIONAL, signature.KEYWORD_ONLY)]
    required = [p.name for p in named if p.default is signature.Empty]
    return {p.name for p in named}, required, any(p.kind == signature.KWARGS for p in parameters)


def _coerced(value, schema):
    """Returns a number or truth value that came as text as what the schema says it is."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if type(value) is str:
        text = value.strip()
        try:
            if kind == "integer":
                return int(text)
            if kind == "number":
                number = float(text)
                return number if number - number == 0 else value
        except ValueError:
            return value
        if kind == "boolean" and text.lower() in ("true", "false"):
            return text.lower() == "true"
    if type(value) is float and kind == "integer" and value == int(value):
        return int(value)
    return value
