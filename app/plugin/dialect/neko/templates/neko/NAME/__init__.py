"""NAME: a plugin that N.E.K.O runs, too.

Every method with @llm_tool is a tool that a model can call. Its name, its
description and its parameters are all that the model is told.
"""

from plugin.sdk.plugin import Err, NekoPluginBase, Ok, SdkError, llm_tool, neko_plugin


@neko_plugin
class Plugin(NekoPluginBase):
    @llm_tool(
        name="greet",
        description="Greet somebody by name.",
        parameters={
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Whom to greet."},
                "times": {"type": "integer", "minimum": 1, "maximum": 10, "default": 1},
            },
            "required": ["name"],
        },
    )
    async def greet(self, name: str, times: int = 1, **_):
        if not 1 <= times <= 10:
            return Err(SdkError("times is from 1 to 10"))
        greeting = await self.config.get("NAME.greeting", "Hello")
        return Ok(" ".join([f"{greeting}, {name}!"] * times))
