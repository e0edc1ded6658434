"""N.E.K.O's chat process: of it, plugins find only what they import."""
