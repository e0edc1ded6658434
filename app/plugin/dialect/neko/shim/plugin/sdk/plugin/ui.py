"""Decorators for N.E.K.O's panels. Conclave shows no panels: they change nothing."""


def context(*, id="main", title=None, **others):
    """Marks what a panel shows."""
    return _unchanged


def action(*, id=None, label=None, icon=None, tone="default", group=None, order=0, confirm=False, refresh_context=True, **others):
    """Marks what a button of a panel does."""
    return _unchanged


def _unchanged(function):
    return function
