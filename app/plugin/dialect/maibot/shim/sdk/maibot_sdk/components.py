"""The decorators. Each leaves a record on the function and returns the function."""

import warnings

from .types import (
    ActionComponentInfo,
    ActivationType,
    APIComponentInfo,
    ChatMode,
    CommandComponentInfo,
    EventHandlerComponentInfo,
    EventType,
    ErrorPolicy,
    HomeCardComponentInfo,
    HookHandlerComponentInfo,
    HookMode,
    HookOrder,
    LLMProviderInfo,
    MessageGatewayComponentInfo,
    MessageGatewayRouteType,
    ReplyExtensionComponentInfo,
    ToolComponentInfo,
    ToolParameterInfo,
    build_tool_detailed_description,
    plain,
)

COMPONENT = "__maibot_component_info__"
PROVIDER = "__maibot_llm_provider_info__"
_FILLER = "兼容旧 Action 参数"


def _mark(info, attribute=COMPONENT):
    def decorate(function):
        setattr(function, attribute, info)
        return function

    return decorate


def _name(name):
    if not isinstance(name, str) or not name.strip():
        raise ValueError("a component needs a name")
    return name


def schema_of(parameters):
    """Returns (the list of parameters, the object schema) of either form; no schema is {}."""
    if not parameters:
        return [], {}
    if isinstance(parameters, dict):
        return [], _whole(parameters)
    listed = [one if isinstance(one, ToolParameterInfo) else ToolParameterInfo(**one) for one in parameters]
    return listed, {
        "type": "object",
        "properties": {one.name: one.to_json_schema() for one in listed},
        "required": [one.name for one in listed if one.required],
    }


def _whole(parameters):
    """Returns the object schema of a dict: a whole schema as it is, or a map of properties."""
    properties_only = parameters and all(isinstance(value, dict) for value in parameters.values())
    if not properties_only and (parameters.get("type") == "object" or "properties" in parameters):
        return parameters
    if properties_only and set(parameters) == {"properties"}:
        return parameters
    properties, required = {}, []
    for name, about in parameters.items():
        if not isinstance(about, dict):
            continue
        about = dict(about)
        if isinstance(about.get("required"), list):
            pass  # of an object inside: its own list
        elif about.pop("required", False):
            required.append(name)
        properties[name] = about
    return {"type": "object", "properties": properties, "required": required}


def Tool(name, description="", brief_description="", detailed_description="", parameters=None, **metadata):
    """Marks a method as a tool."""
    name = _name(name)
    brief = next((text.strip() for text in (brief_description, description) if text and text.strip()), "工具 %s" % name)
    listed, schema = schema_of(parameters)
    return _mark(
        ToolComponentInfo(
            name=name,
            description=brief,
            brief_description=brief,
            detailed_description=build_tool_detailed_description(schema, detailed_description),
            parameters=listed,
            parameters_raw={} if listed else schema,
            metadata=metadata,
        )
    )


def Action(
    name,
    description="",
    activation_type=ActivationType.ALWAYS,
    activation_keywords=None,
    activation_probability=1.0,
    chat_mode=ChatMode.NORMAL,
    action_parameters=None,
    action_require=None,
    associated_types=None,
    parallel_action=False,
    action_prompt="",
    **metadata
):
    """Marks a method as an action of older plugins, which is a tool now."""
    warnings.warn("Action is deprecated; write a Tool", DeprecationWarning, stacklevel=2)
    name = _name(name)
    brief = (description or "").strip() or "工具 %s" % name
    parameters = dict(action_parameters or {})
    schema = {
        "type": "object",
        "properties": {key: {"type": "string", "description": str(said or "").strip() or _FILLER} for key, said in parameters.items()},
    }
    kind = plain(activation_type)
    blocks = [build_tool_detailed_description(schema)]
    if action_require:
        blocks.append("\n".join(["使用建议："] + ["- %s" % one for one in action_require]))
    if associated_types:
        blocks.append("适用消息类型：%s。" % "、".join(associated_types))
    lines = ["兼容旧 Action 激活方式：%s。" % kind]
    if activation_keywords:
        lines.append("激活关键词：%s。" % "、".join(activation_keywords))
    if action_prompt:
        lines.append("原始 Action 提示语：%s。" % action_prompt)
    blocks.append("\n".join(lines))
    legacy = {
        "legacy_action": True,
        "legacy_component_type": "ACTION",
        "activation_type": kind,
        "activation_keywords": list(activation_keywords or []),
        "activation_probability": activation_probability,
        "chat_mode": plain(chat_mode),
        "action_parameters": parameters,
        "action_require": list(action_require or []),
        "associated_types": list(associated_types or []),
        "parallel_action": parallel_action,
        "action_prompt": action_prompt,
    }
    legacy.update(metadata)
    return _mark(
        ToolComponentInfo(
            name=name,
            description=brief,
            brief_description=brief,
            detailed_description="\n\n".join(block for block in blocks if block),
            parameters_raw=schema,
            invoke_method="plugin.invoke_action",
            metadata=legacy,
        )
    )


