"""One tool: from the record its plugin gives to its entry in tools/list and its calls."""

from conclave_worker import pool, problems, signature, streams

from . import answers

DEFAULT_MS = 60000
_VISIBILITY = {"visible": "direct", "deferred": "deferred", "hidden": "hidden"}
_WORDS = {"string", "integer", "number", "boolean", "array", "object", "null"}


def collect(life):
    """Returns the tools of the plugin by name, in its own order. Says what it leaves out."""
    instance = life.instance
    found, others, apis = {}, {}, []
    for record in instance.get_components() or ():
        if not isinstance(record, dict) or not isinstance(record.get("name"), str) or not record["name"].strip():
            life._say("A component without a name was left out.")
            continue
        kind = str(record.get("type") or "").upper()
        if kind == "API":
            apis.append(record)
            continue
        if kind not in ("TOOL", "ACTION"):
            others.setdefault(kind, []).append(record["name"])
            continue
        tool = Tool(life, record)
        if not tool.enabled:
            continue
        if tool.name in found:
            tool.warnings.append("The plugin has more than one component named %s; the last one counts." % tool.name)
        found[tool.name] = tool
    life.host.components, life.host.apis = found, apis
    for kind, names in others.items():
        life._say("Conclave does not use its %s: %s." % (_SAID.get(kind, kind.lower()), ", ".join(names)), "info")
    return found


_SAID = {
    "COMMAND": "commands",
    "EVENT_HANDLER": "event handlers",
    "HOOK_HANDLER": "hooks",
    "MESSAGE_GATEWAY": "chat platforms",
    "HOME_CARD": "cards",
    "REPLY_EXTENSION": "additions to replies",
}


class Tool:
    """One tool, as serve.Worker wants it."""

    serial = False
    is_async = True

    def __init__(self, life, record):
        self.life = life
        self.name = record["name"]
        self.running, self.waiting = 0, []
        self.warnings = []
        self.metadata = record.get("metadata") if isinstance(record.get("metadata"), dict) else {}
        nested = self.metadata.get("metadata")
        self._nested = nested if isinstance(nested, dict) else {}
        self.enabled = self._fact("enabled") is not False
        self.legacy = bool(self._fact("legacy_action")) or self.metadata.get("invoke_method") == "plugin.invoke_action"
        brief = next(
            (text.strip() for text in (self.metadata.get("brief_description"), self.metadata.get("description")) if isinstance(text, str) and text.strip()),
            "工具 %s" % self.name,
        )
        self.description = brief
        self.schema = schema(self.metadata, self.warnings)
        self.visibility = self._visibility()
        self.handler = self._handler()
        self.file, self.line = _place(self.handler, life.worker.sources)
        self.accepts = _accepts(self.handler)
        # What serve.Worker calls: a coroutine that never raises but when it is cancelled.
        self.function = self._call

    def _fact(self, name):
        """A fact of the decorator, flat as newer plugins have it or nested as older ones do."""
        return self.metadata[name] if name in self.metadata else self._nested.get(name)

    def _visibility(self):
        said = str(self._fact("visibility") or "").strip().lower()
        if said in _VISIBILITY:
            return _VISIBILITY[said]
        return "direct" if self._fact("core_tool") else "deferred"

    def _handler(self):
        instance = self.life.instance
        for name in (self.metadata.get("handler_name"), "handle_" + self.name, self.name):
            handler = getattr(instance, name, None) if isinstance(name, str) and name else None
            if callable(handler):
                return handler
        return None

    def timeout_ms(self):
        value = self._fact("timeout_ms")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            return DEFAULT_MS
        return int(value)

    def entry(self):
        meta = {"conclave/visibility": self.visibility, "conclave/timeout-ms": self.timeout_ms()}
        if self.line:
            meta["conclave/line"] = self.line
        if self.file:
            meta["conclave/file"] = self.file
        if self.warnings:
            meta["conclave/warnings"] = self.warnings
        return {"name": self.name, "description": self.description, "inputSchema": self.schema, "_meta": meta}

    # -- a call --

    def bind(self, arguments, call_id=""):
        return (arguments,), {}

    async def _call(self, arguments):
        call = streams.current.get()
        self.life.look()
        if not self.life.serving:
            return answers.failed("the plugin is switched off in its settings")
        given = self._arguments(arguments, call)
        try:
            value = await self._invoke(given)
        except Exception as error:
            return answers.raised(error)
        return answers.returned(value, self.name, call)

    def _arguments(self, arguments, call):
        """Adds what the host gives besides (contracts/maibot, section 7.1)."""
        given = dict(arguments)
        conversation = call.meta.get("conclave/conversation") or ""
        context = {"stream_id": conversation, "chat_id": conversation, "platform": "conclave", "user_id": "local"}
        if self.legacy:
            context["reasoning"] = ""
            context["action_data"] = dict(arguments)
        for name, value in context.items():
            if name in ("stream_id", "chat_id"):
                # A model cannot send a tool to another conversation.
                if conversation or not given.get(name):
                    if name in arguments or self._accepts(name):
                        given[name] = value
            elif not given.get(name) and self._accepts(name):
                given[name] = value
        return given

    def _accepts(self, name):
        return self.accepts is None or name in self.accepts

    async def _invoke(self, given):
        if self.handler is None:
            value = self.life.instance.invoke_component(self.name, **given)
            return await value if hasattr(value, "__await__") else value
        if signature.is_async(self.handler):
            value = self.handler(**given)
            return await value if hasattr(value, "__await__") else value
        import asyncio
        import contextvars
        import functools

        context = contextvars.copy_context()
        work = functools.partial(context.run, self.handler, **given)
        value = await asyncio.get_running_loop().run_in_executor(_threads(), work)
        return await value if hasattr(value, "__await__") else value


