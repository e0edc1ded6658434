"""Dates, times and durations from ISO 8601 text or seconds.

Python 3.9 and 3.10 read little of ISO 8601 themselves: the text is brought
into the one form they know.
"""

import datetime

from .scalars import Scalar, _refuse

_UTC = datetime.timezone.utc

# Past this, a number of seconds would lie beyond the year 2603, so it counts
# as milliseconds; pydantic draws the same line.
_SECONDS = 2e10


def _time_text(text):
    """Returns "HH:MM:SS.ffffff+HH:MM" of a looser spelling."""
    zone = ""
    if text[-1:] in ("Z", "z"):
        text, zone = text[:-1], "+00:00"
    else:
        at = max(text.rfind("+"), text.rfind("-"))
        if at > 0:
            text, zone = text[:at], text[at:]
            digits = zone[1:].replace(":", "")
            if len(digits) not in (2, 4) or not digits.isdigit():
                _refuse()
            zone = zone[0] + digits[:2] + ":" + (digits[2:] or "00")
    text, point, fraction = text.strip().replace(",", ".").partition(".")
    if ":" not in text:
        if not text.isdigit() or len(text) not in (2, 4, 6):
            _refuse()
        text = ":".join(text[n:n + 2] for n in range(0, len(text), 2))
        text = text if ":" in text else text + ":00"
    if point:
        if not fraction.isdigit():
            _refuse()
        text += "." + fraction[:6].ljust(6, "0")
    return text + zone


def _number(value):
    """Returns a number that is one, or is the text of one; None otherwise."""
    if type(value) in (int, float):
        return value
    if type(value) is str:
        try:
            return float(value.strip())
        except ValueError:
            return None
    return _refuse()


def _datetime(value):
    number = _number(value)
    if number is not None:
        if abs(number) > _SECONDS:
            number /= 1000
        return datetime.datetime(1970, 1, 1, tzinfo=_UTC) + datetime.timedelta(seconds=number)
    text = value.strip()
    if len(text) == 10:
        return datetime.datetime.fromisoformat(text)
    if text[10:11] not in ("T", "t", " ", "_"):
        _refuse()
    return datetime.datetime.fromisoformat(text[:10] + "T" + _time_text(text[11:]))


def _date(value):
    if type(value) is str and len(value.strip()) == 10:
        return datetime.date.fromisoformat(value.strip())
    moment = _datetime(value)
    # A moment within a day is no date.
    return moment.date() if moment.time() == datetime.time() else _refuse()


def _time(value):
    number = _number(value)
    if number is not None:
        if not 0 <= number < 86400:
            _refuse()
        return (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=number)).time()
    return datetime.time.fromisoformat(_time_text(value.strip()))


_UNITS = {"W": 604800, "D": 86400, "H": 3600, "M": 60, "S": 1}


def _timedelta(value):
    number = _number(value)
    if number is not None:
        return datetime.timedelta(seconds=number)
    text = value.strip()
    sign = -1 if text.startswith("-") else 1
    text = text.lstrip("+-")
    seconds = _iso(text.upper()) if text[:1] in ("P", "p") else _clock(text)
    return datetime.timedelta(seconds=sign * seconds)


def _iso(text):
    """Returns the seconds of "P1DT2H30M"."""
    days, _, clock = text[1:].partition("T")
    if not days and not clock:
        _refuse()
    return _parts(days, "WD") + _parts(clock, "HMS")


def _parts(text, units):
    seconds, digits = 0, ""
    for char in text:
        if char in units and digits:
            seconds += float(digits) * _UNITS[char]
            units, digits = units[units.index(char) + 1:], ""
        elif char.isdigit() or char == ".":
            digits += char
        else:
            _refuse()
    return seconds if not digits else _refuse()


def _clock(text):
    """Returns the seconds of "HH:MM:SS.f", "HH:MM" or "3 days, HH:MM:SS"."""
    days = 0
    head, comma, tail = text.partition(",")
    if not comma:
        head, comma, tail = text.partition(" ")
    if comma:
        days, text = int(head.split()[0]), tail.replace("days", "").replace("day", "").strip()
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(part.replace(".", "", 1).isdigit() for part in parts):
        _refuse()
    hours, minutes = int(parts[0]), int(parts[1])
    seconds = float(parts[2]) if len(parts) == 3 else 0
    if minutes > 59 or seconds >= 60:
        _refuse()
    return days * 86400 + hours * 3600 + minutes * 60 + seconds


def _string(format):
    return {"type": "string", "format": format}


SHAPES = {
    "datetime": Scalar("a date and time such as 2026-03-01T12:30:00Z", _string("date-time"), _datetime),
    "date": Scalar("a date such as 2026-03-01", _string("date"), _date),
    "time": Scalar("a time such as 12:30:00", _string("time"), _time),
    "timedelta": Scalar("a duration such as PT1H30M, or seconds", _string("duration"), _timedelta),
}
