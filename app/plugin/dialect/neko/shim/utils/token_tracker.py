"""N.E.K.O's account of tokens. A plugin says here what it is about to use them for."""


def set_call_type(*args, **kwargs):
    """Takes note of nothing: whatever a plugin uses is accounted to the plugin."""
