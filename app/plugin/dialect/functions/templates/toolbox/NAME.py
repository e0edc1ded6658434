"""NAME: what this toolbox is for, in a sentence.

The public methods of a toolbox are tools that share its state: each chat has an
instance of its own. What the constructor takes is filled in on the plugin's
card; the file runs as a plugin of the llm program, too.
"""

import llm


class Notes(llm.Toolbox):
    """Notes that last as long as a chat."""

    def __init__(self, most: int = 100):
        """Settings.

        Args:
            most: How many notes are kept.
        """
        self.most = most
        self.kept: list[str] = []

    def add(self, text: str) -> str:
        """Take a note.

        Args:
            text: What to remember.
        """
        if len(self.kept) >= self.most:
            raise ValueError(f"there are {self.most} notes already")
        self.kept.append(text)
        return f"Noted, {len(self.kept)} in all."

    def find(self, word: str = "") -> list[str]:
        """Find notes that hold a word.

        Args:
            word: The word; all notes without it.
        """
        return [note for note in self.kept if word.lower() in note.lower()]


@llm.hookimpl
def register_tools(register):
    register(Notes)
