"""An independent reader of request logs, plain and slow, with which the pipeline is compared.

It was written from the description of the formats. One line at a time, one regular expression per
form, sums in dictionaries. It shares no code with the pipeline.
"""

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rollcall.catalog import api_names, known_apis

PREFIX = re.compile(
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) (.*)",
    re.DOTALL,
)
LOGGER = re.compile(r" \(([\w.$]+)\)$")
COMPLETED = "Completed request:"

NUMBER = r"(\d+(?:[.,]\d+)?(?:E-?\d+)?)"
TIMES = f"totalTime:{NUMBER},requestQueueTime:{NUMBER},localTime:{NUMBER},remoteTime:{NUMBER}"
AFTER = f"responseQueueTime:{NUMBER},sendTime:{NUMBER}"
CLIENT_PART = r"securityProtocol:(?P<protocol>\w+),principal:(?P<principal>.*)"
EXTRAS = rf"(?:,temporaryMemoryBytes:\d+)?(?:,messageConversionsTime:{NUMBER})?"
INFORMATION = r"softwareName=(?P<name>.*), softwareVersion=(?P<version>.*)"
CLIENT = r"(?P<head>.*) from client /(?P<peer>\S+);"
CONNECTION = r"(?P<head>.*) from connection (?P<connection>[^\s;]+);"
LISTENER = r",listener:(?P<listener>[^,]*)"

# the newest form first: each form extends the older ones
TAILS = {
    "G": rf"{CONNECTION}{TIMES},throttleTime:(?P<throttle>{NUMBER}),{AFTER},{CLIENT_PART}{LISTENER}"
    rf",clientInformation:ClientInformation\({INFORMATION}\){EXTRAS}",
    "F": rf"{CONNECTION}{TIMES},throttleTime:(?P<throttle>{NUMBER}),{AFTER},{CLIENT_PART}{LISTENER}"
    rf"{EXTRAS}",
    "D": rf"{CONNECTION}{TIMES},{AFTER},{CLIENT_PART}{LISTENER}",
    "C": rf"{CONNECTION}{TIMES},{AFTER},{CLIENT_PART}",
    "B": rf"{CLIENT}{TIMES},{AFTER}",
    "A": rf"{CLIENT}totalTime:{NUMBER},queueTime:{NUMBER},localTime:{NUMBER}"
    rf",remoteTime:{NUMBER},sendTime:{NUMBER}",
}
TAIL_PATTERNS = {form: re.compile(tail, re.DOTALL) for form, tail in TAILS.items()}

HEADER = re.compile(
    r"RequestHeader\(apiKey=(?P<api>\w+), apiVersion=(?P<v>-?\d+), clientId=(?P<client>.*?), "
    r"correlationId=-?\d+\) -- (?P<body>\{(?:\w+=.*|\}.*))",
    re.DOTALL,
)
STRUCT = re.compile(
    r"\{api_key=(?P<api>-?\d+),api_version=(?P<v>-?\d+),correlation_id=-?\d+,"
    r"client_id=(?P<client>.*?)\} -- (?P<body>\{(?:\w+=.*|\}.*))",
    re.DOTALL,
)
NAMED = re.compile(r"Name: ?(?P<api>\w+); ?Version: ?(?P<v>-?\d+);(?P<body>.*)", re.DOTALL)
NAMES = {
    "ProducerRequest": 0, "FetchRequest": 1, "OffsetRequest": 2, "TopicMetadataRequest": 3,
    "LeaderAndIsrRequest": 4, "StopReplicaRequest": 5, "UpdateMetadataRequest": 6,
    "ControlledShutdownRequest": 7, "OffsetCommitRequest": 8, "OffsetFetchRequest": 9,
    "ConsumerMetadataRequest": 10, "GroupCoordinatorRequest": 10,
}  # fmt: skip
# the field that follows the client id in the `Name: ...` form
NEXT_FIELDS = (
    "; RequiredAcks: ", "; ReplicaId: ", "; RequestInfo: ", "; Topics: ", "; GroupId: ",
    "; Group: ", "; BrokerId: ", "; DeletePartitions: ", ";Leaders:", ";AliveBrokers:",
    ";PartitionState:",
)  # fmt: skip
NAMED_CLIENT = re.compile(
    r".*?(?:; ClientId: |;ClientId:)(.*?)(?:" + "|".join(map(re.escape, NEXT_FIELDS)) + r"|$)",
    re.DOTALL,
)
CONNECTION_ID = re.compile(r"(.+):(\d+)-(.+):(\d+?)((?:-\d+){0,2})")
PEER = re.compile(r"(.+):(\d+)")
BODY_SOFTWARE = re.compile(
    r"\{client_software_name=(.*?),client_software_version=(.*?),_tagged_fields="
)
RANGE = re.compile(r"\{api_key=(\d+),min_version=(\d+),max_version=(\d+)")
RESPONSE = re.compile(r",response:\{error_code=0,api_(?:keys|versions)=\[(.*?)\]")
SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
HAS_REPLICA = {1, 2, 23}


