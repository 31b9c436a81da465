"""What the parts of a request line say. Once per line, or once for all lines that agree in them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.catalog import known_apis
from rollcall.pipeline import parse_json, parse_text
from rollcall.pipeline.parse_cut import NO_FORM
from rollcall.pipeline.schema import RANGES, REJECTED, REQUEST
from rollcall.pipeline.settings import SourceSettings

BROKEN = "the JSON of the request line is broken"
NO_API = "a request of an API that is known under no such name"

REPLICA_APIS = (1, 2, 23)
"""Fetch, ListOffsets and OffsetForLeaderEpoch carry the id of the replica that asks."""
API_VERSIONS = 18
LONGEST_TEXT = 256

ADDRESS = r"[0-9A-Fa-f.:]+(?:%[^:]*)?"
ENDS = rf"^({ADDRESS}):\d+-({ADDRESS}):\d+(?:-\d+){{0,2}}$"
"""Local and remote address of a connection id; an IPv6 address is not in brackets."""
OLD_PEER = r"^(?:.*/)?\[?([^\[\]/]*?)\]?:\d+$"
"""0.8 writes the client's address only, perhaps behind its name."""


def read_cuts(cuts: DataFrame, settings: SourceSettings) -> DataFrame:
    """The facts of each row, and `broker` filled in. A reject has no facts but its frame."""
    request, who, bodies = F.col("request"), F.col("who"), F.col("bodies")
    json = F.when(is_json(), parse_json.read(request, who))
    said = F.when(is_json(), parse_json.said(F.col("json"), bodies)).otherwise(
        parse_text.said(request, who, bodies)
    )
    is_request = F.col("outcome") == REQUEST
    return (
        cuts.withColumn("json", json)
        .withColumn("said", F.when(F.col("shape").isNotNull(), said))
        .withColumn("reason", F.coalesce("reason", reason_of_parts()))
        .withColumn("outcome", outcome_of_parts())
        .withColumns({name: F.when(is_request, fact) for name, fact in facts(settings).items()})
    )


def is_json() -> Column:
    return F.col("shape") == "H"


def reason_of_parts() -> Column:
    """Null for a request, and for what is no request line at all."""
    said = F.col("said")
    incomplete = said.api_version.isNull() | ~said.complete
    return F.when(
        said.isNotNull(),
        F.when(is_json() & (incomplete | said.api_key.isNull()), BROKEN)
        .when(incomplete, NO_FORM)
        .when(said.api_key.isNull(), NO_API),
    )


def outcome_of_parts() -> Column:
    return F.when(F.col("reason").isNotNull(), REJECTED).otherwise(
        F.coalesce("outcome", F.lit(REQUEST))
    )


def facts(settings: SourceSettings) -> dict[str, Column]:
    said = F.col("said")
    return {
        "form": form_of(said),
        "api_key": said.api_key,
        "api_version": said.api_version,
        "deprecated": said.deprecated,
        "forwarded": said.forwarded,
        "replica": is_replica(said, settings),
        "broker": F.coalesce("broker", address(1)),
        "host": F.coalesce(address(2), found(F.col("connection"), OLD_PEER, 1)),
        "connection": short(F.substring_index("connection", "/", -1)),
        "listener": short(said.listener),
        "security_protocol": said.security_protocol,
        "principal": short(said.principal),
        "client_id": short(F.nullif(said.client_id, F.lit(""))),
        "software_name": software(said, "name"),
        "software_version": software(said, "version"),
        "error_code": F.col("error_code").try_cast("int"),
        "ranges": F.when(said.api_key == API_VERSIONS, ranges_of(F.col("bodies"))),
    }


def form_of(said: Column) -> Column:
    """The oldest form that could have written the line."""
    return (
        F.when(~is_json(), parse_text.form_of(F.col("request"), F.col("shape"), said))
        .when(F.col("level") == "INFO", "J")
        .when(said.deprecated, "I")
        .otherwise("H")
    )


def is_replica(said: Column, settings: SourceSettings) -> Column:
    """Traffic of the cluster's own; never told by the client id, which anyone may choose."""
    inter_broker = [api.key for api in known_apis().values() if api.inter_broker]
    asks_as_one = said.api_key.isin(*REPLICA_APIS) & (said.replica_id >= 0)
    named = said.listener.isin(*settings.inter_broker) | said.principal.isin(*settings.inter_broker)
    return (
        said.api_key.isin(*inter_broker)
        | F.coalesce(asks_as_one, F.lit(False))
        | F.coalesce(named, F.lit(False))
    )


def software(said: Column, what: str) -> Column:
    """What an ApiVersions request tells, else what the broker knew of the connection; a
    forwarded request came on a connection of another broker."""
    tells = (said.api_key == API_VERSIONS) & (said.told_name != "")
    known = F.nullif(said[f"software_{what}"], F.lit("unknown"))
    return F.when(~said.forwarded, short(F.when(tells, said[f"told_{what}"]).otherwise(known)))


def ranges_of(bodies: Column) -> Column:
    """By key, so that the same ranges are equal; null where the answer is an error."""
    good = F.when(F.col("error_code") == "0", parse_json.ranges(bodies).cast(RANGES))
    found = F.when(is_json(), good).otherwise(parse_text.ranges(bodies).cast(RANGES))
    return F.when(F.size(found) > 0, F.array_sort(found))


def address(end: int) -> Column:
    return found(F.col("connection"), ENDS, end)


def found(text: Column, regex: str, group: int) -> Column:
    return F.nullif(F.regexp_extract(text, regex, group), F.lit(""))


def short(text: Column) -> Column:
    """At most 256 characters, and a hash of the whole if there are more."""
    cut = F.concat(
        F.substring(text, 1, LONGEST_TEXT), F.lit("#"), F.substring(F.sha2(text, 256), 1, 16)
    )
    return F.make_valid_utf8(F.when(F.length(text) > LONGEST_TEXT, cut).otherwise(text))
