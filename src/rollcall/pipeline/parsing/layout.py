"""A log4j pattern, compiled to regular expressions that rewrite its lines to Kafka's own layout.

The parser reads one layout only, `[time] LEVEL message (logger)`. A line of another layout is
rewritten to it first: `whole` matches a complete line, `start` and `end` match the parts of a
record that a newline has split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rollcall.errors import ConfigError

DEFAULT_PATTERN = "[%d] %p %m (%c)%n"
REQUEST_LOGGER = "kafka.request.logger"
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")

CONVERSION = re.compile(
    r"%(?P<pad>-?\d*)(?:\.-?\d+)?(?P<name>[a-zA-Z]+|%)(?P<options>(?:\{[^}]*\})*)"
)
# The longest name wins: %msg is the message, %t the thread, %table is %t followed by "able".
NAMES = {
    "d": "date", "date": "date", "p": "level", "level": "level", "le": "level",
    "m": "message", "msg": "message", "message": "message",
    "c": "logger", "lo": "logger", "logger": "logger",
    "n": "end", "%": "percent",
    "t": "text", "tn": "text", "thread": "text", "threadName": "text", "tid": "text",
    "X": "text", "mdc": "text", "MDC": "text", "x": "text", "NDC": "text",
    "L": "text", "line": "text", "F": "text", "file": "text", "M": "text", "method": "text",
    "C": "text", "class": "text", "r": "text", "relative": "text", "sn": "text", "pid": "text",
    "l": "text", "location": "text", "T": "text", "threadId": "text", "tp": "text",
    "threadPriority": "text", "marker": "text", "markerSimpleName": "text", "N": "text",
    "nano": "text", "u": "text", "uuid": "text", "fqcn": "text", "processId": "text",
    "sequenceNumber": "text", "K": "text", "map": "text", "MAP": "text", "endOfBatch": "text",
    "ex": "nothing", "xEx": "nothing", "throwable": "nothing", "rEx": "nothing",
    **dict.fromkeys(
        ("notEmpty", "varsNotEmpty", "variablesNotEmpty", "maxLen", "maxLength", "repeat", "R",
         "replace", "equals", "equalsIgnoreCase", "enc", "encode", "highlight", "style"),
        "other patterns",
    ),
}  # fmt: skip

ISO = "yyyy-MM-dd HH:mm:ss,SSS"
DATES = {
    "": ISO,
    "DEFAULT": ISO,
    "ISO8601": ISO,
    "ISO8601_BASIC": "yyyyMMdd HHmmss,SSS",
    "ISO8601_PERIOD": "yyyy-MM-dd HH:mm:ss.SSS",
    "COMPACT": "yyyyMMddHHmmssSSS",
    "ISO8601_OFFSET_DATE_TIME_HH": "yyyy-MM-dd HH:mm:ss,SSSx",
    "ISO8601_OFFSET_DATE_TIME_HHMM": "yyyy-MM-dd HH:mm:ss,SSSxx",
    "ISO8601_OFFSET_DATE_TIME_HHCMM": "yyyy-MM-dd HH:mm:ss,SSSxxx",
}
PARTS = {"yyyy": 4, "uuuu": 4, "MM": 2, "dd": 2, "HH": 2, "mm": 2, "ss": 2}
PART_NAMES = {"yyyy": "year", "uuuu": "year", "MM": "month", "dd": "day", "HH": "hour",
              "mm": "minute", "ss": "second"}  # fmt: skip
LAST_PARTS, WITHOUT_FIRST, ABBREVIATED = (
    re.compile(regex) for regex in (r"[1-9]\d*", r"-[1-9]\d*", r"(\d+)\.")
)
OFFSET = re.compile(r"Z{1,3}|X{1,3}|x{1,3}")
OFFSET_REGEX = r"(?<offset>Z|[+\-]\d\d(?::?\d\d)?)"
DATE_TOKEN = re.compile(r"'([^']*)'|yyyy|uuuu|MM|dd|HH|mm|ss|S+|[a-zA-Z]+|.")


@dataclass(frozen=True, slots=True)
class LogLayout:
    """Java regular expressions of a log4j pattern, and their replacements."""

    whole: str
    start: str
    end: str
    put_whole: str
    put_start: str
    put_end: str
    logger: str
    """Name of the request logger as the layout writes it."""
    time_zone: str | None
    has_offset: bool
    """Timestamps end in their offset from UTC."""
    is_default: bool

    @property
    def suffix(self) -> str:
        """End of a complete request line in Kafka's own layout."""
        return f" ({self.logger})"