class RejectedError(Exception):
    """A line that is neither a request nor skipped."""


@dataclass
class Request:
    time: datetime
    level: str
    form: str = ""
    api_key: int = -1
    api_version: int = -1
    client_id: str | None = None
    connection: str = ""
    local: str | None = None
    host: str = ""
    listener: str | None = None
    principal: str | None = None
    software_name: str | None = None
    software_version: str | None = None
    forwarded: bool = False
    replica: bool = False
    deprecated: bool = False
    error_code: int | None = None
    total_us: int = 0
    throttle_us: int = 0
    ranges: tuple[tuple[int, int, int], ...] | None = None


def read_line(line: str) -> Request | None:
    """A request, or None for a skipped line."""
    line = line.removesuffix("\r")
    if not line.strip():
        return None
    logger = LOGGER.search(line)
    if logger and logger[1] != "kafka.request.logger":
        return None  # or the end of another logger's line that a newline has split
    prefix = PREFIX.fullmatch(line)
    if prefix is None:
        raise RejectedError("not a log line")
    time, level, message = prefix.groups()
    if not message.startswith(COMPLETED):
        return None
    if not logger:
        raise RejectedError("the line does not end in a logger")
    request = Request(_time(time), level)
    text = message[len(COMPLETED) : -len(logger[0])]
    if text.startswith('{"'):
        _read_json(text, request)
    else:
        _read_text(text, request)
    if request.api_key in known_apis() and known_apis()[request.api_key].inter_broker:
        request.replica = True
    return request


def _time(text: str) -> datetime:
    """A naive timestamp: a log does not name its zone."""
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f")  # noqa: DTZ007
    except ValueError as error:
        raise RejectedError("invalid timestamp") from error


def _read_json(text: str, request: Request) -> None:
    try:
        fields = json.loads(text)
        header = fields["requestHeader"]
        request.api_key = int(header["requestApiKey"])
        request.api_version = int(header["requestApiVersion"])
        _place(request, fields["connection"])
        information = fields["clientInformation"]
        request.total_us = round(fields["totalTimeMs"] * 1000)
        request.throttle_us = round(fields["throttleTimeMs"] * 1000)
    except (ValueError, KeyError, TypeError) as error:
        raise RejectedError(str(error)) from error
    request.client_id = header.get("clientId") or None
    request.deprecated = header.get("requestApiVersionDeprecated", False)
    request.form = "J" if request.level == "INFO" else "I" if request.deprecated else "H"
    request.listener, request.principal = fields["listener"], fields["principal"]
    request.forwarded = fields["isForwarded"]
    body, response = fields["request"], fields["response"]
    if isinstance(response, dict):
        request.error_code = response.get("errorCode")
        if request.api_key == 18 and request.error_code == 0:
            request.ranges = tuple(
                (api["apiKey"], api["minVersion"], api["maxVersion"]) for api in response["apiKeys"]
            )
    software = (information["softwareName"], information["softwareVersion"])
    if request.api_key == 18 and isinstance(body, dict):
        names = _accepted(body.get("clientSoftwareName"), body.get("clientSoftwareVersion"))
        software = (
            software if names[0] is None else names
        )  # the body is newer than the connection's client information
    _name(request, *software)
    if request.api_key in HAS_REPLICA and isinstance(body, dict):
        state = body.get("replicaState", {})
        request.replica = max(body.get("replicaId", -1), state.get("replicaId", -1)) >= 0


