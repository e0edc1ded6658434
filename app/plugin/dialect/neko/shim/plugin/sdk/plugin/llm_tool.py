"""The decorator of tools."""

from conclave_neko.marks import TOOL as LLM_TOOL_META_ATTR
from conclave_neko.marks import LlmToolMeta, llm_tool, methods


def collect_llm_tool_methods(instance):
    """Returns [(LlmToolMeta, bound method)] of an instance, by the names of its methods."""
    found = []
    for name, function in methods(instance):
        meta = getattr(function, LLM_TOOL_META_ATTR, None)
        handler = getattr(instance, getattr(function, "__name__", name), None)
        if isinstance(meta, LlmToolMeta) and callable(handler):
            found.append((meta, handler))
    return found


__all__ = ["LLM_TOOL_META_ATTR", "LlmToolMeta", "collect_llm_tool_methods", "llm_tool"]
