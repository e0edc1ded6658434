"""What N.E.K.O offers its plugins and Conclave does not: it fails in words, at its use."""

from .answers import Err, SdkError


class Refused(Err):
    """The answer of everything that is not here: an Err that may also be awaited or walked through."""

    __slots__ = ()

    def __init__(self, feature):
        super().__init__(SdkError("%s is not available in Conclave" % feature))

    def __await__(self):
        return self
        yield  # makes it a generator: awaiting it gives the Err itself

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __bool__(self):
        return False


class Absent:
    """A namespace of functions that are all refused: bus.messages.get(…)."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent("%s.%s" % (self._name, name))

    def __call__(self, *args, **kwargs):
        return Refused(self._name)

    def __bool__(self):
        return False

    def __repr__(self):
        return "<%s: not available in Conclave>" % self._name


def stand_for(name):
    """Returns a class that can be imported and raises SdkError when it is used."""

    def __init__(self, *args, **kwargs):
        raise SdkError("%s is not available in Conclave" % name)

    return type(name, (), {"__init__": __init__, "__doc__": "Not available in Conclave: making one raises SdkError."})
