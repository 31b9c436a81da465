"""`parse_lines`: every form of the request log, and hostile text that clients choose."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from rollcall.errors import ConfigError
from rollcall.pipeline.parsing import (
    LINES,
    PARSED,
    REJECTED,
    REQUEST,
    SKIPPED,
    SourceSettings,
    parse_lines,
    prefix,
    text_format,
)
from tests.pipeline.parsing.hostile_lines import (
    BODIES,
    IDS,
    PRINCIPALS,
    json_line,
    named_line,
    text_line,
)

Parse = Callable[..., list[Row]]

START = "[2026-03-01 10:20:30,123]"
END = " (kafka.request.logger)"
TIMES = "totalTime:4,requestQueueTime:0,localTime:3,remoteTime:0,responseQueueTime:0,sendTime:1"
MORE = "totalTime:{0},requestQueueTime:{0},localTime:{0},remoteTime:{0},throttleTime:{1},"
WHO = "securityProtocol:SSL,principal:User:CN=loader"


@pytest.fixture(scope="module")
def parse(spark: SparkSession) -> Parse:
    def parse(*lines: str, broker: str | None = None, **settings: Any) -> list[Row]:
        rows = [(line, "log", 0, position, "blue", broker) for position, line in enumerate(lines)]
        parsed = parse_lines(spark.createDataFrame(rows, LINES), SourceSettings(**settings))
        assert parsed.schema.simpleString() == PARSED.simpleString()
        return sorted(parsed.collect(), key=lambda row: row["position"])

    return parse


def line(text: str, level: str = "DEBUG") -> str:
    return f"{START} {level} Completed request:{text}{END}"


FORMS = {
    "A": (
        line(
            "Name: ProducerRequest; Version: 0; CorrelationId: 41; ClientId: loader; RequiredAcks: "
            "1; AckTimeoutMs: 1500 ms; TopicAndPartition: [orders,0] -> 214 from client "
            "/10.1.2.3:51010;totalTime:4,queueTime:0,localTime:3,remoteTime:0,sendTime:1",
            "TRACE",
        ),
        {"api_key": 0, "api_version": 0, "client_id": "loader", "host": "10.1.2.3",
         "connection": "10.1.2.3:51010", "broker": None, "principal": None, "total_us": 4000,
         "replica": False, "level": "TRACE"},
    ),
    "B": (
        line(
            "Name: FetchRequest; Version: 1; CorrelationId: 9; ClientId: r; ReplicaId: 2; MaxWait: "
            f"100 ms; MinBytes: 1 bytes from client /10.1.2.3:51011;{TIMES}"
        ),
        {"api_key": 1, "api_version": 1, "client_id": "r", "replica": True, "listener": None},
    ),
    "C": (
        line(
            "{api_key=12,api_version=0,correlation_id=88,client_id=reader} -- {group_id=billing,"
            f"group_generation_id=3}} from connection 10.1.0.9:9092-10.1.2.3:51012;{TIMES},{WHO}"
        ),
        {"api_key": 12, "api_version": 0, "client_id": "reader", "principal": "User:CN=loader",
         "listener": None, "host": "10.1.2.3", "broker": "10.1.0.9", "security_protocol": "SSL"},
    ),
    "D": (
        line(
            "{api_key=0,api_version=2,correlation_id=5,client_id=loader} -- {acks=-1,timeout=30000}"
            f" from connection 10.1.0.9:9093-10.1.2.3:51013;{TIMES},{WHO},listener:SSL",
            "TRACE",
        ),
        {"api_key": 0, "principal": "User:CN=loader", "listener": "SSL"},
    ),
    "E": (
        line(
            "{api_key=0,api_version=3,correlation_id=6,client_id=loader} -- {acks=-1} from "
            "connection 10.1.0.9:9093-10.1.2.3:51014;"
            + MORE.format("2,714000", "0,083000")
            + f"responseQueueTime:0,120000,sendTime:0,200000,{WHO},listener:SSL"
        ),
        {"api_version": 3, "total_us": 2714, "throttle_us": None, "listener": "SSL"},
    ),
    "F": (
        line(
            "RequestHeader(apiKey=GROUP_COORDINATOR, apiVersion=1, clientId=null, correlationId=17)"
            " -- {group_id=x},response:{error_code=0} from connection "
            "0:0:0:0:0:0:0:1:9093-fe80:0:0:0:1:2:3:4%br-1:51015-3;"
            + MORE.format("2.71", "0.08")
            + f"responseQueueTime:0.12,sendTime:0.2,{WHO},listener:SSL,temporaryMemoryBytes:128,"
            "messageConversionsTime:0.4"
        ),
        {"api_key": 10, "client_id": None, "host": "fe80:0:0:0:1:2:3:4%br-1", "total_us": 2710,
         "broker": "0:0:0:0:0:0:0:1", "listener": "SSL", "throttle_us": None},
    ),
    "G": (
        line(
            "RequestHeader(apiKey=FETCH, apiVersion=11, clientId=reader, correlationId=88) -- "
            "{replica_id=1,max_wait_time=500},response:{throttle_time_ms=7} from connection "
            "10.1.0.9:9092-10.1.2.3:51016-4;"
            + MORE.format("0.61", "7")
            + f"responseQueueTime:0.06,sendTime:0.2,{WHO},listener:PLAINTEXT,clientInformation:"
            "ClientInformation(softwareName=librdkafka, softwareVersion=1.5.2)"
        ),
        {"api_key": 1, "replica": True, "software_name": "librdkafka", "software_version": "1.5.2",
         "throttle_us": 7000, "total_us": 610, "error_code": None},
    ),
}  # fmt: skip


def test_every_text_form_is_parsed(parse: Parse) -> None:
    rows = parse(*(text for text, _ in FORMS.values()))
    for row, (form, (_, facts)) in zip(rows, FORMS.items(), strict=True):
        found = row.asDict()
        assert found["outcome"] == REQUEST, (form, found["reason"])
        expected = {"form": form, "time": datetime(2026, 3, 1, 10, 20, 30, 123000), **facts}  # noqa: DTZ001
        assert {name: found[name] for name in expected} == expected


def json_text(
    key: int = 1,
    version: int = 12,
    request: str = '{"replicaId":-1}',
    response: str = "{}",
    **more: str,
) -> str:
    return (
        f'{{"isForwarded":{more.get("forwarded", "false")},"requestHeader":{{"requestApiKey":{key},'
        f'"requestApiVersion":{version},"correlationId":7,"clientId":{more.get("client", "null")},'
        f'"requestApiKeyName":"X"{more.get("deprecated", "")}}},"request":{request},"response":'
        f'{response},"connection":"10.1.0.9:9093-10.1.2.3:51017-2-5","totalTimeMs":2.71,'
        '"requestQueueTimeMs":0.11,"localTimeMs":2.2,"remoteTimeMs":0.0,"throttleTimeMs":3,'
        '"responseQueueTimeMs":0.12,"sendTimeMs":0.2,"securityProtocol":"SSL","principal":'
        '"User:CN=a","listener":"SSL","clientInformation":{"softwareName":'
        f'"{more.get("name", "unknown")}","softwareVersion":"{more.get("name", "unknown")}"}}'
        f"{more.get('extra', '')}}}"
    )


JSON = [
    ({}, {"form": "H", "api_key": 1, "api_version": 12, "software_name": None, "client_id": None,
          "forwarded": False, "replica": False, "total_us": 2710, "throttle_us": 3000,
          "host": "10.1.2.3", "broker": "10.1.0.9", "error_code": None, "listener": "SSL"}),
    ({"client": '""'}, {"client_id": None}),
    ({"client": '"null"'}, {"client_id": "null"}),
    ({"client": r'"\u00e9\ud83d\ude9a\n"'}, {"client_id": "é🚚\n"}),
    ({"name": "kgo"}, {"software_name": "kgo", "software_version": "kgo"}),
    ({"name": "kgo", "forwarded": "true"}, {"software_name": None, "forwarded": True}),
    ({"deprecated": ',"requestApiVersionDeprecated":true'}, {"form": "I", "deprecated": True}),
    ({"extra": ',"temporaryMemoryBytes":128,"messageConversionsTime":0.4'}, {"listener": "SSL"}),
    ({"request": '{"replicaId":2}'}, {"replica": True}),
    ({"request": '{"replicaId":2}', "key": 3}, {"replica": False}),
    ({"request": '{"clusterId":"x","replicaState":{"replicaId":2,"replicaEpoch":1}}'},
     {"replica": True}),
    ({"request": '{"maxWaitMs":5,"replicaState":{}}'}, {"replica": False}),
    ({"key": 6}, {"replica": True}),
    ({"response": '""'}, {"error_code": None, "outcome": REQUEST}),
    ({"response": '{"throttleTimeMs":0,"errorCode":-1,"x":1}'}, {"error_code": -1}),
    ({"response": '{"errorCode":35}'}, {"error_code": 35}),
    ({"response": '{"topics":[{"errorCode":3}]}'}, {"error_code": None}),
    ({"key": 9, "response": '{"throttleTimeMs":0,"topics":[{"errorCode":3}],"errorCode":16}'},
     {"error_code": 16}),
    ({"key": 3, "response": '{"topics":[{"errorCode":3}]}'}, {"error_code": None}),
]  # fmt: skip


def test_json_lines_are_parsed(parse: Parse) -> None:
    rows = parse(*(line(json_text(**given)) for given, _ in JSON))
    for row, (given, facts) in zip(rows, JSON, strict=True):
        found = row.asDict()
        assert found["outcome"] == REQUEST, (given, found["reason"])
        assert {name: found[name] for name in facts} == facts, given


NAMED_JSON = '{"clientSoftwareName":"%s","clientSoftwareVersion":"4.1.0"}'
ANSWER = '{"errorCode":0,"apiKeys":[{"apiKey":1,"minVersion":4,"maxVersion":18},{"apiKey":0,"minVersion":0,"maxVersion":13}],"throttleTimeMs":0}'  # noqa: E501


def test_511_8_software_is_read_from_the_body_of_api_versions(parse: Parse) -> None:
    text = (
        "RequestHeader(apiKey=API_VERSIONS, apiVersion=3, clientId=a, correlationId=0) -- "
        "{client_software_name=sarama,client_software_version=1.2,_tagged_fields={}},response:"
        "{error_code=0,api_keys=[{api_key=1,min_version=0,max_version=11,_tagged_fields={}},"
        "{api_key=0,min_version=0,max_version=8,_tagged_fields={}}],throttle_time_ms=0} from "
        "connection 10.1.0.9:9092-10.1.2.3:51016-4;"
        + MORE.format("0.61", "0")
        + f"responseQueueTime:0.06,sendTime:0.2,{WHO},listener:PLAINTEXT"
    )
    named = NAMED_JSON % "apache-kafka-java"
    more = named.replace("}", ',"clusterId":null,"nodeId":-1}')
    good, with_more, replaced, invalid, refused, of_24 = parse(
        line(json_text(18, 4, named, ANSWER)),
        line(json_text(18, 5, more, ANSWER)),
        line(json_text(18, 4, named, ANSWER, name="older")),
        line(json_text(18, 4, NAMED_JSON % "-no-", ANSWER)),
        line(json_text(18, 99, "{}", ANSWER.replace('"errorCode":0', '"errorCode":35'))),
        line(text),
    )
    assert {row["software_name"] for row in (good, with_more, replaced)} == {"apache-kafka-java"}
    assert [row["software_name"] for row in (invalid, refused, of_24)] == [None, None, "sarama"]
    assert with_more["software_version"] == good["software_version"] is not None
    assert [tuple(one) for one in good["ranges"]] == [(0, 0, 13), (1, 4, 18)]
    assert [tuple(one) for one in of_24["ranges"]] == [(0, 0, 8), (1, 0, 11)]
    assert refused["ranges"] is None


def test_software_unknown_is_null(parse: Parse) -> None:
    """A Java client in a repackaged jar reports the version `unknown`."""
    body = '{"clientSoftwareName":"%s","clientSoftwareVersion":"unknown"}'
    java, unnamed = parse(
        line(json_text(18, 4, body % "apache-kafka-java", ANSWER)),
        line(json_text(18, 4, body % "unknown", ANSWER)),
    )
    assert (java["software_name"], java["software_version"]) == ("apache-kafka-java", None)
    assert (unnamed["software_name"], unnamed["software_version"]) == (None, None)


@pytest.mark.parametrize("form", ["C", "E", "F", "G", "H"])
def test_hostile_text_does_not_move_a_field(parse: Parse, form: str) -> None:
    def made(**given: str) -> str:
        if form != "H":
            return text_line(form, **given)
        return json_line(
            **{"topic" if name == "body" else name: text for name, text in given.items()}
        )

    forged = "a, correlationId=1) -- {x=1},response:{}"
    ids = [
        text
        for text in IDS
        if len(text) <= 256 and text != "null" and (form == "H" or text != forged)
    ]
    usual = parse(made())[0].asDict()
    rows = parse(*(made(client_id=text) for text in ids))
    assert [row["client_id"] for row in rows] == ids
    bodies = [body for body in BODIES if body != "{}"]
    rows += parse(*(made(body=body) for body in bodies))
    assert {row["client_id"] for row in rows[len(ids) :]} == {"plain"}
    changes = {"client_id", "value", "position"}
    for row in rows:
        found = row.asDict()
        assert {k: found[k] for k in found.keys() - changes} == {
            k: usual[k] for k in usual.keys() - changes
        }
    principals = [name for name in PRINCIPALS if form != "C" or ",listener:" not in name]
    assert [row["principal"] for row in parse(*(made(principal=name) for name in principals))] == (
        principals
    )


def test_fields_do_not_depend_on_the_length_of_client_id_or_principal(parse: Parse) -> None:
    lengths = range(1, 500)
    body = "{replica_id=12,max_wait=1}"
    of_text = [text_line("G", client_id="x" * n, body=body, key="FETCH") for n in lengths]
    bodies = ('{"replicaId":12}', f'{{"replicaId":12,"rackId":"{"r" * 400}"}}')
    of_json = [
        line(json_text(request=body, client=f'"{"x" * n}"')) for body in bodies for n in lengths
    ]
    for row, n in zip(parse(*of_text, *of_json), [*lengths] * 3, strict=True):
        assert row["replica"], n
        assert row["client_id"][: min(n, 257)] == ("x" * n)[:256] + "#" * (n > 256)
    of_text = [text_line("G", principal="x" * n) for n in lengths]
    of_json = [json_line(principal="x" * n) for n in lengths]
    for made in (of_text, of_json):
        rows = parse(*made)
        assert len({row["connection"] for row in rows} | {None}) == 2
        assert [row["principal"][:256] for row in rows] == [("x" * n)[:256] for n in lengths]


def test_long_client_ids_are_cut_and_get_a_hash(parse: Parse) -> None:
    rows = parse(json_line("é" * 256), json_line("é" * 257), json_line("é" * 256 + "x"))
    same, longer, other = (row["client_id"] for row in rows)
    assert same == "é" * 256
    assert longer.startswith("é" * 256 + "#")
    assert len(longer) == 256 + 1 + 16
    assert longer != other


def test_client_ids_of_named_requests_are_complete(parse: Parse) -> None:
    ids = ["a; GroupId: b", "a from client /x", "a;totalTime:1"]
    assert [row["client_id"] for row in parse(*map(named_line, ids))] == ids


OTHERS = {
    "": (SKIPPED, None),
    "  \t": (SKIPPED, None),
    f"{START} TRACE Processor 0 received request: x (kafka.network.RequestChannel$)": (
        SKIPPED, None),
    f"{START} TRACE Processor 0 received request: the first half": (SKIPPED, None),
    "the second half (kafka.network.RequestChannel$)": (SKIPPED, None),
    "java.io.IOException: Broken pipe": (SKIPPED, None),
    "\tat kafka.network.Processor.run(SocketServer.scala:1)": (SKIPPED, None),
    f"{START} WARN something else{END}": (SKIPPED, None),
    f"{START} DEBUG Completed request:RequestHeader(apiKey=METADATA, apiVer": (
        REJECTED, prefix.NO_END),
    f"line2, correlationId=1) -- {{}}{END}": (REJECTED, prefix.NO_START),
    "not a log line": (REJECTED, prefix.NO_PREFIX),
    f"2026-03-01 10:20:30 DEBUG Completed request:{json_text()}{END} [thread]": (
        REJECTED, prefix.NO_PREFIX),
    f"{START} DEBUG [thread] Completed request:{json_text()}{END}": (
        REJECTED, prefix.OTHER_LAYOUT),
    f"{START} DEBUG Completed request:{{\"isForwarded\":false,\"requ{line(json_text())}": (
        REJECTED, prefix.TWO_IN_ONE),
    line(json_text()) + text_line("G"): (REJECTED, prefix.BROKEN),
    text_line("G") + line(json_text()): (REJECTED, prefix.TWO_IN_ONE),
    line("nonsense"): (REJECTED, text_format.UNKNOWN_FORM),
    line(""): (REJECTED, text_format.UNKNOWN_FORM),
    line(json_text()).replace('"connection"', '"connexion"'): (REJECTED, text_format.UNKNOWN_FORM),
    line(json_text()).replace('"requestApiKey":1', '"requestApiKey":"one"'): (
        REJECTED, prefix.BROKEN),
    line(json_text()).replace('"User:CN=a"', '"User:CN=a'): (REJECTED, prefix.BROKEN),
    text_line("G", key="NO_SUCH_API"): (REJECTED, text_format.UNKNOWN_API),
}  # fmt: skip


def test_other_lines_are_skipped_or_rejected_with_a_reason(parse: Parse) -> None:
    rows = parse(*OTHERS)
    found = {row["value"]: (row["outcome"], row["reason"]) for row in rows}
    assert found == OTHERS
    facts = set(PARSED.names) - {*LINES.names, "outcome", "reason", "time", "level"}
    assert all(row[name] is None for row in rows for name in facts)


def test_byte_order_mark_and_windows_line_ends_are_ignored(parse: Parse) -> None:
    rows = parse("\ufeff" + line(json_text()) + "\r", text_line("G") + "\r", "\r")
    assert [row["outcome"] for row in rows] == [REQUEST, REQUEST, SKIPPED]
    assert [row["listener"] for row in rows] == ["SSL", "EXTERNAL", None]


def test_timestamps_are_in_the_configured_time_zone(parse: Parse) -> None:
    (row,) = parse(line(json_text()), time_zone="Europe/Berlin")
    assert row["time"] == datetime(2026, 3, 1, 9, 20, 30, 123000)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("form", "time", "hour"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-03-01T10:20:30.123+05:30", 4),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-03-01T10:20:30.123Z", 10),
        ("yyyy-MM-dd HH:mm:ss,SSSZ", "2026-03-01 10:20:30,123-0830", 18),
        ("ISO8601_OFFSET_DATE_TIME_HH", "2026-03-01T10:20:30,123+01", 9),
    ],
)
def test_timestamp_with_an_offset_is_converted_to_utc(
    parse: Parse, form: str, time: str, hour: int
) -> None:
    pattern = f"%d{{{form}}} %p %m (%c)%n"
    written = line(json_text()).replace(START, time)
    (row,) = parse(written, layout=pattern, time_zone="Europe/Berlin")
    minute = 50 if "30" in time[23:] else 20
    assert (row["outcome"], row["time"]) == (
        REQUEST,
        datetime(2026, 3, 1, hour, minute, 30, 123000),  # noqa: DTZ001
    )


def test_time_zone_that_java_does_not_know_is_refused(parse: Parse) -> None:
    with pytest.raises(ConfigError, match="Java does not know the time zone 'Factory'"):
        parse(line(json_text()), time_zone="Factory")
    assert parse(line(json_text()), time_zone="GMT+0")[0]["time"] is not None


def test_configured_broker_replaces_the_local_address(parse: Parse) -> None:
    assert [row["broker"] for row in parse(line(json_text()), broker="b1")] == ["b1"]


@pytest.mark.parametrize("named", ["EXTERNAL", "User:ANONYMOUS"])
def test_configured_listener_or_principal_is_inter_broker(parse: Parse, named: str) -> None:
    lines = [json_line(), text_line("G")]
    assert [row["replica"] for row in parse(*lines)] == [False, False]
    assert [row["replica"] for row in parse(*lines, inter_broker=(named,))] == [True, True]


LAYOUTS = {
    "%d{ISO8601} %p %m (%c) [%t]%n": "{date} {level} {message} (kafka.request.logger) [a-1]",
    "%d{yyyy-MM-dd HH:mm:ss} %-5p [%t] %c{1}:%L - %m%n": (
        "{short} {level:5} [a] logger:12 - {message}"
    ),
    "%-4r [%t] %-5p %d %c %x - %m%n": (
        "120  [main] {level:5} {date} kafka.request.logger  - {message}"
    ),
    "%d{ISO8601} %5p %c{1.} - %m%n": "{date} {level:>5} k.r.logger - {message}",
    "[%d{yyyy-MM-dd'T'HH:mm:ss.SSS}{UTC}] %level %msg (%logger)%n": (
        "[{iso}] {level} {message} (kafka.request.logger)"
    ),
}


@pytest.mark.parametrize("pattern", LAYOUTS)
def test_lines_of_another_layout_are_parsed(parse: Parse, pattern: str) -> None:
    texts = {
        "date": "2026-03-01 10:20:30,123", "short": "2026-03-01 10:20:30",
        "iso": "2026-03-01T10:20:30.123",
    }  # fmt: skip
    text = FORMS["G"][0].removeprefix(f"{START} DEBUG ").removesuffix(END)
    chosen = "a - b [c]: (d) ] e - "
    messages = ["Completed request:" + json_text(client=f'"{chosen}"'), text]
    written = [
        LAYOUTS[pattern].format(level="INFO", message=message, **texts) for message in messages
    ]
    split = LAYOUTS[pattern].format(level="INFO", message=f"{text[:90]}\n{text[90:]}", **texts)
    rows = parse(*written, *split.split("\n"), layout=pattern)
    assert [row["outcome"] for row in rows] == [REQUEST, REQUEST, REJECTED, REJECTED]
    assert [row["form"] for row in rows] == ["J", "G", None, None]
    assert rows[0]["client_id"] == chosen
    assert rows[1]["software_name"] == "librdkafka"
    assert rows[0]["time"].replace(microsecond=0) == datetime(2026, 3, 1, 10, 20, 30)  # noqa: DTZ001


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_timestamps_outside_1970_to_9999_are_discarded(parse: Parse, zone: str) -> None:
    dates = [
        *("2026", "2026-11", "2026-1-1", "202615", "12345-01-1", "999999-1-1"),
        *("0000-01-01", "0001-01-01", "1969-12-30", "9999-12-31"),
    ]
    good = json_line()
    damaged = parse(*(good.replace(good[1:11], date, 1) for date in dates), time_zone=zone)
    assert {(row["outcome"], row["reason"], row["time"]) for row in damaged} == {
        (REJECTED, prefix.NO_START, None)
    }
    others = parse(*(f"[{date} 00:00:00,000] DEBUG x (a.b)" for date in dates), time_zone=zone)
    assert {row["outcome"] for row in others} == {SKIPPED}


def test_repeated_head_fields_do_not_overflow_the_stack(parse: Parse) -> None:
    head = "Completed request:Name:LeaderAndIsrRequest;Version:0;"
    (row,) = parse(f"{START} DEBUG {head}{'Controller:1;' * 2400}{END}")
    assert row["outcome"] == REJECTED


def test_client_id_that_looks_like_a_tail_is_complete(parse: Parse) -> None:
    client_id = "a from connection 1.2.3.4:5-6.7.8.9:1-2;totalTime:1"
    head = f"Name: TopicMetadataRequest; Version: 0; CorrelationId: 1; ClientId: {client_id}"
    rows = parse(
        line(f"{head}; Topics: orders from client /10.1.2.3:51010;{TIMES}"),
        line(f"{head} from client /10.1.2.3:51010;{TIMES}"),
    )
    assert [row["client_id"] for row in rows] == [client_id, client_id]
