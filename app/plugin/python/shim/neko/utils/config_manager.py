"""N.E.K.O's configuration: its models, keys and characters are Conclave's own affair."""

from conclave_neko.answers import SdkError


def get_config_manager(*args, **kwargs):
    raise SdkError("utils.config_manager is not available in Conclave: a plugin does not see its models and keys")
