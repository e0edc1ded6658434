"""N.E.K.O plugins (contracts/neko): a class with decorated methods becomes tools.

The modules that plugins import (`plugin.sdk…`, `config`, `utils`, `main_logic`)
lie beside this package and hold next to nothing; what they offer is here.

    __init__      the loader: in which order a plugin comes to life
    state         the facts of this process: paths, manifest, who to tell
    package       the plugin's modules, under both of their names
    marks         the decorators, which only set attributes
    base          NekoPluginBase, its context and routers
    entries       what a plugin registers: tools, entries, timers
    tools         one tool: its schema, its arguments, what it returned
    images        pictures in a result
    life          start, timers, shutdown
    answers       Ok, Err and the exceptions
    settings      config: the manifest and what was changed of it
    store         the key-value store
    texts         translations
    journal       loggers
    absent        what N.E.K.O has and Conclave has not

Standard library only, Python 3.9 and newer.
"""


def load(worker):
    """Brings the plugin to life and puts its tools into worker.tools. Raises problems.Problem."""
    from conclave_worker import aio  # noqa: F401 - before all that imports more

    from . import package, state

    host = state.open(worker)
    for note in host.extra["notes"]:
        host.note(note)
    package.install(host)

    from .life import Life

    Life(host).begin()
    worker.empty = "It has no tools for a model: no method has @llm_tool, and what else it does has no place here."
