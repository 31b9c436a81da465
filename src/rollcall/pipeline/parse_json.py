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

from rollcall.pipeline.parse_frame import FRAME

# The head without its frame and without the correlation id, which differs from line to line.
HEAD = rf'{FRAME}(\{{"isForwarded":.*?),"correlationId":-?\d+'
# connection, total and throttle time, the letter of the form, and all from the protocol on
TAIL = (
    r'(?s)^([^"]*)","totalTimeMs":([^,]*),"requestQueueTimeMs":[^,]*,"localTimeMs":[^,]*,'
    r'"remoteTimeMs":[^,]*,"throttleTimeMs":([^,]*),"responseQueueTimeMs":[^,]*,'
    r'"sendTimeMs":[^,]*(,"securityProtocol":.*)$'
)
TAIL_PARTS = "$1\x01$2\x01$3\x01H\x01$4"
EXTRAS = '},"'
"""Comes before the fields that only some lines have, and nowhere else in a tail."""

# These two begin with literal text, as Java then skips ahead to it.
REPLICA = r',"request":\{(?:"clusterId":"[^"]*",)?"replica(?:State":\{"replicaI|I)d":(-?\d+)'
# The code is among the first fields of a response, but for OffsetFetch and Metadata: the last.
EARLY_ERROR = r',"response":\{(?:"throttleTimeMs":-?\d+,)?(?:"allow\w+":\w+,)?"errorCode":(-?\d+)'
LATE_ERROR = r'"errorCode":(-?\d+)\},"connection":"'
HAS_LATE_ERROR = '"requestApiKey":[39],'

RANGES = r'"apiKeys":(\[[^\]]*\])'

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


def cut_request(text: Column) -> Column:
    return F.regexp_replace(F.substring_index(text, ',"request":', 1), HEAD, "$1")


def cut_tail(text: Column) -> Column:
    tail = F.substring_index(F.substring_index(text, ',"connection":"', -1), EXTRAS, 1)
    return F.regexp_replace(tail, TAIL, TAIL_PARTS)


def cut_replica(text: Column) -> Column:
    return F.regexp_extract(text, REPLICA, 1)


def cut_error(text: Column, request: Column) -> Column:
    return F.when(request.rlike(HAS_LATE_ERROR), F.regexp_extract(text, LATE_ERROR, 1)).otherwise(
        F.regexp_extract(text, EARLY_ERROR, 1)
    )


def read(request: Column, who: Column) -> Column:
    """What the broker wrote around the bodies; fields are null if it is broken.

    The end of the line may be in it, closed or not: one more end does no harm.
    """
    return F.from_json(F.concat(request, who, F.lit("}}")), WANTED)


def cut_answer(bodies: Column) -> Column:
    return F.regexp_extract(bodies, RANGES, 1)


def ranges(answer: Column) -> Column:
    return F.from_json(answer, ANSWER)
