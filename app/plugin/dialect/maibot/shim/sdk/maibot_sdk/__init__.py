"""What MaiBot plugins import, written for Conclave from contracts/maibot alone.

The names, their defaults and what they leave on a plugin are MaiBot's public
interface; everything that a plugin asks of its host goes through one coroutine,
PluginContext's rpc_call, which conclave_maibot answers. The package is used
where a plugin's environment has no fit copy of the real one.
"""

from .components import API, Action, Command, EventHandler, HomeCard, HookHandler, LLMProvider, MessageGateway
from .components import ReplyExtension, Tool, WorkflowStep
from .config import Field, PluginConfigBase
from .context import PluginContext, PluginPaths, SendResult
from .llm_provider import LLMProviderBase
from .plugin import MaiBotPlugin
from .types import CONFIG_RELOAD_SCOPE_SELF, ON_BOT_CONFIG_RELOAD, ON_MODEL_CONFIG_RELOAD

__version__ = "2.10.0"

__all__ = [
    "API",
    "Action",
    "CONFIG_RELOAD_SCOPE_SELF",
    "Command",
    "EventHandler",
    "Field",
    "HomeCard",
    "HookHandler",
    "LLMProvider",
    "LLMProviderBase",
    "MaiBotPlugin",
    "MessageGateway",
    "ON_BOT_CONFIG_RELOAD",
    "ON_MODEL_CONFIG_RELOAD",
    "PluginConfigBase",
    "PluginContext",
    "PluginPaths",
    "ReplyExtension",
    "SendResult",
    "Tool",
    "WorkflowStep",
]
