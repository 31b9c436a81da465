"""Request lines in text (forms A to G): parts of a line, and fields of its parts.

Client ids, topics and group names stand there as the client sent them, so each end of a line is
read from its own side. A client id ends at the first correlation id that the start of a body
follows. The tail begins at the last ` from connection ` that times follow. A client that imitates
all of that can still forge a line; the JSON forms cannot be forged.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.catalog import api_names
from rollcall.pipeline.parsing.expressions import SOFTWARE, null_if
from rollcall.pipeline.parsing.schema import TEXT

UNKNOWN_FORM = "a request line in a form that no release of Kafka writes"
UNKNOWN_API = "a request of an unknown API"

SEPARATOR = "\x01"
INT = r"-?\d+"
# 0.11 writes the decimal sign of its locale
NUMBER = r"[0-9.,E\-]+"
PEER = r" from c(?:lient|onnection) [^ ;]+;totalTime:"
BODY = rf"\{{(?:replica_id=({INT}),|[a-z_]\w*=|\}}(?:,response:| from connection ))"

# 0.8 to 0.11: what follows the client id, by the name of the request; the group is a replica id
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
# each has four groups: API, version, client id and replica id
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
HEAD = rf"(?s)^(?:{'|'.join(HEADS)})"
HEAD_PARTS = SEPARATOR.join(
    "".join(f"${4 * index + group}" for index in range(len(HEADS))) for group in (4, 1, 2, 3)
)
"""Replica id, API, version, client id: of each, all alternatives but one are empty."""

TAIL_START = " from c"
# groups: connection, total time, marks of the times, throttle time, client
TAIL = (
    rf"(?:onnection|lient) ([^ ;]+);totalTime:({NUMBER}),(r)?(?:equestQ|q)ueueTime:{NUMBER},"
    rf"localTime:{NUMBER},remoteTime:{NUMBER}(?:,(t)hrottleTime:({NUMBER}))?"
    rf"(?:,responseQueueTime:{NUMBER})?,sendTime:{NUMBER}(?:,(securityProtocol:.*?))?"
    rf"(?:,temporaryMemoryBytes:\d+)?(?:,messageConversionsTime:{NUMBER})?$"
)
LAST_TAIL = rf"(?s)^{TAIL}"
ANY_TAIL = rf"(?s)^.*{TAIL_START}{TAIL}"
TAIL_PARTS = SEPARATOR + SEPARATOR.join(("$1", "$2", "$3$4", "$5", "$6"))
ENDS = 2 + 6
FORMS = {"": "A", "r": "B", "rt": "E"}
"""Oldest form with these times: A has `queueTime`, and from E on there is `throttleTime`."""

# groups: security protocol, principal, listener, software name, software version
CLIENT = (
    r"(?s)^securityProtocol:([A-Z_]+),principal:(.*?)(?:,listener:([^,]*))?"
    r"(?:,clientInformation:ClientInformation\(softwareName=([^,()]*), "
    r"softwareVersion=([^,()]*)\))?$"
)
CLIENT_PARTS = SEPARATOR.join(("$1", "$3", "$4", "$5", "$2"))
GROUPS = 3 + 5

API_VERSIONS = "API_VERSIONS"
BODY_SOFTWARE = (
    rf"(?s)^RequestHeader\(apiKey={API_VERSIONS}, apiVersion={INT}, clientId=.*?, "
    rf"correlationId={INT}\) -- \{{client_software_name=({SOFTWARE}),"
    rf"client_software_version=({SOFTWARE}),_tagged_fields=\{{\}}\}},response:"
)
# the last response in the line is the broker's own
RANGES_TEXT = r"(?s)^.*,response:\{error_code=0,api_(?:keys|versions)=\[([^\]]*)\]"
RANGE = r"\{api_key=(\d+),min_version=(\d+),max_version=(\d+)"


def with_ends(lines: DataFrame) -> DataFrame:
    """PREFIXED with `text_ends`, the groups of HEAD and TAIL in a text line; null for other lines
    and forms."""
    payload = F.when(F.col("format") == TEXT, F.col("payload"))
    # the head is extracted first: a replacement would search the whole line
    head = F.regexp_replace(F.regexp_extract(payload, HEAD, 0), f"{HEAD}$", HEAD_PARTS)
    tail = F.regexp_replace(F.substring_index(payload, TAIL_START, -1), LAST_TAIL, TAIL_PARTS)
    # a principal may hold the start of a tail
    any_tail = F.regexp_replace(payload, ANY_TAIL, TAIL_PARTS)
    is_tail = F.col("text_tail").startswith(SEPARATOR)
    ends = F.concat(F.split(head, SEPARATOR, 2), F.split("text_tail", SEPARATOR, 6))
    return (
        lines.withColumn("text_tail", tail)
        .withColumn("text_tail", F.when(is_tail, F.col("text_tail")).otherwise(any_tail))
        .withColumn("text_ends", F.when(is_tail, ends))
        .drop("text_tail")
    )


def parts() -> dict[str, Column]:
    """PARTS and TIMES of a line with `text_ends`; `form` is null if no release writes this form."""
    replica_id, head, _, connection, total, times, throttle, client = (
        F.get("text_ends", index) for index in range(ENDS)
    )
    return {
        "form": F.when(F.size("text_ends") == ENDS, value_of(FORMS, times)),
        "head": head,
        "connection": connection,
        "client": client,
        "api_versions": F.when(head.startswith(API_VERSIONS + SEPARATOR), F.col("payload")),
        "replica_id": replica_id,
        "error_code": F.lit(None).cast("string"),
        "total_us": total,
        "throttle_us": null_if(throttle, ""),
    }


def with_text(rows: DataFrame) -> DataFrame:
    """Rows of PARTS with `text_groups`, the groups of `head` and CLIENT of a text line."""
    client = F.regexp_replace("client", CLIENT, CLIENT_PARTS)
    # 0.8 does not write the client
    client = F.when(F.col("client") == "", SEPARATOR * 4).otherwise(client)
    groups = F.concat(F.split("head", SEPARATOR, 3), F.split(client, SEPARATOR, 5))
    is_text = F.col("form").isin(*FORMS.values())
    return rows.withColumn("text_groups", F.when(is_text, groups))


def reason() -> Column:
    """Why `text_groups` cannot be used."""
    api, version = (F.get("text_groups", index) for index in (0, 1))
    is_unknown = version.try_cast("int").isNull() | (F.size("text_groups") < GROUPS)
    return F.when(is_unknown, UNKNOWN_FORM).when(api_key(api).isNull(), UNKNOWN_API)


def fields() -> dict[str, Column]:
    """Fields of a row with `text_groups`; null without."""
    api, version, client_id, protocol, listener, name, software_version, principal = (
        F.get("text_groups", index) for index in range(GROUPS)
    )
    return {
        "form": F.when(name != "", "G")
        .when(api.rlike("^[A-Z_]+$"), "F")
        .when(F.col("form") != "B", F.col("form"))
        .when(protocol == "", "B")
        .when(listener != "", "D")
        .otherwise("C"),
        "api_key": api_key(api),
        "api_version": version.try_cast("int"),
        "client_id": null_if(client_id, "null"),
        "security_protocol": protocol,
        "listener": listener,
        "principal": principal,
        "software_name": name,
        "software_version": software_version,
    }


def api_key(api: Column) -> Column:
    """The key of a name that any release wrote, or a number as it is."""
    return F.coalesce(value_of(api_names(), api), api.try_cast("int"))


def value_of(values: Mapping[str, str] | Mapping[str, int], name: Column) -> Column:
    """The value of a name in a mapping, null for other names."""
    entries = ", ".join(f"{key!r}, {value!r}" for key, value in values.items())
    return F.try_element_at(F.expr(f"map({entries})"), name)


def ranges(text: Column) -> Column:
    def one_range(piece: Column) -> Column:
        return F.struct(
            *(
                F.regexp_extract(piece, RANGE, group).try_cast("int").alias(name)
                for group, name in enumerate(("api_key", "min_version", "max_version"), start=1)
            )
        )

    return F.transform(F.regexp_extract_all(text, F.lit(f"({RANGE})"), 1), one_range)
