"""Forms A to G: text, where client ids, topics and group names stand as the client sent them.

A client can write anything there, so each end of a line is read from its own side. The head is
read from the left: a client id ends where a correlation id and the start of a body follow. The
tail is read from the right: it begins at the last ` from connection ` that times follow. Who
imitates all of that can still forge a line; the JSON forms cannot be forged.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from rollcall.catalog import api_names

SEPARATOR = "\x01"
INT = r"-?\d+"
# 0.11 writes decimals as its locale does.
NUMBER = r"[0-9.,E\-]+"
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
        rf"Name: ?({name}); ?Version: ?({INT});(?: ?Controller\w*: ?{INT};)* ?"
        rf"CorrelationId: ?{INT}; ?ClientId: ?(.*?){after}"
        for name, after in AFTER_CLIENT_ID.items()
    ),
    (
        rf"Name: ?(ControlledShutdownRequest); ?Version: ?({INT}); ?CorrelationId: ?{INT};"
        rf"(?: ?ClientId: ?(?:None|Some\((.*?)\));)? ?BrokerId: ()"
    ),
]
HEAD = rf"(?s)^request:(?:{'|'.join(HEADS)}).*$"
HEAD_PARTS = SEPARATOR.join(
    "".join(f"${4 * at + group}" for at in range(len(HEADS))) for group in (1, 2, 4, 3)
)
"""API, version, replica id and client id: of each, all alternatives but one are empty."""

# connection, total and throttle time, the shape of the times, and all behind the protocol
TAIL = (
    rf"(?s)^.* from c(?:onnection|lient) ([^ ;]+);totalTime:({NUMBER}),(r)?(?:equestQ|q)ueueTime:"
    rf"{NUMBER},localTime:{NUMBER},remoteTime:{NUMBER}(?:,(t)hrottleTime:({NUMBER}))?"
    rf"(?:,responseQueueTime:{NUMBER})?,sendTime:{NUMBER}(?:,securityProtocol:(.*?))?"
    rf"(?:,temporaryMemoryBytes:\d+)?(?:,messageConversionsTime:{NUMBER})? \([\w.$\-]+\)$"
)
TAIL_PARTS = SEPARATOR.join(
    (
        *("", "$1", '"totalTimeMs":$2', "", "", ""),
        *('"throttleTimeMs":$5', "$3$4", "", '"securityProtocol":$6'),
    )
)
"""In the places and under the names that JSON has for them."""
OLDEST, OLD, NEW = "", "r", "rt"
"""The shapes: form A; B to D; E to G."""

WHO = (
    r'(?s)^"securityProtocol":([A-Z_]+),principal:(.*?)(?:,listener:([^,]*))?'
    r"(?:,clientInformation:ClientInformation\(softwareName=([^,()]*), "
    r"softwareVersion=([^,()]*)\))?$"
)
NOBODY = '"securityProtocol":'
WHO_PARTS = "$1\x01$3\x01$4\x01$5\x01$2"
"""Security protocol, listener, software name and version, principal."""
# The last answer in the line is the broker's own.
RANGES = r"(?s)^.*,response:\{error_code=0,api_(?:keys|versions)=\[([^\]]*)\]"
RANGE = r"\{api_key=(\d+),min_version=(\d+),max_version=(\d+)"


def take_request(front: Column) -> Column:
    """API, version, replica id and client id of a line of 1.0 to 2.7 that begins as most do."""
    newer = front.startswith("request:RequestHeader(")
    return F.when(newer, F.regexp_replace(front, HEAD, HEAD_PARTS)).otherwise(front)


def find_request(taken: Column, payload: Column) -> Column:
    """The same of any line; what was there if there is none."""
    missed = taken.startswith("request:")
    return F.when(missed, F.regexp_replace(payload, HEAD, HEAD_PARTS)).otherwise(taken)


def take_tail(end: Column) -> Column:
    return F.regexp_replace(end, TAIL, TAIL_PARTS)


def find_tail(taken: Column, payload: Column) -> Column:
    found = F.regexp_replace(payload, TAIL, TAIL_PARTS)
    return F.when(taken.startswith(SEPARATOR), taken).otherwise(found)


def cut_bodies(payload: Column) -> Column:
    return F.substring_index(F.substring_index(payload, " -- {", -1), " from connection ", 1)


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
    keys = F.create_map(*(F.lit(each) for pair in api_names().items() for each in pair))
    return F.coalesce(name.try_cast("int"), F.try_element_at(keys, name))


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


def cut_answer(bodies: Column) -> Column:
    return F.regexp_extract(bodies, RANGES, 1)


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
