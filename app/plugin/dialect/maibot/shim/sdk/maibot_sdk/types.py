"""The words of components: kinds, parameters, and the records decorators leave."""

import enum

CONFIG_RELOAD_SCOPE_SELF = "self"
ON_BOT_CONFIG_RELOAD = "bot"
ON_MODEL_CONFIG_RELOAD = "model"


class _Text(str, enum.Enum):
    def __str__(self):
        return self.value


class ComponentType(_Text):
    ACTION = "ACTION"
    API = "API"
    COMMAND = "COMMAND"
    TOOL = "TOOL"
    EVENT_HANDLER = "EVENT_HANDLER"
    HOOK_HANDLER = "HOOK_HANDLER"
    MESSAGE_GATEWAY = "MESSAGE_GATEWAY"
    HOME_CARD = "HOME_CARD"
    REPLY_EXTENSION = "REPLY_EXTENSION"


class ToolParamType(_Text):
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    FLOAT = "float"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"


class ActivationType(_Text):
    NEVER = "never"
    ALWAYS = "always"
    RANDOM = "random"
    KEYWORD = "keyword"


class ChatMode(_Text):
    FOCUS = "focus"
    NORMAL = "normal"
    PRIORITY = "priority"
    ALL = "all"


class EventType(_Text):
    UNKNOWN = "unknown"
    ON_START = "on_start"
    ON_STOP = "on_stop"
    ON_MESSAGE_PRE_PROCESS = "on_message_pre_process"
    ON_MESSAGE = "on_message"
    ON_PLAN = "on_plan"
    POST_LLM = "post_llm"
    AFTER_LLM = "after_llm"
    POST_SEND_PRE_PROCESS = "post_send_pre_process"
    POST_SEND = "post_send"
    AFTER_SEND = "after_send"


class ErrorPolicy(_Text):
    ABORT = "abort"
    SKIP = "skip"
    LOG = "log"


class HookMode(_Text):
    BLOCKING = "blocking"
    OBSERVE = "observe"


class HookOrder(_Text):
    EARLY = "early"
    NORMAL = "normal"
    LATE = "late"


class MessageGatewayRouteType(_Text):
    SEND = "send"
    RECEIVE = "receive"
    DUPLEX = "duplex"


class ModifyFlag(_Text):
    CAN_MODIFY_PROMPT = "can_modify_prompt"
    CAN_MODIFY_RESPONSE = "can_modify_response"
    CAN_MODIFY_MESSAGE = "can_modify_message"


