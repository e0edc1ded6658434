"""Ok, Err and the exceptions (contracts/neko, section 4)."""


class SdkError(Exception):
    """A failure that a plugin reports; str() is its message."""

    def __init__(self, message="", **details):
        super().__init__(message)
        self.message = message
        self.details = details

    def __str__(self):
        return str(self.message)


class TransportError(SdkError):
    """The host could not be reached, or could not do what was asked."""


class EntryConflictError(SdkError):
    """An entry or tool of that name is registered already."""


class PluginRouterError(SdkError):
    """A router could not be used."""


class Ok:
    """A result that is a value."""

    __slots__ = ("value",)
    __match_args__ = ("value",)

    def __init__(self, value=None):
        self.value = value

    def is_ok(self):
        return True

    def is_err(self):
        return False

    def unwrap(self):
        return self.value

    def unwrap_or(self, default):
        return self.value

    def __eq__(self, other):
        return isinstance(other, Ok) and self.value == other.value

    def __hash__(self):
        return hash(("Ok", self.value))

    def __repr__(self):
        return "Ok(%r)" % (self.value,)


class Err:
    """A result that is an error: an exception, or text."""

    __slots__ = ("error",)
    __match_args__ = ("error",)

    def __init__(self, error=None):
        self.error = error

    def is_ok(self):
        return False

    def is_err(self):
        return True

    def unwrap(self):
        raise as_exception(self.error)

    def unwrap_or(self, default):
        return default

    def __eq__(self, other):
        return isinstance(other, Err) and self.error == other.error

    def __hash__(self):
        return hash(("Err", str(self.error)))

    def __repr__(self):
        return "Err(%r)" % (self.error,)


class _Result:
    """Only an annotation: Result[int, SdkError]."""

    def __class_getitem__(cls, item):
        return cls


Result = _Result


def as_exception(error):
    """Returns the error of an Err as an exception."""
    return error if isinstance(error, BaseException) else SdkError(str(error))


def is_result(value):
    """Says whether a value is an Ok or an Err, the plugin's own kind included."""
    return callable(getattr(value, "is_ok", None)) and (hasattr(value, "value") or hasattr(value, "error"))


def unwrap(result):
    """Returns the value of an Ok, or raises the error of an Err."""
    if result.is_ok():
        return result.value
    raise as_exception(result.error)


def unwrap_or(result, default):
    """Returns the value of an Ok, or default."""
    return result.value if result.is_ok() else default
