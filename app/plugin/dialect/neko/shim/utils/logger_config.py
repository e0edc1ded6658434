"""Where N.E.K.O's own modules get their loggers: here all write to the plugin's log."""

from conclave_neko.journal import Logger


def get_module_logger(name="", component=None, *args, **kwargs):
    """Returns a logger that puts the last part of a module's name before each line."""
    return Logger(str(component or name).rpartition(".")[2])
