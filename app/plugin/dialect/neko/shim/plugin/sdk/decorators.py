"""The decorators, where older plugins look for them."""

from plugin.sdk.shared.core.decorators import *  # noqa: F403