_executor = None


def _threads():
    """Returns threads for as many handlers as Conclave calls at once; Python's own are few on a small computer."""
    global _executor
    if _executor is None:
        from concurrent.futures import ThreadPoolExecutor

        _executor = ThreadPoolExecutor(pool.SIZE)
    return _executor


def _accepts(handler):
    """Returns the names a handler takes, None for any."""
    if handler is None:
        return None
    try:
        parameters = signature.of_handler(handler)
    except signature.NoSignature:
        return None
    if any(one.kind == signature.KWARGS for one in parameters):
        return None
    return {one.name for one in parameters if one.kind != signature.ARGS}


def _place(handler, sources):
    code = getattr(signature.innermost(handler), "__code__", None) if handler is not None else None
    if code is None:
        return "", 0
    return sources.relative(code.co_filename) or "", code.co_firstlineno


# -- schemas --


def schema(metadata, warnings):
    """Returns the object schema of a tool, whatever its plugin gave (contracts/maibot, section 5.3)."""
    raw, parameters = metadata.get("parameters_raw"), metadata.get("parameters")
    if isinstance(raw, dict) and raw:
        return _object(raw)
    if isinstance(parameters, dict) and parameters:
        return _object(parameters)
    properties, required = {}, []
    for one in parameters if isinstance(parameters, (list, tuple)) else ():
        if hasattr(one, "model_dump"):
            one = one.model_dump(mode="json")
        if not isinstance(one, dict) or not one.get("name"):
            warnings.append("A parameter without a name was left out.")
            continue
        properties[one["name"]] = _parameter(one, warnings)
        if one.get("required", True):
            required.append(one["name"])
    return {"type": "object", "properties": properties, "required": required}


def _object(given):
    """Returns a whole schema as it is, or makes one of a map of properties."""
    whole = isinstance(given.get("type"), str) or not all(isinstance(value, dict) for value in given.values())
    if whole and ("properties" in given or given.get("type") == "object"):
        made = dict(given)
        made.setdefault("type", "object")
        if not isinstance(made.get("properties"), dict):
            made["properties"] = {}
        return made
    if set(given) == {"properties"} and isinstance(given["properties"], dict) and "type" not in given["properties"]:
        return dict(given, type="object")
    properties, required = {}, []
    for name, about in given.items():
        if not isinstance(about, dict):
            continue
        about = dict(about)
        if not isinstance(about.get("required"), list) and about.pop("required", False):
            required.append(name)
        properties[name] = about
    return {"type": "object", "properties": properties, "required": required}


def _parameter(one, warnings):
    kind = str(getattr(one.get("param_type"), "value", one.get("param_type")) or "string").lower()
    if kind == "float":
        kind = "number"
    if kind not in _WORDS:
        warnings.append("The parameter %s has the unknown type %s; it is taken for a text." % (one["name"], kind))
        kind = "string"
    made = {"type": kind, "description": str(one.get("description") or "")}
    if one.get("enum_values"):
        made["enum"] = list(one["enum_values"])
    if one.get("default") is not None:
        made["default"] = one["default"]
    if kind == "array":
        made["items"] = one.get("items_schema") if isinstance(one.get("items_schema"), dict) else {}
    if kind == "object":
        made["properties"] = dict(one.get("properties") or {})
        if one.get("required_properties"):
            made["required"] = list(one["required_properties"])
        if one.get("additional_properties") is not None:
            made["additionalProperties"] = one["additional_properties"]
    return made
