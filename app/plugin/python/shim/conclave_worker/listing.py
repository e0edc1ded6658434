"""What can be told of a source file without running it.

Which functions of a file become tools is decided here, from the syntax tree, so
that the list shown before the person approves is the list there is afterwards
(contracts/llm-functions, section 3.3).
"""

# compile() flag of the ast module, which is not imported: it is slow to, and
# all that is needed of it is the tree.
ONLY_AST = 0x400


class Function:
    """One function that will become a tool."""

    __slots__ = ("name", "line", "doc", "described")

    def __init__(self, name, line, doc, described=()):
        self.name = name
        self.line = line
        self.doc = doc  # as written, or None
        self.described = described  # the texts that its annotations give its parameters

    def text(self):
        """Returns its docstring without the indentation of its lines, and what describes its
        parameters: all that a model may be told of it."""
        lines = (self.doc or "").strip().split("\n")
        indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
        margin = min(indents, default=0)
        return "\n".join(lines[:1] + [line[margin:].rstrip() for line in lines[1:]] + list(self.described))

    def summary(self):
        """Returns the first line of its docstring that says something."""
        for line in (self.doc or "").split("\n"):
            if line.strip():
                return line.strip()
        return ""


class Listing:
    """What was read of one file."""

    def __init__(self):
        self.functions = {}  # name → Function, in source order
        self.decorators = set()  # names this file uses as decorators
        self.exported = None  # the names of a literal __all__
        self.dynamic = False  # whether __all__ is something only running can tell
        self.assigned = {}  # name → line, of other module-level names
        self.imports = []  # dotted module names, in order, without repeats
        self.hook = 0  # line of an llm plugin hook, 0 without
        self.names = []  # what that hook registers by its name
        self.boxes = {}  # class → its public methods, as Functions
        self.classes = {}  # class → the last names of its bases
        self.home = []  # what of a home folder it names, as ~/name; "~" where that is not told

    def tools(self):
        """Returns (functions that become tools, whether that is all of the truth)."""
        if self.exported is not None:
            found, known = [], not self.dynamic
            for name in self.exported:
                function = self.functions.get(name)
                if function is None and name in self.assigned:
                    # A partial or a factory's product: callable, perhaps.
                    function, known = Function(name, self.assigned[name], None), False
                if function is not None:
                    found.append(function)
            return found, known
        return [f for f in self.functions.values() if self.offers(f.name)], not self.dynamic

    def registered(self):
        """Returns what a register_tools hook is seen to offer, as {name, line, doc}."""
        found = []
        for name in self.names:
            function = self.functions.get(name)
            for one in [function] if function is not None else self.boxes.get(name, ()):
                found.append({"name": one.name, "line": one.line, "doc": one.text()})
        return found

    def offers(self, name):
        return not name.startswith("_") and name not in self.decorators


def parse(source, path):
    """Returns the syntax tree of source (bytes). Raises SyntaxError."""
    try:
        return compile(source, path, "exec", ONLY_AST, dont_inherit=True)
    except SyntaxError:
        raise
    except (ValueError, RecursionError, OverflowError) as err:
        # A null byte, nesting too deep for the parser.
        failure = SyntaxError(str(err) or "the source nests too deeply")
        failure.filename, failure.lineno = path, 1
        raise failure from None


def read(tree):
    """Returns the Listing of a parsed file."""
    listing = Listing()
    _block(tree.body, listing)
    _decorators_and_imports(tree, listing)
    return listing


