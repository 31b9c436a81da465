"""Request lines in JSON (forms H to J): parts of a line, and fields of its parts.

The keys always come in the same order, and bodies are most of a line. So a line is not parsed as
JSON: it is cut before the request body and after the response body. A client cannot move the cut:
a quote inside a JSON string is escaped, so `,"connection":"` with its quotes is the broker's own.
`head` and `client`, what is left, are parsed as JSON once for all lines that agree in them.
`from_json` on whole lines takes 1.4 times the CPU for the sums (1.8 against 1.3 times DuckDB's).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.parsing.expressions import (
    REPLICA_APIS,
    SOFTWARE,
    is_in,
)
from rollcall.pipeline.parsing.prefix import BROKEN
from rollcall.pipeline.parsing.schema import JSON

FORM = "H"
ENDS = 5 + 9
HEADER_END = '},"request":'
CONNECTION = ',"connection":"'
OPTIONAL_FIELDS = ('},"temporaryMemoryBytes":', '},"messageConversionsTime":')

API_VERSIONS = 18
ERROR_CODE_LAST = (3, 9)
"""Metadata and OffsetFetch: the error code is the last field of the response."""
NO_ERROR_CODE = (0, 2, 8)
"""Produce, ListOffsets and OffsetCommit have error codes of partitions only."""

# These begin with literal text: Java then searches for it before it tries the rest.
ERROR_CODE = (
    r',"response":\{(?:"throttleTimeMs":-?\d+,)?(?:"allow\w+":\w+,)?"errorCode":(-?\d+)[,}]'
)
LAST_ERROR_CODE = rf'"errorCode":(-?\d+)\}}{CONNECTION}'
REPLICA_ID = r',"request":\{(?:"clusterId":"[^"]*",)?"replica(?:State":\{"replicaI|I)d":(-?\d+)'
# version 5 has more fields behind these
BODY_SOFTWARE = (
    rf',"request":\{{"clientSoftwareName":"({SOFTWARE})",'
    rf'"clientSoftwareVersion":"({SOFTWARE})"[,}}]'
)
RANGES_TEXT = r',"response":\{"errorCode":0,"apiKeys":\[([^\]]*)\]'

SCHEMA = """
    isForwarded BOOLEAN,
    requestHeader STRUCT<
        requestApiKey: INT, requestApiVersion: INT, clientId: STRING,
        requestApiVersionDeprecated: BOOLEAN
    >,
    securityProtocol STRING, principal STRING, listener STRING,
    clientInformation STRUCT<softwareName: STRING, softwareVersion: STRING>
"""
RANGES = "ARRAY<STRUCT<apiKey: INT, minVersion: INT, maxVersion: INT>>"


def with_ends(lines: DataFrame) -> DataFrame:
    """PREFIXED with `json_ends`, both ends of a JSON line split at commas; else null."""
    payload = F.when(F.col("format") == JSON, F.col("payload"))
    # isForwarded, API key, version, correlation id, the rest
    header = F.split(F.substring_index(payload, HEADER_END, 1), ",", 5)
    # connection, seven times, the rest
    trailer = F.split(F.substring_index(payload, CONNECTION, -1), ",", 9)
    return lines.withColumn("json_ends", F.concat(header, trailer)).withColumn(
        "json_api", after_colon(F.get("json_ends", 1))
    )


def parts() -> dict[str, Column]:
    """PARTS and TIMES of a line with `json_ends`; `form` is null if the line is not in order."""
    ends = [F.get("json_ends", index) for index in range(ENDS)]
    payload = F.col("payload")
    return {
        "form": F.when(is_in_order(), FORM),
        "head": F.concat_ws(",", ends[0], ends[1], ends[2], ends[4]),
        "connection": F.substring_index(ends[5], '"', 1),
        "client": without_optional_fields(ends[13]),
        "api_versions": F.when(is_api(API_VERSIONS), payload),
        "replica_id": F.when(is_api(*REPLICA_APIS), F.regexp_extract(payload, REPLICA_ID, 1)),
        "error_code": F.when(
            is_api(*ERROR_CODE_LAST), F.regexp_extract(payload, LAST_ERROR_CODE, 1)
        ).when(~is_api(*NO_ERROR_CODE), F.regexp_extract(payload, ERROR_CODE, 1)),
        "total_us": after_colon(ends[6]),
        "throttle_us": after_colon(ends[10]),
    }


def is_in_order() -> Column:
    """Whether the keys are where every release writes them."""
    names = {3: "correlationId", 6: "totalTimeMs", 10: "throttleTimeMs", 13: "securityProtocol"}
    in_order = F.size("json_ends") == ENDS
    for index, name in names.items():
        in_order &= F.get("json_ends", index).startswith(f'"{name}":')
    return in_order


def is_api(*keys: int) -> Column:
    """Compares text: a cast per line would cost more."""
    return is_in("json_api", map(str, keys))


def after_colon(text: Column) -> Column:
    return F.substring_index(text, ":", -1)


def without_optional_fields(client: Column) -> Column:
    """Without fields whose values differ from line to line; most lines do not have them."""
    cut = client
    for field in OPTIONAL_FIELDS:
        cut = F.substring_index(cut, field, 1)
    return F.when(client.endswith('"}}'), client).otherwise(cut)


def with_json(rows: DataFrame) -> DataFrame:
    """Rows of PARTS with `json`, the parsed `head` and `client` of a JSON line."""
    # `client` may have its closing braces or not: Spark ignores what follows the object
    text = F.concat("head", F.lit("},"), "client", F.lit("}}"))
    return rows.withColumn("json", F.when(F.col("form") == FORM, F.from_json(text, SCHEMA)))


def reason() -> Column:
    """Why `json` cannot be used."""
    header = F.col("json.requestHeader")
    is_broken = header["requestApiKey"].isNull() | header["requestApiVersion"].isNull()
    return F.when(is_broken | F.col("json.clientInformation").isNull(), BROKEN)


def fields() -> dict[str, Column]:
    """Fields of a row with `json`; null without."""
    header, software = F.col("json.requestHeader"), F.col("json.clientInformation")
    is_deprecated = header["requestApiVersionDeprecated"]
    return {
        # the oldest form that could have written the line
        "form": F.when(F.col("level") == "INFO", "J").when(is_deprecated, "I").otherwise(FORM),
        "api_key": header["requestApiKey"],
        "api_version": header["requestApiVersion"],
        "deprecated": is_deprecated,
        "forwarded": F.col("json.isForwarded"),
        "client_id": header["clientId"],
        "security_protocol": F.col("json.securityProtocol"),
        "listener": F.col("json.listener"),
        "principal": F.col("json.principal"),
        "software_name": software["softwareName"],
        "software_version": software["softwareVersion"],
    }


def ranges(text: Column) -> Column:
    return F.from_json(F.concat(F.lit("["), text, F.lit("]")), RANGES)
