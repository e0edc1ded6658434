"""Loggers: what they are told goes to the plugin's log in Conclave.

Both `{}` and `%s` placeholders are filled in, whichever the text has (contracts/neko,
section 6).
"""

import re
import sys

from . import state

LEVELS = {"TRACE": 5, "DEBUG": 10, "INFO": 20, "SUCCESS": 25, "WARNING": 30, "WARN": 30, "ERROR": 40, "CRITICAL": 50, "FATAL": 50}

_WIRE = {"TRACE": "debug", "DEBUG": "debug", "INFO": "info", "SUCCESS": "info", "WARNING": "warning", "ERROR": "error", "CRITICAL": "error"}

_PERCENT = re.compile(r"%[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[sdrfiuxXgGeEcao]|%\(\w+\)")


def fill(message, args, kwargs):
    """Returns a message with its arguments in it; nothing of either is ever lost."""
    text = str(message)
    if not args and not kwargs:
        return text
    if _PERCENT.search(text) and args:
        try:
            return text % (args[0] if len(args) == 1 and isinstance(args[0], dict) else args)
        except (TypeError, ValueError, KeyError):
            pass
    if "{" in text:
        try:
            return text.format(*args, **kwargs)
        except (IndexError, KeyError, ValueError, AttributeError):
            pass
    return " ".join([text] + [str(arg) for arg in args]) if args else text


class Logger:
    """Has the methods of both logging's and loguru's loggers."""

    def __init__(self, name="", files=None):
        self.name = name
        self._files = [] if files is None else files

    def _write(self, level, message, args, kwargs):
        problem = kwargs.pop("exc_info", None)
        for key in ("extra", "stack_info", "stacklevel"):
            kwargs.pop(key, None)
        text = fill(message, args, kwargs)
        if problem:
            error = problem if isinstance(problem, BaseException) else problem[1] if isinstance(problem, tuple) else sys.exc_info()[1]
            if error is not None:
                from conclave_worker import problems

                text += "\n" + problems.traceback_text(error).rstrip()
        state.current.log(_WIRE[level], text if not self.name else "%s: %s" % (self.name, text))
        for file in self._files:
            file.write(level, text)

    def trace(self, message, *args, **kwargs):
        self._write("TRACE", message, args, kwargs)

    def debug(self, message, *args, **kwargs):
        self._write("DEBUG", message, args, kwargs)

    def info(self, message, *args, **kwargs):
        self._write("INFO", message, args, kwargs)

    def success(self, message, *args, **kwargs):
        self._write("SUCCESS", message, args, kwargs)

    def warning(self, message, *args, **kwargs):
        self._write("WARNING", message, args, kwargs)

    warn = warning

    def error(self, message, *args, **kwargs):
        self._write("ERROR", message, args, kwargs)

    def exception(self, message, *args, **kwargs):
        kwargs.setdefault("exc_info", True)
        self._write("ERROR", message, args, kwargs)

    def critical(self, message, *args, **kwargs):
        self._write("CRITICAL", message, args, kwargs)

    fatal = critical

    def log(self, level, message, *args, **kwargs):
        number = LEVELS.get(level.upper(), 20) if isinstance(level, str) else level
        name = "DEBUG" if number < 20 else "INFO" if number < 30 else "WARNING" if number < 40 else "ERROR"
        self._write(name, message, args, kwargs)

    # -- loguru's and logging's ways to make other loggers; they are all one --

    def bind(self, **facts):
        return self

    def opt(self, **options):
        return self

    def patch(self, function):
        return self

    def getChild(self, name):
        return Logger((self.name + "." if self.name else "") + name, self._files)

    def setLevel(self, level):
        pass

    def isEnabledFor(self, level):
        return True

    def addHandler(self, handler):
        pass

    removeHandler = addHandler


class LogFile:
    """A file of the plugin's own that grows to a bound, then starts anew beside its older ones."""

    def __init__(self, folder, level, max_bytes, backups):
        self._path = folder / "plugin.log"
        self._level = LEVELS[level]
        self._max, self._backups = max_bytes, backups

    def write(self, level, text):
        if LEVELS[level] < self._level:
            return
        import time

        line = "%s %s %s\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), level, text)
        try:
            if self._path.exists() and self._path.stat().st_size + len(line) > self._max:
                for number in range(self._backups, 0, -1):
                    older = self._path.with_name("plugin.log.%d" % (number - 1)) if number > 1 else self._path
                    if older.exists():
                        older.replace(self._path.with_name("plugin.log.%d" % number))
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError:
            pass  # the plugin's log in Conclave has it


def with_file(log_level="INFO", log_dir=None, max_bytes=None, backup_count=None):
    """Returns a logger that also writes a file. ValueError for an unknown level."""
    import logging
    import pathlib

    name = log_level.upper() if isinstance(log_level, str) else logging.getLevelName(log_level)
    if name not in LEVELS:
        raise ValueError("unknown log level: %r" % (log_level,))
    folder = pathlib.Path(log_dir) if log_dir else state.current.storage / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        state.current.log("warning", "No log file is written in %s: %s" % (folder, err))
        return Logger()
    return Logger(files=[LogFile(folder, name, max_bytes or 5 << 20, 3 if backup_count is None else backup_count)])
