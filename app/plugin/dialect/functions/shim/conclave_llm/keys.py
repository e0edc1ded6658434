"""Keys that a plugin asks for by name: secret settings under "keys"."""

import os

import conclave_worker


def get(given, alias, env):
    """Returns the key given, else the one set under an alias or a variable's name, else None."""
    worker = conclave_worker.worker
    known = worker.config.get("secrets") or ()
    if given:
        return worker.secret("keys." + given) if "keys." + str(given) in known else given
    for name in (alias, env):
        if name and "keys." + str(name) in known:
            return worker.secret("keys." + str(name))
    if env and os.environ.get(env):
        return os.environ[env]
    if alias or env:
        worker.want("keys", str(alias or env))
    return None
