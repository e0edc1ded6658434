"""The decorators, under their own module."""

from plugin.sdk.shared.core.decorators import *  # noqa: F403
