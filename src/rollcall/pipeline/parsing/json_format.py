"""Forms H to J: a request line is one JSON object whose keys always come in the same order.

Bodies are most of a line, and nothing of them is kept, so a line is not read as JSON: it is cut
at the marks between its parts. That is safe whatever a client writes in its id or a topic, as a
quote inside a JSON text is always escaped: a mark with its quotes, such as `,"connection":"`,
can only be the broker's own. What is left of the line when it is cut is small, the same for many
lines, and read as JSON once for all of them (`read`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

from rollcall.pipeline.parsing.expressions import (
    NAME,
    REPLICA_APIS,
    THROTTLE,
    TOTAL,
    WHO,
    cut_bytes,
    is_one_of,
)

SHAPE = "H"
REQUEST = ',"request":'
CONNECTION = ',"connection":"'
EXTRAS = r'\},"(?=\w)'
"""Comes before the fields that only some lines have, and nowhere else in a tail: behind a text that
ends like it comes a comma."""

NAMES = {TOTAL: '"totalTimeMs":', THROTTLE: '"throttleTimeMs":', WHO: '"securityProtocol":'}
"""What stands at these places of a tail."""
LONGEST_KEY = 5
KEY = '"requestHeader":{"requestApiKey":'
API_VERSIONS = "18"
NO_REPLICA = f'{REQUEST}{{"replicaId":-1,'
REPLICA_FIRST, CLUSTER_FIRST = f'{REQUEST}{{"replica', f'{REQUEST}{{"clusterId'
"""How a body begins that says which replica asks."""
REPLICA_BYTES = len(f'{REPLICA_FIRST}State":{{"replicaId":-2147483648,')
# These begin with literal text, as Java then skips ahead to it.
# More fields may follow, as from version 5 on.
TOLD = rf'{REQUEST}\{{("clientSoftwareName":"{NAME}","clientSoftwareVersion":"{NAME}")[,}}]'
ANSWERED = ',"response":{"errorCode":0,"apiKeys":'
ANSWER = rf"{re.escape(ANSWERED)}\[([^\]]*)\]"
REPLICA = rf'{REQUEST}\{{(?:"clusterId":"[^"]*",)?"replica(?:State":\{{"replicaI|I)d":(-?\d+)'
EARLY_ERROR = (
    r',"response":\{(?:"throttleTimeMs":-?\d+,)?(?:"allow\w+":\w+,)?"errorCode":(-?\d+)[,}]'
)
# The longer the literal text, the faster Java skips ahead.
USUAL_ERROR = r',"response":\{"throttleTimeMs":-?\d+,"errorCode":(-?\d+)[,}]'
SHORTEST_HEAD = 100
"""No response begins in so many bytes."""
MIDDLE_BYTES = 700
LONGEST_CODE = 40
"""With its name, and what closes the line."""
LATE_ERROR = rf'"errorCode":(-?\d+)\}}{CONNECTION}'
# The code is among the first fields of a response, but for these.
CODE_IS_LAST = (3, 9)
"""Metadata and OffsetFetch."""
HAVE_NO_CODE = (0, 2, 8)
"""Produce, ListOffsets and OffsetCommit have codes of partitions only."""

WANTED = """
    isForwarded BOOLEAN,
    requestHeader STRUCT<
        requestApiKey: INT, requestApiVersion: INT, clientId: STRING,
        requestApiVersionDeprecated: BOOLEAN
    >,
    securityProtocol STRING, principal STRING, listener STRING,
    clientInformation STRUCT<softwareName: STRING, softwareVersion: STRING>
