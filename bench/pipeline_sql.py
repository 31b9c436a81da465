"""The aggregates of the pipeline as DuckDB queries: the same extraction, the same sums.

Each line is checked for a second record inside it, its prefix is removed, 18 fields are extracted
from its JSON, times are converted to microseconds, and lines of a file with equal keys are counted
together. Other lines are counted as skipped or rejected. The tables are computed from these counts
like in the pipeline.
"""

from collections.abc import Sequence

from rollcall.catalog import known_apis
from rollcall.tables.columns import FORMS

FIELDS = {
    "forwarded": "$.isForwarded",
    "api_key": "$.requestHeader.requestApiKey",
    "api_version": "$.requestHeader.requestApiVersion",
    "client_id": "$.requestHeader.clientId",
    "deprecated": "$.requestHeader.requestApiVersionDeprecated",
    "own_name": "$.request.clientSoftwareName",
    "own_version": "$.request.clientSoftwareVersion",
    "replica_id": "$.request.replicaId",
    "replica_state": "$.request.replicaState.replicaId",
    "error_code": "$.response.errorCode",
    "ranges": "$.response.apiKeys",
    "connection": "$.connection",
    "total_ms": "$.totalTimeMs",
    "throttle_ms": "$.throttleTimeMs",
    "principal": "$.principal",
    "listener": "$.listener",
    "name": "$.clientInformation.softwareName",
    "version": "$.clientInformation.softwareVersion",
}
CLIENT = "listener, principal, client_id, host, software_name, software_version"
KEYS = f"hour, broker, {CLIENT}, api_key, api_version, forwarded, replica"
FORM_H, FORM_I, FORM_J = (1 << FORMS.index(form) for form in "HIJ")
START, END = "Completed request:", " (kafka.request.logger)"


def _lines(paths: Sequence[str]) -> str:
    files = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    return f"""read_csv([{files}], header = false, columns = {{'value': 'VARCHAR'}},
        delim = '\\x01', nullstr = '\\x02', quote = '', escape = '', auto_detect = false,
        max_line_size = 10000000, filename = true)"""


def sums(paths: Sequence[str]) -> str:
    """One row per hour, connection, client, API and version."""
    own = ", ".join(str(api.key) for api in known_apis().values() if api.inter_broker)
    wanted = ", ".join(f"'{path}'" for path in FIELDS.values())
    fields = ", ".join(f"parts[{index}] AS {name}" for index, name in enumerate(FIELDS, 1))
    return f"""
    CREATE OR REPLACE TEMP TABLE sums AS
    WITH prefixed AS (
        SELECT try_strptime(substring(value, 2, 23), '%Y-%m-%d %H:%M:%S,%g') AS time,
            split_part(substring(value, 27, 6), ' ', 1) AS level,
            position('{START}' IN value) + {len(START)} AS start, value, filename AS file,
            CASE WHEN value NOT LIKE '%{START}%' THEN 'skipped'
                WHEN value NOT LIKE '%{END}'
                    OR contains(substring(value, 64), '{START}{{"isForwarded":') THEN 'rejected'
                ELSE 'request' END AS kind
        FROM {_lines(paths)}
    ), parsed AS (
        SELECT file, time, level, kind, strlen(value) + 1 AS bytes,
            CASE WHEN kind = 'request' THEN TRY(json_extract_string(
                substring(value, start, length(value) - start + 1 - {len(END)}), [{wanted}]))
            END AS parts
        FROM prefixed
    ), taken AS (
        SELECT file, time, level, bytes, {fields},
            CASE WHEN kind = 'request' AND parts IS NULL THEN 'rejected' ELSE kind END AS outcome
        FROM parsed
    )
    SELECT file, level, outcome, date_trunc('hour', time) AS hour, connection, listener, principal,
        nullif(client_id, '') AS client_id,
        CASE WHEN name <> 'unknown' THEN name WHEN api_key = '18' THEN own_name END
            AS software_name,
        nullif(CASE WHEN name <> 'unknown' THEN version WHEN api_key = '18' THEN own_version END,
            'unknown') AS software_version,
        api_key::INTEGER AS api_key, api_version::INTEGER AS api_version,
        forwarded::BOOLEAN AS forwarded,
        (api_key::INTEGER IN ({own})
            OR (api_key IN ('1', '2', '23')
                AND coalesce(replica_id::INTEGER, replica_state::INTEGER, -1) >= 0)) AS replica,
        CASE WHEN api_key = '18' AND error_code = '0' THEN ranges END AS ranges,
        CASE WHEN level = 'INFO' THEN {FORM_J} WHEN deprecated = 'true' THEN {FORM_I} ELSE {FORM_H}
            END AS form,
        count(*) AS requests, sum(bytes)::BIGINT AS bytes,
        count(error_code) AS answered,
        count(*) FILTER (WHERE error_code <> '0') AS errors,
        count(*) FILTER (WHERE error_code = '35') AS unsupported,
        count(*) FILTER (WHERE deprecated = 'true') AS deprecated,
        count(*) FILTER (WHERE throttle_ms <> '0') AS throttled,
        sum(CASE WHEN forwarded = 'true' THEN 0
            ELSE round(throttle_ms::DOUBLE * 1000)::BIGINT END)::BIGINT AS throttle_us,
        sum(CASE WHEN forwarded = 'true' THEN 0
            ELSE round(total_ms::DOUBLE * 1000)::BIGINT END)::BIGINT AS total_us,
        max(CASE WHEN forwarded = 'true' THEN 0
            ELSE round(total_ms::DOUBLE * 1000)::BIGINT END) AS longest_us,
        min(time) AS first_seen, max(time) AS last_seen
    FROM taken GROUP BY ALL"""