def plain(value):
    """Returns a value as JSON has it: enums as their values, records as dicts."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Record):
        return value.model_dump()
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value


class Record:
    """Named fields with defaults. `fields` maps name → default, or a function that makes it."""

    fields = {}

    def __init__(self, **given):
        known = self._known()
        for name, value in given.items():
            if name in known:  # what else is given is ignored, as the SDK does
                setattr(self, name, self._checked(name, value))
        for name, default in known.items():
            if name in given:
                continue
            if default is ...:
                raise ValueError("%s needs %s" % (type(self).__name__, name))
            setattr(self, name, default() if callable(default) else default)

    @classmethod
    def _known(cls):
        known = {}
        for base in reversed(cls.__mro__):
            known.update(base.__dict__.get("fields") or {})
        return known

    def _checked(self, name, value):
        return value

    def model_dump(self, **options):
        return {name: plain(getattr(self, name)) for name in self._known()}

    def __eq__(self, other):
        return type(self) is type(other) and self.model_dump() == other.model_dump()

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % (n, getattr(self, n)) for n in self._known()))


class ToolParameterInfo(Record):
    """One parameter of a tool. Required unless it says otherwise."""

    fields = {
        "name": ...,
        "param_type": ToolParamType.STRING,
        "description": "",
        "required": True,
        "enum_values": None,
        "items_schema": None,
        "properties": None,
        "required_properties": list,
        "additional_properties": None,
        "default": None,
    }

    def _checked(self, name, value):
        if name == "param_type" and not isinstance(value, ToolParamType):
            return ToolParamType(str(value).lower())  # ValueError for an unknown one
        if name == "name" and not isinstance(value, str):
            raise ValueError("the name of a parameter is a text")
        return value

    def to_json_schema(self):
        kind = "number" if self.param_type in (ToolParamType.FLOAT, ToolParamType.NUMBER) else self.param_type.value
        schema = {"type": kind, "description": self.description}
        if self.enum_values:
            schema["enum"] = list(self.enum_values)
        if self.default is not None:
            schema["default"] = self.default
        if kind == "array" and self.items_schema is not None:
            schema["items"] = self.items_schema
        if kind == "object":
            schema["properties"] = dict(self.properties or {})
            if self.required_properties:
                schema["required"] = list(self.required_properties)
            if self.additional_properties is not None:
                schema["additionalProperties"] = self.additional_properties
        return schema


class ComponentInfo(Record):
    """What a decorator leaves on a function."""

    fields = {"name": ..., "type": ..., "description": "", "enabled": True, "metadata": dict}


class ToolComponentInfo(ComponentInfo):
    fields = {
        "type": ComponentType.TOOL,
        "brief_description": "",
        "detailed_description": "",
        "parameters": list,
        "parameters_raw": dict,
        "invoke_method": "plugin.invoke_tool",
    }


class ActionComponentInfo(ComponentInfo):
    fields = {
        "type": ComponentType.ACTION,
        "activation_type": ActivationType.ALWAYS,
        "activation_keywords": list,
        "activation_probability": 1.0,
        "chat_mode": ChatMode.NORMAL,
        "action_parameters": dict,
        "action_require": list,
        "associated_types": list,
        "parallel_action": False,
        "action_prompt": "",
    }


class CommandComponentInfo(ComponentInfo):
    fields = {"type": ComponentType.COMMAND, "command_pattern": "", "aliases": list}


class EventHandlerComponentInfo(ComponentInfo):
    fields = {
        "type": ComponentType.EVENT_HANDLER,
        "event_type": EventType.ON_MESSAGE,
        "intercept_message": False,
        "weight": 0,
    }


class HookHandlerComponentInfo(ComponentInfo):
    fields = {
        "type": ComponentType.HOOK_HANDLER,
        "hook": "",
        "mode": HookMode.BLOCKING,
        "order": HookOrder.NORMAL,
        "timeout_ms": 0,
        "error_policy": ErrorPolicy.SKIP,
    }


class APIComponentInfo(ComponentInfo):
    fields = {"type": ComponentType.API, "version": "1", "public": False}


class MessageGatewayComponentInfo(ComponentInfo):
    fields = {
        "type": ComponentType.MESSAGE_GATEWAY,
        "route_type": MessageGatewayRouteType.DUPLEX,
        "platform": "",
        "protocol": "",
        "account_id": "",
        "scope": "",
    }


class HomeCardComponentInfo(ComponentInfo):
    fields = {"type": ComponentType.HOME_CARD}


class ReplyExtensionComponentInfo(ComponentInfo):
    fields = {"type": ComponentType.REPLY_EXTENSION}


class LLMProviderInfo(Record):
    fields = {"client_type": ..., "name": "", "description": "", "version": "1.0.0", "metadata": dict}


class CapabilityResult(Record):
    fields = {"success": ..., "result": None, "error": ""}


def normalize_component_type_name(component_type):
    """Returns the upper-case name of a kind of component."""
    return str(plain(component_type) or "").strip().upper()


def normalize_config_reload_subscription(subscription):
    """Returns "bot" or "model". Raises ValueError for another scope."""
    scope = str(plain(subscription) or "").strip().lower()
    if scope not in (ON_BOT_CONFIG_RELOAD, ON_MODEL_CONFIG_RELOAD):
        raise ValueError("there is no configuration %r to hear of" % (subscription,))
    return scope


def build_tool_detailed_description(parameters_schema, fallback_description=""):
    """Returns the long description: one line for each parameter, then the text given."""
    text = str(fallback_description or "").strip()
    schema = parameters_schema if isinstance(parameters_schema, dict) else {}
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return text
    required = schema.get("required") or []
    lines = []
    for name, about in properties.items():
        if not isinstance(about, dict):
            continue
        kind = str(plain(about.get("type")) or "").lower() or "string"
        need = "必填" if name in required else "可选"
        line = "- %s：%s，%s。%s" % (name, kind, need, str(about.get("description") or "").strip() or "无额外说明")
        choices = about.get("enum")
        if isinstance(choices, list) and choices:
            line += " 可选值：%s。" % "、".join(str(plain(choice)) for choice in choices)
        if "default" in about:
            line += " 默认值：%s。" % (about["default"],)
        lines.append(line)
    if not lines:
        return text
    return "\n".join(["参数说明："] + lines + (["", text] if text else []))
