"""Loggers, by the name that N.E.K.O's plugins ask for them: all write to the plugin's log."""

from conclave_neko.journal import Logger


def get_logger(name="", *args, **kwargs):
    return Logger(str(name))
