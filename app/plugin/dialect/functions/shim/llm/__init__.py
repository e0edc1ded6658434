"""The module `llm`, as tool plugins of the llm program know it.

It carries what such a plugin uses to offer tools (contracts/llm-functions,
sections 2 and 9a). What concerns models, commands, templates and the program's
own database can be imported and does nothing; asking for a model says so.

It is Conclave's own code and follows the documented behaviour of llm, not its
source. The real package is never imported, whether it is installed or not.
"""

from conclave_worker import results as _results
from conclave_worker.tools import ToolCall

__version__ = "0.32+conclave"

__all__ = [
    "hookimpl", "Tool", "Toolbox", "ToolCall", "ToolOutput", "ToolResult", "Attachment", "CancelToolCall", "PauseChain",
    "get_key", "user_dir", "Model", "KeyModel", "AsyncModel", "AsyncKeyModel", "EmbeddingModel", "Template", "Fragment",
    "Options", "ModelError", "UnknownModelError", "NeedsKeyException", "Collection", "get_model",
    "get_fragment_loaders", "get_template_loaders",
]  # fmt: skip


class _Marker:
    """A decorator that marks a function as a hook: bare, or with options."""

    def __init__(self, attribute):
        self._attribute = attribute

    def __call__(self, function=None, **options):
        def mark(function):
            setattr(function, self._attribute, options)
            return function

        return mark if function is None else mark(function)


hookimpl = _Marker("llm_impl")
hookspec = _Marker("llm_spec")


class CancelToolCall(Exception):
    """A call that is not to be made; its text is the reason the model is told."""


class PauseChain(Exception):
    """Ends the turn without a result of this call, which waits to be resumed."""

    def __init__(self, *args, tool_call=None, tool_results=None):
        super().__init__(*args)
        self.tool_call = tool_call
        self.tool_results = tool_results or []


class ModelError(Exception):
    """Models are Conclave's own affair; nothing here raises it."""


class NeedsKeyException(ModelError):
    """A key that is not set."""


class UnknownModelError(KeyError):
    """Models are Conclave's own affair; nothing here raises it."""


class Attachment:
    """A picture, sound or file: its bytes, or where they are."""

    def __init__(self, type=None, path=None, url=None, content=None, _id=None):
        self.type, self.path, self.url, self.content, self._id = type, path, url, content, _id

    def id(self):
        if self._id is None:
            import hashlib

            self._id = hashlib.sha256(self.content_bytes() if not self.url else self.url.encode("utf-8")).hexdigest()
        return self._id

    def resolve_type(self):
        if self.type:
            return self.type
        data = self.content_bytes()
        return _results.sniff(data) if data else "application/octet-stream"

    def content_bytes(self):
        if self.content is None and self.path:
            with open(self.path, "rb") as file:
                return file.read()
        if self.content is None and self.url:
            raise RuntimeError("an attachment at an address is passed on as the address; it is not fetched here")
        return self.content or b""

    def base64_content(self):
        import base64

        return base64.b64encode(self.content_bytes()).decode("ascii")

    def __repr__(self):
        where = self.path or self.url or ("%d bytes" % len(self.content) if self.content is not None else "empty")
        return "<Attachment: %s%s>" % (where, ", " + self.type if self.type else "")


class ToolOutput:
    """What a tool returns that adds pictures, sounds or files to its answer."""

    def __init__(self, output=None, attachments=None):
        self.output = output
        self.attachments = list(attachments or [])

    def __repr__(self):
        return "ToolOutput(output=%r, attachments=%r)" % (self.output, self.attachments)


class ToolResult:
    """What became of one call."""

    def __init__(self, name, output, attachments=None, tool_call_id=None, instance=None, exception=None):
        self.name, self.output, self.attachments = name, output, list(attachments or [])
        self.tool_call_id, self.instance, self.exception = tool_call_id, instance, exception


class Tool:
    """One function that a model may call, with what it is told of it."""

    def __init__(self, name, description=None, input_schema=None, implementation=None, plugin=None):
        self.name, self.description, self.implementation, self.plugin = name, description, implementation, plugin
        self._given = input_schema is not None  # by the plugin, so it is sent as it is
        if isinstance(input_schema, type) and hasattr(input_schema, "model_json_schema"):
            input_schema = input_schema.model_json_schema()
        self._schema = input_schema

    @property
    def input_schema(self):
        if self._schema is None:
            from conclave_llm.offers import offered

            self._schema = offered(self).schema
        return self._schema

    @input_schema.setter
    def input_schema(self, schema):
        self._schema, self._given = schema, schema is not None

    @classmethod
    def function(cls, function, name=None, description=None):
        """Returns the tool that a function is; its schema is read from its signature."""
        if name is None and getattr(function, "__name__", "") == "<lambda>":
            raise ValueError("Cannot create a Tool from a lambda function without providing name=")
        tool = cls(
            name or getattr(function, "__name__", None) or type(function).__name__, description, implementation=function
        )
        if description is None:
            from conclave_worker.tools import docstring

            tool.description = docstring(function) or None
            tool._own_words = True  # the description is the docstring, which may describe parameters
        return tool

    _own_words = False

    def hash(self):
        """Returns a digest of the definition."""
        import hashlib
        import json

        facts = {"name": self.name, "description": self.description, "input_schema": self.input_schema, "plugin": self.plugin}
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode("utf-8")).hexdigest()

    def __repr__(self):
        return "Tool(name=%r, description=%r)" % (self.name, self.description)


