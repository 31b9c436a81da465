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
from rollcall.pipeline.parse_frame import FRAME
from rollcall.pipeline.parse_json import NAME

SEPARATOR = "\x01"
INT = r"-?\d+"
# 0.11 writes decimals as its locale does.
NUMBER = r"[0-9.,E\-]+"
BODY = rf"\{{(?:replica_id=({INT}),|[a-z_]\w*=|\}}(?:,response:| from connection ))"

# 0.8 to 0.11: what follows the client id, by the name of the request; the group is a replica id.
AFTER_CLIENT_ID = {
    "ProducerRequest": rf"; RequiredAcks: {INT}; AckTimeoutMs: ()",
    "FetchRequest": rf"; (?:RequestInfo: |ReplicaId: ({INT}); MaxWait: )",
    "OffsetRequest": rf"; (?:RequestInfo: |ReplicaId: ({INT})(?:; RequestInfo: | from c))",
    "TopicMetadataRequest": r"(?:; Topics: | from c(?:lient|onnection) )()",
    "(?:OffsetCommitRequest|OffsetFetchRequest)": r"; (?:GroupId|RequestInfo): ()",
    "ConsumerMetadataRequest": r"; Group: ()",
    "StopReplicaRequest": r"; DeletePartitions: ()",
    "(?:LeaderAndIsrRequest|UpdateMetadataRequest)": (
        r";(?:Leaders|AliveBrokers|PartitionState):()"
    ),
}
# Each has four groups: API, version, client id, replica id.
HEADS = [
    # 1.0 to 2.7
    rf"RequestHeader\(apiKey=(\w+), apiVersion=({INT}), clientId=(.*?), "
    rf"correlationId={INT}\) -- {BODY}",
    # 0.9 to 0.11
    rf"\{{api_key=({INT}),api_version=({INT}),correlation_id={INT},client_id=(.*?)\}} -- {BODY}",
    *(
        rf"Name: ?({name}); ?Version: ?({INT});(?: ?Controller\w*: ?{INT};)* ?"
        rf"CorrelationId: ?{INT}; ?ClientId: ?(.*?){after}"
        for name, after in AFTER_CLIENT_ID.items()
    ),
    rf"Name: ?(ControlledShutdownRequest); ?Version: ?({INT}); ?CorrelationId: ?{INT};"
    rf"(?: ?ClientId: ?(?:None|Some\((.*?)\));)? ?BrokerId: ()",
]
HEAD = rf"{FRAME}(?:{'|'.join(HEADS)}).*$"
HEAD_PARTS = SEPARATOR.join(
    "".join(f"${4 * at + group}" for at in range(len(HEADS))) for group in (1, 2, 3, 4)
)
"""Of each part, the one alternative that was found: all others are empty."""

# connection, total and throttle time, the shape of the times, and all behind the protocol
TAIL = (
    rf"(?s)^.* from c(?:onnection|lient) ([^ ;]+);totalTime:({NUMBER}),(r)?(?:equestQ|q)ueueTime:"
    rf"{NUMBER},localTime:{NUMBER},remoteTime:{NUMBER}(?:,(t)hrottleTime:({NUMBER}))?"
    rf"(?:,responseQueueTime:{NUMBER})?,sendTime:{NUMBER}(?:,securityProtocol:(.*?))?"
    rf"(?:,temporaryMemoryBytes:\d+)?(?:,messageConversionsTime:{NUMBER})? \([\w.$\-]+\)$"
)
TAIL_PARTS = "$1\x01$2\x01$5\x01$3$4\x01$6"
OLDEST, OLD, NEW = "", "r", "rt"
"""The shapes: form A; B to D; E to G."""

WHO = (
    r"(?s)^([A-Z_]+),principal:(.*?)(?:,listener:([^,]*))?"
    r"(?:,clientInformation:ClientInformation\(softwareName=([^,()]*), softwareVersion=([^,()]*)\))?$"
)
NAMES = (
    rf"^client_software_name=({NAME}),client_software_version=({NAME}),"
    r"_tagged_fields=\{\}\},response:"
)
# The last answer in the line is the broker's own.
RANGES = r"(?s)^.*,response:\{error_code=0,api_(?:keys|versions)=\[([^\]]*)\]"
RANGE = r"\{api_key=(\d+),min_version=(\d+),max_version=(\d+)"


def cut_request(text: Column) -> Column:
    return F.regexp_replace(text, HEAD, HEAD_PARTS)


def cut_tail(text: Column) -> Column:
    return F.regexp_replace(text, TAIL, TAIL_PARTS)


def said(request: Column, who: Column, bodies: Column) -> Column:
    api, version = F.split_part(request, F.lit(SEPARATOR), F.lit(1)), part_of(request, 2)
    replica = F.substring_index(request, SEPARATOR, -1)
    around = F.length(api) + F.length(version) + F.length(replica) + 3
    client_id = F.substring(
        request, F.length(api) + F.length(version) + 3, F.length(request) - around
    )
    return F.struct(
        ((who == "") | who.rlike(WHO)).alias("complete"),
        api_key(api).alias("api_key"),
        version.try_cast("int").alias("api_version"),
        F.lit(False).alias("deprecated"),
        F.lit(False).alias("forwarded"),
        F.nullif(client_id, F.lit("null")).alias("client_id"),
        replica.try_cast("int").alias("replica_id"),
        *(
            F.nullif(F.regexp_extract(who, WHO, group), F.lit("")).alias(name)
            for group, name in enumerate(
                ("security_protocol", "principal", "listener", "software_name", "software_version"),
                start=1,
            )
        ),
        F.regexp_extract(bodies, NAMES, 1).alias("told_name"),
        F.regexp_extract(bodies, NAMES, 2).alias("told_version"),
    )


def part_of(request: Column, number: int) -> Column:
    return F.split_part(request, F.lit(SEPARATOR), F.lit(number))


def api_key(name: Column) -> Column:
    """Of a number, or of any name that a release ever wrote."""
    keys = F.create_map(*(F.lit(each) for pair in api_names().items() for each in pair))
    return F.coalesce(name.try_cast("int"), F.try_element_at(keys, name))


def form_of(request: Column, shape: Column, said: Column) -> Column:
    is_header = part_of(request, 1).rlike("^[A-Z_]+$")
    return (
        F.when(said.software_name.isNotNull(), "G")
        .when(is_header, "F")
        .when(shape == NEW, "E")
        .when(shape == OLDEST, "A")
        .when(said.principal.isNull(), "B")
        .when(said.listener.isNotNull(), "D")
        .otherwise("C")
    )


def ranges(bodies: Column) -> Column:
    """Each range is read from its own piece."""

    def one(piece: Column) -> Column:
        return F.struct(
            *(
                F.regexp_extract(piece, RANGE, at).try_cast("int").alias(name)
                for at, name in enumerate(("api_key", "min_version", "max_version"), start=1)
            )
        )

    answer = F.regexp_extract(bodies, RANGES, 1)
    return F.transform(F.regexp_extract_all(answer, F.lit(f"({RANGE})"), 1), one)
