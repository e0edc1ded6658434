"""Which imports of a file it can be loaded without.

An import is *guarded* when its failure is caught where it stands, or when only a
type checker sees it; it is *lazy* when it stands in a function, and so fails at a
call and not while the file is loaded.
"""

_CAUGHT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
NEEDED, LAZY, GUARDED = 2, 1, 0


def weigh(tree, found):
    """Adds to found, a dict, the first part of every imported name with how much it is needed."""
    todo = [(tree, NEEDED)]
    while todo:
        node, weight = todo.pop()
        kind = type(node).__name__
        if kind == "Import":
            for alias in node.names:
                _add(found, alias.name, weight)
        elif kind == "ImportFrom":
            if node.module and not node.level:
                _add(found, node.module, weight)
        elif kind in ("Try", "TryStar"):
            # What a handler imports stands in for what failed.
            inner = GUARDED if any(_catches(handler.type) for handler in node.handlers) else weight
            todo += [(child, inner) for child in node.body]
            todo += [(child, inner) for handler in node.handlers for child in handler.body]
            todo += [(child, weight) for child in node.orelse + node.finalbody]
        elif kind == "If":
            todo += [(child, GUARDED if _for_checkers(node.test) else weight) for child in node.body]
            todo += [(child, weight) for child in node.orelse]
        else:
            if kind in ("FunctionDef", "AsyncFunctionDef"):
                weight = min(weight, LAZY)
            for field in ("body", "orelse", "cases"):
                child = getattr(node, field, None)
                if type(child) is list:
                    todo += [(item, weight) for item in child]


def _add(found, name, weight):
    name = name.split(".")[0]
    found[name] = max(found.get(name, GUARDED), weight)


def _catches(type_):
    """Says whether a handler of this type catches an import that fails."""
    if type_ is None:
        return True
    names = type_.elts if type(type_).__name__ == "Tuple" else [type_]
    return any((getattr(name, "id", None) or getattr(name, "attr", None)) in _CAUGHT for name in names)


def _for_checkers(test):
    """Says whether an `if` is entered by type checkers, or from a terminal, alone."""
    if (getattr(test, "id", None) or getattr(test, "attr", None)) == "TYPE_CHECKING":
        return True
    sides = [getattr(test, "left", None)] + list(getattr(test, "comparators", ()))
    return any(getattr(side, "id", None) == "__name__" for side in sides)
