"""The JSON form of a default value (contracts/llm-functions, section 4.2)."""

from .. import results


class NoForm(Exception):
    """The value has no JSON form."""


def json_form(value):
    """Returns the JSON form of a default. Raises NoForm."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        try:
            str(value)
        except ValueError:  # more digits than Python writes out
            raise NoForm from None
        return value
    if kind is float:
        if value - value != 0:
            raise NoForm
        return value
    if kind in (list, tuple):
        return [json_form(item) for item in value]
    if kind in (set, frozenset):
        return [json_form(item) for item in sorted(value, key=repr)]
    if kind is dict:
        if not all(isinstance(key, str) for key in value):
            raise NoForm
        return {str.__str__(key): json_form(item) for key, item in value.items()}
    if kind is bytes:
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            raise NoForm from None
    if callable(value) and isinstance(value, type):
        raise NoForm
    form, known = results.natural(value)
    if not known:
        raise NoForm
    # A nested object without a JSON form would have become its repr.
    fields = results._fields(value)
    if fields is not None:
        return {name: json_form(item) for name, item in fields.items()}
    return form
