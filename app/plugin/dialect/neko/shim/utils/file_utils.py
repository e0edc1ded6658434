"""Reading and writing JSON files, as N.E.K.O's plugins do it."""

import json
import os


def atomic_write_json(path, data, *, indent=2, ensure_ascii=False, **others):
    """Writes a file of JSON so that a reader never sees half of it."""
    part = "%s.part" % os.fspath(path)
    with open(part, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=indent, ensure_ascii=ensure_ascii)
    os.replace(part, path)


def read_json(path, *others, **more):
    """Returns what a file of JSON holds."""
    with open(path, encoding="utf-8-sig") as file:
        return json.load(file)


def robust_json_loads(text, *others, **more):
    """Returns the value of a JSON text, also of one in a fence of Markdown."""
    text = text.strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]
    return json.loads(text)


async def atomic_write_json_async(path, data, **options):
    import asyncio

    await asyncio.get_running_loop().run_in_executor(None, lambda: atomic_write_json(path, data, **options))


async def read_json_async(path, *others, **more):
    import asyncio

    return await asyncio.get_running_loop().run_in_executor(None, read_json, path)
