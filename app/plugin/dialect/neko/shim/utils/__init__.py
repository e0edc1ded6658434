"""N.E.K.O's own helpers.

Which models, keys and characters there are is Conclave's own affair, so what is
below this package can be imported and fails at its use (conclave_neko.package),
but for the modules that lie here.
"""
