"""What a plugin may ask of its host: self.ctx and the groups of calls on it.

A call is one capability with named arguments. The answer is the value it names
when the host reports success with it, and what the host said otherwise.
"""

import logging
import pathlib  # loaded when a plugin asks for its folders (conclave_worker/aio.py)
from dataclasses import dataclass


@dataclass(frozen=True)
class PluginPaths:
    """Where a plugin keeps files: data_dir for good, runtime_dir for now."""

    data_dir: "pathlib.Path"
    runtime_dir: "pathlib.Path"


class SendResult(dict):
    """How a message was sent, when return_details was asked for."""

    @property
    def sent(self):
        return bool(self.get("sent"))

    @property
    def message_id(self):
        return self.get("message_id")

    def __bool__(self):
        return self.sent


class PluginContext:
    """One plugin's way to its host."""

    def __init__(self, plugin_id, rpc_call=None, paths=None):
        self.plugin_id = plugin_id
        self._rpc_call = rpc_call
        self._paths = paths
        self.logger = logging.getLogger("plugin." + plugin_id)
        self.api = APICapability(self)
        self.chat = ChatCapability(self)
        self.component = ComponentCapability(self)
        self.config = ConfigCapability(self)
        self.db = DatabaseCapability(self)
        self.emoji = EmojiCapability(self)
        self.frequency = FrequencyCapability(self)
        self.gateway = GatewayCapability(self)
        self.knowledge = KnowledgeCapability(self)
        self.llm = LLMCapability(self)
        self.maisaka = MaisakaCapability(self)
        self.message = MessageCapability(self)
        self.person = PersonCapability(self)
        self.render = RenderCapability(self)
        self.send = SendCapability(self)
        self.statistics = StatisticsCapability(self)
        self.tool = ToolCapability(self)

    @property
    def paths(self):
        if self._paths is None:
            raise RuntimeError("the plugin's folders are not known yet")
        if callable(self._paths):
            self._paths = self._paths()
        return self._paths

    async def call_host_method(self, method, *, plugin_id="", payload=None, timeout_ms=None):
        if self._rpc_call is None:
            raise RuntimeError("the plugin has no host")
        options = {} if timeout_ms is None else {"timeout_ms": timeout_ms}
        return await self._rpc_call(method, plugin_id or self.plugin_id, payload or {}, **options)

    async def call_capability(self, capability, timeout_ms=None, **kwargs):
        payload = {"capability": capability, "args": kwargs}
        result = await self.call_host_method("cap.call", payload=payload, timeout_ms=timeout_ms)
        key = _UNWRAP.get(capability)
        if isinstance(result, dict) and result.get("success") is not None and key is not None and key in result:
            return result[key]
        return result


# The value that a call is about, by capability.
_UNWRAP = {
    "api.call": "result",
    "api.get": "api",
    "api.list": "apis",
    "chat.get_all_streams": "streams",
    "chat.get_group_streams": "streams",
    "chat.get_private_streams": "streams",
    "chat.get_stream_by_group_id": "stream",
    "chat.get_stream_by_user_id": "stream",
    "component.get_all_plugins": "plugins",
    "component.get_plugin_info": "plugin",
    "component.get_plugin_config_schema": "schema",
    "component.list_loaded_plugins": "plugins",
    "component.list_registered_plugins": "plugins",
    "config.get": "value",
    "config.get_all": "value",
    "config.get_plugin": "value",
    "database.count": "count",
    "database.delete": "result",
    "database.get": "result",
    "database.query": "result",
    "database.save": "result",
    "emoji.get_all": "emojis",
    "emoji.get_by_description": "emoji",
    "emoji.get_count": "count",
    "emoji.get_emotions": "emotions",
    "emoji.get_random": "emojis",
    "frequency.get_adjust": "value",
    "frequency.get_current_talk_value": "value",
    "knowledge.search": "content",
    "llm.get_available_models": "models",
    "message.build_readable": "text",
    "message.count_new": "count",
    "message.get_by_id": "message",
    "message.get_by_time": "messages",
    "message.get_by_time_in_chat": "messages",
    "message.get_recent": "messages",
    "person.get_id": "person_id",
    "person.get_id_by_name": "person_id",
    "person.get_value": "value",
    "render.html2png": "result",
    "tool.get_definitions": "tools",
}


def _yes(result):
    return bool(result.get("success")) if isinstance(result, dict) else bool(result)