"""
ESCAPE = "\\"
VALUE = "*"
USUAL_REQUEST = (
    'request:{"isForwarded"*"requestHeader":{"requestApiKey"*"requestApiVersion"*"clientId":"*",'
    '"requestApiKeyName":"*"'
)
USUAL_IF_DEPRECATED = f'{USUAL_REQUEST},"requestApiVersionDeprecated":true'
USUAL_WHO = (
    '"securityProtocol":"*","principal":"*","listener":"*",'
    '"clientInformation":{"softwareName":"*","softwareVersion":"*"'
)
RANGES = "ARRAY<STRUCT<apiKey: INT, minVersion: INT, maxVersion: INT>>"


def take_body(pieces: Column) -> Column:
    """The start of the request's body, up to the first brace that ends something in it, or as far
    as the front of the line goes if that is enough."""
    body = F.get(pieces, 1)
    enough = (F.octet_length(body) > REPLICA_BYTES) & ~body.startswith(CLUSTER_FIRST)
    return F.when(body.startswith(REQUEST) & ((F.size(pieces) == 3) | enough), body)


def cut_head(pieces: Column, payload: Column) -> Column:
    """The header of the request at its commas: isForwarded, key, version, correlation id, and all
    that follows. The first brace ends it, unless a client id has one."""
    simple = F.when(F.get(pieces, 1).startswith(REQUEST), F.get(pieces, 0))
    return F.split(F.coalesce(simple, F.substring_index(payload, "}" + REQUEST, 1)), ",", 5)


def cut_api(head: Column) -> Column:
    """As text: to read a number takes longer than to compare a text."""
    return cut_bytes(F.get(head, 1), len(KEY) + 1, LONGEST_KEY)


def asks_for(keys: Iterable[int]) -> Column:
    return is_one_of("api", map(str, keys))


def cut_request(head: Column) -> Column:
    """The head without the correlation id, which differs from line to line."""
    whole = F.concat_ws(",", *(F.get(head, place) for place in (0, 1, 2, 4)))
    return F.when(F.get(head, 3).startswith('"correlationId":'), whole)


def take_tail(pieces: Column) -> Column:
    """All from the connection on. It is what lies between the last brace of the bodies and the
    first that ends the line, unless there is one in a principal or nothing was answered."""
    return F.try_element_at(pieces, F.lit(-3))


def find_tail(taken: Column, payload: Column) -> Column:
    behind = F.get(F.split(F.substring_index(payload, CONNECTION, -1), EXTRAS, 2), 0)
    sure = F.concat(F.lit(CONNECTION), behind)
    return F.when(taken.startswith(CONNECTION), taken).otherwise(sure)


def is_answer(listed: Column) -> Column:
    """No client can write this: a quote in its texts is escaped."""
    return F.get(listed, 0).endswith(ANSWERED)


def cut_replica() -> Column:
    """From the start of the body, if that is known: to look for it takes longer."""
    body = F.col("body")
    told = body.startswith(REPLICA_FIRST) | body.startswith(CLUSTER_FIRST)
    may_tell = F.coalesce(told & ~body.startswith(NO_REPLICA), F.lit(True))
    found = F.regexp_extract(F.coalesce(body, F.col("payload")), REPLICA, 1)
    return F.when(asks_for(REPLICA_APIS) & may_tell, found)


def early_error() -> Column:
    """The code of a response that begins where most do; empty if it is not found there."""
    middle = cut_bytes(F.col("bytes"), SHORTEST_HEAD, MIDDLE_BYTES)
    return F.when(~asks_for(HAVE_NO_CODE + CODE_IS_LAST), F.regexp_extract(middle, USUAL_ERROR, 1))


def cut_error() -> Column:
    """The code of any response, if it was not found early."""
    payload, tail, end, early = (F.col(it) for it in ("payload", "tail", "end", "error_code"))
    in_end = F.octet_length(tail) < F.octet_length(end) - LONGEST_CODE
    place = F.when(tail.startswith(CONNECTION) & in_end, end).otherwise(payload)
    late = F.when(asks_for(CODE_IS_LAST), F.regexp_extract(place, LATE_ERROR, 1))
    searched = F.when(early == "", F.regexp_extract(payload, EARLY_ERROR, 1))
    return F.coalesce(searched, early, late)


def read(request: Column, who: Column) -> Column:
    """What the broker wrote around the bodies; fields are null if it is broken.

    Columns `asked` and `asker` are these two at their quotes: if all is in its usual place, the
    fields are taken from there. To read JSON takes several times as long.
    """
    header = F.substring(request, len("request:") + 1, F.length(request))
    # the end of the line may be in it, closed or not: one more end does no harm
    json = F.from_json(F.concat(header, F.lit("},"), who, F.lit("}}")), WANTED)
    plain = ~(request.contains(ESCAPE) | who.contains(ESCAPE))
    is_old = looks_like("asked", USUAL_IF_DEPRECATED)
    usual = plain & looks_like("asker", USUAL_WHO) & (looks_like("asked", USUAL_REQUEST) | is_old)
    return F.when(F.coalesce(usual, F.lit(False)), take_fields()).otherwise(json)


def take_fields() -> Column:
    forwarded, key, version, client_id, _ = values("asked", USUAL_REQUEST)
    protocol, principal, listener, name, software_version = values("asker", USUAL_WHO)
    plain_size = len(USUAL_REQUEST.split('"'))
    return F.expr(
        f"""named_struct(
            'isForwarded', {forwarded} = ':true,',
            'requestHeader', named_struct(
                'requestApiKey', try_cast(btrim({key}, ':,') AS INT),
                'requestApiVersion', try_cast(btrim({version}, ':,') AS INT),
                'clientId', {client_id},
                'requestApiVersionDeprecated', size(asked) > {plain_size}),
            'securityProtocol', {protocol}, 'principal', {principal}, 'listener', {listener},
            'clientInformation', named_struct(
                'softwareName', {name}, 'softwareVersion', {software_version}))"""
    )


def values(pieces: str, form: str) -> list[str]:
    return [f"get({pieces}, {at})" for at, mark in enumerate(form.split('"')) if mark == VALUE]


def looks_like(pieces: str, form: str) -> Column:
    """Whether all that is no value is there, and nothing else."""
    marks = list(enumerate(form.split('"')))
    same = (f"get({pieces}, {at}) = '{mark}'" for at, mark in marks if mark != VALUE)
    return F.expr(" AND ".join((f"size({pieces}) = {len(marks)}", *same)))


def connection_of(part: Column) -> Column:
    return F.get(F.split(part, '"', 5), 3)


def ranges(answer: Column) -> Column:
    return F.from_json(F.concat(F.lit("["), answer, F.lit("]")), RANGES)
