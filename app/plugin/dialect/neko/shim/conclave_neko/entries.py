"""What a plugin has registered: tools for the model, entries for people, timers.

The worker's table of tools is replaced whole whenever it changes, since other
threads read it. Conclave is told of a change once however many came together,
and not of one that changes nothing.
"""

from _thread import allocate_lock

from conclave_worker import signature
from conclave_worker.tools import Tool

from . import marks
from .answers import EntryConflictError
from .tools import LlmTool


class Entries:
    """The registrations of one plugin."""

    def __init__(self, instance, host, i18n):
        self.tools = {}  # name → LlmToolMeta: `_llm_tools` of the plugin
        self.rows = {}  # id → what list_entries tells
        self.timers = []  # (facts, handler)
        self.lifecycles = {}  # id → handlers
        self.auto = []  # handlers of custom events that start by themselves
        self._handlers = {}  # name of a tool, or id of an entry → function
        self._host, self._i18n = host, i18n
        self._lock = allocate_lock()
        self._collect(instance)

    # -- what was decorated --

    def _collect(self, instance, prefix=""):
        for name, function in marks.methods(instance):
            meta = getattr(function, marks.TOOL, None)
            found = marks.marks_of(function)
            if meta is None and not found:
                continue
            handler = getattr(instance, getattr(function, "__name__", name), None)
            if not callable(handler):
                continue
            if isinstance(meta, marks.LlmToolMeta):
                if meta.name in self.tools:
                    if getattr(handler, "__func__", handler) is not getattr(self._handlers[meta.name], "__func__", None):
                        self._host.log("warning", "Two methods are the tool %s; the second, %s, is not offered." % (meta.name, name))
                else:
                    self.add_tool(meta, handler)
            handler = getattr(instance, name)
            if "entry" in found:
                facts = dict(found["entry"], id=prefix + found["entry"]["id"])
                if facts.get("input_schema") is None and facts.get("params") is None:
                    facts.update(_inferred(handler))
                self._add_entry(facts, handler)
            if "timer" in found:
                self.timers.append((found["timer"], handler))
            if "lifecycle" in found:
                self.lifecycles.setdefault(found["lifecycle"]["id"], []).append(handler)
            if found.get("custom_event", {}).get("auto_start"):
                self.auto.append(handler)

    def include(self, router, prefix=""):
        """Takes up the registrations of a router."""
        self._collect(router, prefix)

    def _add_entry(self, facts, handler, dynamic=False):
        if facts["id"] in self.rows:
            return
        self.rows[facts["id"]] = {
            "id": facts["id"],
            "name": facts.get("name") or facts["id"],
            "description": facts.get("description") or "",
            "event_type": "plugin_entry",
            "kind": facts.get("kind") or "action",
            "enabled": True,
            "dynamic": dynamic,
            "auto_start": bool(facts.get("auto_start")),
            "timeout": facts.get("timeout"),
            "input_schema": facts.get("input_schema") or marks.empty_schema(),
            "llm_result_fields": facts.get("llm_result_fields"),
            "metadata": facts.get("metadata") or {},
        }
        self._handlers["entry:" + facts["id"]] = _with_model(handler, facts.get("params"), facts.get("as", "params"))

    # -- tools --

    def register_tool(self, *, name, description, parameters, handler, timeout, role, reply_tail):
        marks.check_name(name)
        if not callable(handler):
            raise TypeError("the handler of %s is not callable" % name)
        if name in self.tools:
            raise EntryConflictError("the tool %s is registered already" % name)
        try:
            seconds = float(timeout)
        except (TypeError, ValueError):
            seconds = 30.0
        schema = parameters if isinstance(parameters, dict) else None
        meta = marks.LlmToolMeta(name, description, schema, seconds if seconds > 0 else 30.0, role, bool(reply_tail))
        self.add_tool(meta, handler)
        self._host.life.changed()
        return True

    def add_tool(self, meta, handler):
        self.tools[meta.name] = meta
        self._handlers[meta.name] = handler
        self._offer(LlmTool(meta, handler, self._i18n, self._place(handler)))

    def unregister_tool(self, name):
        if self.tools.pop(name, None) is None:
            return False
        self._handlers.pop(name, None)
        self.withdraw(name)
        return True

    def announce(self, meta):
        """Offers a registered tool again, if it is not offered: re-announcing changes nothing."""
        name = meta.get("name") if hasattr(meta, "get") else getattr(meta, "name", None)
        if name not in self.tools:
            self._host.log("warning", "The tool %s was announced and is not registered." % name)
            return False
        if name not in self._host.worker.tools:
            self._offer(LlmTool(self.tools[name], self._handlers[name], self._i18n, self._place(self._handlers[name])))
            self._host.life.changed()
        return True

    def withdraw(self, name):
        """Takes a tool from the model, registered or not."""
        with self._lock:
            if name not in self._host.worker.tools:
                return
            self._host.worker.tools = {key: tool for key, tool in self._host.worker.tools.items() if key != name}
        self._host.life.changed()

    def _offer(self, tool):
        with self._lock:
            self._host.worker.tools = dict(self._host.worker.tools, **{tool.name: tool})

    def _place(self, handler):
        """Returns where a handler is written, as facts of tools/list."""
        code = getattr(signature.innermost(handler), "__code__", None)
        file = self._host.worker.sources.relative(code.co_filename) if code is not None else None
        return {"conclave/line": code.co_firstlineno, "conclave/file": file} if file else {}

    def list_tools(self):
        return [
            {"name": m.name, "description": m.description, "parameters": m.parameters, "timeout_seconds": m.timeout_seconds, "role": m.role}
            for m in self.tools.values()
        ]

    # -- entries --

    def register_entry(self, facts, handler):
        if facts["id"] in self.rows:
            raise EntryConflictError("the entry %s is registered already" % facts["id"])
        self._add_entry(facts, handler, dynamic=True)
        return True

    def unregister_entry(self, id):
        self._handlers.pop("entry:" + id, None)
        return self.rows.pop(id, None) is not None

    def enable(self, id, on):
        if id not in self.rows:
            return False
        self.rows[id]["enabled"] = on
        return True

    def list(self, include_disabled=False):
        rows = [dict(row) for row in self.rows.values() if row["enabled"] or include_disabled]
        for meta in self.tools.values():
            rows.append({
                "id": "__llm_tool__" + meta.name, "name": meta.name, "description": meta.description, "event_type": "plugin_entry",
                "kind": "action", "enabled": True, "dynamic": True, "auto_start": False, "timeout": meta.timeout_seconds,
                "input_schema": meta.parameters, "llm_result_fields": None, "metadata": {},
            })  # fmt: skip
        return rows

    def handlers(self):
        """Returns the functions of the entries by their ids."""
        return {id: self._handlers["entry:" + id] for id in self.rows}

    def offer_entries(self):
        """Lists the entries of a plugin that offers no tools, for a person to turn on."""
        if self._host.worker.tools:
            return
        for id, row in list(self.rows.items()):
            try:
                name = marks.check_name(id)
            except ValueError:
                continue
            meta = marks.LlmToolMeta(name, row["description"] or row["name"], row["input_schema"], float(row["timeout"] or 30))
            handler = self._handlers["entry:" + id]
            tool = LlmTool(meta, handler, self._i18n, self._place(handler))
            tool.title, tool.hidden = self._i18n.resolve(row["name"]), True
            self._offer(tool)