def Command(name, description="", pattern="", aliases=None, **metadata):
    """Marks a method as a command of the chat."""
    return _mark(
        CommandComponentInfo(
            name=_name(name), description=description, command_pattern=pattern, aliases=list(aliases or []), metadata=metadata
        )
    )


def EventHandler(name, description="", event_type=EventType.ON_MESSAGE, intercept_message=False, weight=0, **metadata):
    """Marks a method as one that hears of events."""
    return _mark(
        EventHandlerComponentInfo(
            name=_name(name),
            description=description,
            event_type=event_type,
            intercept_message=intercept_message,
            weight=weight,
            metadata=metadata,
        )
    )


def HookHandler(
    hook,
    *,
    name="",
    description="",
    mode=HookMode.BLOCKING,
    order=HookOrder.NORMAL,
    timeout_ms=0,
    error_policy=ErrorPolicy.SKIP,
    **metadata
):
    """Marks a method as one that takes part in what the host does."""

    def decorate(function):
        info = HookHandlerComponentInfo(
            name=name or getattr(function, "__name__", hook),
            description=description,
            hook=hook,
            mode=mode,
            order=order,
            timeout_ms=timeout_ms,
            error_policy=error_policy,
            metadata=metadata,
        )
        setattr(function, COMPONENT, info)
        return function

    return decorate


def API(name, description="", version="1", public=False, **metadata):
    """Marks a method as one that other plugins may call."""
    return _mark(APIComponentInfo(name=_name(name), description=description, version=version, public=public, metadata=metadata))


def MessageGateway(route_type, *, name="", description="", platform="", protocol="", account_id="", scope="", **metadata):
    """Marks a method as a way to a chat platform."""

    def decorate(function):
        info = MessageGatewayComponentInfo(
            name=name or getattr(function, "__name__", "gateway"),
            description=description,
            route_type=MessageGatewayRouteType(plain(route_type)),
            platform=platform,
            protocol=protocol,
            account_id=account_id,
            scope=scope,
            metadata=metadata,
        )
        setattr(function, COMPONENT, info)
        return function

    return decorate


def _loose(kind, name, args, metadata):
    """A decorator whose arguments are kept and not looked at; usable with and without them."""
    if callable(name) and not args and not metadata:
        setattr(name, COMPONENT, kind(name=getattr(name, "__name__", "component")))
        return name
    if args:
        metadata = dict(metadata, args=list(args))
    return _mark(kind(name=str(name or "component"), description=str(metadata.pop("description", "") or ""), metadata=metadata))


def HomeCard(name="", *args, **metadata):
    """Marks a method as a card of the start page."""
    return _loose(HomeCardComponentInfo, name, args, metadata)


def ReplyExtension(name="", *args, **metadata):
    """Marks a method as an addition to the reply tool."""
    return _loose(ReplyExtensionComponentInfo, name, args, metadata)


def LLMProvider(client_type, *, name="", description="", version="1.0.0", **metadata):
    """Marks a method as a source of models."""
    info = LLMProviderInfo(client_type=client_type, name=name, description=description, version=version, metadata=metadata)
    return _mark(info, PROVIDER)


def WorkflowStep(*args, **kwargs):
    """Was taken out of MaiBot; calling it says so."""
    raise RuntimeError("WorkflowStep is gone since MaiBot's plugins 2.0; write a HookHandler")


def _members(instance, attribute):
    for name in dir(instance):
        if name.startswith("__"):
            continue
        try:
            member = getattr(instance, name)
        except Exception:
            continue  # a property that needs what is not there yet
        info = getattr(member, attribute, None)
        if info is not None and callable(member):
            yield name, info


def collect_components(instance):
    """Returns a record for each marked method, by the methods' names."""
    found = []
    for attribute, info in _members(instance, COMPONENT):
        record = info.model_dump()
        name, kind, extra = record.pop("name"), record.pop("type"), record.pop("metadata")
        record["handler_name"] = attribute
        # What the decorator was given besides lies flat; what is declared wins.
        found.append({"name": name, "type": kind, "metadata": dict(plain(extra), **record)})
    return found


def collect_llm_providers(instance):
    """Returns a record for each source of models."""
    return [dict(info.model_dump(), handler_name=attribute) for attribute, info in _members(instance, PROVIDER)]
