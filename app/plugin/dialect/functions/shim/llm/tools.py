"""Two tools of the llm program, for plugins that import them."""


def llm_version():
    "Return the installed version of llm"
    from . import __version__

    return __version__


def llm_time():
    "Returns the current time, as local time and UTC"
    import datetime
    import time

    utc, local = datetime.datetime.now(datetime.timezone.utc), datetime.datetime.now().astimezone()
    offset = local.utcoffset() or datetime.timedelta()
    sign, minutes = "-" if offset.total_seconds() < 0 else "+", abs(int(offset.total_seconds())) // 60
    return {
        "utc_time": utc.strftime("%Y-%m-%d %H:%M:%S UTC"),
        "utc_time_iso": utc.isoformat(),
        "local_timezone": local.tzname(),
        "local_time": local.strftime("%Y-%m-%d %H:%M:%S"),
        "timezone_offset": "UTC%s%02d:%02d" % (sign, minutes // 60, minutes % 60),
        "is_dst": bool(time.localtime().tm_isdst),
    }
