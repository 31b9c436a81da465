"""What the parts of a request line say. Once per line, or once for all lines that agree in them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.catalog import known_apis
from rollcall.pipeline.parsing import json_format as parse_json
from rollcall.pipeline.parsing import text_format as parse_text
from rollcall.pipeline.parsing.codegen import in_a_new_method
from rollcall.pipeline.parsing.expressions import NAME, REPLICA_APIS, is_one_of
from rollcall.pipeline.parsing.prefix import BROKEN
from rollcall.pipeline.parsing.schema import RANGES, REJECTED, REQUEST, SKIPPED, SourceSettings
from rollcall.pipeline.parsing.split import NO_FORM

NO_API = "a request of an API that is known under no such name"

LONGEST_TEXT = 256
CHOSEN_TEXTS = (
    *("connection", "listener", "principal", "client_id", "software_name", "software_version"),
)

TOLD = rf"^\W*\w+\W+({NAME})\W+\w+\W+({NAME})\W*$"
"""Names and values of an ApiVersions request, JSON or text."""
EARLY_FACTS = ("api_key", "api_version", "forwarded", "total_us", "throttle_us")
PARTY = 5
"""How many parts `parse_text.read_who` finds."""

ADDRESS = r"[0-9A-Fa-f.:]+(?:%[^:]*)?"
ENDS = rf"^({ADDRESS}):\d+-({ADDRESS}):\d+(?:-\d+){{0,2}}$"
"""Local and remote address of a connection id; an IPv6 address is not in brackets."""
OLD_PEER = r"^(?:.*/)?\[?([^\[\]/]*?)\]?:\d+$"
"""0.8 writes the client's address only, perhaps behind its name."""


def read_cuts(cuts: DataFrame, settings: SourceSettings) -> DataFrame:
    """The facts of each row, and `broker` filled in. A reject has no facts but its frame.

    Of `json` on the one hand and `head` and `party` on the other, one is null.
    """
    request, who, told = F.col("request"), F.col("who"), F.col("told")
    named = parse_json.connection_of(F.col("connection"))
    is_request = F.col("outcome") == REQUEST
    return (
        cuts.withColumns(
            {
                "asked": F.when(is_json(), F.split(request, '"')),
                "asker": F.when(is_json(), F.split(who, '"')),
            }
        )
        .withColumns(
            {
                "connection": F.when(is_json(), named).otherwise(F.col("connection")),
                "json": F.when(is_json(), parse_json.read(request, who)),
                "head": F.when(~is_json(), parse_text.read_request(request)),
                "party": F.when(~is_json(), parse_text.read_who(who)),
                "told_name": found(told, TOLD, 1),
                "told_version": found(told, TOLD, 2),
            }
        )
        .withColumns(
            {"api_key": read_api_key(), "api_version": read_api_version(), "forwarded": forwarded()}
        )
        .withColumn("reason", F.coalesce("reason", reason_of_parts()))
        .withColumn("outcome", outcome_of_parts())
        .transform(in_a_new_method)
        .withColumns({name: F.when(is_request, fact) for name, fact in what_facts().items()})
        .transform(in_a_new_method)
        .withColumn("ends", F.split(F.regexp_replace("connection", ENDS, "$1 $2"), " "))
        .withColumns({name: F.when(is_request, fact) for name, fact in who_facts().items()})
        .transform(in_a_new_method)
        .withColumns(
            {
                **{name: short(F.col(name)) for name in CHOSEN_TEXTS},
                "replica": F.when(is_request, is_replica(settings)),
            }
        )
    )


def is_json() -> Column:
    return F.col("shape") == "H"


def read_api_key() -> Column:
    named = parse_text.api_key(F.get("head", 0))
    return F.coalesce("json.requestHeader.requestApiKey", named)


def read_api_version() -> Column:
    return F.coalesce(
        F.col("json.requestHeader.requestApiVersion"), F.get("head", 1).try_cast("int")
    )


def forwarded() -> Column:
    return F.when(F.col("shape").isNotNull(), F.coalesce("json.isForwarded", F.lit(False)))