# Parameters that N.E.K.O fills, or that nobody does.
_NOT_ASKED = ("_ctx", "args", "kwargs")


def _inferred(handler):
    """Returns the facts of an entry that says no schema, by how its function is written."""
    try:
        asked = [p for p in signature.of_handler(handler) if p.kind not in (signature.ARGS, signature.KWARGS) and p.name not in _NOT_ASKED]
        if len(asked) == 1:
            hint = asked[0].annotation
            if isinstance(hint, str):
                hint = getattr(signature.innermost(handler), "__globals__", {}).get(hint)
            if isinstance(hint, type) and hasattr(hint, "model_json_schema"):
                return {"input_schema": hint.model_json_schema(), "params": hint, "as": asked[0].name}
        schema = Tool("entry", handler, description="").schema
    except Exception:  # its author gave no schema: none is made up of what cannot be read
        return {}
    names = {p.name for p in asked}
    schema["properties"] = {name: shape for name, shape in schema["properties"].items() if name in names}
    required = [name for name in schema.pop("required", ()) if name in names]
    if required:
        schema["required"] = required
    schema.pop("additionalProperties", None)
    return {"input_schema": schema}


def _with_model(handler, model, name):
    """Returns a handler that gets a checked model as the parameter of that name, when that is how it is written."""
    if model is None or not hasattr(model, "model_validate"):
        return handler
    try:
        names = [p.name for p in signature.parameters(handler)]
    except signature.NoSignature:
        return handler
    if name not in names:
        return handler

    def checked(**arguments):
        return handler(**{name: model.model_validate(arguments)})

    return checked
