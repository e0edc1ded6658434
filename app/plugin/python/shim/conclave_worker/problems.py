"""Why a plugin did not load, and what an exception says.

A Problem has the shape of `data.problem` in docs/WIRE.md, section 1: it names
the author's file and line and shows the line.
"""

import os
import sys

import conclave_worker

MAX_TRACEBACK = 8 * 1024
_STANDINS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "standins") + os.sep
_SHIM = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# The command by which the person knows this interpreter; main sets it.
python = sys.executable

# Packages whose name to install differs from the name to import.
_INSTALL_NAMES = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}


class Problem(Exception):
    """A plugin that does not load."""

    def __init__(self, kind, message, **facts):
        super().__init__(message)
        self.facts = {"kind": kind, "message": message}
        self.facts.update((key, value) for key, value in facts.items() if value)


class Said(Exception):
    """A sentence of Conclave's own for a person: it needs no type before it."""


def describe(error):
    """Returns "Type: message" as Python prints it, without the module."""
    if isinstance(error, Said):
        return str(error)
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:
        text = ""
    return "%s: %s" % (name, text) if text else name


class Sources:
    """The source texts of a plugin by the path it knows them by."""

    def __init__(self, home, entry):
        self.home = home  # the folder that problems name files relative to
        self.entry = entry
        self._texts = {}

    def add(self, path, text):
        self._texts[path] = text

    def texts(self):
        """Returns the source texts that were loaded."""
        return list(self._texts.values())

    def remember(self):
        """Gives linecache the texts that run, which may differ from those on disk."""
        import linecache

        for path, text in self._texts.items():
            linecache.cache[path] = (len(text), None, text.splitlines(True), path)

    def relative(self, path):
        """Returns path relative to the plugin's folder, or None when it is not the plugin's."""
        if path == self.entry or path.startswith(self.home + os.sep):
            return os.path.relpath(path, self.home).replace(os.sep, "/")
        return None

    def frame(self, path, line, column=0):
        """Returns the lines around one, the line marked with > and the column with ^."""
        text = self._texts.get(path)
        if text is None or line < 1:
            return ""
        lines = text.split("\n")
        if line > len(lines):
            return ""
        first, last = max(1, line - 2), min(len(lines), line + 1)
        width = len(str(last))
        shown = []
        for number in range(first, last + 1):
            source = lines[number - 1].rstrip("\r").replace("\t", " ")
            shown.append(("%s %*d | %s" % (">" if number == line else " ", width, number, source[:200])).rstrip())
            if number == line and 0 < column <= 200:
                shown.append("  %s | %s^" % (" " * width, " " * (column - 1)))
        return "\n".join(shown)


def of_syntax(error, sources, path):
    """Returns the Problem of source that is not Python."""
    path = error.filename if sources.relative(error.filename or "") else path
    line, column = error.lineno or 1, error.offset or 0
    message = "%s: %s" % (type(error).__name__, error.msg)
    hint = ""
    if "Missing parentheses in call to 'print'" in message:
        hint = "This is Python 2; write print(…)."
    return Problem(
        "script",
        message,
        type=type(error).__name__,
        file=sources.relative(path),
        line=line,
        column=column,
        frame=sources.frame(path, line, column),
        hint=hint,
    )