def reason_of_parts() -> Column:
    """Null for a request, and for what is no request line at all."""
    key, version = F.col("api_key"), F.col("api_version")
    broken = key.isNull() | version.isNull() | F.col("json.clientInformation").isNull()
    formless = version.isNull() | (F.size("party") < PARTY)
    return F.when(is_json(), F.when(broken, BROKEN)).when(
        ~is_json(), F.when(formless, NO_FORM).when(key.isNull(), NO_API)
    )


def outcome_of_parts() -> Column:
    """A line that has no shape was no request line."""
    return (
        F.when(F.col("reason").isNotNull(), REJECTED)
        .when(F.col("shape").isNull(), SKIPPED)
        .otherwise(REQUEST)
    )


def who_facts() -> dict[str, Column]:
    client_id = F.coalesce("json.requestHeader.clientId", nullif(F.get("head", 3), "null"))
    return {
        "broker": F.coalesce("broker", F.when(F.size("ends") == 2, F.get("ends", 0))),
        "host": F.coalesce(F.get("ends", 1), found(F.col("connection"), OLD_PEER, 1)),
        "connection": F.substring_index("connection", "/", -1),
        "security_protocol": either("json.securityProtocol", 0),
        "listener": either("json.listener", 1),
        "software_name": software("name", either("json.clientInformation.softwareName", 2)),
        "software_version": software(
            "version", either("json.clientInformation.softwareVersion", 3)
        ),
        "principal": either("json.principal", 4),
        "client_id": nullif(client_id, ""),
    }


def what_facts() -> dict[str, Column]:
    deprecated = F.coalesce("json.requestHeader.requestApiVersionDeprecated", F.lit(False))
    text_form = parse_text.form_of(F.col("shape"), F.get("head", 0), F.col("party"))
    # the oldest form that could have written the line
    json_form = F.when(F.col("level") == "INFO", "J").when(deprecated, "I").otherwise("H")
    return {
        "form": F.when(is_json(), json_form).otherwise(text_form),
        "deprecated": deprecated,
        "replica_id": number(F.coalesce("replica_id", F.get("head", 2))),
        "error_code": number(F.col("error_code")),
        "answer": nullif(F.col("answer"), ""),
        **{name: F.col(name) for name in EARLY_FACTS},
    }


def is_replica(settings: SourceSettings) -> Column:
    """Traffic of the cluster's own; never told by the client id, which anyone may choose."""
    own = (api.key for api in known_apis().values() if api.inter_broker)
    asks_as_one = is_one_of("api_key", REPLICA_APIS) & (F.col("replica_id") >= 0)
    signs = [is_one_of("api_key", own), asks_as_one]
    if settings.inter_broker:
        signs += [F.col(name).isin(*settings.inter_broker) for name in ("listener", "principal")]
    return F.greatest(*(F.coalesce(sign, F.lit(False)) for sign in signs))


def software(what: str, known: Column) -> Column:
    """What an ApiVersions request tells, else what the broker knew of the connection; a
    forwarded request came on a connection of another broker."""
    said = nullif(F.coalesce(F.col(f"told_{what}"), known), "unknown")
    return F.when(~F.col("forwarded"), said)


def ranges_of(answer: Column) -> Column:
    """The ranges by key, so that the same ones are equal."""
    json, text = parse_json.ranges(answer).cast(RANGES), parse_text.ranges(answer).cast(RANGES)
    return F.sort_array(F.when(answer.startswith('{"'), json).otherwise(text))


def either(json: str, part: int) -> Column:
    return F.coalesce(F.col(json), nullif(F.get("party", part), ""))


def nullif(value: Column, nothing: str) -> Column:
    return F.nullif(value, F.lit(nothing))


def number(text: Column) -> Column:
    """A cast that fails is dear: most texts that are no number are empty."""
    return nullif(text, "").try_cast("int")


def found(text: Column, regex: str, group: int) -> Column:
    return F.nullif(F.regexp_extract(text, regex, group), F.lit(""))


def short(text: Column) -> Column:
    """At most 256 characters, and a hash of the whole if there are more."""
    cut = F.concat(
        F.substring(text, 1, LONGEST_TEXT), F.lit("#"), F.substring(F.sha2(text, 256), 1, 16)
    )
    long = (F.octet_length(text) > LONGEST_TEXT) & (F.length(text) > LONGEST_TEXT)
    return F.when(long, cut).otherwise(text)
