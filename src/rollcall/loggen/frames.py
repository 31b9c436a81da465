"""A line but for what varies: the text before, between and after correlation id and client id.

How each release prints the head of a request is a row or two here; the tail, where all values
vary, is made by Spark in `lines`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rollcall.catalog import Release, is_deprecated, known_apis, log_format_of
from rollcall.loggen.bodies import (
    GROUP,
    MEMBER,
    OFFSET,
    PEER,
    SIZE,
    Situation,
    api_versions_refused,
    body,
)

TEXT_KEYS = Release((0, 9))
"""From here on there is a header with numbers; before, each request prints its own name."""
LEVELS = {"A": "TRACE", "D": "TRACE"}
"""The others write at DEBUG."""


@dataclass(frozen=True, slots=True)
class Template:
    before: str
    """From the level on, up to the first of correlation id and client id."""
    between: str
    after: str
    client_first: bool


def template(key: int, situation: Situation, *, forwarded: bool = False) -> Template:
    form = log_format_of(situation.release).letter
    level = LEVELS.get(form, "DEBUG")
    deprecated = form in "IJ" and is_deprecated(situation.release, key, situation.version)
    if form == "J" and deprecated:
        level = "INFO"
    start = f" {level} Completed request:"
    if situation.as_json:
        return _json(start, key, situation, forwarded=forwarded, deprecated=deprecated)
    if names_itself(key, situation.release):
        return _named(start, key, situation)
    if situation.release < Release((1, 0)):
        head = f"{start}{{api_key={key},api_version={situation.version},correlation_id="
        return Template(head, ",client_id=", f"}} -- {_request(key, situation)}", False)
    name = known_apis()[key].enum
    return Template(
        f"{start}RequestHeader(apiKey={name}, apiVersion={situation.version}, clientId=",
        ", correlationId=",
        f") -- {_request(key, situation)},response:{_response(key, situation)}",
        client_first=True,
    )


def names_itself(key: int, release: Release) -> bool:
    """Whether the request is printed as `Name: FetchRequest; ...`."""
    if release < TEXT_KEYS:
        return True
    if release < Release((0, 10)):
        return key <= 9
    return key == 1 and release < Release((0, 10, 2))


def _json(
    start: str, key: int, situation: Situation, *, forwarded: bool, deprecated: bool
) -> Template:
    header = f'"requestApiKey":{key},"requestApiVersion":{situation.version},"correlationId":'
    mark = ',"requestApiVersionDeprecated":true' if deprecated else ""
    name = known_apis()[key].enum
    bodies = f'"request":{_request(key, situation)},"response":{_response(key, situation)}'
    return Template(
        f'{start}{{"isForwarded":{str(forwarded).lower()},"requestHeader":{{{header}',
        ',"clientId":',
        f',"requestApiKeyName":"{name}"{mark}}},{bodies}',
        client_first=False,
    )


def _request(key: int, situation: Situation) -> str:
    if situation.too_new:
        return "{}"
    return body(f"{known_apis()[key].name} request", situation)


def _response(key: int, situation: Situation) -> str:
    if situation.too_new:
        return api_versions_refused(situation)
    return body(f"{known_apis()[key].name} response", situation)


def _named(start: str, key: int, situation: Situation) -> Template:
    name, rest = _NAMED[key]
    if key == 6:
        head = f"{start}Name:{name};Version:{situation.version};Controller:0;ControllerEpoch:3"
        brokers = [f"id:{b.id},host:{b.host},port:{b.port}" for b in situation.brokers]
        alive = f";AliveBrokers:{','.join(brokers)}"
        return Template(f"{head};CorrelationId:", ";ClientId:", alive, client_first=False)
    head = f"{start}Name: {name}; Version: {situation.version}; CorrelationId: "
    return Template(head, "; ClientId: ", rest(situation), client_first=False)


def _details(situation: Situation, info: str) -> str:
    """What 0.8.0 adds at its only level, TRACE: every partition with something about it."""
    if situation.release >= Release((0, 8, 1)):
        return ""
    return ",".join(
        f"[{topic},{place}] -> {info}"
        for topic, _ in situation.topics
        for place in range(situation.partitions)
    )


def _produce(situation: Situation) -> str:
    details = _details(situation, f"{SIZE}0")
    end = f"; TopicAndPartition: {details}" if details else ""
    return f"; RequiredAcks: -1; AckTimeoutMs: 30000 ms{end}"


def _fetch(situation: Situation) -> str:
    details = _details(situation, f"PartitionFetchInfo({OFFSET}0,1048576)")
    end = f"; RequestInfo: {details}" if details else ""
    replica = PEER if situation.replica else "-1"
    return f"; ReplicaId: {replica}; MaxWait: 500 ms; MinBytes: 1 bytes{end}"


def _offsets(situation: Situation) -> str:
    details = _details(situation, "PartitionOffsetRequestInfo(-1,1)")
    return f"; RequestInfo: {details}; ReplicaId: -1" if details else "; ReplicaId: -1"


def _metadata(situation: Situation) -> str:
    if situation.release >= Release((0, 8, 1)):
        return ""
    return f"; Topics: {','.join(name for name, _ in situation.topics)}"


def _offset_commit(_: Situation) -> str:
    return f"; GroupId: {GROUP}; GroupGenerationId: 7; ConsumerId: {MEMBER}"


_NAMED: Mapping[int, tuple[str, Callable[[Situation], str]]] = {
    0: ("ProducerRequest", _produce),
    1: ("FetchRequest", _fetch),
    2: ("OffsetRequest", _offsets),
    3: ("TopicMetadataRequest", _metadata),
    6: ("UpdateMetadataRequest", lambda _: ""),
    8: ("OffsetCommitRequest", _offset_commit),
    9: ("OffsetFetchRequest", lambda _: f"; GroupId: {GROUP}"),
    10: ("ConsumerMetadataRequest", lambda _: f"; Group: {GROUP}"),
}
