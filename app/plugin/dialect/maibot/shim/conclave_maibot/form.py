"""The settings as a JSON Schema that Conclave's window makes a form of.

What is set now is the default of each field, so that a form that nobody filled
in shows the file. Fields that are hidden are left out; they keep their values.
"""

_TYPES = {"boolean": "boolean", "integer": "integer", "number": "number", "select": None, "array": "array", "object": "object"}


def schema(webui, current):
    """Returns the schema for what get_webui_config_schema() says, or None without a field."""
    sections = webui.get("sections") if isinstance(webui, dict) else None
    if not isinstance(sections, dict):
        return None
    properties = {}
    ordered = sorted(sections.items(), key=lambda item: _order(item[1]))
    for name, section in ordered:
        fields = section.get("fields") if isinstance(section, dict) else None
        if not isinstance(fields, dict):
            continue
        values = current if name == "general" and not isinstance(current.get("general"), dict) else current.get(name)
        values = values if isinstance(values, dict) else {}
        inner = {}
        for key, field in sorted(fields.items(), key=lambda item: _order(item[1])):
            if isinstance(field, dict) and not field.get("hidden"):
                inner[key] = _field(key, field, values)
        if inner:
            properties[name] = {"type": "object", "title": str(section.get("title") or name), "properties": inner}
            if section.get("description"):
                properties[name]["description"] = str(section["description"])
    return {"type": "object", "properties": properties} if properties else None


def _order(item):
    order = item.get("order") if isinstance(item, dict) else 0
    return order if isinstance(order, (int, float)) else 0


def _field(key, field, values):
    kind = _TYPES.get(field.get("type"), "string")
    made = {"title": str(field.get("label") or key)}
    if kind:
        made["type"] = kind
    said = [str(text) for text in (field.get("description"), field.get("hint")) if text]
    if said:
        made["description"] = "\n".join(dict.fromkeys(said))
    choices = field.get("choices")
    if isinstance(choices, list) and choices:
        if kind == "array":
            made["items"] = {"enum": choices}
            made["uniqueItems"] = True
        else:
            made["enum"] = choices
    elif kind == "array":
        item = _TYPES.get(field.get("item_type"), "string") or "string"
        made["items"] = {"type": item}
    for ours, theirs in (("minimum", "min"), ("maximum", "max")):
        if isinstance(field.get(theirs), (int, float)) and kind in ("integer", "number"):
            made[ours] = field[theirs]
    if kind == "string":
        if isinstance(field.get("max_length"), int):
            made["maxLength"] = field["max_length"]
        if field.get("input_type") == "password" or field.get("ui_type") == "password":
            made["format"] = "password"
        elif field.get("input_type") == "textarea" or field.get("ui_type") == "textarea":
            made["format"] = "textarea"
        if field.get("placeholder"):
            made["examples"] = [str(field["placeholder"])]
    if field.get("disabled"):
        made["readOnly"] = True
    if made.get("format") != "password":
        value = values[key] if key in values else field.get("default")
        if value is not None:
            made["default"] = value
    return made
