"""Calls what plugins marked as register_tools, and makes tools of what they register."""

import sys

import llm
import llm.plugins
from conclave_worker import problems, signature

from . import boxes, offers

# Hooks of the llm program that Conclave has no use for.
_UNUSED = (
    "register_commands", "register_models", "register_embedding_models", "register_template_loaders",
    "register_fragment_loaders",
)  # fmt: skip


def load(worker, plugins):
    """Puts the tools of plugins (modules or objects) into worker.tools. Raises problems.Problem."""
    registered, unused = [], []

    def register(thing=None, name=None):
        if thing is None:  # @register(name=…)
            return lambda function: register(function, name)
        registered.append((_checked(thing), name))
        return thing

    seen = []
    for plugin in list(plugins) + llm.plugins.pm.registered:
        if any(plugin is other for other in seen):
            continue
        seen.append(plugin)
        for hook, function in _hooks(plugin):
            if hook == "register_tools":
                try:
                    _call(function, register)
                except BaseException as err:
                    raise problems.of_import(err, worker.sources) from None
            elif hook not in unused:
                unused.append(hook)
    settings = {}
    for thing, name in registered:
        for tool in _tools(worker, thing, name, settings):
            _add(worker, tool)
    for name, schema in settings.items():
        worker.offer_option(name, schema)
    if not registered and not unused:
        worker.notes.append("It registered no tools. Some do so only once their settings are filled in.")
    for hook in unused:
        worker.notes.append("%s is not used by Conclave%s." % (hook, "" if hook in _UNUSED else ": it is not known"))


def _checked(thing):
    if isinstance(thing, type):
        if not issubclass(thing, llm.Toolbox):
            raise TypeError("register() takes functions, llm.Tool and llm.Toolbox classes; %s is another class" % thing.__name__)
    elif not isinstance(thing, (llm.Tool, llm.Toolbox)) and not callable(thing):
        raise TypeError("register() takes functions, llm.Tool and llm.Toolbox classes, not %s" % type(thing).__name__)
    return thing


def _hooks(plugin):
    """Returns (hook, function) of what is marked in a module or object."""
    found = []
    for name in list(getattr(plugin, "__dict__", ())) if isinstance(plugin, type(sys)) else dir(plugin):
        if name.startswith("__"):
            continue
        try:
            value = getattr(plugin, name)
            options = getattr(value, "llm_impl", None)
        except Exception:
            continue  # a property that fails is no hook
        if isinstance(options, dict) and not options.get("hookwrapper") and not options.get("wrapper"):
            found.append((options.get("specname") or name, value))
    return found


def _call(function, register):
    names = [p.name for p in signature.parameters(function)]
    function(**({"register": register} if "register" in names else {}))


def _tools(worker, thing, name, settings):
    if isinstance(thing, (type, llm.Toolbox)):
        box = boxes.Box(worker, thing, name)
        schema = box.schema()
        if schema is not None:
            settings[box.name] = schema
        tools = box.tools()
        if box.problem:
            worker.notes.append(box.problem.rstrip(".") + ".")
        return tools
    tool = thing if isinstance(thing, llm.Tool) else llm.Tool.function(thing, name)
    try:
        made = offers.offered(tool, worker)
    except signature.NoSignature as err:
        worker.wire.log("warning", worker.config["id"], "%s is not offered: %s." % (tool.name, err))
        return []
    if name and isinstance(thing, llm.Tool):
        made.name = name
    return [made]


def _add(worker, tool):
    """Adds a tool under its name, or with _1, _2 … when that is taken."""
    name, number = tool.name, 0
    while tool.name in worker.tools:
        number += 1
        tool.name = "%s_%d" % (name, number)
    worker.tools[tool.name] = tool
