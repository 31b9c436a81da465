"""Lines of the request log: Kafka's JSON format since 3.9.1 and its text format of 2.5 to 2.7."""

from __future__ import annotations

import json
import time
from functools import cache
from typing import TYPE_CHECKING, Any

from rollcall.catalog.apis import known_apis
from rollcall.protocol import Dialect, Message, json_form, struct_form
from rollcall.protocol.conversation import PRODUCE_KEY
from rollcall.protocol.schema import snake_case
from rollcall.server.config import RequestLogFormat
from rollcall.server.handlers import SASL_AUTHENTICATE_KEY
from rollcall.text import safe_text

if TYPE_CHECKING:
    from rollcall.server.request_log import CompletedRequest


def request_line(completed: CompletedRequest, log_format: RequestLogFormat) -> str:
    level = "INFO" if log_format is RequestLogFormat.JSON and completed.deprecated else "DEBUG"
    write = _json_message if log_format is RequestLogFormat.JSON else _text_message
    message, timestamp = write(completed), _timestamp(completed.timestamp)
    return f"[{timestamp}] {level} Completed request:{message} (kafka.request.logger)\n"


def _timestamp(timestamp: float) -> str:
    seconds, millis = divmod(round(timestamp * 1000), 1000)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(seconds))},{millis:03d}"


@cache
def _enum_name(dialect: Dialect, key: int) -> str:
    known = known_apis().get(key)
    return known.enum if known else snake_case(dialect.apis[key].name).upper()


def _body(completed: CompletedRequest) -> Message | None:
    """Body of the request without secrets."""
    body = completed.body
    if body is not None and completed.request.api_key == SASL_AUTHENTICATE_KEY:
        return body.replace(auth_bytes=b"")
    return body


def _json_message(completed: CompletedRequest) -> str:
    request, connection, dialect = completed.request, completed.connection, completed.dialect
    api = dialect.apis[request.api_key]
    header: dict[str, Any] = {
        "requestApiKey": request.api_key,
        "requestApiVersion": request.api_version,
        "correlationId": request.correlation_id,
        "clientId": request.client_id or "",
        "requestApiKeyName": _enum_name(dialect, request.api_key),
    }
    if completed.deprecated:
        header["requestApiVersionDeprecated"] = True
    body, response = _body(completed), completed.response
    times = completed.times()
    record = {
        "isForwarded": False,
        "requestHeader": header,
        "request": json_form(body, dialect, api.request.name, request.api_version) if body else {},
        "response": json_form(response, dialect, api.response.name, completed.response_version)
        if response
        else "",
        "connection": connection.id,
        "totalTimeMs": times.total,
        "requestQueueTimeMs": 0.0,
        "localTimeMs": times.local,
        "remoteTimeMs": 0.0,
        "throttleTimeMs": 0,
        "responseQueueTimeMs": 0.0,
        "sendTimeMs": times.send,
        "securityProtocol": connection.security_protocol,
        "principal": completed.principal,
        "listener": connection.listener,
        "clientInformation": {
            "softwareName": completed.software[0],
            "softwareVersion": completed.software[1],
        },
    }
    # json.dumps writes ASCII only, so a client id cannot contain a line separator.
    return json.dumps(record, separators=(",", ":"))


def _text_message(completed: CompletedRequest) -> str:
    request, connection, dialect = completed.request, completed.connection, completed.dialect
    api = dialect.apis[request.api_key]
    times, response = completed.times(), ""
    if completed.response:
        name, version = api.response.name, completed.response_version
        response = struct_form(completed.response, dialect, name, version)
    client_id = "null" if request.client_id is None else safe_text(request.client_id)
    return (
        f"RequestHeader(apiKey={_enum_name(dialect, request.api_key)}, "
        f"apiVersion={request.api_version}, clientId={client_id}, "
        f"correlationId={request.correlation_id}) -- {_text_body(completed)},response:{response} "
        f"from connection {connection.id};totalTime:{times.total},requestQueueTime:0.0,"
        f"localTime:{times.local},remoteTime:0.0,throttleTime:0,responseQueueTime:0.0,"
        f"sendTime:{times.send},securityProtocol:{connection.security_protocol},"
        f"principal:{safe_text(completed.principal)},listener:{safe_text(connection.listener)},"
        f"clientInformation:ClientInformation(softwareName={completed.software[0]}, "
        f"softwareVersion={completed.software[1]})"
    )


def _text_body(completed: CompletedRequest) -> str:
    body, request, dialect = _body(completed), completed.request, completed.dialect
    if body is None:
        return "{}"
    if request.api_key == PRODUCE_KEY:  # Kafka logs counts instead of thousands of partitions
        partitions = sum(len(topic.partition_data) for topic in body.topic_data)
        return f"{{acks={body.acks},timeout={body.timeout_ms},numPartitions={partitions}}}"
    name = dialect.apis[request.api_key].request.name
    return struct_form(body, dialect, name, request.api_version)
