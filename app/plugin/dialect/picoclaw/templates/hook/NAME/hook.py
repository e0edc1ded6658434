"""Offers models the tool NAME_hello, and answers when one calls it."""
import json
import sys

HELLO = {"type": "function", "function": {
    "name": "NAME_hello", "description": "Says hello to a person.",
    "parameters": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}}}

for line in sys.stdin:
    message = json.loads(line)
    params, answer = message.get("params") or {}, {}  # {} goes on as if nothing was asked
    if message["method"] == "hook.before_llm":  # each request to a model: it has a tool more
        params["tools"] = (params.get("tools") or []) + [HELLO]
        answer = {"action": "modify", "request": params}
    elif message["method"] == "hook.before_tool" and params["tool"] == "NAME_hello":
        who = params.get("arguments", {}).get("who", "stranger")
        answer = {"action": "respond", "result": {"for_llm": f"Hello, {who}!"}}
    if message.get("id"):  # what has none wants no answer
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
