"""The bus between N.E.K.O's plugins: it can be made, and whatever it is asked for is refused."""

from conclave_neko.absent import Absent


class MessagePlaneTransport:
    """Answers everything with an Err that says so."""

    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(Absent("bus"), name)
