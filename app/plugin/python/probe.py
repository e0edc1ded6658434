"""Asked once of every interpreter: what it is, and to compile the worker.

    python3 -I -B -X utf8 -c PROBE SHIM

Prints one JSON object. The worker's files get unchecked bytecode: they are in a
folder named for their digest, so they never change.
"""

import json
import os
import sys


def main():
    if sys.version_info < (3, 9) or sys.implementation.name != "cpython" and not hasattr(sys, "pypy_version_info"):
        print(json.dumps({"version": "%d.%d.%d" % tuple(sys.version_info[:3]), "executable": sys.executable}))
        return
    import py_compile
    import sysconfig

    shim = sys.argv[1]
    for folder, _, files in os.walk(shim):
        for name in files:
            if name.endswith(".py"):
                mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
                py_compile.compile(os.path.join(folder, name), doraise=True, invalidation_mode=mode)

    executable = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    stdlib = os.path.dirname(os.path.realpath(os.__file__))
    platform = [p for p in sys.path if p.endswith("lib-dynload")]
    site = [p for p in sys.path if os.path.isdir(p) and os.path.realpath(p) != stdlib and p not in platform]
    # -I leaves the person's own packages out; "pip install --user" puts them there.
    import site as site_module

    user = site_module.getusersitepackages()
    if os.path.isdir(user) and user not in site and sys.prefix == sys.base_prefix:
        site.append(user)
    libraries = []
    if sysconfig.get_config_var("Py_ENABLE_SHARED"):
        libraries.append(sysconfig.get_config_var("LIBDIR") or "")
    print(
        json.dumps(
            {
                "version": "%d.%d.%d" % tuple(sys.version_info[:3]),
                "executable": executable,
                "prefix": sys.base_prefix,
                "stdlib": stdlib,
                "platstdlib": os.path.realpath(platform[0]) if platform else "",
                "site": site,
                "libraries": [path for path in libraries if os.path.isdir(path)],
            }
        )
    )


main()
