"""What a plugin asks for through self.ctx, answered with what Conclave has.

The plugin's SDK calls rpc_call with a capability of MaiBot's. Here it becomes a
capability of Conclave's (docs/WIRE.md, section 5), something the plugin's own
folder can answer, or a sentence that it is not to be had.
"""

import os
import time

from conclave_worker import problems, results, streams, walls
from conclave_worker.wire import Closed, HostError

from . import shapes

_DENIED, _UNAVAILABLE = -32010, -32011
_DEFAULT_MS = 30000
_PAGE = 200  # as many messages as Conclave gives at once
# Needs nothing of the manifest.
_FREE = {"api.replace_dynamic"}
# What the person grants for a capability, by its first word (permissions.go); the others reach
# nothing of Conclave's.
_PERMISSIONS = {
    "send": "chat_mutation", "message": "chat_mutation", "maisaka": "chat_mutation", "chat": "chats", "llm": "generation",
}  # fmt: skip
# What the one person and the assistant are called; there is no persona to ask.
_PERSONA = {"bot.nickname": "Conclave", "bot.alias_names": [], "bot.qq_account": "conclave", "bot.platform": "conclave"}


class Denied(Exception):
    """A capability that the plugin may not use."""


class Unknown(Exception):
    """A capability that there is none of."""


