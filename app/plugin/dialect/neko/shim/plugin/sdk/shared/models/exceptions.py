"""Exceptions."""

from conclave_neko.answers import EntryConflictError, PluginRouterError, SdkError, TransportError

__all__ = ["EntryConflictError", "PluginRouterError", "SdkError", "TransportError"]
