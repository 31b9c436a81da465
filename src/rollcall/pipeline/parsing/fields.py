"""Fields of a request from the parts of its line.

It runs once per line (`parse_lines`), or once for all lines that agree in their parts
(`aggregates.requests`).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.catalog import known_apis
from rollcall.pipeline.parsing import json_format, text_format
from rollcall.pipeline.parsing.codegen import in_new_method
from rollcall.pipeline.parsing.expressions import (
    REPLICA_APIS,
    extract,
    integer,
    is_in,
    is_true,
    null_if,
)
from rollcall.pipeline.parsing.schema import (
    RANGES,
    REJECTED,
    REQUEST,
    SKIPPED,
    TIMES,
    SourceSettings,
)

MAX_TEXT = 256
TEXTS = (
    *("connection", "security_protocol", "listener", "principal", "client_id"),
    *("software_name", "software_version"),
)

ADDRESS = r"[0-9A-Fa-f.:]+(?:%[^:]*)?"
ADDRESSES = (rf"^({ADDRESS}):\d+-({ADDRESS}):\d+(?:-\d+){{0,2}}$", "$1 $2")
"""Connection id to local and remote address; IPv6 addresses are not in brackets."""
PEER = r"^(?:.*/)?\[?([^\[\]/]*?)\]?:\d+$"
"""0.8 writes the client's address only, possibly after its host name."""


def read_fields(rows: DataFrame, settings: SourceSettings) -> DataFrame:
    """Rows with PARTS, TIMES, `level`, `reason` and `broker` to rows with FACTS instead of PARTS.

    `ranges_text` stands for `ranges`, and `time` is left out. Fields of other outcomes than a
    request are null.
    """
    is_json, is_request = F.col("form") == json_format.FORM, F.col("outcome") == REQUEST
    reason = F.when(is_json, json_format.reason()).when(
        F.col("form").isNotNull(), text_format.reason()
    )
    kept = ("json", "text_groups", "connection", "api_versions", "replica_id", "error_code")
    return (
        # Spark does not generate code for from_json, nor for an aggregation that it is merged into
        rows.transform(in_new_method)
        .transform(json_format.with_json)
        .transform(text_format.with_text)
        .withColumn("reason", F.coalesce("reason", reason))
        .withColumn("outcome", outcome())
        .withColumns({name: F.when(is_request, F.col(name)) for name in (*kept, *TIMES.names)})
        .withColumn("addresses", F.split(F.regexp_replace("connection", *ADDRESSES), " "))
        .transform(in_new_method)
        .withColumns(facts(is_json, is_request))
        .transform(in_new_method)
        .withColumns(
            {
                **{name: shortened(F.col(name)) for name in TEXTS},
                "replica": F.when(is_request, is_replica(settings)),
            }
        )
        .drop("json", "text_groups", "addresses", "api_versions", "replica_id")
    )


def outcome() -> Column:
    return (
        F.when(F.col("reason").isNotNull(), REJECTED)
        .when(F.col("form").isNull(), SKIPPED)
        .otherwise(REQUEST)
    )


def facts(is_json: Column, is_request: Column) -> dict[str, Column]:
    json, text = json_format.fields(), text_format.fields()
    either = {name: F.coalesce(json[name], text[name]) for name in text if name != "form"}
    is_forwarded = is_true(json["forwarded"])
    local, remote = F.get("addresses", 0), F.get("addresses", 1)
    return {
        **either,
        "form": F.when(is_request, F.when(is_json, json["form"]).otherwise(text["form"])),
        "deprecated": F.when(is_request, is_true(json["deprecated"])),
        "forwarded": F.when(is_request, is_forwarded),
        "broker": F.coalesce("broker", F.when(remote.isNotNull(), local)),
        "host": F.coalesce(remote, extract(F.col("connection"), PEER, 1)),
        "connection": F.substring_index("connection", "/", -1),
        # a forwarded request came on a connection of another broker
        "software_name": F.when(~is_forwarded, software(1, either["software_name"])),
        "software_version": F.when(~is_forwarded, software(2, either["software_version"])),
        "ranges_text": extract(
            F.col("api_versions"),
            F.when(is_json, json_format.RANGES_TEXT).otherwise(text_format.RANGES_TEXT),
            1,
        ),
        "replica_id": integer(F.col("replica_id")),
        "error_code": integer(F.col("error_code")),
    }


def software(group: int, known: Column) -> Column:
    """What the body of an ApiVersions request reports, else what the broker knew of the client."""
    regex = F.when(F.col("form") == json_format.FORM, json_format.BODY_SOFTWARE).otherwise(
        text_format.BODY_SOFTWARE
    )
    return null_if(F.coalesce(extract(F.col("api_versions"), regex, group), known), "unknown")


def is_replica(settings: SourceSettings) -> Column:
    """Whether a broker of the cluster sent the request. A client id is not evidence: a client
    chooses it."""
    inter_broker = (api.key for api in known_apis().values() if api.inter_broker)
    has_replica_id = is_in("api_key", REPLICA_APIS) & (F.col("replica_id") >= 0)
    signs = [is_in("api_key", inter_broker), has_replica_id]
    if settings.inter_broker:
        signs += [F.col(name).isin(*settings.inter_broker) for name in ("listener", "principal")]
    return F.greatest(*map(is_true, signs))


def shortened(text: Column) -> Column:
    """At most 256 characters, then a hash of the whole text; null for an empty text."""
    cut = F.concat(
        F.substring(text, 1, MAX_TEXT), F.lit("#"), F.substring(F.sha2(text, 256), 1, 16)
    )
    return F.when(F.length(text) > MAX_TEXT, cut).when(text != "", text)


def read_ranges(text: Column) -> Column:
    """`ranges_text` to API version ranges, sorted by key, so that equal ranges compare equal."""
    json, plain = (module.ranges(text).cast(RANGES) for module in (json_format, text_format))
    return F.sort_array(F.when(text.startswith('{"'), json).otherwise(plain))
