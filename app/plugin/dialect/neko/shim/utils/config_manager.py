"""N.E.K.O's configuration: which models, keys and characters there are is Conclave's own affair.

The manager can be had, since plugins fetch it when they are made; what it is
asked for is refused.
"""

from conclave_neko.answers import SdkError


class ConfigManager:
    """Refuses whatever it is asked for."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def refused(*args, **kwargs):
            raise SdkError("%s of N.E.K.O's configuration is not available in Conclave: a plugin does not see its models and keys" % name)

        return refused


_manager = ConfigManager()


def get_config_manager(*args, **kwargs):
    return _manager
