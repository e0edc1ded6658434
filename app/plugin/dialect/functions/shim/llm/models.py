"""The classes of `llm` under the name of the module they are also known by."""

from . import (  # noqa: F401
    AsyncConversation, AsyncKeyModel, AsyncModel, AsyncResponse, Attachment, CancelToolCall, Conversation, EmbeddingModel,
    KeyModel, Model, Options, PauseChain, Prompt, Response, Tool, Toolbox, ToolCall, ToolOutput, ToolResult,
)  # fmt: skip
