"""N.E.K.O's model clients: which models there are, and their keys, is Conclave's own affair."""

from conclave_neko.answers import SdkError


def _refused(*args, **kwargs):
    raise SdkError("utils.llm_client is not available in Conclave: a plugin does not see its models and keys")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _refused
