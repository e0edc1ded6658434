"""The parameters of a callable, without importing `inspect` for plain functions."""

POSITIONAL_ONLY, POSITIONAL, ARGS, KEYWORD_ONLY, KWARGS = range(5)


class Empty:
    """Stands for "no default" and "no annotation"."""


class Parameter:
    __slots__ = ("name", "kind", "default", "annotation")

    def __init__(self, name, kind, default=Empty, annotation=Empty):
        self.name = name
        self.kind = kind
        self.default = default
        self.annotation = annotation


class NoSignature(Exception):
    """Nothing can be said of how the callable is called."""


_Function = type(lambda: None)


def parameters(callable):
    """Returns the Parameters of callable. Raises NoSignature."""
    if type(callable) is _Function and not ("__wrapped__" in callable.__dict__ or "__signature__" in callable.__dict__):
        return _of_function(callable)
    import inspect

    try:
        found = inspect.signature(callable).parameters.values()
    except Exception as err:
        raise NoSignature(str(err)) from None
    kinds = {
        inspect.Parameter.POSITIONAL_ONLY: POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD: POSITIONAL,
        inspect.Parameter.VAR_POSITIONAL: ARGS,
        inspect.Parameter.KEYWORD_ONLY: KEYWORD_ONLY,
        inspect.Parameter.VAR_KEYWORD: KWARGS,
    }
    return [
        Parameter(
            p.name,
            kinds[p.kind],
            Empty if p.default is inspect.Parameter.empty else p.default,
            Empty if p.annotation is inspect.Parameter.empty else p.annotation,
        )
        for p in found
    ]


def of_handler(handler):
    """Returns the Parameters of a function or a bound method. Raises NoSignature."""
    if type(handler).__name__ == "method":  # of its function, most often without inspect
        return parameters(handler.__func__)[1:]
    return parameters(handler)


def _of_function(function):
    code = function.__code__
    names = code.co_varnames
    positional, keyword = code.co_argcount, code.co_kwonlyargcount
    hints = annotations(function)
    defaults = function.__defaults__ or ()
    first_default = positional - len(defaults)
    found = []
    for number in range(positional):
        kind = POSITIONAL_ONLY if number < code.co_posonlyargcount else POSITIONAL
        default = defaults[number - first_default] if number >= first_default else Empty
        found.append(Parameter(names[number], kind, default, hints.get(names[number], Empty)))
    at = positional + keyword
    if code.co_flags & 0x04:  # *args
        found.append(Parameter(names[at], ARGS, Empty, hints.get(names[at], Empty)))
        at += 1
    keyword_defaults = function.__kwdefaults__ or {}
    for name in names[positional:positional + keyword]:
        found.append(Parameter(name, KEYWORD_ONLY, keyword_defaults.get(name, Empty), hints.get(name, Empty)))
    if code.co_flags & 0x08:  # **kwargs
        found.append(Parameter(names[at], KWARGS, Empty, hints.get(names[at], Empty)))
    return found


def annotations(owner):
    """Returns the annotations of a function or class, as written."""
    try:
        return owner.__annotations__
    except AttributeError:
        return {}
    except Exception:
        # Python 3.14 evaluates annotations when asked for; one of them failed.
        import annotationlib

        return annotationlib.get_annotations(owner, format=annotationlib.Format.FORWARDREF)


def innermost(callable):
    """Returns the function inside decorators, partials and bound methods."""
    for _ in range(100):  # a chain that long is a ring
        for attribute in ("__wrapped__", "__func__", "func"):
            inner = getattr(callable, attribute, None)
            if inner is not None and hasattr(inner, "__call__") and (
                attribute != "func" or type(callable).__name__ in ("partial", "partialmethod")
            ):
                callable = inner
                break
        else:
            break
    if not hasattr(callable, "__globals__") and hasattr(type(callable).__call__, "__globals__"):
        callable = type(callable).__call__
    return callable


# Bits of co_flags: coroutines, old and new, and async generators.
_COROUTINE, _ASYNC_GENERATOR = 0x80 | 0x100, 0x200


def is_async(function):
    """Says whether calling function makes a coroutine or an async generator."""
    for _ in range(100):
        if type(function).__name__ == "partial":
            function = function.func
        elif hasattr(function, "__func__"):
            function = function.__func__
        else:
            break
    code = getattr(function, "__code__", None) or getattr(getattr(type(function), "__call__", None), "__code__", None)
    return bool(code is not None and code.co_flags & (_COROUTINE | _ASYNC_GENERATOR))
