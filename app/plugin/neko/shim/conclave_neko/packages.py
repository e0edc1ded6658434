"""The Python packages that a plugin declares (contracts/neko, item 8).

Bundled ones in `vendor` count, and those installed for this Python. Nothing is
imported to find out: the names of installed packages are read off their folders.
"""

import os
import re
import sys

from conclave_worker import problems

# What the host brings itself.
_HOST = {"n-e-k-o"}

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^]]*\])?\s*\(?([^;@]*?)\)?\s*(@[^;]*)?(?:;(.*))?$")


def check(host):
    """Raises problems.Problem when a declared package is missing."""
    wanted = host.extra["requirements"]
    if not wanted:
        return
    vendor = host.extra.get("vendor")
    there = {}
    for folder in [vendor] * bool(vendor) + list(host.worker.config.get("site") or ()):
        for name, version in _installed(folder).items():
            there.setdefault(name, version)
    missing = []
    for line in wanted:
        found = _REQUIREMENT.match(line)
        if found is None:
            host.log("warning", "The requirement %r is not understood and was not checked." % line)
            continue
        name, _, ranges, _, marker = found.groups()
        key = _normal(name)
        if key in _HOST or not _counts(marker):
            continue
        if key not in there and not _bundled(vendor, key) and not _stands_in(key) or key in there and not _fits(there[key], ranges):
            missing.append((name + ranges.strip()).strip())
    if not missing:
        return
    raise problems.Problem(
        "unavailable",
        "It needs %s, which %s not installed." % (" and ".join(missing), "is" if len(missing) == 1 else "are"),
        missing=missing,
        hint="Install for this Python: %s -m pip install %s" % (problems.python, " ".join('"%s"' % m if set(m) & set("<>") else m for m in missing)),
    )


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def _installed(folder):
    """Returns the packages in a folder, with their versions."""
    found = {}
    try:
        names = os.listdir(folder)
    except OSError:
        return found
    for name in names:
        for ending in (".dist-info", ".egg-info"):
            if name.endswith(ending):
                package, _, version = name[: -len(ending)].partition("-")
                found[_normal(package)] = version.partition("-")[0]
    return found


def _bundled(vendor, key):
    """Says whether a module of that name lies in vendor without its papers."""
    if not vendor:
        return False
    name = key.replace("-", "_")
    return any(os.path.exists(os.path.join(vendor, found)) for found in (name, name + ".py"))


def _stands_in(key):
    """Says whether the worker has a stand-in for the package."""
    import conclave_worker

    folder = os.path.dirname(os.path.dirname(conclave_worker.__file__))
    return os.path.exists(os.path.join(folder, "standins", key.replace("-", "_") + ".py"))


def _numbers(text):
    numbers = []
    for part in text.strip().lstrip("v").split("."):
        digits = re.match(r"\d+", part)
        if digits is None:
            break
        numbers.append(int(digits.group()))
        if digits.group() != part:
            break
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def _fits(version, ranges):
    """Says whether a version is in all of the ranges, as far as they are understood."""
    for one in (ranges or "").split(","):
        found = re.match(r"\s*(===|==|!=|<=|>=|~=|<|>)\s*([^\s]+?)(\.\*)?\s*$", one)
        if found is None or not version:
            continue
        operator, wanted, wild = found.groups()
        have, want = _numbers(version), _numbers(wanted)
        if wild:
            have = have[: len(want)]
        if operator == "~=":
            same = [int(n) for n in re.findall(r"\d+", wanted)][:-1]
            if have < want or (have + [0] * len(same))[: len(same)] != same:
                return False
        elif not {"==": have == want, "===": have == want, "!=": have != want, "<=": have <= want,
                  ">=": have >= want, "<": have < want, ">": have > want}[operator]:  # fmt: skip
            return False
    return True


def _counts(marker):
    """Says whether an environment marker holds here; one that is not understood does."""
    if not marker or not marker.strip():
        return True
    import platform

    facts = {
        "python_version": "%d.%d" % sys.version_info[:2],
        "python_full_version": "%d.%d.%d" % sys.version_info[:3],
        "sys_platform": sys.platform,
        "os_name": os.name,
        "platform_system": {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}.get(sys.platform, ""),
        "platform_machine": platform.machine(),
        "implementation_name": sys.implementation.name,
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    for alternative in re.split(r"\bor\b", marker):
        if all(_holds(term, facts) for term in re.split(r"\band\b", alternative)):
            return True
    return False


def _holds(term, facts):
    found = re.match(r"""[\s(]*(\w+)\s*(===|==|!=|<=|>=|<|>|not\s+in|in)\s*['"]([^'"]*)['"][\s)]*$""", term)
    if found is None or found.group(1) not in facts:
        return True
    name, operator, wanted = found.groups()
    have = facts[name]
    if name.startswith("python_"):
        return _fits(have, operator + wanted)
    if operator == "in":
        return have in wanted
    if operator.startswith("not"):
        return have not in wanted
    return have != wanted if operator == "!=" else have == wanted
