"""Line templates: the text before, between and after correlation id and client id.

The rest of a line, where all values vary, is computed by Spark in `lines`.
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
    BodyContext,
    body,
    unsupported_version_response,
)

NUMERIC_HEADERS = Release((0, 9))
"""From this release on, lines have a header with API numbers; before, with request names."""
LEVELS = {"A": "TRACE", "D": "TRACE"}
"""Log levels of forms that are not logged at DEBUG."""


@dataclass(frozen=True, slots=True)
class LineTemplate:
    before: str
    """From the log level to the first of correlation id and client id."""
    between: str
    after: str
    client_first: bool


def template(key: int, context: BodyContext, *, forwarded: bool = False) -> LineTemplate:
    form = log_format_of(context.release).letter
    level = LEVELS.get(form, "DEBUG")
    deprecated = form in "IJ" and is_deprecated(context.release, key, context.version)
    if form == "J" and deprecated:
        level = "INFO"
    start = f" {level} Completed request:"
    if context.as_json:
        return _json(start, key, context, forwarded=forwarded, deprecated=deprecated)
    if prints_name(key, context.release):
        return _named(start, key, context)
    if context.release < Release((1, 0)):
        head = f"{start}{{api_key={key},api_version={context.version},correlation_id="
        return LineTemplate(head, ",client_id=", f"}} -- {_request(key, context)}", False)
    name = known_apis()[key].enum
    return LineTemplate(
        f"{start}RequestHeader(apiKey={name}, apiVersion={context.version}, clientId=",
        ", correlationId=",
        f") -- {_request(key, context)},response:{_response(key, context)}",
        client_first=True,
    )


def prints_name(key: int, release: Release) -> bool:
    """Whether the request is printed as `Name: FetchRequest; ...`."""
    if release < NUMERIC_HEADERS:
        return True
    if release < Release((0, 10)):
        return key <= 9
    return key == 1 and release < Release((0, 10, 2))


def _json(
    start: str, key: int, context: BodyContext, *, forwarded: bool, deprecated: bool
) -> LineTemplate:
    header = f'"requestApiKey":{key},"requestApiVersion":{context.version},"correlationId":'
    mark = ',"requestApiVersionDeprecated":true' if deprecated else ""
    name = known_apis()[key].enum
    bodies = f'"request":{_request(key, context)},"response":{_response(key, context)}'
    return LineTemplate(
        f'{start}{{"isForwarded":{str(forwarded).lower()},"requestHeader":{{{header}',
        ',"clientId":',
        f',"requestApiKeyName":"{name}"{mark}}},{bodies}',
        client_first=False,
    )


def _request(key: int, context: BodyContext) -> str:
    if context.unsupported:
        return "{}"
    return body(f"{known_apis()[key].name} request", context)


def _response(key: int, context: BodyContext) -> str:
    if context.unsupported:
        return unsupported_version_response(context)
    return body(f"{known_apis()[key].name} response", context)


def _named(start: str, key: int, context: BodyContext) -> LineTemplate:
    name, rest = _BY_NAME[key]
    if key == 6:
        head = f"{start}Name:{name};Version:{context.version};Controller:0;ControllerEpoch:3"
        brokers = [f"id:{b.id},host:{b.host},port:{b.port}" for b in context.brokers]
        alive = f";AliveBrokers:{','.join(brokers)}"
        return LineTemplate(f"{head};CorrelationId:", ";ClientId:", alive, client_first=False)
    head = f"{start}Name: {name}; Version: {context.version}; CorrelationId: "
    return LineTemplate(head, "; ClientId: ", rest(context), client_first=False)


def _details(context: BodyContext, info: str) -> str:
    """What 0.8.0 prints for each partition at its only level, TRACE."""
    if context.release >= Release((0, 8, 1)):
        return ""
    return ",".join(
        f"[{topic},{place}] -> {info}"
        for topic, _ in context.topics
        for place in range(context.partitions)
    )


def _produce(context: BodyContext) -> str:
    details = _details(context, f"{SIZE}0")
    end = f"; TopicAndPartition: {details}" if details else ""
    return f"; RequiredAcks: -1; AckTimeoutMs: 30000 ms{end}"


def _fetch(context: BodyContext) -> str:
    details = _details(context, f"PartitionFetchInfo({OFFSET}0,1048576)")
    end = f"; RequestInfo: {details}" if details else ""
    replica = PEER if context.replica else "-1"
    return f"; ReplicaId: {replica}; MaxWait: 500 ms; MinBytes: 1 bytes{end}"


def _offsets(context: BodyContext) -> str:
    details = _details(context, "PartitionOffsetRequestInfo(-1,1)")
    return f"; RequestInfo: {details}; ReplicaId: -1" if details else "; ReplicaId: -1"


def _metadata(context: BodyContext) -> str:
    if context.release >= Release((0, 8, 1)):
        return ""
    return f"; Topics: {','.join(name for name, _ in context.topics)}"


def _offset_commit(_: BodyContext) -> str:
    return f"; GroupId: {GROUP}; GroupGenerationId: 7; ConsumerId: {MEMBER}"


_BY_NAME: Mapping[int, tuple[str, Callable[[BodyContext], str]]] = {
    0: ("ProducerRequest", _produce),
    1: ("FetchRequest", _fetch),
    2: ("OffsetRequest", _offsets),
    3: ("TopicMetadataRequest", _metadata),
    6: ("UpdateMetadataRequest", lambda _: ""),
    8: ("OffsetCommitRequest", _offset_commit),
    9: ("OffsetFetchRequest", lambda _: f"; GroupId: {GROUP}"),
    10: ("ConsumerMetadataRequest", lambda _: f"; Group: {GROUP}"),
}
