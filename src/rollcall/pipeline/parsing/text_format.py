"""Forms A to G: text, where client ids, topics and group names stand as the client sent them.

A client can write anything there, so each end of a line is read from its own side. The head is
read from the left: a client id ends where a correlation id and the start of a body follow. The
tail is read from the right: it begins at the last ` from connection ` that times follow. Who
imitates all of that can still forge a line; the JSON forms cannot be forged.
"""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

from rollcall.catalog import api_names
from rollcall.pipeline.parsing.expressions import CONNECTION, NAME, RESPONSE_QUEUE, THROTTLE, TOTAL
from rollcall.pipeline.parsing.expressions import WHO as PARTY

SEPARATOR = "\x01"
INT = r"-?\d+"
# 0.11 writes decimals as its locale does.
NUMBER = r"[0-9.,E\-]+"
LONGEST_LINE = 2**30
FROM = " from connection "
PEER = r" from c(?:lient|onnection) [^ ;]+;totalTime:"
BODY = rf"\{{(?:replica_id=({INT}),|[a-z_]\w*=|\}}(?:,response:| from connection ))"

# 0.8 to 0.11: what follows the client id, by the name of the request; the group is a replica id.
AFTER_CLIENT_ID = {
    "ProducerRequest": rf"; RequiredAcks: {INT}; AckTimeoutMs: ()",
    "FetchRequest": rf"; (?:RequestInfo: |ReplicaId: ({INT}); MaxWait: )",
    "OffsetRequest": rf"; (?:RequestInfo: |ReplicaId: ({INT})(?:; RequestInfo: |{PEER}))",
    "TopicMetadataRequest": rf"(?:; Topics: |{PEER}(?!.*{PEER}))()",
    "(?:OffsetCommitRequest|OffsetFetchRequest)": r"; (?:GroupId|RequestInfo): ()",
    "ConsumerMetadataRequest": r"; Group: ()",
    "StopReplicaRequest": r"; DeletePartitions: ()",
    "(?:LeaderAndIsrRequest|UpdateMetadataRequest)": (
        r";(?:Leaders|AliveBrokers|PartitionState):()"
    ),
}
# Each has four groups: API, version, client id and replica id.
HEADS = [
    # 1.0 to 2.7
    (
        rf"RequestHeader\(apiKey=(\w+), apiVersion=({INT}), clientId=(.*?), "
        rf"correlationId={INT}\) -- {BODY}"
    ),
    # 0.9 to 0.11
    rf"\{{api_key=({INT}),api_version=({INT}),correlation_id={INT},client_id=(.*?)\}} -- {BODY}",
    *(
        rf"Name: ?({name}); ?Version: ?({INT});(?: ?Controller\w*: ?{INT};){{0,2}} ?"
        rf"CorrelationId: ?{INT}; ?ClientId: ?(.*?){after}"
        for name, after in AFTER_CLIENT_ID.items()
    ),
    (
        rf"Name: ?(ControlledShutdownRequest); ?Version: ?({INT}); ?CorrelationId: ?{INT};"
        rf"(?: ?ClientId: ?(?:None|Some\((.*?)\));)? ?BrokerId: ()"
    ),
]
STARTS = ("request:RequestHeader(apiKey=", " apiVersion=", " clientId=")
"""Of a head at its commas, from 1.0 on."""
CORRELATION = " correlationId="
# Not if it breaks off in a replica id.
BEHIND_STARTS = rf"(?s)^{CORRELATION}{INT}\) -- (?!\{{replica_id=-?\d*$){BODY}.*$"
HEAD = rf"(?s)^request:(?:{'|'.join(HEADS)}).*$"
HEAD_PARTS = SEPARATOR.join(
    "".join(f"${4 * at + group}" for at in range(len(HEADS))) for group in (1, 2, 4, 3)
)
"""API, version, replica id and client id: of each, all alternatives but one are empty."""

NAMES = {TOTAL: "totalTime:", THROTTLE: "throttleTime:", PARTY: "securityProtocol:"}
"""What stands at these places of a tail."""
RESPONSE_QUEUE_NAME = "responseQueueTime:"
# connection, total and throttle time, the shape of the times, and all behind the protocol
TAIL = (
    rf"(?s)^.* from c(?:onnection|lient) ([^ ;]+);totalTime:({NUMBER}),(r)?(?:equestQ|q)ueueTime:"
    rf"{NUMBER},localTime:{NUMBER},remoteTime:{NUMBER}(?:,(t)hrottleTime:({NUMBER}))?"
    rf"(?:,responseQueueTime:{NUMBER})?,sendTime:{NUMBER}(?:,securityProtocol:(.*?))?"
    rf"(?:,temporaryMemoryBytes:\d+)?(?:,messageConversionsTime:{NUMBER})?$"
)
TAIL_PARTS = SEPARATOR.join(
    (
        *("", "$1", "totalTime:$2", "", "", ""),
        *("throttleTime:$5", "$3$4", "", "securityProtocol:$6"),
    )
)
"""In the places that a tail has for them, but the shape."""
OLDEST, OLD, NEW = "", "r", "rt"
"""The shapes: form A; B to D; E to G."""

