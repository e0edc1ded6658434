"""The loader of plain functions, and of plugins of the llm program.

Each public function of a plain file is a tool; a file with a register_tools
hook, or a folder with entry points for llm, offers what it registers.
"""

import os
import sys

from conclave_worker import loading, signature, wants
from conclave_worker.tools import Tool


def load(worker):
    """Runs the plugin's files and puts its tools into worker.tools. Raises problems.Problem."""
    if worker.config.get("secrets"):
        worker.read_secrets()
    environment = worker.options.get("environment")
    before = dict(environment) if isinstance(environment, dict) else {}
    os.environ.update((name, str(value)) for name, value in before.items() if name and "=" not in name)
    extra = worker.config.get("extra") or {}
    if extra.get("points"):
        _registered(worker, loading.import_points(worker.config, worker.sources))
    else:
        loaded = loading.load(worker.config, worker.sources)
        if loaded.hook:
            _registered(worker, [loaded.module])
        else:
            _functions(worker, loaded)
    _modernise_pydantic()
    found = {}
    for text in worker.sources.texts():
        wants.read(text, found)
    for name in before:  # what is set stays to be seen
        wants.add(found, "environment", name)
    for group, schema in found.items():
        worker.offer_option(group, schema)
    standins = [name for name in ("pydantic", "sqlite_utils", "click") if _stands_in(name)]
    if standins:
        worker.notes.append("Not installed, so Conclave stands in for: %s." % ", ".join(standins))


def _functions(worker, loaded):
    file = worker.sources.relative(worker.config["display"])
    for function, value in loaded.functions:
        try:
            tool = Tool(function.name, value, function.line, file)
        except signature.NoSignature:
            worker.wire.log("warning", worker.config["id"], "%s is not offered: it has no signature." % function.name)
            continue
        worker.tools[tool.name] = tool


def _registered(worker, plugins):
    from conclave_llm import hooks

    hooks.load(worker, plugins)


def _stands_in(name):
    return "standins" in str(getattr(sys.modules.get(name), "__file__", ""))


def _modernise_pydantic():
    """Gives pydantic 1's models the method names of 2 (contracts/llm-functions, section 9a)."""
    pydantic = sys.modules.get("pydantic")
    if pydantic is None or not str(getattr(pydantic, "VERSION", "")).startswith("1."):
        return
    model = pydantic.BaseModel
    for new, old in (
        ("model_dump", "dict"),
        ("model_dump_json", "json"),
        ("model_validate", "parse_obj"),
        ("model_validate_json", "parse_raw"),
        ("model_json_schema", "schema"),
        ("model_copy", "copy"),
    ):
        if not hasattr(model, new):
            setattr(model, new, model.__dict__[old])