class Toolbox:
    """Tools that share a state: each public method of a subclass is one.

    A subclass may override tools(), prepare() and prepare_async(), and add more
    with add_tool() while it is made or prepared.
    """

    name = None
    instance_id = None
    _blocked = ("tools", "add_tool", "method_tools", "prepare", "prepare_async", "introspect_methods")

    def tools(self):
        """Yields all tools of this instance."""
        yield from self.method_tools()
        yield from self.__dict__.get("_added_tools", ())

    def method_tools(self):
        """Yields the tools that its methods are, named ClassName_method."""
        from conclave_llm.offers import methods

        for name, _ in methods(type(self)):
            yield Tool.function(getattr(self, name), "%s_%s" % (type(self).__name__, name))

    def add_tool(self, tool_or_function, pass_self=False):
        """Offers one more tool; with pass_self, it gets this instance as its first argument."""
        tool = tool_or_function
        if not isinstance(tool, Tool):
            if not callable(tool):
                raise TypeError("add_tool takes a function or a llm.Tool, not %s" % type(tool).__name__)
            name = None if not pass_self else getattr(tool, "__name__", None)
            tool = Tool.function(_bound(tool, self) if pass_self else tool, name)
        elif pass_self:
            given = tool
            tool = Tool(given.name, given.description, given._schema if given._given else None, _bound(given.implementation, self))
            tool._own_words = given._own_words
        self.__dict__.setdefault("_added_tools", []).append(tool)

    def prepare(self):
        """Runs once before first use."""

    async def prepare_async(self):
        """Runs once before first use."""


_Method = type(hookimpl.__call__)


def _bound(function, first):
    return _Method(function, first)


# -- keys and folders --


def get_key(explicit_key=None, key_alias=None, env_var=None, *, input=None, alias=None, env=None):
    """Returns a key: the one given, or the one that the person set in the plugin's settings.

    Asked for under `alias`, else under the name of an environment variable. None
    when there is none.
    """
    from conclave_llm import keys

    return keys.get(explicit_key if explicit_key is not None else input, alias or key_alias, env or env_var)


def user_dir():
    """Returns a folder inside the plugin's own data, as a pathlib.Path."""
    import pathlib

    import conclave_worker

    folder = pathlib.Path(conclave_worker.worker.config["storage"]) / "llm"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# -- what can be imported and does nothing --


class _Inert:
    """A base class of things that Conclave does not take from plugins."""

    def __init__(self, *args, **kwargs):
        self.__dict__.update(kwargs)


class Options(_Inert):
    """Options of a model; not used."""


class Prompt(_Inert):
    """A prompt; not used."""


class Response(_Inert):
    """A response; not used."""


class AsyncResponse(_Inert):
    """A response; not used."""


class Conversation(_Inert):
    """A conversation; not used."""


class AsyncConversation(_Inert):
    """A conversation; not used."""


class Model(_Inert):
    """A model; not used."""

    needs_key = None
    key_env_var = None
    can_stream = False
    supports_tools = False
    supports_schema = False
    attachment_types = ()
    Options = Options


class KeyModel(Model):
    """A model; not used."""


class AsyncModel(Model):
    """A model; not used."""


class AsyncKeyModel(AsyncModel):
    """A model; not used."""


class EmbeddingModel(_Inert):
    """An embedding model; not used."""

    needs_key = None
    key_env_var = None
    batch_size = None


class Template(_Inert):
    """A template; not used."""


class Fragment(str):
    """A text with its source; not used."""

    def __new__(cls, content, source=""):
        fragment = super().__new__(cls, content)
        fragment.source = source
        return fragment


class Collection:
    """A collection of embeddings, which Conclave does not have."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("llm.Collection is not available in Conclave: it keeps no embeddings.")

    @classmethod
    def exists(cls, *args, **kwargs):
        return False


def _unavailable(name, instead):
    def refuse(*args, **kwargs):
        raise RuntimeError("llm.%s is not available in Conclave: %s" % (name, instead))

    refuse.__name__ = name
    return refuse


_MODELS = "a tool cannot ask for a model of the llm program; the model that called it is Conclave's."
get_model = _unavailable("get_model", _MODELS)
get_async_model = _unavailable("get_async_model", _MODELS)
get_embedding_model = _unavailable("get_embedding_model", _MODELS)
get_models_with_aliases = _unavailable("get_models_with_aliases", _MODELS)
get_models = _unavailable("get_models", _MODELS)
get_default_model = _unavailable("get_default_model", _MODELS)
set_default_model = _unavailable("set_default_model", _MODELS)
get_tools = _unavailable("get_tools", "a tool does not see the others.")
schema_dsl = _unavailable("schema_dsl", _MODELS)


def get_fragment_loaders():
    """Returns the loaders of fragments by their prefixes: Conclave keeps none."""
    return {}


def get_template_loaders():
    """Returns the loaders of templates by their prefixes: Conclave keeps none."""
    return {}


def encode(values):
    """Returns floats as bytes, as embeddings are stored."""
    import struct

    return struct.pack("<" + "f" * len(values), *values)


def decode(binary):
    """Returns the floats of encode."""
    import struct

    return struct.unpack("<" + "f" * (len(binary) // 4), binary)
