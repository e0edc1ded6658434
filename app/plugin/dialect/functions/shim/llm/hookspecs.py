"""The markers, under the name of the module they are also known by."""

from . import hookimpl, hookspec  # noqa: F401