def of_import(error, sources):
    """Returns the Problem of an exception raised while the plugin was loading."""
    if isinstance(error, SyntaxError) and sources.relative(error.filename or ""):
        return of_syntax(error, sources, error.filename)
    path, line, column = _place(error, sources)
    kind, hint, missing, message = "script", "", None, describe(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.split(".")[0]
        if package not in sys.modules or error.name == package:
            kind, missing = "unavailable", [package]
            message = "It needs the package %s; it is not installed." % package
            hint = "Install it for this Python: %s -m pip install %s" % (python, _INSTALL_NAMES.get(package, package))
        elif str(error).startswith("No module named") and _ours(package):
            kind, message, hint = _of_ours(package, error)
    elif isinstance(error, ImportError) and str(error.path or "").startswith(_STANDINS) and error.name:
        # A stand-in for a package that can be installed.
        kind, missing = "unavailable", [error.name]
        message = "It needs more of the package %s than Conclave's stand-in has; the real one is not installed." % error.name
        hint = "Install it for this Python: %s -m pip install %s" % (python, error.name)
    elif isinstance(error, ImportError) and error.name and str(error.path or "").startswith(_SHIM):
        kind, message, hint = _of_ours(error.name, error)
    elif isinstance(error, MemoryError):
        kind, message = "memory", "It ran out of memory while it was loading."
    elif isinstance(error, PermissionError):
        hint = "A plugin may read its own folder and write its storage folder; other files need a permission."
    elif isinstance(error, TypeError) and "unsupported operand type(s) for |" in message and sys.version_info < (3, 10):
        hint = "X | Y in an annotation needs Python 3.10: write Optional or Union, or begin with from __future__ import annotations."
    elif isinstance(error, SystemExit):
        message = "It ended itself while it was loading (%s)." % describe(error)
        hint = "Put code that should run from a terminal under if __name__ == \"__main__\"."
    return Problem(
        kind,
        message,
        type=type(error).__name__,
        file=sources.relative(path),
        line=line,
        column=column,
        frame=sources.frame(path, line, column),
        hint=hint,
        missing=missing,
    )


def _ours(package):
    """Whether an imported package is one of Conclave's own, and none of its stand-ins for packages."""
    file = str(getattr(sys.modules[package], "__file__", None) or "")
    return file.startswith(_SHIM) and not file.startswith(_STANDINS)


def _of_ours(module, error):
    """Returns kind, message and hint of an import that a module of Conclave's own, named like
    one of the program the plugin was written for, cannot answer."""
    said = str(error)
    name = said.split("'")[1] if "cannot import name '" in said else error.name
    return (
        "unavailable",
        "It imports %s, which Conclave's stand-in of the module %s does not have." % (name, module),
        "That module belongs to the program the plugin was written for, and cannot be installed here.",
    )


def of_stuck(frame, sources, limit):
    """Returns the Problem of a plugin whose loading does not end."""
    path, line = sources.entry, 0
    while frame is not None:
        if sources.relative(frame.f_code.co_filename):
            path, line = frame.f_code.co_filename, frame.f_lineno
            break
        frame = frame.f_back
    return Problem(
        "deadline",
        "It was still loading after %s." % limit,
        file=sources.relative(path),
        line=line,
        frame=sources.frame(path, line),
        hint="Loading should only define functions; move long work into them.",
    )


def _place(error, sources):
    """Returns path, line and column of the innermost frame in the plugin's own files."""
    path, line, column = sources.entry, 0, 0
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if sources.relative(code.co_filename):
            path, line, column = code.co_filename, trace.tb_lineno, _column(code, trace.tb_lasti)
        trace = trace.tb_next
    return path, line, column


def _column(code, instruction):
    """Returns the column, from 1, or 0 before Python 3.11, which does not know it."""
    positions = getattr(code, "co_positions", None)
    if positions is None or instruction < 0:
        return 0
    for number, place in enumerate(positions()):
        if number == instruction // 2:
            return (place[2] or 0) + 1 if place[2] is not None else 0
    return 0


def traceback_text(error):
    """Returns the traceback without the worker's own frames, its last 8 KiB."""
    try:
        import traceback

        if conclave_worker.worker is not None:
            conclave_worker.worker.sources.remember()
        summary = traceback.TracebackException(type(error), error, error.__traceback__)
        seen = set()
        below = summary
        while below is not None and id(below) not in seen:
            seen.add(id(below))
            kept = [frame for frame in below.stack if not frame.filename.startswith(_SHIM)]
            below.stack[:] = kept
            below = below.__cause__ or below.__context__
        text = "".join(summary.format())
    except Exception:  # a hostile __str__, or no memory left
        text = describe(error)
    data = text.encode("utf-8", "replace")
    return data[-MAX_TRACEBACK:].decode("utf-8", "ignore")