class Host:
    def __init__(self, life):
        self.life = life
        declared = life.manifest.get("capabilities")
        self.declared = {str(one) for one in declared} if isinstance(declared, list) else set()
        self.components, self.apis = {}, []
        self._tables = None

    # -- the seam --

    async def rpc_call(self, method, plugin_id="", payload=None, timeout_ms=None):
        """Answers one request of the SDK; the plugin's own id is the only one it acts for."""
        payload = payload if isinstance(payload, dict) else {}
        if method in ("host.route_message", "host.update_message_gateway_state"):
            return {"accepted": False}
        if method != "cap.call":
            raise Unknown("E_METHOD_NOT_ALLOWED: there is no method %s" % method)
        capability = str(payload.get("capability") or "")
        args = dict(payload.get("args") or {})
        limit = self._limit(capability, args, timeout_ms)
        forgotten = capability not in _FREE and capability not in self.declared
        permission = _PERMISSIONS.get(capability.split(".")[0], "")
        if forgotten and not permission:  # nothing that the person could allow
            raise Denied("[E_CAPABILITY_DENIED] 插件 %s 未获授权能力: %s (its _manifest.json does not list it)" % (self.life.id, capability))
        handler = getattr(self, "_" + capability.replace(".", "_"), None)
        if handler is None:
            handler = self._neutral(capability)
        if handler is None:
            raise Unknown("E_METHOD_NOT_ALLOWED: there is no capability %s" % capability)
        import asyncio

        try:
            return await asyncio.wait_for(handler(args), limit / 1000)
        except HostError as error:
            if error.code == _DENIED:
                why = str(error)
                if forgotten:
                    walls.refuse(permission)
                    why = "its _manifest.json does not list it; the person can allow it with the permission %s" % permission
                raise Denied("[E_CAPABILITY_DENIED] 插件 %s 未获授权能力: %s (%s)" % (self.life.id, capability, why)) from None
            return {"success": False, "error": str(error)}
        except (asyncio.TimeoutError, TimeoutError):
            return {"success": False, "error": "no answer within %s" % results.seconds(limit / 1000)}
        except Closed:
            return {"success": False, "error": "Conclave is closing"}
        except (Denied, Unknown):
            raise
        except Exception as error:
            raise RuntimeError("E_CAPABILITY_FAILED: %s: %s" % (capability, problems.describe(error))) from error

    def _limit(self, capability, args, timeout_ms):
        limit = timeout_ms
        names = ["rpc_timeout_ms", "_timeout_ms"] + ([] if capability == "render.html2png" else ["timeout_ms"])
        for name in names:
            if name in args:
                limit = args.pop(name)
        if limit is None or limit == 0:
            return _DEFAULT_MS
        if isinstance(limit, bool) or not isinstance(limit, int) or limit <= 0:
            raise ValueError("timeout_ms is a whole number of milliseconds above 0")
        return limit

    async def ask(self, capability, **args):
        """Asks Conclave. Raises HostError or Closed."""
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def answered(value, error):
            def settle():
                if future.done():
                    return
                if error is not None:
                    future.set_exception(error)
                else:
                    future.set_result(value)

            try:
                loop.call_soon_threadsafe(settle)
            except RuntimeError:
                pass  # the loop is gone

        call = streams.current.get()
        self.life.worker.wire.ask(capability, args, call.call_id if call is not None else None, answered)
        return await future

    def secret(self, path):
        """Returns a secret setting, or None. While loading, on the main thread."""
        try:
            answer = self.life.worker.wire.request("options.secret", {"name": path})
        except (HostError, Closed) as error:
            self.life._say("The secret setting %s could not be had: %s" % (path, error))
            return None
        return answer.get("value") if isinstance(answer, dict) else None

    # -- sending --

    async def _append(self, args, content, media=None):
        stream = str(args.get("stream_id") or args.get("chat_id") or "")
        if not stream or not content and not media:
            return {"success": False, "error": "there is nothing to send, or nowhere to send it"}
        more = {"media": media} if media else {}
        answer = await self.ask("chats.append", chat=stream, role="assistant", content=content, **more)
        message = answer.get("message") if isinstance(answer, dict) else None
        return {"success": True, "sent": True, "message_id": str(message.get("id") or "") if isinstance(message, dict) else ""}

    async def _send_text(self, args):
        return await self._append(args, str(args.get("text") or ""))

    async def _picture(self, args, data, label):
        media = shapes.as_medium(data, label)
        if media is None:
            return {"success": False, "error": "the picture is not base64"}
        return await self._append(args, "", [media])

    async def _send_image(self, args):
        return await self._picture(args, args.get("image_base64"), "image")

    async def _send_emoji(self, args):
        return await self._picture(args, args.get("emoji_base64"), "emoji")

    async def _send_hybrid(self, args):
        text, media = shapes.of_segments(args.get("segments"))
        return await self._append(args, text, media)

    async def _send_forward(self, args):
        blocks, media = [], []
        for node in args.get("messages") or ():
            if not isinstance(node, dict):
                continue
            inner = node.get("segments", node.get("content"))
            text, more = (inner, []) if isinstance(inner, str) else shapes.of_segments(inner)
            media += more
            who = str(node.get("nickname") or node.get("user_id") or "")
            quoted = "\n".join("> " + line for line in text.split("\n"))
            blocks.append(("> **%s**\n" % who if who else "") + quoted)
        return await self._append(args, "\n\n".join(blocks), media)

    async def _send_command(self, args):
        return await self._append(args, "```\n%s\n```" % shapes.as_text(args.get("command")))

    async def _send_custom(self, args):
        kind = str(args.get("custom_type") or args.get("message_type") or "custom")
        data = args.get("data", args.get("content"))
        if kind in ("voice", "video", "music", "file", "image", "emoji"):
            media = shapes.as_medium(data.get("data") if isinstance(data, dict) else data, kind)
            if media is not None:
                return await self._append(args, "", [media])
            if isinstance(data, str) and data.startswith(("http://", "https://")):
                return await self._append(args, "[%s](%s)" % (kind, data))
            return {"success": False, "error": "a %s needs base64 or an address" % kind}
        return await self._append(args, "%s:\n```\n%s\n```" % (kind, shapes.as_text(data)))

    # -- models --

    async def _llm_generate(self, args):
        return await self._generate(args, None)

    async def _llm_generate_with_tools(self, args):
        return await self._generate(args, args.get("tools") or [])

    async def _generate(self, args, tools):
        parameters = {key: args[key] for key in ("temperature", "max_tokens") if args.get(key) is not None}
        request = {"messages": shapes.of_prompt(args.get("prompt"))}
        if parameters:
            request["parameters"] = parameters
        if tools:
            request["tools"] = [shapes.as_definition(tool) for tool in tools if isinstance(tool, dict)]
        try:
            answer = await self.ask("models.generate", **request)
        except HostError as error:
            if error.code == _DENIED:
                raise
            return {"success": False, "error": str(error), "response": "", "reasoning": "", "model": "", "model_name": ""}
        answer = answer if isinstance(answer, dict) else {}
        usage = answer.get("usage") if isinstance(answer.get("usage"), dict) else {}
        spent = [usage.get(key) or 0 for key in ("prompt_tokens", "completion_tokens")]
        model = str(answer.get("model") or "")
        result = {
            "success": True,
            "response": str(answer.get("content") or ""),
            "reasoning": str(answer.get("reasoning") or ""),
            "model": model,
            "model_name": model,
            "prompt_tokens": spent[0],
            "completion_tokens": spent[1],
            "total_tokens": usage.get("total_tokens") or sum(spent),
            "prompt_cache_hit_tokens": 0,
            "prompt_cache_miss_tokens": 0,
        }
        calls = answer.get("tool_calls")
        if calls or tools is not None:
            result["tool_calls"] = [shapes.as_call(call) for call in calls or () if isinstance(call, dict)]
        return result

    async def _llm_get_available_models(self, args):
        answer = await self.ask("models.connections")
        names = []
        for connection in (answer or {}).get("connections") or ():
            if isinstance(connection, dict):
                names += [str(name) for name in connection.get("models") or [connection.get("model") or connection.get("name") or ""]]
        return {"success": True, "models": [name for name in dict.fromkeys(names) if name]}

    async def _llm_embed(self, args):
        return {"success": False, "error": "Conclave has no embeddings", "embedding": [], "results": []}

    async def _llm_transcribe_audio(self, args):
        return {"success": False, "error": "Conclave transcribes no audio", "text": "", "content": ""}

    # -- settings --

    async def _config_get(self, args):
        key, default = str(args.get("key") or ""), args.get("default")
        if key in _PERSONA:
            return {"success": True, "value": _PERSONA[key]}
        value = self.life.instance.get_plugin_config_data()
        for step in key.split("."):
            if not isinstance(value, dict) or step not in value:
                return {"success": True, "value": default}
            value = value[step]
        return {"success": True, "value": value}

    async def _config_get_plugin(self, args):
        wanted = args.get("plugin_name")
        if wanted and wanted not in (self.life.id, self.life.worker.config["id"], self.life.manifest.get("name")):
            return {"success": False, "error": "the settings of another plugin are not for this one"}
        return {"success": True, "value": self.life.instance.get_plugin_config_data()}

    async def _config_get_all(self, args):
        return {"success": True, "value": self.life.instance.get_plugin_config_data()}

    # -- messages and chats --

    async def _read(self, chat, limit):
        answer = await self.ask("chats.messages", chat=chat, limit=min(limit, _PAGE))
        found, total = answer.get("messages") or [], answer.get("total") or 0
        if total > len(found):  # the newest are asked for, and they come last
            answer = await self.ask("chats.messages", chat=chat, limit=min(limit, _PAGE), offset=max(0, total - min(limit, _PAGE)))
            found = answer.get("messages") or []
        return [shapes.as_message(one, chat) for one in found if isinstance(one, dict)]

    async def _message_get_recent(self, args):
        limit = shapes.positive(args.get("limit"), 10)
        since = time.time() - 86400
        found = await self._read(str(args.get("chat_id") or args.get("stream_id") or ""), limit)
        return {"success": True, "messages": [one for one in found if float(one["timestamp"]) >= since][-limit:]}

    async def _message_get_by_id(self, args):
        chat = str(args.get("chat_id") or args.get("stream_id") or "") or self._here()
        found = [one for one in await self._read(chat, 1000) if one["message_id"] == str(args.get("message_id"))] if chat else []
        return {"success": True, "message": found[0] if found else None}

    async def _message_get_by_time_in_chat(self, args):
        begin, end = shapes.seconds(args.get("start_time"), 0.0), shapes.seconds(args.get("end_time"), time.time())
        chat = str(args.get("chat_id") or args.get("stream_id") or "") or self._here()
        found = await self._read(chat, 1000) if chat else []
        found = [one for one in found if begin <= float(one["timestamp"]) <= end]
        limit = shapes.positive(args.get("limit"), 0)
        return {"success": True, "messages": found[-limit:] if limit else found}

    _message_get_by_time = _message_get_by_time_in_chat

    async def _message_count_new(self, args):
        found = (await self._message_get_by_time_in_chat({"chat_id": args.get("chat_id"), "start_time": args.get("since")}))["messages"]
        return {"success": True, "count": len(found)}

    async def _message_build_readable(self, args):
        lines = []
        for one in args.get("messages") or ():
            if isinstance(one, dict):
                info = (one.get("message_info") or {}).get("user_info") or {}
                who = info.get("user_cardname") or info.get("user_nickname") or info.get("user_id") or ""
                lines.append("%s: %s" % (who, one.get("processed_plain_text") or ""))
        return {"success": True, "text": "\n".join(lines)}

    def _here(self):
        call = streams.current.get()
        return str(call.meta.get("conclave/conversation") or "") if call is not None else ""

    async def _streams(self, args):
        if str(args.get("platform") or "qq") not in ("qq", "all_platforms", "conclave"):
            return []
        answer = await self.ask("chats.list")
        return [shapes.as_stream(one) for one in (answer or {}).get("chats") or () if isinstance(one, dict)]

    async def _chat_get_all_streams(self, args):
        return {"success": True, "streams": await self._streams(args)}

    _chat_get_private_streams = _chat_get_all_streams

    async def _chat_get_group_streams(self, args):
        return {"success": True, "streams": []}

    async def _chat_get_stream_by_group_id(self, args):
        wanted = str(args.get("group_id") or "")
        found = [one for one in await self._streams(args) if one["stream_id"] == wanted]
        return {"success": True, "stream": found[0] if found else None}

    async def _chat_get_stream_by_user_id(self, args):
        wanted = str(args.get("user_id") or "")
        found = await self._streams(args)
        here = self._here()
        chosen = [one for one in found if one["stream_id"] in (wanted, here if wanted == "local" else wanted)]
        if not chosen and wanted == "local":
            chosen = found
        return {"success": True, "stream": chosen[0] if chosen else None}

    async def _chat_open_session(self, args):
        answer = await self._chat_get_stream_by_user_id({"user_id": args.get("user_id") or "local"})
        stream = answer["stream"]
        if stream is None:
            return {"success": False, "error": "there is no such chat in Conclave"}
        return dict(stream, success=True, stream=stream)

    async def _maisaka_context_append(self, args):
        text, media = shapes.of_segments(args.get("segments"))
        answer = await self._append(args, str(args.get("visible_text") or "") or text, media)
        answer["stream_id"] = args.get("stream_id")
        return answer

    async def _maisaka_proactive_trigger(self, args):
        text = str(args.get("intent") or args.get("reason") or "")
        name = str(self.life.manifest.get("name") or self.life.id)
        await self.ask("toast", kind="info", text=text[:500], title=name)
        return {"success": True, "queued": False}

    # -- the one person --

    async def _person_get_id(self, args):
        return {"success": True, "person_id": "local"}

    _person_get_id_by_name = _person_get_id

    async def _person_get_value(self, args):
        facts = {"person_name": "local", "nickname": "local", "user_id": "local", "person_id": "local", "platform": "conclave"}
        return {"success": True, "value": facts.get(str(args.get("field_name") or ""), args.get("default"))}

    # -- tables of the plugin's own --

    def _table(self, args):
        if self._tables is None:
            from .tables import Tables

            self._tables = Tables(os.path.join(self.life.worker.config["storage"] or self.life.worker.config["home"], "tables"))
        return self._tables

    async def _database_query(self, args):
        kind = str(args.get("query_type") or "get")
        if kind in ("create", "save", "update"):
            return await self._database_save(args)
        if kind == "delete":
            return await self._database_delete(args)
        if kind == "count":
            return {"success": True, "result": self._table(args).count(args), "count": self._table(args).count(args)}
        return await self._database_get(args)

    async def _database_get(self, args):
        return {"success": True, "result": self._table(args).get(args)}

    async def _database_save(self, args):
        return {"success": True, "result": self._table(args).save(args)}

    async def _database_delete(self, args):
        if not args.get("filters"):
            return {"success": False, "error": "delete needs filters"}
        return {"success": True, "result": self._table(args).delete(args)}

    async def _database_count(self, args):
        return {"success": True, "count": self._table(args).count(args)}

    # -- between plugins --

    async def _api_call(self, args):
        name = str(args.get("api_name") or "")
        own = name[len(self.life.id) + 1:] if name.startswith(self.life.id + ".") else name
        record = next((one for one in self._own_apis() if one["name"] == own), None)
        if record is None:
            return {"success": False, "error": "there is no API %s that this plugin can reach in Conclave" % name}
        given = args.get("args") if isinstance(args.get("args"), dict) else {}
        handler = getattr(self.life.instance, str((record.get("metadata") or {}).get("handler_name") or ""), None)
        value = handler(**given) if handler is not None else self.life.instance.invoke_component(own, **given)
        return {"success": True, "result": await value if hasattr(value, "__await__") else value}

    def _own_apis(self):
        dynamic = getattr(self.life.instance, "get_dynamic_api_components", None)
        return list(self.apis) + (list(dynamic()) if dynamic is not None else [])

    def _described(self, record):
        about = record.get("metadata") or {}
        return {
            "name": record["name"],
            "full_name": self.life.id + "." + record["name"],
            "plugin_id": self.life.id,
            "description": about.get("description") or "",
            "version": about.get("version") or "1",
            "public": bool(about.get("public")),
        }

    async def _api_list(self, args):
        if args.get("plugin_id") not in (None, "", self.life.id):
            return {"success": True, "apis": []}
        return {"success": True, "apis": [self._described(one) for one in self._own_apis()]}

    async def _api_get(self, args):
        name = str(args.get("api_name") or "").rpartition(".")[2]
        return {"success": True, "api": next((self._described(one) for one in self._own_apis() if one["name"] == name), None)}

    async def _api_replace_dynamic(self, args):
        return {"success": True}

    # -- the rest --

    async def _knowledge_search(self, args):
        return {"success": True, "content": ""}

    async def _render_html2png(self, args):
        return {"success": False, "error": "Conclave renders no HTML for plugins; send the text instead"}

    async def _tool_get_definitions(self, args):
        tools = [{"name": t.name, "definition": {"name": t.name, "description": t.description, "parameters": t.schema}} for t in self.life.worker.tools.values()]
        return {"success": True, "tools": tools}

    async def _component_enable(self, args):
        return self._toggle(args, True)

    async def _component_disable(self, args):
        return self._toggle(args, False)

    def _toggle(self, args, on):
        name, tools = str(args.get("name") or "").rpartition(".")[2], self.life.worker.tools
        if name not in self.components or str(args.get("scope") or "global") != "global":
            return {"success": False, "error": "there is no component %s here" % name}
        if on:
            tools[name] = self.components[name]
        else:
            tools.pop(name, None)
        self.life.worker.wire.notify("notifications/tools/list_changed", {})
        return {"success": True}

    def _neutral(self, capability):
        """Answers for what MaiBot has and Conclave has none of."""
        group = capability.split(".")[0]
        if group not in ("emoji", "frequency", "statistics", "component"):
            return None

        async def answer(args):
            if capability in ("component.load_plugin", "component.unload_plugin", "component.reload_plugin"):
                return {"success": False, "error": "plugins are switched by the person"}
            if capability == "component.get_plugin_info":
                return {"success": True, "plugin": None}
            if group == "frequency":
                return {"success": True, "value": 1.0}
            if group == "statistics":
                return {"success": True, "value": 0, "result": {}, "data": {}}
            empty = {"emojis": [], "emotions": [], "emoji": None, "count": 0, "plugins": [], "schema": {}}
            if capability in ("emoji.register", "emoji.delete"):
                return {"success": False, "error": "Conclave keeps no emoji for plugins"}
            return dict(empty, success=True)

        return answer