@cache
def compile_layout(pattern: str) -> LogLayout:
    pieces = list(conversions(pattern))
    kinds = [kind for kind, _ in pieces]
    for needed, what in (("date", "%d"), ("message", "%m")):
        if kinds.count(needed) != 1:
            raise layout_error(pattern, f"{what} occurs {kinds.count(needed)} times, not once")
    if kinds.index("date") > kinds.index("message"):
        raise layout_error(pattern, "%d comes after %m")
    message = kinds.index("message")
    options = dict(pieces).get("date", "")
    date_regex, date_put, zone = compile_date(pattern, options)
    regex = {"date": date_regex, "level": padded(rf"(?<level>{'|'.join(LEVELS)})")}
    before = "".join(regex.get(kind) or plain_regex(kind, text) for kind, text in pieces[:message])
    after = "".join(plain_regex(kind, text) for kind, text in pieces[message + 1 :])
    level = "${level}" if "level" in kinds else "DEBUG"
    logger = "${logger}" if "logger" in kinds else REQUEST_LOGGER
    ends_in_logger = "logger" in kinds[message:] or "logger" not in kinds
    return LogLayout(
        whole=rf"(?s)^{before}(?<message>.*){after}$",
        start=rf"(?s)^{before}(?<message>.*)$",
        end=rf"(?s)^(?<message>.*){after}$",
        put_whole=f"[{date_put}] {level} ${{message}} ({logger})",
        put_start=f"[{date_put}] {level} ${{message}}",
        put_end=f"${{message}} ({logger})" if ends_in_logger and after else "${message}",
        logger=written_logger(pieces),
        time_zone=zone,
        has_offset=OFFSET_REGEX in date_regex,
        is_default=pattern.removesuffix("%n") == DEFAULT_PATTERN.removesuffix("%n"),
    )


def conversions(pattern: str) -> Iterator[tuple[str, str]]:
    """Kind and text of each piece: literal text, or a conversion (what follows a percent sign)."""
    end = 0
    for found in CONVERSION.finditer(pattern):
        yield from literal(pattern[end : found.start()])
        written = found["name"]
        name = next((written[:n] for n in range(len(written), 0, -1) if written[:n] in NAMES), None)
        if name is None or NAMES[name] == "other patterns":
            raise layout_error(pattern, f"%{name or written} is not supported")
        rest = written[len(name) :]
        yield NAMES[name], "" if rest else found["options"]
        yield from literal(rest + (found["options"] if rest else ""))
        end = found.end()
    yield from literal(pattern[end:])


def literal(text: str) -> Iterator[tuple[str, str]]:
    if text:
        yield "literal", text


def plain_regex(kind: str, text: str) -> str:
    match kind:
        case "literal":
            return re.escape(text)
        case "percent":
            return "%"
        case "logger":
            return padded(r"(?<logger>[\w.$\-]+)")
        case "text":
            return ".*?"
    return ""


def padded(regex: str) -> str:
    """Optional blanks, as few as possible, so that text which a client chose is not taken for text
    of the pattern."""
    return rf"\s*?{regex}\s*?"


def compile_date(pattern: str, options: str) -> tuple[str, str, str | None]:
    """Regular expression, replacement, and the time zone if the pattern names one."""
    given = re.findall(r"\{([^}]*)\}", options)
    form = DATES.get(given[0] if given else "", given[0] if given else ISO)
    regex, seen = "", set()
    for token in DATE_TOKEN.finditer(form):
        text = token[0]
        if text in PART_NAMES:
            seen.add(PART_NAMES[text])
            regex += rf"(?<{PART_NAMES[text]}>\d{{{PARTS[text]}}})"
        elif text.startswith("S"):
            seen.add("fraction")
            regex += rf"(?<fraction>\d{{3}})\d{{{len(text) - 3}}}" if len(text) >= 3 else r"\d+"
        elif OFFSET.fullmatch(text) and "offset" not in seen:
            seen.add("offset")
            regex += OFFSET_REGEX
        elif text[0] == "'":
            regex += re.escape(token[1] or "'")
        elif text.isalpha():
            raise layout_error(pattern, f"{text} in the date {form!r} is not supported")
        else:
            # log4j 2 writes ISO8601 with a T instead of a space
            regex += "[ T]" if text == " " else re.escape(text)
    missing = {"year", "month", "day", "hour", "minute", "second"} - seen
    if missing:
        raise layout_error(pattern, f"the date has no {', '.join(sorted(missing))}")
    fraction = "${fraction}" if "fraction" in seen and "SSS" in form else "000"
    put = f"${{year}}-${{month}}-${{day}} ${{hour}}:${{minute}}:${{second}},{fraction}"
    if "offset" in seen:
        return regex, put, "UTC"
    return regex, put, given[1] if len(given) > 1 else None


def written_logger(pieces: list[tuple[str, str]]) -> str:
    """%c{1} writes the last part of a name, %c{-1} omits the first, and %c{1.} writes one letter
    of each but the last."""
    options = dict(pieces).get("logger", "").strip("{}")
    parts = REQUEST_LOGGER.split(".")
    if LAST_PARTS.fullmatch(options):
        return ".".join(parts[-int(options) :])
    if WITHOUT_FIRST.fullmatch(options) and -int(options) < len(parts):
        return ".".join(parts[-int(options) :])
    if letters := ABBREVIATED.fullmatch(options):
        return ".".join([*(part[: int(letters[1])] for part in parts[:-1]), parts[-1]])
    return REQUEST_LOGGER


def layout_error(pattern: str, reason: str) -> ConfigError:
    return ConfigError(
        f"invalid layout {pattern!r}: {reason}",
        hint=f"use the pattern of the broker's log4j configuration, such as {DEFAULT_PATTERN!r}; "
        "dates consist of yyyy MM dd HH mm ss SSS, optionally XXX or Z",
    )
