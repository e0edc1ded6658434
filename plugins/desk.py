"""Desk: small things one wants at hand while writing.

Text statistics, unit conversion, and a note keeper that writes only in this
plugin's own storage folder. It comes with Conclave as an example: every public
function here is a tool, and what a model is told of it is its name, its type
hints and its docstring.
"""

import re
from pathlib import Path
from typing import Literal

import conclave


def text_statistics(text: str) -> dict:
    """Count the words, sentences, lines and characters of a text, and estimate its reading time.

    Args:
        text: The text to count.
    """
    words = re.findall(r"\w+(?:['’-]\w+)*", text)
    sentences = [s for s in re.split(r"[.!?…]+(?:\s|$)", text) if s.strip()]
    longest = max(words, key=len, default="")
    return {
        "words": len(words),
        "sentences": len(sentences),
        "lines": len(text.splitlines()),
        "characters": len(text),
        "longest_word": longest,
        # 238 words a minute: the mean of silent reading of English non-fiction
        # in Brysbaert's 2019 review of 190 studies.
        "reading_seconds": round(len(words) / 238 * 60),
    }


# Each unit as how many of its kind's first unit it is.
UNITS = {
    "length": {"m": 1.0, "km": 1000.0, "cm": 0.01, "mm": 0.001, "mi": 1609.344, "yd": 0.9144, "ft": 0.3048, "in": 0.0254},
    "mass": {"kg": 1.0, "g": 0.001, "t": 1000.0, "lb": 0.45359237, "oz": 0.028349523125, "st": 6.35029318},
    "volume": {"l": 1.0, "ml": 0.001, "m3": 1000.0, "gal": 3.785411784, "pt": 0.473176473, "floz": 0.0295735295625},
    "speed": {"m/s": 1.0, "km/h": 1 / 3.6, "mph": 0.44704, "kn": 1852 / 3600},
    "data": {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
}


def _kelvin(value: float, unit: str) -> float:
    return {"K": value, "C": value + 273.15, "F": (value - 32) * 5 / 9 + 273.15}[unit]


def _from_kelvin(value: float, unit: str) -> float:
    return {"K": value, "C": value - 273.15, "F": (value - 273.15) * 9 / 5 + 32}[unit]


def convert_units(value: float, from_unit: str, to_unit: str) -> str:
    """Convert a quantity from one unit to another.

    Args:
        value: The number to convert.
        from_unit: Its unit: m, km, cm, mm, mi, yd, ft, in, kg, g, t, lb, oz, st, l, ml, m3, gal, pt, floz,
            m/s, km/h, mph, kn, B, kB, MB, GB, KiB, MiB, GiB, C, F or K.
        to_unit: The unit wanted, of the same kind.
    """
    if {from_unit, to_unit} <= {"C", "F", "K"}:
        kelvin = _kelvin(value, from_unit)
        if kelvin < 0:
            raise ValueError(f"{value:g} {from_unit} is below absolute zero")
        return f"{_from_kelvin(kelvin, to_unit):.6g} {to_unit}"
    for units in UNITS.values():
        if from_unit in units and to_unit in units:
            return f"{value * units[from_unit] / units[to_unit]:.6g} {to_unit}"
    known = sorted({unit for units in UNITS.values() for unit in units} | {"C", "F", "K"})
    for unit in (from_unit, to_unit):
        if unit not in known:
            raise ValueError(f"the unit {unit!r} is not known; there are {', '.join(known)}")
    raise ValueError(f"{from_unit} and {to_unit} measure different things")


def _note(title: str) -> Path:
    slug = re.sub(r"[^\w-]+", "-", title.strip().lower()).strip("-")[:80]
    if not slug:
        raise ValueError("a note needs a title with letters or digits")
    return Path(conclave.storage_dir()) / "notes" / f"{slug}.md"


def save_note(title: str, text: str, mode: Literal["replace", "append"] = "replace") -> str:
    """Keep a note. Notes stay in this plugin's own storage and nowhere else.

    Args:
        title: What the note is found under.
        text: What it says.
        mode: Whether a note of that title is replaced, or the text added to its end.
    """
    path = _note(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == "append" and path.exists():
        text = path.read_text(encoding="utf-8").rstrip("\n") + "\n" + text
    path.write_text(text, encoding="utf-8")
    return f"Kept “{title}” ({len(text)} characters)."


def read_note(title: str) -> str:
    """Read a note that was kept.

    Args:
        title: What the note is found under.
    """
    path = _note(title)
    if not path.exists():
        raise LookupError(f"there is no note “{title}”; list_notes tells which there are")
    return path.read_text(encoding="utf-8")


def list_notes() -> list:
    """List the titles of the notes that were kept."""
    return sorted(p.stem for p in (Path(conclave.storage_dir()) / "notes").glob("*.md"))


def delete_note(title: str) -> str:
    """Delete a note that was kept.

    Args:
        title: What the note is found under.
    """
    path = _note(title)
    if not path.exists():
        raise LookupError(f"there is no note “{title}”; list_notes tells which there are")
    path.unlink()
    return f"Deleted “{title}”."
