"""Generated lines have the same structure as lines of real brokers.

Structure is the nesting and order of all field names; values and lengths of lists may differ. Real
lines of nine releases are in tests/data/logs.
"""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rollcall.catalog import Release, api_names, lists
from rollcall.loggen.bodies import PLACEHOLDERS, BodyContext, BrokerEndpoint
from rollcall.loggen.layouts import known_layouts
from rollcall.loggen.templates import template

LOGS = Path(__file__).parents[1] / "data" / "logs"
RELEASES = ("0.8.2.2", "0.10.0.1", "0.11.0.3", "1.0.2", "2.5.1", "2.8.2", "3.9.0", "3.9.1", "4.3.0")
GENERATED = {message.split()[0] for message in known_layouts()}
TEXT = re.compile(
    r"RequestHeader\(apiKey=(?P<name>\w+), apiVersion=(?P<version>\d+), clientId=[\w-]*, "
    r"correlationId=\d+\) -- (?P<request>\{.*\}),response:(?P<response>\{.*\}) from connection"
)
NUMBERED = re.compile(
    r"\{api_key=(?P<name>\d+),api_version=(?P<version>\d+),correlation_id=\d+,client_id=[\w-]*\}"
    r" -- (?P<request>\{.*\}) from connection"
)


def messages(release: str) -> Iterator[tuple[int, int, str]]:
    """API key, version and bodies of the lines of a real broker."""
    text = gzip.decompress((LOGS / f"{release}.log.gz").read_bytes()).decode()
    for line in text.split("\n"):
        _, found, rest = line.partition(" Completed request:")
        if not found or not line.endswith("(kafka.request.logger)"):
            continue
        if rest.startswith('{"'):
            yield from _json_message(rest)
        elif ") -- {x}" in rest:
            continue  # a client id that contains the rest of a header
        elif match := (TEXT.match(rest) or NUMBERED.match(rest)):
            key = match["name"]
            number = int(key) if key.isdecimal() else api_names()[key]
            yield number, int(match["version"]), rest[match.start("request") :].split(" from ")[0]


def _json_message(rest: str) -> Iterator[tuple[int, int, str]]:
    line = json.loads(rest.removesuffix(" (kafka.request.logger)"))
    header = line["requestHeader"]
    if not line["isForwarded"]:
        line["request"].pop("cordonedLogDirs", None)  # a tagged field, present if not empty
        bodies = json.dumps({"request": line["request"], "response": line["response"]})
        yield header["requestApiKey"], header["requestApiVersion"], bodies


def generated(release: str, key: int, version: int) -> str:
    found = template(
        key,
        BodyContext(
            release=Release.parse(release),
            version=version,
            as_json=Release.parse(release) >= Release((2, 8)),
            topics=[("orders", "5a3LYtGYQtGAB5K8RXAsZw")],
            partitions=1,
            brokers=[BrokerEndpoint(1, "127.0.0.1", 9092, "r1")],
            unsupported=key == 18 and not lists(release, key, version),
        ),
    )
    text = re.sub(f"[{PLACEHOLDERS}]", "1", found.after)
    if '"request":' in text:
        return "{" + text[text.index('"request":') :] + "}"
    return text[text.index("{") :]


def shape(value: Any) -> Any:
    """Names and nesting; of a list, its first entry."""
    if isinstance(value, dict):
        return [(name, shape(inner)) for name, inner in value.items()]
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return None


def same_shape(ours: Any, real: Any) -> bool:
    """Whether two structures are equal; an empty list or null on either side matches anything."""
    if ours in (None, []) or real in (None, []):
        return True
    if isinstance(ours, tuple):
        return bool(ours[0] == real[0]) and same_shape(ours[1], real[1])
    if len(ours) != len(real):
        return False
    return all(same_shape(a, b) for a, b in zip(ours, real, strict=True))


def text_shape(body: str) -> Any:
    """The structure of a request and its response in text form."""
    request, _, response = body.partition(",response:")
    return shape({"request": _read(request, 0)[0], "response": _read(response, 0)[0]})


def _read(text: str, at: int) -> tuple[Any, int]:
    """A value of a text body and its end; these lines have no quotes or escapes."""
    if text[at : at + 1] == "{":
        return _read_struct(text, at + 1)
    if text[at : at + 1] == "[":
        return _read_list(text, at + 1)
    start, depth = at, 0
    while at < len(text) and (depth or text[at] not in ",}]"):
        depth += (text[at] in "([") - (text[at] in ")]")
        at += 1
    return text[start:at], at


def _read_struct(text: str, at: int) -> tuple[dict[str, Any], int]:
    found = {}
    while text[at] != "}":
        name, _, _ = text[at:].partition("=")
        found[name.lstrip(",")], at = _read(text, at + len(name) + 1)
    return found, at + 1


def _read_list(text: str, at: int) -> tuple[list[Any], int]:
    found = []
    while text[at] != "]":
        value, at = _read(text, at + (text[at] == ","))
        found.append(value)
    return found, at + 1


def known(release: str) -> list[tuple[int, int, str]]:
    names = {number: name for name, number in api_names().items() if name in GENERATED}
    return [message for message in messages(release) if message[0] in names]


@pytest.mark.parametrize("release", RELEASES[5:])
def test_json_bodies_have_the_field_names_of_real_lines(release: str) -> None:
    compared = set()
    for key, version, real in known(release):
        if '"errorCode": 42' in real:
            continue  # a software name that the broker rejected: no client of the fleet has one
        ours = shape(json.loads(generated(release, key, version)))
        assert same_shape(ours, shape(json.loads(real))), (key, version, real)
        compared.add((key, version))
    assert len(compared) > 25


@pytest.mark.parametrize("release", RELEASES[1:5])
def test_text_bodies_have_the_field_names_of_real_lines(release: str) -> None:
    compared = set()
    for key, version, real in known(release):
        if key == 1 and release == "0.10.0.1":
            continue  # printed as Name: FetchRequest
        ours = text_shape(generated(release, key, version))
        assert same_shape(ours, text_shape(real)), (key, version, ours, real)
        compared.add((key, version))
    assert len(compared) > 15
