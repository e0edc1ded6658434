"""ctx.db: tables of the plugin's own, one JSON file each in its storage folder."""

import os
import re

from conclave_worker import codec, results


class Tables:
    def __init__(self, folder):
        self._folder = folder

    def _path(self, args):
        name = re.sub(r"[^0-9A-Za-z_-]", "_", str(args.get("model_name") or "table"))[:80]
        return os.path.join(self._folder, name + ".json")

    def _rows(self, args):
        try:
            with open(self._path(args), "rb") as file:
                rows = codec.loads(file.read())
        except (OSError, ValueError):
            return []
        return rows if isinstance(rows, list) else []

    def _put(self, args, rows):
        os.makedirs(self._folder, exist_ok=True)
        path = self._path(args)
        with open(path + ".tmp", "wb") as file:
            file.write(codec.dumps(rows))
        os.replace(path + ".tmp", path)

    def get(self, args):
        rows = [row for row in self._rows(args) if _fits(row, args.get("filters"))]
        order = args.get("order_by") or ()
        for key in reversed([order] if isinstance(order, str) else list(order)):
            name = str(key).lstrip("-")
            rows.sort(key=lambda row: (row.get(name) is not None, str(type(row.get(name))), row.get(name)), reverse=str(key).startswith("-"))
        limit = args.get("limit")
        if isinstance(limit, int) and limit > 0:
            rows = rows[:limit]
        if args.get("single_result"):
            return rows[0] if rows else None
        return rows

    def count(self, args):
        return sum(_fits(row, args.get("filters")) for row in self._rows(args))

    def save(self, args):
        data = results.plain(args.get("data") or {})
        if not isinstance(data, dict):
            raise TypeError("data is a dict")
        rows = self._rows(args)
        key = str(args.get("key_field") or "id")
        value = args.get("key_value")
        value = data.get(key) if value is None else value
        filters = args.get("filters")
        changed = None
        for row in rows:
            if filters and _fits(row, filters) or value is not None and row.get(key) == value:
                row.update(data)
                changed = row
        if changed is None:
            changed = dict(data)
            if changed.get(key) is None:
                numbers = [row.get(key) for row in rows if isinstance(row.get(key), int)]
                changed[key] = value if value is not None else max(numbers, default=0) + 1
            rows.append(changed)
        self._put(args, rows)
        return changed

    def delete(self, args):
        rows = self._rows(args)
        kept = [row for row in rows if not _fits(row, args.get("filters"))]
        self._put(args, kept)
        return len(rows) - len(kept)


def _fits(row, filters):
    return all(row.get(key) == value for key, value in (filters or {}).items())
