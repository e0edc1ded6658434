"""Reads TOML where Python has no tomllib: before 3.11."""

_BARE = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\", "e": "\x1b"}


class Reader:
    def __init__(self, text):
        self.text = text.replace("\r\n", "\n")
        self.at = 0

    def fail(self, why):
        line = self.text.count("\n", 0, self.at) + 1
        raise ValueError("%s (line %d)" % (why, line))

    def peek(self):
        return self.text[self.at:self.at + 1]

    def blank(self, lines=False):
        while True:
            char = self.peek()
            if char and char in (" \t\n" if lines else " \t"):
                self.at += 1
            elif char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
                if not lines:
                    return
            else:
                return

    def document(self):
        root = {}
        table, defined = root, set()
        while True:
            self.blank(lines=True)
            if self.at >= len(self.text):
                return root
            if self.peek() == "[":
                many = self.text.startswith("[[", self.at)
                self.at += 2 if many else 1
                self.blank()
                path = self.key()
                self.blank()
                if not self.text.startswith("]]" if many else "]", self.at):
                    self.fail("a table's name is not closed")
                self.at += 2 if many else 1
                if not many and tuple(path) in defined:
                    self.fail("the table %s is there twice" % ".".join(path))
                if many:  # tables inside begin anew with each
                    defined = {known for known in defined if known[:len(path)] != tuple(path)}
                else:
                    defined.add(tuple(path))
                table = self.table(root, path, many)
            else:
                self.pair(table)
            self.blank()
            if self.at < len(self.text) and self.peek() != "\n":
                self.fail("there is more on the line")

    def table(self, root, path, many):
        table = root
        for number, name in enumerate(path):
            last = number == len(path) - 1
            if last and many:
                rows = table.setdefault(name, [])
                if not isinstance(rows, list):
                    self.fail("%s is no list of tables" % name)
                rows.append({})
                return rows[-1]
            table = table.setdefault(name, {})
            if isinstance(table, list) and table and isinstance(table[-1], dict):
                table = table[-1]
            if not isinstance(table, dict):
                self.fail("%s is no table" % name)
        return table

    def pair(self, table):
        path = self.key()
        self.blank()
        if self.peek() != "=":
            self.fail("a key has no value")
        self.at += 1
        self.blank()
        value = self.value()
        for name in path[:-1]:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                self.fail("%s is no table" % name)
        if path[-1] in table:
            self.fail("%s is there twice" % path[-1])
        table[path[-1]] = value

    def key(self):
        path = []
        while True:
            self.blank()
            char = self.peek()
            if char in ('"', "'"):
                path.append(self.string())
            else:
                begin = self.at
                while self.peek() in _BARE and self.peek():
                    self.at += 1
                if begin == self.at:
                    self.fail("a key is missing")
                path.append(self.text[begin:self.at])
            self.blank()
            if self.peek() != ".":
                return path
            self.at += 1

    def value(self):
        char = self.peek()
        if char in ('"', "'"):
            return self.string()
        if char == "[":
            self.at += 1
            items = []
            while True:
                self.blank(lines=True)
                if self.peek() == "]":
                    self.at += 1
                    return items
                items.append(self.value())
                self.blank(lines=True)
                if self.peek() == ",":
                    self.at += 1
                elif self.peek() != "]":
                    self.fail("a list is not closed")
        if char == "{":
            self.at += 1
            table = {}
            while True:
                self.blank(lines=True)
                if self.peek() == "}":
                    self.at += 1
                    return table
                self.pair(table)
                self.blank(lines=True)
                if self.peek() == ",":
                    self.at += 1
                elif self.peek() != "}":
                    self.fail("a table is not closed")
        begin = self.at
        while self.peek() and self.peek() not in ",]}#\n":
            self.at += 1
        return self.plain(self.text[begin:self.at].strip())

    def plain(self, word):
        if word in ("true", "false"):
            return word == "true"
        import datetime

        digits = word.replace("_", "")
        try:
            if digits.lower().lstrip("+-")[:2] in ("0x", "0o", "0b"):
                return int(digits, 0)
            if digits.lstrip("+-") in ("inf", "nan"):
                return float(digits)
            return int(digits) if digits.lstrip("+-").isdigit() else float(digits)
        except ValueError:
            pass
        for make in (datetime.date.fromisoformat, datetime.time.fromisoformat, datetime.datetime.fromisoformat):
            try:
                return make(word.replace("Z", "+00:00").replace("z", "+00:00"))
            except ValueError:
                continue
        self.fail("%r is no value" % word[:40])

    def string(self):
        quote = self.peek()
        long = self.text.startswith(quote * 3, self.at)
        mark = quote * 3 if long else quote
        self.at += len(mark)
        if long and self.peek() == "\n":
            self.at += 1
        parts = []
        while True:
            if self.text.startswith(mark, self.at):
                self.at += len(mark)
                while long and self.peek() == quote:  # quotes right before the end
                    parts.append(quote)
                    self.at += 1
                return "".join(parts)
            char = self.peek()
            if not char or char == "\n" and not long:
                self.fail("a text is not closed")
            self.at += 1
            if char != "\\" or quote == "'":
                parts.append(char)
                continue
            kind = self.peek()
            self.at += 1
            if kind in ("u", "U", "x"):
                size = {"x": 2, "u": 4, "U": 8}[kind]
                try:
                    parts.append(chr(int(self.text[self.at:self.at + size], 16)))
                except ValueError:
                    self.fail("a character's number is wrong")
                self.at += size
            elif kind in _ESCAPES:
                parts.append(_ESCAPES[kind])
            elif long and kind in " \t\n":
                while self.peek() and self.peek() in " \t\n":
                    self.at += 1
            else:
                self.fail("\\%s means nothing" % kind)