def _block(body, listing):
    for node in body:
        kind = type(node).__name__
        if kind in ("FunctionDef", "AsyncFunctionDef"):
            if node.name == "register_tools" and any(_root(d) == "hookimpl" for d in node.decorator_list):
                listing.hook = node.lineno
                listing.names = _named(node)
            # The last definition counts, at the place of the first.
            listing.functions[node.name] = Function(node.name, node.lineno, _docstring(node.body), _described(node))
        elif kind == "ClassDef":
            listing.classes[node.name] = [_last(base) for base in node.bases]
            listing.boxes[node.name] = [
                Function(node.name + "_" + one.name, one.lineno, _docstring(one.body), _described(one))
                for one in node.body
                if type(one).__name__ in ("FunctionDef", "AsyncFunctionDef") and not one.name.startswith("_") and _plain(one)
            ]
        elif kind == "If":
            if not _never(node.test):
                _block(node.body, listing)
            _block(node.orelse, listing)
        elif kind in ("Try", "TryStar"):
            _block(node.body, listing)
            for handler in node.handlers:
                _block(handler.body, listing)
            _block(node.orelse, listing)
            _block(node.finalbody, listing)
        elif kind in ("With", "AsyncWith"):
            _block(node.body, listing)
        elif kind in ("Assign", "AnnAssign", "AugAssign"):
            targets = node.targets if kind == "Assign" else [node.target]
            for target in targets:
                if type(target).__name__ == "Name":
                    _assigned(target.id, node, kind, listing)


def _plain(method):
    """Says whether a method is one that a toolbox offers: no property, none of its own."""
    if method.name in ("tools", "add_tool", "method_tools", "prepare", "prepare_async"):
        return False
    return not any(_root(d) in ("property", "cached_property", "setter", "getter", "deleter") for d in method.decorator_list)


def _named(hook):
    """Returns the names that a hook's body passes to register by themselves."""
    names, todo = [], [hook]
    while todo:
        node = todo.pop()
        if type(node).__name__ == "Call" and getattr(node.func, "id", "") == "register" and node.args:
            if type(node.args[0]).__name__ == "Name":
                names.append(node.args[0].id)
        for field in reversed(node._fields):
            child = getattr(node, field, None)
            if type(child) is list:
                todo.extend(item for item in reversed(child) if hasattr(item, "_fields"))
            elif hasattr(child, "_fields"):
                todo.append(child)
    return names


def _assigned(name, node, kind, listing):
    if name != "__all__":
        listing.assigned[name] = node.lineno
        return
    names = _strings(node.value)
    if names is None:
        listing.dynamic = True
    elif kind == "AugAssign" and listing.exported is not None:
        listing.exported = listing.exported + names
    else:
        listing.exported = names


def _strings(node):
    """Returns the texts of a literal list or tuple, or None."""
    if type(node).__name__ not in ("List", "Tuple"):
        return None
    values = [getattr(item, "value", None) for item in node.elts]
    return values if all(type(value) is str for value in values) else None


def _never(test):
    """Says whether an `if` is not entered in a plugin: __main__ and TYPE_CHECKING."""
    kind = type(test).__name__
    if kind == "Compare" and len(test.comparators) == 1:
        sides = (test.left, test.comparators[0])
        if type(test.ops[0]).__name__ != "Eq":
            return False
        names = [side.id for side in sides if type(side).__name__ == "Name"]
        texts = [getattr(side, "value", None) for side in sides]
        return "__name__" in names and "__main__" in texts
    return (kind == "Name" and test.id == "TYPE_CHECKING") or (kind == "Attribute" and test.attr == "TYPE_CHECKING")


def _docstring(body):
    if body and type(body[0]).__name__ == "Expr":
        value = getattr(body[0].value, "value", None)
        if type(value) is str:
            return value
    return None


def _described(function):
    """Returns the literal texts that a model reads of a function's parameters: those of Annotated[…, "text"]
    and Field(description="text"), and default values that are more than a word."""
    args = function.args
    found = [one for one in args.defaults + args.kw_defaults if " " in str(getattr(one, "value", ""))]
    todo = [args]
    for node in todo:  # which grows meanwhile
        kind = type(node).__name__
        if kind == "Call" and _last(node) == "Field":
            found.extend(word.value for word in node.keywords if word.arg == "description")
        elif kind == "Subscript" and _last(node.value) == "Annotated":
            parts = getattr(node.slice, "value", node.slice)  # an Index before Python 3.9
            found.extend(getattr(parts, "elts", [])[1:])
        for field in node._fields:
            child = getattr(node, field, None)
            todo.extend(one for one in (child if type(child) is list else [child]) if hasattr(one, "_fields"))
    texts = [getattr(one, "value", None) for one in found]
    return [text for text in texts if type(text) is str]


