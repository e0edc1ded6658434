"""The three things the worker program can be asked to do.

    python3 -I -S -B -X utf8 -c BOOT SHIM serve      run a plugin until end of input
    python3 -I -S -B -X utf8 -c BOOT SHIM inspect    read the sources of one plugin after the other, run nothing

What serve gets first on stdin is a line with a length in bytes and a JSON object of
that length. It is not an argument, since others can read those:

    loader    the module of the shim that loads the plugin: its load(worker) puts
              tools into worker.tools
    modules   folders of the shim to put on the path: "llm", "neko" …
    extra     what that loader needs besides
    options   what the person set for the plugin, an object; absent when nothing
    secrets   the paths of the secret settings that are set: options.secret tells them
    entry     path of the file to read
    display   the path that file believes it has (`__file__`, tracebacks)
    root      the folder to read siblings from
    home      the folder the plugin believes it lies in
    package   true when the entry is a package's __init__.py
    folder    true when the plugin is a folder of its own
    siblings  for a single file: the modules beside it that it may import
    id        the plugin's id
    storage   its own folder for data
    granted_home
              files and folders of the person's home that it was granted: name below it → path
    python    the command by which the person knows this interpreter
    site      folders of installed packages
    paths     for a folder: the folders in it that its modules are found in
    load_ms   how long loading may take before it is reported as stuck
"""

import os
import sys


def read_config():
    """Returns the bytes of the configuration, and takes nothing behind it from stdin."""

    def take(n):
        data = b""
        while len(data) < n:
            part = os.read(0, n - len(data))
            if not part:
                sys.exit("conclave: the configuration did not arrive")
            data += part
        return data

    length = b""
    while not length.endswith(b"\n"):
        length += take(1)
    return take(int(length))


def main():
    shim, mode = sys.argv[1], sys.argv[2]
    if mode == "inspect":
        from .listing import main as inspect

        inspect()
        return
    from . import codec, problems
    from .serve import Worker

    config = codec.loads(read_config())
    problems.python = config.get("python") or problems.python
    sys.argv[:] = [config["display"]]
    # Packages the person installed come after the standard library; the
    # stand-ins for packages that are not installed come last of all.
    sys.path[1:1] = [shim + "/" + name for name in config.get("modules") or ()]
    sys.path.extend(config.get("site") or [])
    sys.path.append(shim + "/standins")
    Worker(config).run()
