"""The package that N.E.K.O's plugins import their SDK from."""
