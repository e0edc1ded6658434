"""Where N.E.K.O keeps what plugins write: here the plugin's own storage, and nothing beside it."""

from conclave_neko import state


def resolve_runtime_data_root(*args, **kwargs):
    """Returns the folder as a pathlib.Path."""
    return state.current.storage
