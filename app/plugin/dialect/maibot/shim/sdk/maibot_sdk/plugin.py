"""The base class of plugins."""

from .components import collect_components, collect_llm_providers
from .config import (
    PluginConfigVersionError,
    build_plugin_default_config,
    extract_plugin_config_version,
    generate_plugin_config_schema,
    is_plugin_config_class,
    merge_plugin_config_data,
    rebuild_plugin_config_data,
    validate_plugin_config,
)
from .types import normalize_config_reload_subscription


class MaiBotPlugin:
    """What a plugin's create_plugin returns. The host fills in its context and its settings."""

    config_model = None
    config_reload_subscriptions = ()

    def __init__(self):
        self._begin()

    def _begin(self):
        # A plugin's own __init__ may forget to call this one. The names of the two
        # settings are those that real plugins read, though they begin with _.
        state = self.__dict__
        state.setdefault("_ctx", None)
        state.setdefault("_plugin_config_instance", None)
        state.setdefault("_plugin_config_data", {})
        state.setdefault("_dynamic_apis", {})

    # -- what the host fills in --

    def _set_context(self, ctx):
        self._begin()
        self._ctx = ctx

    @property
    def ctx(self):
        ctx = self.__dict__.get("_ctx")
        if ctx is None:
            raise RuntimeError("the plugin has no context yet: the host sets it before on_load")
        return ctx

    @property
    def config(self):
        if self.config_model is None:
            raise RuntimeError("the plugin has no config_model")
        config = self.__dict__.get("_plugin_config_instance")
        if config is None:
            raise RuntimeError("the plugin's configuration was not set yet: the host does so before on_load")
        return config

    def set_plugin_config(self, config):
        self._begin()
        if self.config_model is None:
            self._plugin_config_data = dict(config or {})
            return
        data, _ = self.normalize_plugin_config(config)
        self._plugin_config_instance = validate_plugin_config(self.config_model, data)
        self._plugin_config_data = self._plugin_config_instance.model_dump(mode="json")

    def get_plugin_config_data(self):
        import copy

        return copy.deepcopy(self.__dict__.get("_plugin_config_data") or {})

    @classmethod
    def get_config_model(cls):
        """Returns the class of the settings, or None without one."""
        return cls.config_model if is_plugin_config_class(cls.config_model) else None

    @classmethod
    def has_config_model(cls):
        return cls.get_config_model() is not None

    @classmethod
    def build_default_config(cls):
        """Returns the settings as they are by default: {} without a class of them."""
        model = cls.get_config_model()
        return {} if model is None else build_plugin_default_config(model)

    def get_default_config(self):
        return {} if self.config_model is None else build_plugin_default_config(self.config_model)

    def normalize_plugin_config(self, config_data):
        """Returns (complete settings, whether they differ from those given)."""
        default = self.get_default_config()
        given = dict(config_data or {})
        if not given:
            return default, bool(default)
        if not default:
            return given, False
        try:
            newest = extract_plugin_config_version(default)
        except PluginConfigVersionError:
            newest = ""
        try:
            current = extract_plugin_config_version(given)
        except PluginConfigVersionError:
            current = "1.0.0"
        if newest and _older(current, newest):
            rebuilt = rebuild_plugin_config_data(default, given)
            rebuilt["plugin"]["config_version"] = newest
            return rebuilt, True
        return merge_plugin_config_data(default, given)

    def get_webui_config_schema(
        self, *, plugin_id="", plugin_name="", plugin_version="", plugin_description="", plugin_author=""
    ):
        if self.config_model is None:
            return {}
        return self.build_config_schema(
            plugin_id=plugin_id,
            plugin_name=plugin_name,
            plugin_version=plugin_version,
            plugin_description=plugin_description,
            plugin_author=plugin_author,
        )

    def build_config_schema(self, **about):
        return generate_plugin_config_schema(self.config_model, **about)

    # -- what it offers --

    def get_components(self):
        return collect_components(self)

    def get_llm_providers(self):
        return collect_llm_providers(self)

    def get_config_reload_subscriptions(self):
        wanted = self.config_reload_subscriptions
        if isinstance(wanted, (str, bytes)):
            raise TypeError("config_reload_subscriptions is a list of scopes, not a text")
        return list(dict.fromkeys(normalize_config_reload_subscription(one) for one in wanted or ()))

    def register_dynamic_api(self, name, handler, *, description="", version="1", public=False, handler_name="", **metadata):
        self._begin()
        if not callable(handler):
            raise TypeError("the handler of an API is callable")
        record = {
            "name": name,
            "type": "API",
            "metadata": dict(
                metadata,
                description=description,
                enabled=True,
                version=version,
                public=public,
                handler_name=handler_name or getattr(handler, "__name__", name),
                dynamic=True,
            ),
        }
        self._dynamic_apis[(name, str(version))] = (handler, record)
        return record

    def unregister_dynamic_api(self, name, *, version="1"):
        self._begin()
        return self._dynamic_apis.pop((name, str(version)), None) is not None

    def clear_dynamic_apis(self):
        self._begin()
        self._dynamic_apis.clear()

    def get_dynamic_api_components(self):
        self._begin()
        return [record for _, record in self._dynamic_apis.values()]

    async def sync_dynamic_apis(self, *, offline_reason="动态 API 已下线"):
        return await self.ctx.api.replace_dynamic_apis(self.get_dynamic_api_components(), offline_reason=offline_reason)

    async def invoke_component(self, component_name, **kwargs):
        """Runs a component that is no method of the plugin: a dynamic API."""
        self._begin()
        for (name, _), (handler, record) in self._dynamic_apis.items():
            if component_name in (name, record["metadata"]["handler_name"]):
                value = handler(**kwargs)
                return await value if hasattr(value, "__await__") else value
        raise AttributeError("the plugin has no component %r" % (component_name,))

    # -- its life --

    async def on_load(self):
        pass

    async def on_unload(self):
        pass

    async def on_config_update(self, scope, config_data, version):
        pass


def _older(current, newest):
    return _numbers(current) < _numbers(newest)


def _numbers(version):
    return [int(part) if part.isdigit() else 0 for part in str(version).split(".")]