WHO = (
    r"(?s)^securityProtocol:([A-Z_]+),principal:(.*?)(?:,listener:([^,]*))?"
    r"(?:,clientInformation:ClientInformation\(softwareName=([^,()]*), "
    r"softwareVersion=([^,()]*)\))?$"
)
NOBODY = NAMES[PARTY]
WHO_PARTS = "$1\x01$3\x01$4\x01$5\x01$2"
"""Security protocol, listener, software name and version, principal."""
ASKS = "request:RequestHeader(apiKey=API_VERSIONS, "
TOLD = (
    rf"(?s)^{re.escape(ASKS)}apiVersion={INT}, clientId=.*?, "
    rf"correlationId={INT}\) -- \{{(client_software_name={NAME},client_software_version={NAME}),"
    r"_tagged_fields=\{\}\},response:"
)
ANSWERED = (",response:{error_code=0,api_keys=", ",response:{error_code=0,api_versions=")
# The last answer in the line is the broker's own.
ANSWER = r"(?s)^.*,response:\{error_code=0,api_(?:keys|versions)=\[([^\]]*)\]"
RANGE = r"\{api_key=(\d+),min_version=(\d+),max_version=(\d+)"


def cut_head(pieces: Column) -> Column:
    """The start of a line of 1.0 to 2.7 at its commas, up to the client id, then the replica id of
    its body; the last is something else if the client id has a comma, or the line another form."""
    behind = F.get(pieces, 3)
    replica = F.regexp_replace(behind, BEHIND_STARTS, SEPARATOR + "$1")
    own = F.when(behind.startswith(CORRELATION), replica)  # a client may write our separator
    return F.array(*(F.get(pieces, place) for place in range(3)), own)


def take_request(head: Column) -> Column:
    """API, version, replica id and client id of a line that begins as most do."""
    parts = [F.get(head, place) for place in range(4)]
    simple = parts[3].startswith(SEPARATOR)
    for part, start in zip(parts, STARTS, strict=False):
        simple &= part.startswith(start)
    api, version, client_id = (
        F.substring(part, len(start) + 1, LONGEST_LINE)
        for part, start in zip(parts, STARTS, strict=False)
    )
    separator = F.lit(SEPARATOR)
    return F.when(simple, F.concat(api, separator, version, parts[3], separator, client_id))


def find_request(taken: Column, payload: Column) -> Column:
    """The same of any line; the whole line if there is none."""
    return F.when(taken.isNull(), F.regexp_replace(payload, HEAD, HEAD_PARTS)).otherwise(taken)


def take_tail(pieces: Column) -> Column:
    """The connection and all behind it; the times begin behind the last semicolon, unless a
    principal has one."""
    before, behind = (F.try_element_at(pieces, F.lit(place)) for place in (-2, -1))
    connection = F.substring_index(before, FROM, -1)
    return F.concat(F.lit(","), connection, F.lit(","), behind)


def find_tail(taken: Column, payload: Column, parts: int) -> Column:
    """What was taken at its commas, if that is a tail; else what a careful look finds."""
    whole = F.split(F.regexp_replace(payload, TAIL, TAIL_PARTS), SEPARATOR, parts)
    return F.when(is_tail(taken), taken).otherwise(whole)


def is_tail(taken: Column) -> Column:
    """A tail of 1.0 to 2.7 that was cut at the right commas, and has nothing behind its owner."""
    connection, party = F.get(taken, CONNECTION), F.get(taken, PARTY)
    last = F.try_element_at(F.split(party, ","), F.lit(-1))
    sure = (
        (connection != F.col("peer"))
        & F.get(taken, RESPONSE_QUEUE).startswith(RESPONSE_QUEUE_NAME)
        & party.startswith(NAMES[PARTY])
        & (party.endswith(")") | last.startswith("listener:"))
    )
    return F.coalesce(sure, F.lit(False))


def shape(response_queue: Column) -> Column:
    """Of the times: what a careful look left, or that of all tails which need none."""
    simple = response_queue.startswith(RESPONSE_QUEUE_NAME)
    return F.when(simple, NEW).otherwise(response_queue)


def is_answer(listed: Column) -> Column:
    """One bracket only: a client could have written any other before it."""
    before = F.get(listed, 0)
    return (F.size(listed) == 2) & (before.endswith(ANSWERED[0]) | before.endswith(ANSWERED[1]))


def read_request(request: Column) -> Column:
    """API, version, replica id, client id."""
    return F.split(request, SEPARATOR, 4)


def read_who(who: Column) -> Column:
    """As WHO_PARTS has it; one text only if it is none of ours; empty texts before 0.9."""
    return F.split(
        F.when(who == NOBODY, SEPARATOR * 4).otherwise(F.regexp_replace(who, WHO, WHO_PARTS)),
        SEPARATOR,
        5,
    )


def api_key(name: Column) -> Column:
    """Of a number, or of any name that a release ever wrote."""
    keys = ", ".join(f"'{known}', {key}" for known, key in api_names().items())
    return F.coalesce(F.try_element_at(F.expr(f"map({keys})"), name), name.try_cast("int"))


def form_of(shape: Column, api: Column, who: Column) -> Column:
    return (
        F.when(F.get(who, 2) != "", "G")
        .when(api.rlike("^[A-Z_]+$"), "F")
        .when(shape == NEW, "E")
        .when(shape == OLDEST, "A")
        .when(F.get(who, 0) == "", "B")
        .when(F.get(who, 1) != "", "D")
        .otherwise("C")
    )


def ranges(answer: Column) -> Column:
    """Each range is read from its own piece."""

    def one(piece: Column) -> Column:
        return F.struct(
            *(
                F.regexp_extract(piece, RANGE, at).try_cast("int").alias(name)
                for at, name in enumerate(("api_key", "min_version", "max_version"), start=1)
            )
        )

    return F.transform(F.regexp_extract_all(answer, F.lit(f"({RANGE})"), 1), one)
