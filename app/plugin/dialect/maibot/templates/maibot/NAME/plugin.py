"""NAME: a MaiBot plugin. Save this file and Conclave takes it up at once."""

from maibot_sdk import Field, MaiBotPlugin, PluginConfigBase, Tool
from maibot_sdk.types import ToolParameterInfo, ToolParamType


class PluginSection(PluginConfigBase):
    """Every plugin has this table: whether it is on, and the version of its settings."""

    __ui_label__ = "Plugin"

    enabled: bool = Field(default=True, description="Whether the plugin offers its tools")
    config_version: str = Field(default="1.0.0", description="The version of these settings")


class Greeting(PluginConfigBase):
    """What a person may set. It becomes config.toml, and a form in Conclave's window."""

    __ui_label__ = "Greeting"
    __ui_order__ = 1

    word: str = Field(default="Hello", description="The word to greet with")
    times: int = Field(default=1, ge=1, le=5, description="How often to say it")


class Settings(PluginConfigBase):
    plugin: PluginSection = Field(default_factory=PluginSection)
    greeting: Greeting = Field(default_factory=Greeting)


class Plugin(MaiBotPlugin):
    config_model = Settings

    async def on_load(self):
        self.ctx.logger.info("NAME is loaded")

    async def on_unload(self):
        self.ctx.logger.info("NAME is gone")

    async def on_config_update(self, scope, config_data, version):
        self.ctx.logger.info("its settings changed")

    # The description is all that a model reads before it decides. A tool that is
    # used often says visibility="visible"; others are found with tool_search.
    @Tool(
        "greet",
        description="Greet somebody by name. Use it when the person asks for a greeting.",
        parameters=[
            ToolParameterInfo(name="who", param_type=ToolParamType.STRING, description="The name of the one to greet"),
        ],
        visibility="visible",
    )
    async def greet(self, who, stream_id="", **kwargs):
        greeting = self.config.greeting
        return {"success": True, "content": " ".join([greeting.word] * greeting.times) + ", " + who + "!"}


def create_plugin():
    return Plugin()
