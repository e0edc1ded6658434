"""The language that N.E.K.O speaks. What Conclave's models are asked in is the person's affair."""


def get_global_language():
    return "en"


def get_global_language_full():
    return "en"