PLACED = r"""(SELECT * REPLACE (
        CASE WHEN length(client_id) > 256
            THEN left(client_id, 256) || '#' || left(sha256(client_id), 16)
            ELSE client_id END AS client_id),
        regexp_extract(connection, '^(.+):\d+-(.+):\d+(-\d+)*$', 1) AS broker,
        regexp_extract(connection, '^(.+):\d+-(.+):\d+(-\d+)*$', 2) AS host
    FROM sums)"""

USAGE = f"""
    CREATE OR REPLACE TEMP TABLE usage AS
    SELECT {KEYS}, sum(requests)::BIGINT AS requests, sum(answered)::BIGINT AS answered,
        sum(errors)::BIGINT AS errors, sum(unsupported)::BIGINT AS unsupported,
        sum(deprecated)::BIGINT AS deprecated, sum(throttled)::BIGINT AS throttled,
        sum(throttle_us)::BIGINT AS throttle_us, sum(total_us)::BIGINT AS total_us,
        max(longest_us) AS longest_us, min(first_seen) AS first_seen, max(last_seen) AS last_seen,
        bit_or(1 << hour(hour))::INTEGER AS hours, bit_or(form) AS forms
    FROM {PLACED} WHERE outcome = 'request' GROUP BY ALL"""

CONNECTIONS = f"""
    CREATE OR REPLACE TEMP TABLE connections AS
    SELECT broker, connection, {CLIENT}, forwarded, replica, date_trunc('day', hour) AS day,
        sum(requests)::BIGINT AS requests,
        min(first_seen) AS first_seen, max(last_seen) AS last_seen
    FROM {PLACED} WHERE outcome = 'request' GROUP BY ALL"""

BROKERS = f"""
    CREATE OR REPLACE TEMP TABLE brokers AS
    SELECT hour, broker, listener, ranges, sum(requests)::BIGINT AS answers,
        min(first_seen) AS first_seen, max(last_seen) AS last_seen
    FROM {PLACED} WHERE ranges IS NOT NULL GROUP BY ALL"""


FILES = """
    CREATE OR REPLACE TEMP TABLE files AS
    SELECT file,
        coalesce(sum(requests) FILTER (WHERE outcome = 'request'), 0)::BIGINT AS requests,
        coalesce(sum(requests) FILTER (WHERE outcome = 'skipped'), 0)::BIGINT AS skipped,
        coalesce(sum(requests) FILTER (WHERE outcome = 'rejected'), 0)::BIGINT AS rejected,
        sum(bytes)::BIGINT AS bytes_read,
        min(first_seen) AS first_time, max(last_seen) AS last_time,
        list_sort(list(DISTINCT level)) AS levels
    FROM sums GROUP BY ALL"""


def statements(paths: Sequence[str]) -> list[str]:
    return [sums(paths), USAGE, CONNECTIONS, BROKERS, FILES]
