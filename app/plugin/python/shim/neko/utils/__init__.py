"""N.E.K.O's own helpers: importable, and refused when they are used."""
