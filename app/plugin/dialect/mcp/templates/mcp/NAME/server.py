"""An MCP server without any library. Any program that speaks MCP can start it: python3 server.py"""

import json
import sys


def count_words(text: str) -> str:
    return f"{len(text.split())} words, {len(text)} characters"


# The tools: what a model reads about each, the JSON Schema of its arguments, and what it does.
TOOLS = {
    "count_words": {
        "description": "Count the words and characters of a text.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "The text to count in."}},
            "required": ["text"],
        },
        "annotations": {"readOnlyHint": True},
        "run": count_words,
    },
}

VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]


def call(name, arguments):
    if name not in TOOLS:
        raise LookupError(f"Unknown tool: {name}")
    try:
        text, failed = str(TOOLS[name]["run"](**arguments)), False
    except Exception as error:  # the model reads it, and may try again
        text, failed = str(error), True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def answer(method, params):
    if method == "initialize":
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "NAME", "version": "0.1.0"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": name, **{k: v for k, v in t.items() if k != "run"}} for name, t in TOOLS.items()]}
    if method == "tools/call":
        return call(params["name"], params.get("arguments") or {})
    raise NotImplementedError(f"Method not found: {method}")


# One message is one line. Standard output is for messages alone: print what you want to see to sys.stderr.
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue  # a notification, or an answer to a question that nobody asked
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        reply["result"] = answer(message["method"], message.get("params") or {})
    except NotImplementedError as error:
        reply["error"] = {"code": -32601, "message": str(error)}
    except LookupError as error:
        reply["error"] = {"code": -32602, "message": str(error)}
    print(json.dumps(reply), flush=True)
