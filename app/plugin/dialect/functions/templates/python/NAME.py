"""NAME: what this plugin is for, in a sentence.

Every public function of this file is a tool that a model can call. Its name,
its type hints and its docstring are all that the model is told, so write them
for a reader who cannot see the code. Save the file: the tool is there at once.
"""


def greet(name: str, times: int = 1) -> str:
    """Greet somebody by name.

    Args:
        name: Whom to greet.
        times: How often, from 1 to 10.
    """
    if not 1 <= times <= 10:
        raise ValueError("times is from 1 to 10")
    return " ".join([f"Hello, {name}!"] * times)
