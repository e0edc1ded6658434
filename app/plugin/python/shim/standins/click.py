"""A stand-in for click, found only when the real package is not installed.

Plugins of the llm program that also add commands import it; Conclave does not
run their commands, so what it declares is only passed through.
"""


class ClickException(Exception):
    """An error for a person."""

    def __init__(self, message=""):
        super().__init__(message)
        self.message = message

    def format_message(self):
        return self.message


class UsageError(ClickException):
    """An error for a person."""


class BadParameter(UsageError):
    """An error for a person."""


class Abort(RuntimeError):
    """A command that was given up."""


def echo(message=None, *args, **kwargs):
    """Prints to the plugin's log."""
    print("" if message is None else message)


def style(text, *args, **kwargs):
    return text


def secho(message=None, *args, **kwargs):
    echo(message)


class _Declared:
    """Stands for a type, class or decorator: whatever is called with gives the function back."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and callable(args[0]):
            function = args[0]
            for name in ("command", "group", "add_command"):
                try:
                    setattr(function, name, _Declared())
                except AttributeError:
                    pass
            return function
        return _Declared()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Declared()


class Group(_Declared):
    """A group of commands, none of which runs."""


class Command(_Declared):
    """A command that does not run."""


class Context(_Declared):
    """The context of a command that does not run."""


class ParamType:
    """A type of parameter."""

    name = ""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Declared()
