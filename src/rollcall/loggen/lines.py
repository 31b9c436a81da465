"""The number of a line to its text: column expressions on the tables of a plan."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from rollcall.loggen.bodies import GROUP, MEMBER, NAME, OFFSET, PEER, SIZE, VERSION
from rollcall.loggen.plan import CUMULATIVE_SHARES, LogPlan

FILES = """file BIGINT, release INT, broker_id INT, form STRING, integer_throttle BOOLEAN,
    shows_processor BOOLEAN, address STRING, address_ipv6 STRING, decimal_point STRING,
    hour STRING, first BIGINT, count BIGINT, first_of_broker BIGINT"""
ROUND_PLACES = "place BIGINT, client INT, requests_before INT, weight INT"
CLIENTS = """release INT, client INT, client_id STRING, principal STRING, listener STRING,
    protocol STRING, port INT, host STRING, is_ipv6 BOOLEAN, peer_offset INT,
    on_broker_host BOOLEAN, group STRING, member STRING, name STRING, version STRING,
    named_from INT, connection_requests BIGINT, opening_steps INT, cycle_steps INT, script INT,
    port_place INT, port_share INT, first_correlation INT"""
STEPS = """release INT, script INT, slot BIGINT, first_template INT, templates INT,
    remote INT, has_conversion BOOLEAN, throttle INT"""
TEMPLATES = """template INT, before STRING, between STRING, client_first BOOLEAN,
    parts ARRAY<STRUCT<text: STRING, placeholder: STRING>>"""

VALUES = {
    "": "''",
    OFFSET: "string(offset)",
    SIZE: "string(size)",
    GROUP: "group",
    MEMBER: "member",
    NAME: "name",
    VERSION: "version",
    PEER: "string(peer)",
}
"""The SQL expression for each placeholder."""
JSON_FORMS = ("H", "I", "J")
FIRST_PORT = 1024
PORT_COUNT = 60_000


def generate_lines(spark: SparkSession, plan: LogPlan) -> DataFrame:
    """A DataFrame with one column `value`; partition n has the lines of file n in order."""
    return (
        spark.range(0, plan.settings.lines, 1, len(plan.files))
        .transform(with_place, spark, plan)
        .transform(with_client, spark, plan)
        .transform(with_request, spark, plan)
        .transform(with_values, plan.settings.seed, plan.settings.brokers)
        .select(line().alias("value"))
    )


def small(spark: SparkSession, rows: Iterable[tuple[object, ...]], schema: str) -> DataFrame:
    """A broadcast table of the plan.

    It is sent to the JVM as one JSON string: `createDataFrame` would start Python workers."""
    names = cast("StructType", StructType.fromDDL(schema)).names
    text = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    jvm: Any = spark.sparkContext._jvm
    dataset = spark._jsparkSession.createDataset([text], jvm.org.apache.spark.sql.Encoders.STRING())
    lines = DataFrame(dataset.toDF(), spark).select(F.explode(F.split("value", "\n")).alias("row"))
    return F.broadcast(lines.select(F.from_json("row", schema).alias("row")).select("row.*"))


def with_place(numbers: DataFrame, spark: SparkSession, plan: LogPlan) -> DataFrame:
    """Add the file of a line, and its round and place in the round of its broker."""
    # as `spark.range` splits: file n begins with line n * lines div files
    file = F.expr(f"((id + 1) * {len(plan.files)}L - 1) div {plan.settings.lines}L")
    rounds = len(plan.round)
    return (
        numbers.withColumn("file", file)
        .join(small(spark, plan.file_rows(), FILES), "file")
        .withColumn("round", F.expr(f"(id - first_of_broker) div {rounds}L"))
        .withColumn("place", F.expr(f"(id - first_of_broker) % {rounds}L"))
    )


def with_client(lines: DataFrame, spark: SparkSession, plan: LogPlan) -> DataFrame:
    """Add the client, its connection, and the number of its requests before on the connection."""
    return (
        lines.join(small(spark, plan.round_rows(), ROUND_PLACES), "place")
        .join(small(spark, plan.client_rows(), CLIENTS), ["release", "client"])
        .withColumn("request", F.expr("round * weight + requests_before"))
        .withColumn("connection", F.expr("request div connection_requests"))
        .withColumn("request", F.expr("request % connection_requests"))
    )


def with_request(lines: DataFrame, spark: SparkSession, plan: LogPlan) -> DataFrame:
    """Add the step of the script and the template of the line."""
    in_cycle = "opening_steps + (request - opening_steps) % cycle_steps"
    slot = f"if(request < opening_steps, request, {in_cycle})"
    below = " ".join(
        f"when chosen < {share} then {at}" for at, share in enumerate(CUMULATIVE_SHARES)
    )
    template = f"first_template + least(templates - 1, case {below} end)"
    chosen = F.pmod(F.xxhash64(F.lit(plan.settings.seed), F.lit("template"), "id"), F.lit(1000))
    return (
        lines.withColumn("slot", F.expr(slot))
        .join(small(spark, plan.step_rows(), STEPS), ["release", "script", "slot"])
        .withColumn("chosen", chosen)
        .withColumn("template", F.expr(template))
        .join(small(spark, plan.template_rows(), TEMPLATES), "template")
    )


def with_values(lines: DataFrame, seed: int, brokers: int) -> DataFrame:
    """Add the values that vary from line to line: time, durations, offsets, sizes, ports."""
    peer = F.expr(f"(broker_id + peer_offset) % {brokers}")
    return (
        lines.withColumn("random", F.xxhash64(F.lit(seed), F.lit("values"), "id"))
        .withColumn("millis", F.expr("((id - first) * 1000 + (random & 511)) * 3600 div count"))
        .withColumn("queue", F.expr("15 + (random & 127)"))
        .withColumn("local", F.expr("40 + shiftrightunsigned(random, 7) % 1900"))
        .withColumn("remote", F.expr("shiftrightunsigned(random, 20) % (remote + 1)"))
        .withColumn("response", F.expr("10 + (shiftrightunsigned(random, 30) & 127)"))
        .withColumn("send", F.expr("60 + (shiftrightunsigned(random, 40) & 255)"))
        .withColumn("total", F.expr("queue + local + remote + response + send"))
        .withColumn("offset", F.expr("100000 + shiftrightunsigned(random, 24) % 800000000"))
        .withColumn("size", F.expr("7 + shiftrightunsigned(random, 33) % 4000"))
        .withColumn("peer", peer)
        .withColumn("named", F.expr("named_from >= 0 and request >= named_from"))
        .withColumn("connection_id", connection_id())
    )


def connection_id() -> Column:
    client_port = (
        f"{FIRST_PORT} + (port_place + connection * port_share + client * 97) % {PORT_COUNT}"
    )
    peer_host = "concat('10.1.', peer div 250, '.', peer % 250 + 1)"
    return F.expr(
        f"""concat(
            if(is_ipv6, address_ipv6, address), ':', port, '-',
            case when peer_offset >= 0 then {peer_host}
                 when on_broker_host then address else host end,
            ':', {client_port},
            case when form < 'F' then ''
                 when shows_processor then concat('-', client % 3, '-', connection * 1000 + client)
                 else concat('-', connection * 1000 + client) end)"""
    )


def line() -> Column:
    seconds = "lpad(millis div 1000 % 60, 2, '0'), ',', lpad(millis % 1000, 3, '0'), ']'"
    client = f"replace(client_id, '{PEER}', peer)"
    correlation = "string(request + first_correlation)"
    time = f"concat(hour, lpad(millis div 60000, 2, '0'), ':', {seconds})"
    return F.concat(
        F.expr(time),
        F.col("before"),
        F.expr(f"if(client_first, {client}, {correlation})"),
        F.col("between"),
        F.expr(f"if(client_first, {correlation}, {client})"),
        F.expr(_filled()),
        tail(),
        F.lit(" (kafka.request.logger)"),
    )


def _filled() -> str:
    """The rest of a template with values for placeholders; faster by parts than by replacing."""
    cases = " ".join(f"when '{mark}' then {value}" for mark, value in VALUES.items())
    filled = f"concat(p.text, case p.placeholder {cases} end)"
    return f"array_join(transform(parts, p -> {filled}), '')"


def tail() -> Column:
    """The part of the line after the bodies, in each form."""
    form = F.col("form")
    return (
        F.when(form.isin(*JSON_FORMS), F.expr(_json_tail()))
        .when(form == "G", F.expr(_text_tail(_doubles(), software=True)))
        .when(form == "F", F.expr(_text_tail(_doubles(), software=False)))
        .when(form == "E", F.expr(_text_tail(_six_decimals(), software=False)))
        .otherwise(F.expr(_old_tail()))
    )


def _millis(value: str) -> str:
    """Milliseconds as Java prints a double: one to three decimals."""
    return f"cast(({value}) / 1000D as string)"


def _json_tail() -> str:
    return f"""concat(',"connection":"', connection_id,
        '","totalTimeMs":', {_millis("total + throttle * 1000")},
        ',"requestQueueTimeMs":', {_millis("queue")}, ',"localTimeMs":', {_millis("local")},
        ',"remoteTimeMs":', {_millis("remote")}, ',"throttleTimeMs":', throttle,
        ',"responseQueueTimeMs":', {_millis("response + throttle * 1000")},
        ',"sendTimeMs":', {_millis("send")}, ',"securityProtocol":"', protocol,
        '","principal":"', principal, '","listener":"', listener,
        '","clientInformation":{{"softwareName":"', if(named, name, 'unknown'),
        '","softwareVersion":"', if(named, version, 'unknown'), '"}}',
        if(has_conversion, concat(',"temporaryMemoryBytes":', size,
            ',"messageConversionsTime":', {_millis("local")}), ''), '}}')"""


def _text_tail(times: str, *, software: bool) -> str:
    client_information = """',clientInformation:ClientInformation(softwareName=',
        if(named, name, 'unknown'), ', softwareVersion=', if(named, version, 'unknown'), ')',"""
    return f"""concat(' from connection ', connection_id, {times},
        ',securityProtocol:', protocol, ',principal:', principal, ',listener:', listener,
        {client_information if software else ""}
        if(has_conversion and form > 'E', concat(',temporaryMemoryBytes:', size,
            ',messageConversionsTime:', {_millis("local")}), ''))"""


def _doubles() -> str:
    throttle = f"if(integer_throttle, string(throttle), {_millis('throttle * 1000')})"
    return f"""';totalTime:', {_millis("total + throttle * 1000")},
        ',requestQueueTime:', {_millis("queue")}, ',localTime:', {_millis("local")},
        ',remoteTime:', {_millis("remote")}, ',throttleTime:', {throttle},
        ',responseQueueTime:', {_millis("response + throttle * 1000")},
        ',sendTime:', {_millis("send")}"""


def _six_decimals() -> str:
    def six(value: str) -> str:
        return f"{value} div 1000, decimal_point, lpad({value} % 1000, 3, '0'), '000'"

    return f"""';totalTime:', {six("total")}, ',requestQueueTime:', {six("queue")},
        ',localTime:', {six("local")}, ',remoteTime:', {six("remote")},
        ',throttleTime:', {six("(throttle * 1000)")}, ',responseQueueTime:', {six("response")},
        ',sendTime:', {six("send")}"""


def _old_tail() -> str:
    """Forms A to D: whole milliseconds; A and B without principal, only D with the listener."""
    times = """total div 1000, if(form = 'A', ',queueTime:', ',requestQueueTime:'),
        queue div 1000, ',localTime:', local div 1000, ',remoteTime:', remote div 1000,
        if(form = 'A', '', concat(',responseQueueTime:', response div 1000)),
        ',sendTime:', send div 1000"""
    return f"""concat(
        if(form < 'C', concat(' from client /', split_part(connection_id, '-', 2)),
            concat(' from connection ', connection_id)),
        ';totalTime:', {times},
        if(form < 'C', '', concat(',securityProtocol:', protocol, ',principal:', principal)),
        if(form = 'D', concat(',listener:', listener), ''))"""