class _Group:
    def __init__(self, ctx):
        self._ctx = ctx

    def _call(self, capability, **args):
        return self._ctx.call_capability(capability, **args)

    async def _set(self, capability, **args):
        result = await self._call(capability, **args)
        if args.get("return_details") and isinstance(result, dict):
            return SendResult(result, sent=_yes(result), message_id=result.get("message_id"))
        return _yes(result)


class SendCapability(_Group):
    async def text(self, text, stream_id, **kwargs):
        return await self._set("send.text", text=text, stream_id=stream_id, **kwargs)

    async def image(self, image_data, stream_id, **kwargs):
        return await self._set("send.image", image_base64=image_data, stream_id=stream_id, **kwargs)

    async def emoji(self, emoji_data, stream_id, **kwargs):
        return await self._set("send.emoji", emoji_base64=emoji_data, stream_id=stream_id, **kwargs)

    async def command(self, command, stream_id, **kwargs):
        return await self._set("send.command", command=command, stream_id=stream_id, **kwargs)

    async def custom(self, custom_type, data, stream_id, **kwargs):
        return await self._set(
            "send.custom", message_type=custom_type, content=data, custom_type=custom_type, data=data, stream_id=stream_id, **kwargs
        )

    async def forward(self, messages, stream_id, **kwargs):
        return await self._set("send.forward", messages=messages, stream_id=stream_id, **kwargs)

    async def hybrid(self, segments, stream_id, **kwargs):
        return await self._set("send.hybrid", segments=segments, stream_id=stream_id, **kwargs)


class LLMCapability(_Group):
    async def generate(self, prompt, model="", temperature=None, max_tokens=None, **kwargs):
        return await self._call("llm.generate", prompt=prompt, model=model, **_given(kwargs, temperature, max_tokens))

    async def generate_with_tools(self, prompt, tools, model="", temperature=None, max_tokens=None, **kwargs):
        more = _given(kwargs, temperature, max_tokens)
        return await self._call("llm.generate_with_tools", prompt=prompt, tools=tools, model=model, **more)

    async def embed(self, text=None, *, texts=None, task_name="embedding", model="", model_name="", max_concurrent=None, **kwargs):
        return await self._call(
            "llm.embed",
            text=text,
            texts=texts,
            task_name=task_name,
            model=model,
            model_name=model_name,
            max_concurrent=max_concurrent,
            **kwargs
        )

    async def transcribe_audio(
        self, audio=None, *, audio_base64="", voice_base64="", task_name="voice", model="", model_name="", **kwargs
    ):
        given = {"audio": audio, "audio_base64": audio_base64, "voice_base64": voice_base64}
        kwargs.update((key, value) for key, value in given.items() if value)
        return await self._call("llm.transcribe_audio", task_name=task_name, model=model, model_name=model_name, **kwargs)

    async def get_available_models(self):
        found = await self._call("llm.get_available_models")
        return found if isinstance(found, list) else []


def _given(kwargs, temperature, max_tokens):
    if temperature is not None:
        kwargs["temperature"] = temperature
    if max_tokens is not None:
        kwargs["max_tokens"] = max_tokens
    return kwargs


class ConfigCapability(_Group):
    async def get(self, key, default=None):
        return await self._call("config.get", key=key, default=default)

    async def get_plugin(self, plugin_name=None):
        return await self._call("config.get_plugin", plugin_name=plugin_name)

    async def get_all(self):
        return await self._call("config.get_all")


class MessageCapability(_Group):
    async def get_recent(self, chat_id, limit=10):
        return await self._call("message.get_recent", chat_id=chat_id, limit=limit)

    async def get_by_id(self, message_id, *, chat_id="", stream_id="", include_binary_data=False):
        return await self._call(
            "message.get_by_id", message_id=message_id, chat_id=chat_id, stream_id=stream_id, include_binary_data=include_binary_data
        )

    async def get_by_time(self, start_time, end_time, **kwargs):
        return await self._call("message.get_by_time", start_time=start_time, end_time=end_time, **kwargs)

    async def get_by_time_in_chat(self, chat_id, start_time, end_time, **kwargs):
        return await self._call("message.get_by_time_in_chat", chat_id=chat_id, start_time=start_time, end_time=end_time, **kwargs)

    async def count_new(self, chat_id, since):
        return await self._call("message.count_new", chat_id=chat_id, since=since)

    async def build_readable(self, messages, **kwargs):
        return await self._call("message.build_readable", messages=messages, **kwargs)


