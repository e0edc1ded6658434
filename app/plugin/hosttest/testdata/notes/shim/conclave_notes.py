"""The loader of notes: a text becomes a tool that returns its line of a number."""

from conclave_worker.tools import Tool


def load(worker):
    with open(worker.config["entry"], encoding="utf-8") as file:
        lines = file.read().splitlines()

    def line(number: int = 1) -> str:
        """Returns one line of the note, counted from 1."""
        return lines[number - 1]

    worker.tools["line"] = Tool("line", line)
