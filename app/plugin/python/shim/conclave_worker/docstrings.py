"""What a docstring says of a function and of each parameter.

The rules are contracts/llm-functions, section 5: Google, NumPy and reST sections are read.
"""

_GOOGLE = ("args:", "arguments:", "parameters:", "params:")


def clean(text):
    """Removes the indentation of a docstring, like inspect.cleandoc."""
    lines = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    lines = [lines[0].lstrip()] + [line[margin:] for line in lines[1:]]
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    return "\n".join(lines)


def read(text, offered):
    """Returns (description, {parameter: text}, stray names).

    A parameter section leaves the description when every name in it is in
    offered; otherwise the text stays whole.
    """
    text = clean(text)
    lines = text.split("\n")
    for style in (_google, _numpy, _rest):
        found, spans = style(lines)
        if found:
            break
    else:
        return text, {}, []
    stray = [name for name in found if name not in offered]
    known = {name: " ".join(said.split()) for name, said in found.items() if name in offered}
    if not stray:
        text = _without(lines, spans)
    return text, {name: said for name, said in known.items() if said}, stray


def _without(lines, spans):
    gone = {number for first, last in spans for number in range(first, last)}
    kept = []
    for number, line in enumerate(lines):
        if number in gone:
            continue
        if not line.strip() and (not kept or not kept[-1].strip()):
            continue
        kept.append(line)
    return "\n".join(kept).strip()


def _indent(line):
    return len(line) - len(line.lstrip())


def _names(text):
    """Returns the parameter names of "*args", "x, y", or none when it is prose."""
    names = [name.strip().lstrip("*").strip("`") for name in text.split(",")]
    return names if all(name.isidentifier() for name in names) else []


def _google(lines):
    found, spans = {}, []
    for start, line in enumerate(lines):
        if line.strip().lower() not in _GOOGLE:
            continue
        outer, inner, current, end = _indent(line), None, None, start + 1
        while end < len(lines):
            line = lines[end]
            if line.strip():
                depth = _indent(line)
                if depth <= outer:
                    break
                if inner is None:
                    inner = depth
                names, said = _google_entry(line) if depth <= inner else ([], "")
                if names:
                    current = names
                    for name in names:
                        found[name] = said
                elif current:
                    for name in current:
                        found[name] += " " + line.strip()
            end += 1
        if current:
            spans.append((start, end))
    return found, spans


def _google_entry(line):
    """Reads "name: text" and "name (type): text"."""
    line = line.strip()
    name, colon, said = line.partition(":")
    bracket = name.find("(")
    if bracket > 0:
        # The type may hold colons and brackets: the head ends at the closing one.
        depth, at = 0, bracket
        while at < len(line):
            depth += {"(": 1, ")": -1}.get(line[at], 0)
            at += 1
            if depth == 0:
                break
        rest = line[at:].lstrip()
        if not rest.startswith(":"):
            return [], ""
        name, colon, said = line[:bracket], ":", rest[1:]
    return (_names(name.strip()), said.strip()) if colon else ([], "")


def _numpy(lines):
    found, spans = {}, []
    for start in range(len(lines) - 1):
        if lines[start].strip().lower() != "parameters" or not _dashes(lines[start + 1]):
            continue
        outer, current, end = _indent(lines[start]), None, start + 2
        while end < len(lines):
            line = lines[end]
            if end + 1 < len(lines) and line.strip() and _dashes(lines[end + 1]):
                break  # the next section
            if line.strip() and _indent(line) <= outer:
                names = _names(line.partition(":")[0].strip())
                if not names:
                    break
                current = names
                for name in names:
                    found[name] = ""
            elif current and line.strip():
                for name in current:
                    found[name] += " " + line.strip()
            end += 1
        if current:
            spans.append((start, end))
    return found, spans


def _dashes(line):
    line = line.strip()
    return len(line) >= 3 and not line.strip("-")


def _rest(lines):
    found, spans = {}, []
    number = 0
    while number < len(lines):
        head, colon, said = lines[number].strip()[1:].partition(":")
        words = head.split()
        is_field = lines[number].strip().startswith(":") and colon and len(words) >= 2
        start, number = number, number + 1
        if not is_field or words[0] not in ("param", "parameter", "arg", "argument", "type"):
            continue
        while number < len(lines) and lines[number].strip() and _indent(lines[number]) > _indent(lines[start]):
            said += " " + lines[number].strip()
            number += 1
        spans.append((start, number))
        if words[0] != "type":
            found[words[-1].lstrip("*")] = said.strip()
    return found, (spans if found else [])