def _root(decorator):
    """Returns the name at the root of `@name` and `@name(…)`, or the last of `@a.name`."""
    kind = type(decorator).__name__
    if kind == "Call":
        return _root(decorator.func)
    if kind == "Name":
        return decorator.id
    if kind == "Attribute":
        return decorator.attr
    return ""


def _decorators_and_imports(tree, listing):
    seen = {}
    todo = [tree]
    while todo:
        node = todo.pop()
        kind = type(node).__name__
        if kind == "Import":
            for alias in node.names:
                seen.setdefault(alias.name, node.lineno)
        elif kind == "ImportFrom":
            if node.module and not node.level:
                seen.setdefault(node.module, node.lineno)
        looked = _in_home(node, kind)
        if looked and looked not in listing.home:
            listing.home.append(looked)
        for decorator in getattr(node, "decorator_list", ()):
            target = decorator.func if type(decorator).__name__ == "Call" else decorator
            if type(target).__name__ == "Name":
                listing.decorators.add(target.id)
        for field in node._fields:
            child = getattr(node, field, None)
            if type(child) is list:
                todo.extend(item for item in child if hasattr(item, "_fields"))
            elif hasattr(child, "_fields"):
                todo.append(child)
    listing.imports = sorted(seen, key=lambda name: (seen[name], name))


def _in_home(node, kind):
    """Returns what of a home folder a node names: ~/name, "~" or ""."""
    if kind == "Constant" and type(node.value) is str:
        text = node.value
        return text if text.startswith("~/") and len(text) > 2 and "\n" not in text else ""
    if kind == "BinOp" and type(node.op).__name__ == "Div" and _is_home(node.left):
        name = getattr(node.right, "value", None)
        return "~/" + name if type(name) is str and name else ""
    return "~" if _is_home(node) else ""


def _is_home(node):
    """Says whether a node is Path.home()."""
    function = getattr(node, "func", None)
    return type(node).__name__ == "Call" and type(function).__name__ == "Attribute" and function.attr == "home" and _last(function.value) in ("Path", "PosixPath")


def decorated(tree):
    """Returns the functions below classes or not that have decorators, in source order.

    Each is {"decorator", "values", "name", "line", "doc", "options"}, once for each
    of its decorators; options holds the keyword arguments that are literal, values
    the others, "" for one that is no literal text.
    """
    found = []
    todo = [tree]
    while todo:
        node = todo.pop()
        for decorator in getattr(node, "decorator_list", ()) if hasattr(node, "args") else ():
            options = {}
            for keyword in getattr(decorator, "keywords", ()):
                value = getattr(keyword.value, "value", None)
                if type(keyword.value).__name__ == "Constant" and type(value) in (str, int, float, bool) and keyword.arg:
                    options[keyword.arg] = value
            values = [getattr(one, "value", None) for one in getattr(decorator, "args", ())]
            found.append({
                "decorator": _last(decorator), "values": [one if type(one) is str else "" for one in values], "name": node.name, "line": node.lineno,
                "doc": Function(node.name, node.lineno, _docstring(node.body)).summary(), "options": options,
            })  # fmt: skip
        body = getattr(node, "body", None)
        if type(body) is list:
            todo.extend(body)
    found.sort(key=lambda one: one["line"])
    return found


def _last(decorator):
    """Returns the last name of `@name`, `@a.name` and calls of them."""
    target = decorator.func if type(decorator).__name__ == "Call" else decorator
    return getattr(target, "id", None) or getattr(target, "attr", None) or ""


def _limit():
    """Bounds what reading one plugin's hostile source may take: 10 s more of processor.

    The sandbox around this process bounds its memory (app/base/limit, InspectMemory).
    """
    try:
        import resource
        from time import process_time

        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(process_time()) + 10, hard))
    except (ImportError, ValueError, OSError):
        pass  # not on this system


def _places(files):
    """Returns folder → the modules and folders in it, for names with / between them."""
    places = {}
    for name in files:
        parts = name.rsplit(".py", 1)[0].split("/")
        for depth, part in enumerate(parts):
            places.setdefault("/".join(parts[:depth]), set()).add(part)
    return places