class ChatCapability(_Group):
    async def get_all_streams(self, platform="qq"):
        return await self._call("chat.get_all_streams", platform=platform)

    async def get_group_streams(self, platform="qq"):
        return await self._call("chat.get_group_streams", platform=platform)

    async def get_private_streams(self, platform="qq"):
        return await self._call("chat.get_private_streams", platform=platform)

    async def get_stream_by_group_id(self, group_id, platform="qq"):
        return await self._call("chat.get_stream_by_group_id", group_id=group_id, platform=platform)

    async def get_stream_by_user_id(self, user_id, platform="qq"):
        return await self._call("chat.get_stream_by_user_id", user_id=user_id, platform=platform)

    async def open_session(self, platform="qq", chat_type="private", *, user_id="", group_id="", account_id="", scope="", **kwargs):
        return await self._call(
            "chat.open_session",
            platform=platform,
            chat_type=chat_type,
            user_id=user_id,
            group_id=group_id,
            account_id=account_id,
            scope=scope,
            **kwargs
        )


class MaisakaCapability(_Group):
    async def append_context(self, stream_id, segments, *, visible_text="", source_kind="", message_id="", **kwargs):
        return await self._call(
            "maisaka.context.append",
            stream_id=stream_id,
            segments=segments,
            visible_text=visible_text,
            source_kind=source_kind,
            message_id=message_id,
            **kwargs
        )

    async def trigger_proactive(self, stream_id, intent, *, reason="", priority="", metadata=None, **kwargs):
        return await self._call(
            "maisaka.proactive.trigger",
            stream_id=stream_id,
            intent=intent,
            reason=reason,
            priority=priority,
            metadata=metadata or {},
            **kwargs
        )

    @property
    def context(self):
        return _Named(self, append=self.append_context)

    @property
    def proactive(self):
        return _Named(self, trigger=self.trigger_proactive)


class _Named:
    def __init__(self, owner, **methods):
        self.__dict__.update(methods)


class PersonCapability(_Group):
    async def get_id(self, platform, user_id):
        return await self._call("person.get_id", platform=platform, user_id=user_id)

    async def get_value(self, person_id, field_name, default=None):
        return await self._call("person.get_value", person_id=person_id, field_name=field_name, default=default)

    async def get_id_by_name(self, person_name):
        return await self._call("person.get_id_by_name", person_name=person_name)


class DatabaseCapability(_Group):
    async def query(
        self, model_name, query_type="get", data=None, filters=None, order_by=None, limit=None, single_result=False, **kwargs
    ):
        return await self._call(
            "database.query",
            model_name=model_name,
            query_type=query_type,
            data=data,
            filters=filters or {},
            order_by=order_by or [],
            limit=limit,
            single_result=single_result,
            **kwargs
        )

    async def save(self, model_name, data, key_field="id", key_value=None, **kwargs):
        return await self._call("database.save", model_name=model_name, data=data, key_field=key_field, key_value=key_value, **kwargs)

    async def get(self, model_name, filters=None, limit=None, order_by=None, single_result=False, **kwargs):
        return await self._call(
            "database.get",
            model_name=model_name,
            filters=filters or {},
            limit=limit,
            order_by=order_by,
            single_result=single_result,
            **kwargs
        )

    async def delete(self, model_name, filters=None, **kwargs):
        return await self._call("database.delete", model_name=model_name, filters=filters or {}, **kwargs)

    async def count(self, model_name, filters=None, **kwargs):
        count = await self._call("database.count", model_name=model_name, filters=filters or {}, **kwargs)
        return count if isinstance(count, int) else 0


class KnowledgeCapability(_Group):
    async def search(self, query, limit=5):
        return await self._call("knowledge.search", query=query, limit=limit)


class RenderCapability(_Group):
    async def html2png(
        self,
        html,
        *,
        selector="body",
        viewport=None,
        device_scale_factor=2.0,
        full_page=False,
        omit_background=False,
        wait_until="load",
        wait_for_selector="",
        wait_for_timeout_ms=0,
        timeout_ms=0,
        render_timeout_ms=0,
        allow_network=False
    ):
        return await self._call(
            "render.html2png",
            html=html,
            selector=selector,
            viewport=viewport or {},
            device_scale_factor=device_scale_factor,
            full_page=full_page,
            omit_background=omit_background,
            wait_until=wait_until,
            wait_for_selector=wait_for_selector,
            wait_for_timeout_ms=wait_for_timeout_ms,
            render_timeout_ms=render_timeout_ms or timeout_ms,
            allow_network=allow_network,
        )