def _read_text(text: str, request: Request) -> None:
    ends = ((form, pattern.fullmatch(text)) for form, pattern in TAIL_PATTERNS.items())
    form, tail = next(((form, end) for form, end in ends if end), ("", None))
    if tail is None:
        raise RejectedError("unknown tail")
    request.form = form
    found = tail.groupdict()
    total = re.search(rf";totalTime:{NUMBER},(?:requestQ|q)ueueTime", text[tail.end("head") :])
    assert total is not None
    request.total_us = _micros(total[1])
    if (found.get("throttle") or ".").isdecimal():
        # with decimals it is the time since the response was ready, not a throttle time
        request.throttle_us = _micros(found["throttle"])
    request.principal, request.listener = found.get("principal"), found.get("listener")
    if "connection" in found:
        _place(request, found["connection"])
    else:
        request.connection = found["peer"]
        request.host = _whole(PEER, found["peer"])[1].strip("[]")
    body = _read_head(found["head"], request)
    if form == "F" and not found["head"].startswith("RequestHeader("):
        request.form = "E"
    software: tuple[str | None, str | None] = (found.get("name"), found.get("version"))
    if request.api_key == 18 and (in_body := BODY_SOFTWARE.match(body)):
        names = _accepted(in_body[1], in_body[2])
        software = software if names[0] is None else names
    _name(request, *software)
    if request.api_key == 18 and (response := RESPONSE.search(body)):
        request.ranges = tuple(
            (int(key), int(low), int(high)) for key, low, high in RANGE.findall(response[1])
        )
    if request.api_key in HAS_REPLICA:
        replica = re.match(r"(?:\{replica_id=|.*?; ReplicaId: )(-?\d+)", body)
        request.replica = replica is not None and int(replica[1]) >= 0


def _read_head(head: str, request: Request) -> str:
    """Read API, version and client id from the text before the connection; return the body."""
    if header := (HEADER.fullmatch(head) or STRUCT.fullmatch(head)):
        api = header["api"]
        if not api.isdecimal() and api not in api_names():
            raise RejectedError(f"unknown API {api}")
        request.api_key = int(api) if api.isdecimal() else api_names()[api]
        request.client_id = header["client"]
    elif (header := NAMED.fullmatch(head)) and header["api"] in NAMES:
        request.api_key = NAMES[header["api"]]
        request.client_id = _named_client(request.api_key, header["body"])
    else:
        raise RejectedError("unknown head")
    if request.client_id in ("", "null"):
        request.client_id = None
    request.api_version = int(header["v"])
    return header["body"]


def _named_client(key: int, body: str) -> str | None:
    if key == 7:
        some = re.search(r";ClientId:Some\((.*)\); BrokerId: ", body)
        return some[1] if some else None
    found = NAMED_CLIENT.match(body)
    return found[1] if found else None


def _place(request: Request, connection: str) -> None:
    found = _whole(CONNECTION_ID, connection)
    request.connection, request.local, request.host = connection, found[1], found[3]


