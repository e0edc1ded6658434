"""The loader of plain functions: each public function of the plugin's file is a tool."""

import sys

from . import loading, signature
from .tools import Tool


def load(worker):
    """Runs the plugin's file and puts its tools into worker.tools. Raises problems.Problem."""
    loaded = loading.load(worker.config, worker.sources)
    file = worker.sources.relative(worker.config["display"])
    for function, value in loaded.functions:
        try:
            tool = Tool(function.name, value, function.line, file)
        except signature.NoSignature:
            worker.wire.log("warning", worker.config["id"], "%s is not offered: it has no signature." % function.name)
            continue
        worker.tools[tool.name] = tool
    _modernise_pydantic()


def _modernise_pydantic():
    """Gives pydantic 1's models the method names of 2 (contract, section 9a)."""
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
