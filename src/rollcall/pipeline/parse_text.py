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
from rollcall.pipeline.parse_frame import MARK
from rollcall.pipeline.parse_json import NAME

SEPARATOR = "\x01"
"""Between the parts of a head: API and version, client id, replica id."""

INT = r"-?\d+"
BODY = rf"\{{(?:replica_id=({INT}),|[a-z_]\w*=|\}}(?:,response:| from connection ))"

# 0.8 to 0.11: what follows the client id, by the name of the request.
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
NAMED = [
    rf"Name: ?({name}); ?Version: ?({INT});(?: ?Controller\w*: ?{INT};)* ?"
    rf"CorrelationId: ?{INT}; ?ClientId: ?(.*?){after}"
    for name, after in AFTER_CLIENT_ID.items()
] + [
    rf"Name: ?(ControlledShutdownRequest); ?Version: ?({INT}); ?CorrelationId: ?{INT};"
    rf"(?: ?ClientId: ?(?:None|Some\((.*?)\));)? ?BrokerId: ()",
]
REQUESTS = [
    # 1.0 to 2.7
    rf"RequestHeader\(apiKey=(\w+), apiVersion=({INT}), clientId=(.*?), "
    rf"correlationId={INT}\) -- {BODY}",
    # 0.9 to 0.11
    rf"\{{api_key=({INT}),api_version=({INT}),correlation_id={INT},client_id=(.*?)\}} -- {BODY}",
    *NAMED,
]
HEAD = rf"(?s)^\[.{{23}}\] [A-Z]+ {MARK}(?:{'|'.join(REQUESTS)}).*$"


def head_parts() -> str:
    """The replacement for HEAD: of each part, the one alternative that matched."""

    def group(number: int) -> str:
        return "".join(f"${4 * at + number}" for at in range(len(REQUESTS)))

    return f"{group(1)},{group(2)}{SEPARATOR}{group(3)}{SEPARATOR}{group(4)}"


CONNECTION = " from connection "
CLIENT = " from client "
# Both begin with literal text, as Java then skips ahead to it.
LEFTMOST_TAIL = r"(?s) from c(?:onnection|lient) ([^ ;]+;totalTime:.*)$"
EXTRAS = r"(?:,temporaryMemoryBytes:\d+)?(?:,messageConversionsTime:[\d.E\-]+)?( \([\w.$\-]+\))$"

WHO = (
    r"(?s)^([A-Z_]+),principal:(.*?)(?:,listener:([^,]*))?"
    r"(?:,clientInformation:ClientInformation\(softwareName=([^,()]*), softwareVersion=([^,()]*)\))?"
    r" \([\w.$\-]+\)$"
)
# The last answer in the line is the broker's own.
NAMES = (
    rf"(?s)^.* -- \{{client_software_name=({NAME}),client_software_version=({NAME}),"
    r"_tagged_fields=\{\}\},response:"
)
RANGES = r"(?s)^.*,response:\{error_code=0,api_(?:keys|versions)=\[([^\]]*)\].* from connection "
RANGE = r"\{api_key=(\d+),min_version=(\d+),max_version=(\d+)"


def cut_request(text: Column) -> Column:
    """API and version, client id, replica id; the text itself if it is of no known form."""
    return F.regexp_replace(text, HEAD, head_parts())


def cut_tail(text: Column) -> Column:
    tail = F.substring_index(F.substring_index(text, CONNECTION, -1), CLIENT, -1)
    good = F.substring(tail, F.length(cut_connection(tail)) + 1, F.lit(11)) == ";totalTime:"
    return F.when(good, tail).otherwise(F.regexp_extract(text, LEFTMOST_TAIL, 1))


def cut_connection(tail: Column) -> Column:
    return F.substring_index(tail, ";", 1)


def cut_total(tail: Column) -> Column:
    before = F.substring_index(F.substring_index(tail, ",requestQueueTime:", 1), ",queueTime:", 1)
    # 0.11 writes decimals as its locale does
    return F.translate(F.substring_index(before, ";totalTime:", -1), ",", ".")


def cut_throttle(tail: Column) -> Column:
    before = F.substring_index(tail, ",responseQueueTime:", 1)
    return F.substring_index(before, ",throttleTime:", -1)


def cut_who(tail: Column) -> Column:
    who = F.substring(tail, F.locate(",securityProtocol:", tail) + 18, F.lit(1 << 30))
    extra = who.contains(",temporaryMemoryBytes:") | who.contains(",messageConversionsTime:")
    return F.when(
        tail.contains(",securityProtocol:"),
        F.when(extra, F.regexp_replace(who, EXTRAS, "$1")).otherwise(who),
    )


def form_of(message: Column, tail: Column) -> Column:
    """Its letter, but for D and G: a listener makes D of C, client information G of F."""
    return (
        F.when(message.startswith(f"{MARK}RequestHeader("), "F")
        .when(tail.contains(",queueTime:"), "A")
        .when(~tail.contains(",securityProtocol:"), "B")
        .when(tail.contains(",throttleTime:"), "E")
        .otherwise("C")
    )


def is_api_versions(request: Column) -> Column:
    return request.startswith("API_VERSIONS,")


def cut_name(text: Column, group: int) -> Column:
    return F.regexp_extract(text, NAMES, group)


def cut_answer(text: Column) -> Column:
    return F.regexp_extract(text, RANGES, 1)


def said(who: Column) -> Column:
    request = F.col("request")
    what = F.substring_index(request, SEPARATOR, 1)
    replica = F.substring_index(request, SEPARATOR, -1)
    client_id = F.substring(
        request, F.length(what) + 2, F.length(request) - F.length(what) - F.length(replica) - 2
    )
    is_old = F.col("form").isin("A", "B")
    complete = request.contains(SEPARATOR) & ~request.startswith("[") & (is_old | who.rlike(WHO))
    return F.struct(
        F.coalesce(complete, F.lit(False)).alias("complete"),
        api_key(F.substring_index(what, ",", 1)).alias("api_key"),
        F.substring_index(what, ",", -1).try_cast("int").alias("api_version"),
        F.lit(False).alias("deprecated"),
        F.lit(False).alias("forwarded"),
        F.nullif(client_id, F.lit("null")).alias("client_id"),
        replica.alias("replica_id"),
        part(who, 1).alias("security_protocol"),
        part(who, 2).alias("principal"),
        part(who, 3).alias("listener"),
        part(who, 4).alias("software_name"),
        part(who, 5).alias("software_version"),
    )


def api_key(name: Column) -> Column:
    """Of a number, or of any name that a release ever wrote."""
    keys = F.create_map(*(F.lit(each) for pair in api_names().items() for each in pair))
    return F.coalesce(name.try_cast("int"), F.try_element_at(keys, name))


def part(who: Column, group: int) -> Column:
    return F.nullif(F.regexp_extract(who, WHO, group), F.lit(""))


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
