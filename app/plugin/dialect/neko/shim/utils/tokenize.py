"""How long a text is for a model: an estimate, since the model is not known here."""


def count_tokens(text, *others, **more):
    """Returns about how many tokens a text has: one for each character that is not Latin, one for four that are."""
    wide = sum(1 for char in text if ord(char) > 0x2E7F)
    return wide + (len(text) - wide + 3) // 4


def truncate_to_tokens(text, limit, *others, **more):
    """Returns the beginning of a text that has at most so many tokens."""
    if count_tokens(text) <= limit:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return text[:low]
