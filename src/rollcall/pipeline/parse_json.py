"""Forms H to J: a request line is one JSON object whose keys always come in the same order.

Bodies are most of a line, and nothing of them is kept, so a line is not read as JSON: it is cut
at the marks between its parts. That is safe whatever a client writes in its id or a topic, as a
quote inside a JSON text is always escaped: a mark with its quotes, such as `,"connection":"`,
can only be the broker's own. What is left of the line when it is cut is small, the same for many
lines, and read as JSON once for all of them (`read`).
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from rollcall.pipeline.parse_frame import MARK

API_VERSIONS = '"requestApiKey":18,'
# Valid names only: a broker refuses others, and does not keep them (KIP-511).
NAME = r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?"
NAMES = rf',"request":\{{"clientSoftwareName":"({NAME})","clientSoftwareVersion":"({NAME})"\}}'
RANGES = r'"apiKeys":(\[[^\]]*\])'

# Each begins with literal text, as Java then skips ahead to it.
REPLICA = r',"request":\{(?:"clusterId":"[^"]*",)?"replica(?:State":\{"replicaI|I)d":(-?\d+)'
# The code is among the first fields of a response, but for OffsetFetch and Metadata: the last.
EARLY_ERROR = r',"response":\{(?:"throttleTimeMs":-?\d+,)?(?:"allow\w+":\w+,)?"errorCode":(-?\d+)'
LATE_ERROR = r'"errorCode":(-?\d+)\},"connection":"'
LATE = ('"requestApiKey":3,', '"requestApiKey":9,')

WANTED = """
    isForwarded BOOLEAN,
    requestHeader STRUCT<
        requestApiKey: INT, requestApiVersion: INT, clientId: STRING,
        requestApiVersionDeprecated: BOOLEAN
    >,
    securityProtocol STRING, principal STRING, listener STRING,
    clientInformation STRUCT<softwareName: STRING, softwareVersion: STRING>
"""
ANSWER = "ARRAY<STRUCT<apiKey: INT, minVersion: INT, maxVersion: INT>>"


def cut_head(text: Column) -> Column:
    """All before the bodies."""
    return F.substring_index(text, ',"request":', 1)


def cut_tail(text: Column) -> Column:
    """All after the bodies."""
    return F.substring_index(text, ',"connection":"', -1)


def cut_who(tail: Column) -> Column:
    """From the security protocol to the client information, or to the end of the line."""
    return F.substring_index(F.substring_index(tail, ',"securityProtocol":', -1), '},"', 1)


def cut_request(head: Column) -> Column:
    """The head without the correlation id, which differs from line to line."""
    before = F.substring_index(F.substring_index(head, ',"correlationId":', 1), MARK, -1)
    after = F.substring_index(head, ',"correlationId":', -1)
    return F.concat(before, F.substring(after, F.locate(",", after), F.lit(1 << 30)))


def cut_connection(tail: Column) -> Column:
    return F.substring_index(tail, '"', 1)


def cut_total(tail: Column) -> Column:
    before = F.substring_index(tail, ',"requestQueueTimeMs":', 1)
    return F.substring_index(before, '"totalTimeMs":', -1)


def cut_throttle(tail: Column) -> Column:
    before = F.substring_index(tail, ',"responseQueueTimeMs":', 1)
    return F.substring_index(before, '"throttleTimeMs":', -1)


def cut_replica(text: Column) -> Column:
    return F.regexp_extract(text, REPLICA, 1)


def cut_error(text: Column, request: Column) -> Column:
    late = request.contains(LATE[0]) | request.contains(LATE[1])
    return F.when(late, F.regexp_extract(text, LATE_ERROR, 1)).otherwise(
        F.regexp_extract(text, EARLY_ERROR, 1)
    )


def is_api_versions(request: Column) -> Column:
    return request.contains(API_VERSIONS)


def cut_name(text: Column, group: int) -> Column:
    return F.regexp_extract(text, NAMES, group)


def cut_answer(text: Column) -> Column:
    return F.regexp_extract(text, RANGES, 1)


def read(request: Column, who: Column) -> Column:
    """What the broker wrote around the bodies; fields are null if it is broken."""
    return F.from_json(F.concat(request, F.lit(',"securityProtocol":'), who, F.lit("}}")), WANTED)


def said(json: Column) -> Column:
    header, client = json.requestHeader, json.clientInformation
    return F.struct(
        client.isNotNull().alias("complete"),
        header.requestApiKey.alias("api_key"),
        header.requestApiVersion.alias("api_version"),
        F.coalesce(header.requestApiVersionDeprecated, F.lit(False)).alias("deprecated"),
        F.coalesce(json.isForwarded, F.lit(False)).alias("forwarded"),
        header.clientId.alias("client_id"),
        F.lit(None).cast("string").alias("replica_id"),
        json.securityProtocol.alias("security_protocol"),
        json.principal.alias("principal"),
        json.listener.alias("listener"),
        client.softwareName.alias("software_name"),
        client.softwareVersion.alias("software_version"),
    )


def ranges(answer: Column) -> Column:
    return F.from_json(answer, ANSWER)