def _whole(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise RejectedError(f"not an address: {text}")
    return found


def _accepted(name: str | None, version: str | None) -> tuple[str | None, str | None]:
    """Software names in a body that a broker accepts: both or neither."""
    is_valid = all(SOFTWARE.fullmatch(text or "") for text in (name, version))
    return (name, version) if is_valid else (None, None)


def _name(request: Request, name: str | None, version: str | None) -> None:
    if request.forwarded or name in (None, "", "unknown"):
        return
    request.software_name = name
    request.software_version = None if version in ("", "unknown") else version


def _micros(text: str) -> int:
    return round(float(text.replace(",", ".")) * 1000)


@dataclass
class Tables:
    """The sums by key; keys are in the order of the columns."""

    usage: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    connections: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    brokers: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    files: dict[str, Counter[str]] = field(default_factory=dict)
    rejects: set[tuple[str, int]] = field(default_factory=set)


def lines_of(path: Path) -> Iterator[str]:
    """Physical lines, split at `\\n` only."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
    lines = text.split("\n")
    yield from lines[:-1] if lines[-1] == "" else lines


def read_files(
    paths: Iterable[Path],
    *,
    cluster: str | None = None,
    brokers: Mapping[Path, str] | None = None,
    inter_broker: frozenset[str] = frozenset(),
) -> Tables:
    tables = Tables()
    for path in paths:
        counts = tables.files.setdefault(str(path), Counter())
        for number, line in enumerate(lines_of(path), 1):
            counts["lines"] += 1
            try:
                request = read_line(line)
            except RejectedError:
                counts["rejected"] += 1
                tables.rejects.add((str(path), number))
                continue
            if request is None:
                counts["skipped"] += 1
                continue
            counts["requests"] += 1
            if {request.listener, request.principal} & inter_broker:
                request.replica = True
            _add(tables, request, cluster, (brokers or {}).get(path, request.local))
    return tables


def _add(tables: Tables, request: Request, cluster: str | None, broker: str | None) -> None:
    hour = request.time.replace(minute=0, second=0, microsecond=0)
    client = (
        request.listener, request.principal, cut(request.client_id), request.host,
        request.software_name, request.software_version,
    )  # fmt: skip
    kind = (request.forwarded, request.replica)
    usage = tables.usage.setdefault(
        (hour, cluster, broker, *client, request.api_key, request.api_version, *kind), _empty()
    )
    seen = {"first_seen": request.time, "last_seen": request.time}
    timed = 0 if request.forwarded else 1
    _merge(
        usage,
        requests=1,
        answered=int(request.error_code is not None),
        errors=int(bool(request.error_code)),
        unsupported=int(request.error_code == 35),
        deprecated=int(request.deprecated),
        throttled=int(request.throttle_us > 0),
        throttle_us=request.throttle_us * timed,
        total_us=request.total_us * timed,
        longest_us=request.total_us * timed,
        hours=1 << request.time.hour,
        forms=1 << "ABCDEFGHIJ".index(request.form),
        **seen,
    )
    connections = tables.connections.setdefault(
        (cluster, broker, request.connection, *client, *kind), _empty()
    )
    _merge(connections, requests=1, **seen)
    if request.ranges is not None:
        observed = tables.brokers.setdefault(
            (hour, cluster, broker, request.listener, tuple(sorted(request.ranges))), _empty()
        )
        _merge(observed, answers=1, **seen)


def _empty() -> dict[str, Any]:
    return {}


def _merge(row: dict[str, Any], **values: Any) -> None:
    for name, value in values.items():
        if name not in row:
            row[name] = value
        elif name == "first_seen":
            row[name] = min(row[name], value)
        elif name in ("last_seen", "longest_us"):
            row[name] = max(row[name], value)
        elif name in ("hours", "forms"):
            row[name] |= value
        else:
            row[name] += value


def cut(client_id: str | None) -> str | None:
    """At most 256 characters of a client id; a longer one gets a hash of the whole."""
    if client_id is None or len(client_id) <= 256:
        return client_id
    return client_id[:256] + "#" + hashlib.sha256(client_id.encode()).hexdigest()[:16]


def day_of(time: datetime) -> datetime:
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


DAY = timedelta(days=1)
