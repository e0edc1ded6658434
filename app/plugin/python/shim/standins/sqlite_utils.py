"""A small stand-in for sqlite_utils, found only when the real package is not installed.

Enough for a tool that reads and writes rows: Database(path or connection) with
query, execute, schema, table_names and [name].rows. It is Conclave's own code
over sqlite3 and follows the documented behaviour of sqlite_utils, not its
source. Everything else raises AttributeError.
"""

import pathlib
import sqlite3


def _quoted(name):
    return '"%s"' % str(name).replace('"', '""')


class Table:
    """One table or view of a Database."""

    def __init__(self, db, name):
        self.db, self.name = db, name

    def exists(self):
        return bool(self.db.execute("select 1 from sqlite_master where name = ?", [self.name]).fetchone())

    @property
    def rows(self):
        return self.rows_where()

    def rows_where(self, where=None, where_args=None, order_by=None, select="*", limit=None, offset=None):
        sql = "select %s from %s" % (select, _quoted(self.name))
        if where:
            sql += " where " + where
        if order_by:
            sql += " order by " + order_by
        if limit is not None:
            sql += " limit %d" % limit
        if offset is not None:
            sql += ("" if limit is not None else " limit -1") + " offset %d" % offset
        return self.db.query(sql, where_args)

    @property
    def columns_dict(self):
        kinds = {"INTEGER": int, "INT": int, "REAL": float, "FLOAT": float, "BLOB": bytes}
        found = self.db.execute("pragma table_info(%s)" % _quoted(self.name)).fetchall()
        return {row[1]: kinds.get(str(row[2]).upper(), str) for row in found}

    @property
    def schema(self):
        row = self.db.execute("select sql from sqlite_master where name = ?", [self.name]).fetchone()
        return row[0] if row else ""

    @property
    def count(self):
        return self.db.execute("select count(*) from %s" % _quoted(self.name)).fetchone()[0]

    def count_where(self, where=None, where_args=None):
        sql = "select count(*) from %s%s" % (_quoted(self.name), " where " + where if where else "")
        return self.db.execute(sql, where_args or []).fetchone()[0]

    def get(self, key):
        for row in self.rows_where("rowid = ?", [key], limit=1):
            return row
        raise NotFoundError(key)

    def insert_all(self, records, pk=None, replace=False, ignore=False, **options):
        records = [dict(one) for one in records]
        if not records:
            return self
        if options:
            raise TypeError("Conclave's stand-in for sqlite_utils does not know %s; install the real package" % ", ".join(options))
        if not self.exists():
            names = {int: "INTEGER", bool: "INTEGER", float: "FLOAT", bytes: "BLOB"}
            columns = {name: names.get(type(value), "TEXT") for one in records for name, value in one.items()}
            declared = ", ".join(
                "%s %s%s" % (_quoted(name), kind, " PRIMARY KEY" if name == pk else "") for name, kind in columns.items()
            )
            self.db.execute("create table %s (%s)" % (_quoted(self.name), declared))
        verb = "insert or replace" if replace else "insert or ignore" if ignore else "insert"
        with self.db.conn:
            for one in records:
                sql = "%s into %s (%s) values (%s)" % (
                    verb, _quoted(self.name), ", ".join(_quoted(name) for name in one), ", ".join("?" * len(one)),
                )  # fmt: skip
                self.db.conn.execute(sql, [_stored(value) for value in one.values()])
        return self

    def insert(self, record, pk=None, **options):
        return self.insert_all([record], pk=pk, **options)

    def upsert(self, record, pk=None, **options):
        return self.insert_all([record], pk=pk, replace=True, **options)

    def delete_where(self, where=None, where_args=None):
        with self.db.conn:
            self.db.conn.execute("delete from %s%s" % (_quoted(self.name), " where " + where if where else ""), where_args or [])
        return self

    def drop(self):
        self.db.execute("drop table %s" % _quoted(self.name))


class NotFoundError(Exception):
    """A row that is not there."""


def _stored(value):
    if isinstance(value, (dict, list, tuple)):
        import json

        return json.dumps(value, ensure_ascii=False)
    return value


class Database:
    """A SQLite database: a path, or a connection of sqlite3."""

    def __init__(self, filename_or_conn=None, memory=False, **options):
        if isinstance(filename_or_conn, sqlite3.Connection):
            self.conn = filename_or_conn
        elif memory or filename_or_conn is None:
            self.conn = sqlite3.connect(":memory:")
        else:
            self.conn = sqlite3.connect(str(pathlib.Path(filename_or_conn)))

    def __getitem__(self, name):
        return Table(self, name)

    def table(self, name, **options):
        return Table(self, name)

    def execute(self, sql, parameters=None):
        return self.conn.execute(sql, parameters) if parameters is not None else self.conn.execute(sql)

    def executescript(self, sql):
        return self.conn.executescript(sql)

    def query(self, sql, params=None):
        cursor = self.execute(sql, params or ())
        names = [column[0] for column in cursor.description or ()]
        for row in cursor:
            yield dict(zip(names, row))

    def _names(self, kind):
        return [row[0] for row in self.execute("select name from sqlite_master where type = ?", [kind]).fetchall()]

    def table_names(self, fts4=False, fts5=False):
        return self._names("table")

    def view_names(self):
        return self._names("view")

    @property
    def tables(self):
        return [Table(self, name) for name in self.table_names()]

    @property
    def schema(self):
        rows = self.execute("select sql from sqlite_master where sql is not null").fetchall()
        return "\n".join(row[0].rstrip(";") + ";" for row in rows)

    def close(self):
        self.conn.close()