def _beside(name, places):
    """Returns what a file can import of the plugin: what lies beside it, or above."""
    own, folders = set(places[""]), name.split("/")[:-1]
    for depth in range(1, len(folders) + 1):
        own |= places.get("/".join(folders[:depth]), set())
    return own


# What is larger leaves the process too full for the next plugin.
LARGE = 1 << 20


def main():
    """Answers questions on stdin until it ends: each is a line with a length, and so many bytes.

    Each answer is one line. One process reads many plugins, since starting it takes longer
    than reading most of them; it ends itself after sources that may have filled it.
    """
    import os

    from . import codec

    questions = open(0, "rb", closefd=False)
    for length in iter(questions.readline, b""):
        text = questions.read(int(length))
        if len(text) < int(length):
            return
        _limit()
        answer, full = _answer(codec.loads(text))
        line = memoryview(codec.dumps(answer) + b"\n")
        while line:
            line = line[os.write(1, line) :]
        if full or len(text) > LARGE:
            return


def _answer(ask):
    """Returns what was found in {"entry", "files": {name: base64}}, and whether it was too much.

    The answer is {"functions": [{name, line, doc}], "decorated", "imports",
    "known", "options", "classes", "exports", "home"} or {"problem"}. Nothing of the sources is run. With
    "registered", the functions are what register_tools hooks register.
    """
    import os
    from binascii import a2b_base64

    from . import guards, problems, wants

    full = False
    root = os.sep + "plugin"
    entry = root + os.sep + ask["entry"].replace("/", os.sep)
    sources = problems.Sources(root, entry)
    answer = {"functions": [], "decorated": [], "imports": [], "known": True}
    settings, registered = {}, []
    imports, weights, home = {}, {}, {}
    places = _places(ask["files"])
    try:
        for name in [ask["entry"]] + sorted(set(ask["files"]) - {ask["entry"]}):
            source = a2b_base64(ask["files"][name])
            path = root + os.sep + name.replace("/", os.sep)
            text = source.decode("utf-8", "replace")
            sources.add(path, text)
            wants.read(text, settings)
            try:
                tree = parse(source, path)
                listing = read(tree)
            except SyntaxError:
                if name == ask["entry"]:
                    raise
                continue  # a sibling that is never imported may be anything
            own = _beside(name, places)
            imports.update((found, None) for found in listing.imports if found.split(".")[0] not in own)
            if name == ask["entry"]:
                answer["classes"] = listing.classes
                answer["exports"] = listing.exported is not None or listing.dynamic
            guards.weigh(tree, weights)
            home.update((found, None) for found in listing.home)
            answer["decorated"] += [dict(one, file=name) for one in decorated(tree)]
            if listing.hook and (ask.get("registered") or name == ask["entry"]):
                registered += listing.registered()
                answer["functions"], answer["known"] = registered, False
            elif name == ask["entry"] and not ask.get("registered"):
                functions, answer["known"] = listing.tools()
                answer["functions"] = [{"name": f.name, "line": f.line, "doc": f.text()} for f in functions]
        answer["imports"] = list(imports)
        answer["home"] = [name for name in home if name != "~"] or list(home)
        answer["known"] = answer["known"] and not ask.get("registered")
        if settings:
            answer["options"] = {"type": "object", "properties": settings}
        answer["lazy"] = [name for name, weight in weights.items() if weight == guards.LAZY]
        answer["guarded"] = [name for name, weight in weights.items() if weight == guards.GUARDED]
    except SyntaxError as err:
        answer = {"problem": problems.of_syntax(err, sources, entry).facts}
    except problems.Problem as err:
        answer = {"problem": err.facts}
    except MemoryError:
        places = sources = None  # room to say so
        full = True
        answer = {"problem": {
            "kind": "memory", "file": ask["entry"],
            "message": "Reading its sources takes more memory than Conclave gives to that.",
            "hint": "Keep data in separate files, and large packages installed for Python.",
        }}  # fmt: skip
    return answer, full