class EmojiCapability(_Group):
    async def get_by_description(self, description, limit=5):
        return await self._call("emoji.get_by_description", description=description, limit=limit)

    async def get_random(self, count=5):
        return await self._call("emoji.get_random", count=count)

    async def get_count(self):
        return await self._call("emoji.get_count")

    async def get_emotions(self):
        return await self._call("emoji.get_emotions")

    async def get_all(self):
        return await self._call("emoji.get_all")

    async def get_info(self):
        return await self._call("emoji.get_info")

    async def register_emoji(self, emoji_base64):
        return await self._call("emoji.register", emoji_base64=emoji_base64)

    async def delete_emoji(self, emoji_hash):
        return await self._call("emoji.delete", emoji_hash=emoji_hash)


class FrequencyCapability(_Group):
    async def get_current_talk_value(self, chat_id):
        return await self._call("frequency.get_current_talk_value", chat_id=chat_id)

    async def get_adjust(self, chat_id):
        return await self._call("frequency.get_adjust", chat_id=chat_id)

    async def set_adjust(self, chat_id, value):
        return await self._set("frequency.set_adjust", chat_id=chat_id, value=value)


class _Open(_Group):
    """A group whose calls are named as they are asked for."""

    _prefix = ""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        async def call(*args, **kwargs):
            return await self._call(self._prefix + name, **dict(kwargs, **({"args": list(args)} if args else {})))

        return call


class StatisticsCapability(_Open):
    _prefix = "statistics."

    @property
    def local(self):
        group = _Open(self._ctx)
        group._prefix = "statistics.local."
        return group


class ComponentCapability(_Group):
    async def get_all_plugins(self):
        return await self._call("component.get_all_plugins")

    async def get_plugin_info(self, plugin_name):
        return await self._call("component.get_plugin_info", plugin_name=plugin_name)

    async def get_plugin_config_schema(self, plugin_name):
        return await self._call("component.get_plugin_config_schema", plugin_name=plugin_name)

    async def list_loaded_plugins(self):
        return await self._call("component.list_loaded_plugins")

    async def list_registered_plugins(self):
        return await self._call("component.list_registered_plugins")

    async def enable_component(self, name, component_type, scope="global", stream_id="", version=""):
        return await self._toggle("component.enable", name, component_type, scope, stream_id, version)

    async def disable_component(self, name, component_type, scope="global", stream_id="", version=""):
        return await self._toggle("component.disable", name, component_type, scope, stream_id, version)

    async def _toggle(self, capability, name, component_type, scope, stream_id, version):
        return await self._call(
            capability, name=name, component_type=str(component_type).upper(), scope=scope, stream_id=stream_id, version=version
        )

    async def load_plugin(self, plugin_name):
        return await self._call("component.load_plugin", plugin_name=plugin_name)

    async def unload_plugin(self, plugin_name):
        return await self._call("component.unload_plugin", plugin_name=plugin_name)

    async def reload_plugin(self, plugin_name):
        return await self._call("component.reload_plugin", plugin_name=plugin_name)


class APICapability(_Group):
    async def call(self, api_name, *, version="", **kwargs):
        return await self._call("api.call", api_name=api_name, version=version, args=kwargs)

    async def get(self, api_name, *, version=""):
        return await self._call("api.get", api_name=api_name, version=version)

    async def list(self, *, plugin_id=""):
        return await self._call("api.list", plugin_id=plugin_id)

    async def replace_dynamic_apis(self, apis, *, offline_reason="动态 API 已下线"):
        return _yes(await self._call("api.replace_dynamic", apis=apis, offline_reason=offline_reason))


class ToolCapability(_Group):
    async def get_definitions(self):
        return await self._call("tool.get_definitions")


class GatewayCapability(_Group):
    async def route_message(self, gateway_name, message, **kwargs):
        return await self._accepted("host.route_message", dict(kwargs, gateway_name=gateway_name, message=message))

    async def receive_external_message(self, message, *, gateway_name, **kwargs):
        return await self.route_message(gateway_name, message, **kwargs)

    async def update_state(self, gateway_name, *, ready, **kwargs):
        return await self._accepted("host.update_message_gateway_state", dict(kwargs, gateway_name=gateway_name, ready=ready))

    async def update_runtime_state(self, *, gateway_name, connected, **kwargs):
        return await self.update_state(gateway_name, ready=connected, **kwargs)

    async def _accepted(self, method, payload):
        result = await self._ctx.call_host_method(method, payload=payload)
        return bool(result.get("accepted")) if isinstance(result, dict) else False
